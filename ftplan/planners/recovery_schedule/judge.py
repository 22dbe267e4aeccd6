"""Does a recovery schedule keep its rules, and is its objective right?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.failed_queries import failed_queries
from ftplan.model.failure import planned_times
from ftplan.model.measures.downtimes import Downtimes
from ftplan.model.plan import Objective, Plan
from ftplan.model.problem import Problem
from ftplan.model.tolerances import LEAST_SCALE, SOLVED
from ftplan.model.violation import Violation
from ftplan.planners.judging import (
    Judged,
    Judges,
    Recomputed,
    judge_objective,
    judge_options,
    judge_summary,
    same,
    unknown_objective,
)
from ftplan.planners.recovery_schedule.incident import Incident, bandwidth_of, horizon_of, incident_of
from ftplan.planners.recovery_schedule.options import OBJECTIVES, RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.replay.outcome import outcome, repair_scores
from ftplan.planners.recovery_schedule.replay.replay import ReplayEvent, ScheduleReplay, replay
from ftplan.planners.recovery_schedule.rules import RULES, judged


def judge_schedule(plan: Plan, problem: Problem, strict: bool) -> Judged:
    """Return what a recovery schedule violates, the rules that it was held to, and what was not recomputed.

    The rules are always all of them. Codes: those of :mod:`ftplan.planners.recovery_schedule.rules` and
    :mod:`ftplan.planners.judging`, and ``ROLLBACK_MISSING`` for a step that has to begin with a global rollback and
    does not say so, in a plan that says it elsewhere or names what made it.

    Raises
    ------
    FtplanError
        If an input is missing.
    """
    incident = incident_of(plan, problem)
    body = plan.plan or {}
    replayed = replay(body["steps"], incident)
    broken = list(judged(body, incident, replayed))
    broken += _steps(plan, incident, replayed)
    broken += _options(plan, problem, incident)
    left = (
        ["plan.steps.objective.bound"]
        if any((step.get("objective") or {}).get("bound") for step in body["steps"])
        else []
    )
    # Where the plan starts what it cannot, its value means nothing.
    if not replayed.faults:
        broken += _objective(plan, incident, replayed)
        if plan.summary:
            differing, more = judge_summary(plan, _summary(plan, problem, incident, replayed))
            broken, left = [*broken, *differing], [*left, *more]
    if any(item.get("prefetch") is not None for step in body["steps"] for item in step["recover"]):
        left = [*left, "plan.steps.recover.prefetch"]
    return Judged(broken, RULES, tuple(left), asked=RULES)


def judge_question(plan: Plan, problem: Problem) -> Judged:
    """Return what a plan without an answer states falsely of its question, and what was not recomputed."""
    incident = incident_of(plan, problem)
    true: dict[str, Any] = _summary(plan, problem, incident, replay((), incident))
    true["after"] = None
    broken, left = judge_summary(plan, true)
    return Judged([*_options(plan, problem, incident), *broken], (), left)


def _objective(plan: Plan, incident: Incident, replayed: ScheduleReplay) -> list[Violation]:
    stated = plan.objective
    if stated is None or stated.value is None:
        return []
    if stated.name not in OBJECTIVES:
        return [unknown_objective(stated, OBJECTIVES)]
    value = _value(stated.name, plan, incident, replayed)
    sense = "min" if stated.name == "priority-time" else "max"
    slack = SOLVED * max(abs(value), LEAST_SCALE)
    broken = judge_objective(stated, Recomputed(value, sense, slack), plan.status)
    bounds: list[Any] = [(step.get("objective") or {}).get("bound") for step in (plan.plan or {})["steps"]]
    if stated.name == "priority" and stated.bound is not None and None not in bounds:
        total = float(sum(bounds))
        if abs(stated.bound - total) > SOLVED * max(abs(total), LEAST_SCALE):
            text = f"the plan states a bound of {stated.bound:.12g}, those of its steps sum to {total:.12g}"
            broken.append(Violation("OBJECTIVE_DIFFERS", text, "objective.bound"))
    return broken


def _steps(plan: Plan, incident: Incident, replayed: ScheduleReplay) -> Iterator[Violation]:
    """What steps state of their own choice: its gap follows from value and bound, and a rollback is not left out."""
    made_here = plan.algorithm is not None or plan.tool_version is not None
    steps = (plan.plan or {})["steps"]
    stated = made_here or any(step.get("global_rollback") is not None for step in steps)
    coming = [a for a in incident.arrivals if a.at_s[1] == 0.0 or "tasks" in a.node.accepts]
    times = {a.node.id: due for a, due in zip(coming, planned_times(coming), strict=True) if a.at_s[0] != a.at_s[1]}
    for number, event in enumerate(replayed.events):
        if event.step is None:
            continue
        step, where = steps[event.step], f"steps[{event.step}]"
        late = [name for name, due in times.items() if name in _arriving(event) and not same(event.at_s, due)]
        if plan.algorithm is not None and late:
            text = f"step {event.step} is at {event.at_s:.12g} s, {late[0]} is planned for {times[late[0]]:.12g} s"
            yield Violation("WRONG_STEP_TIME", text, where)
        forced = number == 0 or (event.struck and incident.rolls_back)
        if forced and stated and step.get("global_rollback") is None:
            text = f"step {event.step} does not say that it begins with a global rollback, and it has to"
            yield Violation("ROLLBACK_MISSING", text, where)
        elif number == 0 and step.get("global_rollback") is False:
            text = f"step {event.step} states global_rollback false, but live tasks go back when the failure is met"
            yield Violation("WRONG_ROLLBACK", text, where)
        objective = step.get("objective") or {}
        if objective.get("name") not in (None, "priority"):
            text = f"step {event.step} names the objective {objective['name']!r}: of a step it is priority"
            yield Violation("OBJECTIVE_DIFFERS", text, where)
        if objective.get("name") == "priority" and objective.get("value") is not None:
            names = ("value", "bound", "scale", "gap")
            own = Objective("priority", objective.get("sense") or "max", *(objective.get(name) for name in names))
            true = Recomputed(
                float(objective["value"]), "max", SOLVED * max(abs(float(objective["value"])), LEAST_SCALE)
            )
            for item in judge_objective(own, true, of=f"step {event.step}"):
                if item.code == "GAP_DIFFERS" or item.where == "objective.sense":
                    yield replace(item, where=where)


def _arriving(event: ReplayEvent) -> set[str]:
    return {arrival.node.id for arrival in event.arrivals}


def _options(plan: Plan, problem: Problem, incident: Incident) -> list[Violation]:
    """The horizon follows from the failure where it was not asked for, the bandwidth from costs and cluster."""
    asked = {name: value for name, value in plan.options.items() if name != "horizon_s"}
    true = {"horizon_s": horizon_of(replace(plan, options=asked), incident)}
    bandwidth = bandwidth_of(RecoveryScheduleOptions.of_plan(plan), problem)
    if bandwidth is not None:
        true["bandwidth_mb_s"] = bandwidth
    return judge_options(plan, true)


def _summary(plan: Plan, problem: Problem, incident: Incident, replayed: ScheduleReplay) -> dict[str, Any]:
    """Recompute what failed, and the figures of the schedule; others' figures need planners."""
    graph, priority = incident.graph, incident.graph.per_task("priority")
    start = replayed.events[0]
    down = np.zeros(graph.tasks, dtype=np.bool_) if start.down is None else start.down
    queries = failed_queries(graph, down)
    after = _after(plan, incident, replayed) if plan.plan is not None else None
    rolled_back = {outage.query for outage in replayed.outages if outage.rolled_back}
    return {
        **({"rolled_back_queries": len(rolled_back)} if rolled_back else {}),
        "failed_tasks": int(down.sum()),
        "failed_cpu": float(incident.cost[down].sum()),
        "failed_nodes": len(_nodes(problem.cluster, incident)),
        "failed_queries": queries.queries,
        "failed_priority": float(priority[queries.query].sum()),
        "shared_fraction": queries.shared_fraction(incident.cost) if queries.queries else None,
        "after": after,
    }


