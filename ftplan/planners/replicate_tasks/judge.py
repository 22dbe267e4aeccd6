"""Does a replication plan keep its rules, and is its objective right? So for the recovery schedules that it holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ftplan.model.kinds import RECOVERY_SCHEDULE
from ftplan.model.plan import FORMAT, FORMAT_VERSION, Objective, Plan
from ftplan.model.problem import Problem
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING, SOLVED
from ftplan.model.violation import Violation
from ftplan.planners.deployed import given_plan
from ftplan.planners.judging import (
    Judged,
    Judges,
    Recomputed,
    judge_objective,
    judge_options,
    judge_stated,
    judge_summary,
    unknown_objective,
)
from ftplan.planners.recovery_schedule.judge import judge_schedule
from ftplan.planners.replicate_tasks.body import body
from ftplan.planners.replicate_tasks.budget import LEAST
from ftplan.planners.replicate_tasks.from_plan import nodes_by_task, question_of, replicas_of
from ftplan.planners.replicate_tasks.hosts import Current, current_of
from ftplan.planners.replicate_tasks.metrics import PRIORITY_TIME, expected, summary, with_recovery
from ftplan.planners.replicate_tasks.options import METRICS, TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import PreparedReplication, limits_of
from ftplan.planners.replicate_tasks.problem import NodeByTask
from ftplan.planners.replicate_tasks.recovery_cases import RecoveryCase, recovery_cases
from ftplan.planners.replicate_tasks.rules import BUDGET, PLACED, RULES, violations


def judge_recoveries(
    plan: Plan, problem: Problem, prepared: PreparedReplication
) -> tuple[list[Violation], list[float] | None]:
    """Return what a plan's recovery schedules violate, and priority x seconds down of each case; None if not judged.

    Each schedule is carried out against the plan's replicas by the judge of recovery schedules. Codes: its own, and
    ``RECOVERY_MISSING`` for a case without a schedule.
    """
    cases = recovery_cases(prepared, problem, TaskReplicationOptions.of_plan(plan))
    rows = {row["id"]: row for row in (plan.plan or {}).get("recovery") or ()}
    broken, values = [], []
    for case in cases:
        row = rows.get(case.id)
        if row is None:
            text = f"plan.recovery has no schedule for case {case.id}, whose downtime the plan states"
            broken.append(Violation("RECOVERY_MISSING", text, "plan.recovery"))
            continue
        values.append(float(row["priority_time"]))
        wrong = _judged(plan, case, row)
        broken += [replace(item, message=f"recovery after {case.id}: {item.message}") for item in wrong]
    if len(values) == len(cases):
        broken += _stated_downtime(plan, expected(prepared.problem.cases, values))
    return broken, values if len(values) == len(cases) else None


def _judged(plan: Plan, case: RecoveryCase, row: dict[str, Any]) -> list[Violation]:
    """Return what is wrong with the schedule of one case."""
    stated = Objective(PRIORITY_TIME, "min", float(row["priority_time"]))
    if case.problem is None:
        true = Recomputed(0.0, "min", SOLVED * LEAST_SCALE)
        return judge_objective(stated, true, "feasible")
    replicas = {"replicas": replicas_of(plan)}
    document = {"format": FORMAT, "format_version": FORMAT_VERSION, "kind": plan.kind, "plan": replicas}
    options = {**case.options(), "replicas": document, "horizon_s": row.get("horizon_s")}
    schedule = Plan(RECOVERY_SCHEDULE.name, {"steps": row["steps"]}, objective=stated, options=options)
    return list(judge_schedule(schedule, case.problem, False).violations)


def _stated_downtime(plan: Plan, value: float) -> list[Violation]:
    stated = plan.objective
    if stated is None or stated.value is None:
        return []
    if stated.name != PRIORITY_TIME:
        return [unknown_objective(stated, (PRIORITY_TIME,))]
    slack = SOLVED * max(abs(value), LEAST_SCALE)
    return judge_objective(stated, Recomputed(value, "min", slack), plan.status)


#: The rules that a plan may name.
TARGET = "target"
KNOWN_RULES = (TARGET, *RULES)


def judge_replication(plan: Plan, problem: Problem, strict: bool) -> Judged:
    """Return what a replication plan violates, the rules that it was held to, and what was not recomputed.

    A plan that names no rules is held to its budget, where it states one, and with a cluster to keep replicas from
    their primaries; *strict* adds zones, capacity and memory, where replicas are placed at all.

    Codes: of :mod:`ftplan.planners.replicate_tasks.rules` and :mod:`ftplan.planners.judging`, ``BELOW_TARGET``,
    ``NODE_MISSING`` for a replica without a node although there is a cluster, ``CHANGES_DIFFER`` for what is to start
    and to stop, and ``CURVE_DIFFERS`` for a curve that contradicts itself or the plan.

    Raises :class:`FtplanError` if an input is missing, or the plan's options are not what they should be.
    """
    prepared = question_of(plan, problem)
    placed = problem.cluster is not None or any(item.get("node") is not None for item in replicas_of(plan))
    rules = _rules(plan, () if not strict else RULES if placed else (BUDGET,))
    limited = BUDGET in rules and plan.options.get("target") is None
    budget = prepared.problem.budget if limited else math.inf
    limits = limits_of(prepared, problem.cluster, TaskReplicationOptions.of_plan(plan).max_cpu, budget)
    broken = list(violations(replicas_of(plan), limits, rules))
    if problem.cluster is not None:
        broken += _without_node(plan)
    # Where the plan names tasks or nodes that do not exist its value means nothing.
    if {item.code for item in broken} & {"UNKNOWN_TASK", "UNKNOWN_NODE", "ASSIGNED_TWICE", "NODE_MISSING"}:
        return _without(Judged(broken, rules), plan, prepared, problem)
    node, current = nodes_by_task(plan, prepared.graph), _current(plan, problem, prepared)
    downtimes: list[float] | None = None
    if TaskReplicationOptions.of_plan(plan).then_recover:
        wrong, downtimes = judge_recoveries(plan, problem, prepared)
        broken += wrong
    else:
        broken += _objective(plan, prepared, node)
    broken += _options(plan, prepared)
    broken += _curve(plan, prepared, node)
    stated = plan.plan or {}
    left: tuple[str, ...] = ("plan.curve",) if stated.get("curve") else ()
    if current is not None:
        broken += _changes(plan, prepared, current, node)
    if stated.get("activate") is not None and (current is None or not current.known):
        left = (*left, "plan.activate", "plan.deactivate")
    if plan.summary:
        true = with_recovery(_summary(prepared, current, node), prepared.problem.cases, downtimes, None)
        wrong, more = judge_summary(plan, true)
        broken, left = [*broken, *wrong], (*left, *more)
    if problem.cluster is None and any(item.get("node") is not None for item in replicas_of(plan)):
        left = (*left, "plan.replicas.node")
    return _without(Judged(broken, rules, left), plan, prepared, problem)


def _without(judged: Judged, plan: Plan, prepared: PreparedReplication, problem: Problem) -> Judged:
    """Return what was judged with the rules apart for which an input or an option is missing."""
    targeted, limited = plan.options.get("target") is not None, math.isfinite(prepared.problem.budget)
    missing = {} if targeted else {TARGET: "options.target"}
    if targeted or not limited:
        missing[BUDGET] = "options.budget"
        if plan.rules is None or BUDGET not in plan.rules:  # nobody asks for it
            judged = judged._replace(rules=tuple(rule for rule in judged.rules if rule != BUDGET))
    placed: tuple[str, ...] = PLACED
    if problem.cluster is None:
        missing, placed = {**missing, **dict.fromkeys(PLACED, "cluster")}, ()
    asked = (TARGET,) if targeted else (BUDGET,) if limited else ()
    unpromised = tuple(rule for rule in placed if rule not in judged.rules)
    return judged._replace(asked=asked, unpromised=unpromised).without(missing)


def judge_question(plan: Plan, problem: Problem) -> Judged:
    """Return what a plan without an answer states falsely of its question, and what was not recomputed."""
    prepared = question_of(plan, problem)
    true = {**_summary(prepared, _current(plan, problem, prepared), None), "random": None}
    broken, left = judge_summary(plan, true)
    return Judged([*_options(plan, prepared), *broken], (), left)


def _summary(prepared: PreparedReplication, current: Current | None, node: NodeByTask | None) -> dict[str, Any]:
    """Return what can be recomputed of the summary; without the file of the replicas in place not what was before."""
    if current is not None:
        return summary(prepared, current, node)
    return {name: value for name, value in summary(prepared, Current({}, False), node).items() if name != "before"}


def _without_node(plan: Plan) -> Iterator[Violation]:
    """With a cluster every replica has a node: one on no node in particular would never fail."""
    body = plan.plan or {}
    for name in ("replicas", "activate"):
        for item in body.get(name) or ():
            if item.get("node") is None:
                where = f"task:{item['operator']}/{item['index']}"
                yield Violation("NODE_MISSING", f"{name}: {where} has no node, although there is a cluster", where)


def _current(plan: Plan, problem: Problem, prepared: PreparedReplication) -> Current | None:
    """Return the replicas that were in place for the plan; None where the file that said so is not there."""
    known, path = given_plan(plan, "current")
    return current_of(path, problem, prepared.graph) if known else None


def _changes(plan: Plan, prepared: PreparedReplication, current: Current, node: NodeByTask) -> Iterator[Violation]:
    """What is to start and to stop leads from the replicas in place to the plan's."""
    true = body(prepared, current, node, None)
    for name in ("activate", "deactivate"):
        stated = (plan.plan or {}).get(name)
        if stated is None or true[name] is None:
            continue
        said, is_so = ({(e["operator"], e["index"], e.get("node")) for e in some} for some in (stated, true[name]))
        for operator, index, place in sorted(said ^ is_so, key=lambda e: (e[0], e[1], str(e[2]))):
            where = f"task:{operator}/{index}"
            on = "" if place is None else f" on {place}"
            what = f"is listed{on}, but not to {name}" if (operator, index, place) in said else f"is to {name}{on}"
            yield Violation("CHANGES_DIFFER", f"{name}: {where} {what}", where)
        if len(said) < len(stated):
            yield Violation("CHANGES_DIFFER", f"{name}: lists a replica more than once", f"plan.{name}")