def _nodes(cluster: Cluster | None, incident: Incident) -> set[str]:
    """Return the nodes of the cluster that fail at the start."""
    if cluster is None:
        return set()
    if incident.complete:
        return set(cluster.position)
    return {node for entry in incident.fail if entry.at_s == 0.0 for node in cluster.nodes_of(entry.select)}


def _after(plan: Plan, incident: Incident, replayed: ScheduleReplay) -> dict[str, Any]:
    """Return the figures of the schedule as its summary names them."""
    priority = incident.graph.per_task("priority")
    horizon_s = horizon_of(plan, incident)
    downtimes = Downtimes.of([(o.query, o.down_s, o.back_s) for o in replayed.outages], priority)
    by_step = [float(sum(priority[query] for query in replayed.restored(event))) for event in replayed.events]
    after: dict[str, Any] = dict(downtimes.figures(by_step, horizon_s))
    stated = plan.summary.get("after")
    if isinstance(stated, Mapping) and "fidelity_time" in stated:
        after["fidelity_time"] = _value("fidelity-time", plan, incident, replayed)
    return after


def _value(name: str, plan: Plan, incident: Incident, replayed: ScheduleReplay) -> float:
    """Return the objective of a schedule whose nodes arrive at its steps.

    ``priority`` sums over all steps what each restored: what its decision made whole and no failure struck before it
    was back. A query that fails again after that counts once for each time it was restored.
    """
    if name == "priority":
        priority = incident.graph.per_task("priority")
        return float(sum(priority[query] for event in replayed.events for query in replayed.restored(event)))
    arrivals = tuple(replace(a, at_s=(m.at_s, m.at_s)) for m in replayed.events for a in m.arrivals)
    fixed = replace(incident, arrivals=arrivals)
    steps = (plan.plan or {})["steps"]
    scores = repair_scores(outcome(steps, fixed), fixed, horizon_of(plan, incident))
    return float(scores[name] or 0.0)


JUDGES = Judges(judge_schedule, judge_question, RULES, OBJECTIVES)