def _options(plan: Plan, prepared: PreparedReplication) -> list[Violation]:
    """The unit and limit of the budget, and the cases, follow from the other options and the failure."""
    asked = prepared.budget
    limit = None if asked.target is not None else prepared.problem.budget
    true: dict[str, Any] = {"budget_unit": asked.unit, "cases": [case.id for case in prepared.problem.cases]}
    if limit is not None and math.isfinite(limit):
        true["budget_limit"] = limit
    return judge_options(plan, true)


def _curve(plan: Plan, prepared: PreparedReplication, node: NodeByTask) -> Iterator[Violation]:
    """More is never worse, nothing beats a bound, and the plan itself is within the bound of its budget."""
    points = (plan.plan or {}).get("curve") or ()
    for k, point in enumerate(points):
        where = f"plan.curve[{k}]"
        if point.get("bound") is not None and point["value"] > point["bound"] + ROUNDING:
            text = f"{where} is worth {point['value']:.12g}, more than its bound {point['bound']:.12g}"
            yield Violation("CURVE_DIFFERS", text, where)
        before = points[k - 1] if k else {"budget": -math.inf, "value": 0.0}
        if point["budget"] <= before["budget"] or point["value"] < before["value"] - ROUNDING:
            yield Violation("CURVE_DIFFERS", f"{where} does not rise above the point before it", where)
        alone = point.get("without_placement") or {}
        if alone and alone["value"] < point["value"] - ROUNDING:
            yield Violation("CURVE_DIFFERS", f"{where} is worth more with placement than without", where)
        if alone.get("bound") is not None and alone["bound"] < alone["value"] - ROUNDING:
            yield Violation("CURVE_DIFFERS", f"{where} is worth more without placement than its bound there", where)
        lower = before.get("bound")
        if point.get("bound") is not None and lower is not None and point["bound"] < lower - ROUNDING:
            yield Violation("CURVE_DIFFERS", f"{where} has a bound below that of a smaller budget", where)
    if not points:
        return
    cost, reached = prepared.problem.cost(prepared.problem.mask(node)), prepared.problem.value_on(node)
    for k, point in enumerate(points):
        bound = point.get("bound")
        if bound is not None and cost <= point["budget"] and reached > bound + ROUNDING:
            text = f"plan.curve[{k}]: the plan takes {cost:.12g} and is worth {reached:.12g}, more than {bound:.12g}"
            yield Violation("CURVE_DIFFERS", text, f"plan.curve[{k}]")


def _rules(plan: Plan, more: Sequence[str]) -> tuple[str, ...]:
    named = (BUDGET, RULES[1]) if plan.rules is None else plan.rules
    return (*(rule for rule in named if rule not in RULES), *(r for r in RULES if r in named or r in more))


def _objective(plan: Plan, prepared: PreparedReplication, node: NodeByTask) -> list[Violation]:
    reached = prepared.problem.value_on(node)
    target = plan.options.get("target")
    broken = []
    if target is not None and reached < target - ROUNDING:
        text = f"{prepared.problem.metric} is {reached:.12g}, below the target {target:.12g}"
        broken.append(Violation("BELOW_TARGET", text))
    if target is None:
        name, true = prepared.problem.metric, Recomputed(reached, "max", ROUNDING)
    else:
        name, true = prepared.budget.measure, Recomputed(prepared.spent(node), "min", ROUNDING)
    return broken + judge_stated(plan, (name,), lambda _: true)


JUDGES = Judges(judge_replication, judge_question, KNOWN_RULES, (*METRICS, *LEAST, PRIORITY_TIME))
