"""From a problem to a plan of kind ``task-replication``, whichever algorithm answers."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import ftplan
from ftplan.api.replication import figures as replication_figures
from ftplan.api.replication.budget import Budget as ReplicaBudget
from ftplan.api.replication.budget import parse_budget
from ftplan.api.replication.choice import Choice, choose, fewest, met
from ftplan.api.replication.curve import curve
from ftplan.api.replication.fitting import LESS, WITHOUT, Attempt, Chooser, fitted
from ftplan.api.replication.hosts import no_room, placement_problem, room_bound
from ftplan.api.replication.options import TaskReplicationOptions
from ftplan.api.replication.problem import Prepared, prepare
from ftplan.api.replication.upkeep import Current, Limits, current_of, limited, unchanged
from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.kinds import TASK_REPLICATION
from ftplan.model.plan import Infeasible, Objective, Plan, Status, Warn
from ftplan.model.problem import Problem
from ftplan.model.task_graph import BoolArray
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners import registry
from ftplan.planners.budget import Budget, now, of_command
from ftplan.planners.replication.placement.placement import Placed, PlacementProblem, place
from ftplan.planners.replication.problem import ReplicationOptions

_log = logging.getLogger(__name__)

#: Part of the time for the plan where a curve follows; seconds that comparisons may take beyond the limit.
PLANNED, COMPARING_S = 0.5, 0.5


@dataclass(frozen=True, eq=False)
class _Question:
    """Everything that was asked."""

    given: Problem
    prepared: Prepared
    row: registry.Row
    budget: ReplicaBudget
    settings: ReplicationOptions
    max_cpu: float
    current: Current
    limits: Limits


@dataclass(frozen=True, eq=False)
class _Answer:
    """The replicas with their nodes by task (None without a cluster); ``node`` is None where there is no answer."""

    status: Status
    node: Mapping[int, str | None] | None
    bound: float | None = None
    reason: str | None = None
    infeasible: Infeasible | None = None
    warnings: tuple[Warn, ...] = ()


def make(problem: Problem, row: registry.Row, options: TaskReplicationOptions) -> Plan:
    """Plan which tasks get an active replica, and where; see ``ftplan replicate-tasks --help``.

    Raises
    ------
    FtplanError
        If an input is missing, options contradict each other, or a selector names what is not there.
    """
    began = now()
    asked = {name: getattr(options, name) for name in options.options()}
    ends = began + asked["time_limit_s"]
    question = _question(problem, row, asked, began + (PLANNED if asked["curve"] else 1.0) * asked["time_limit_s"])
    prepared, settings = question.prepared, question.settings
    started = time.perf_counter()
    answer = _answer(question)
    seconds = time.perf_counter() - started
    _log.info("%d tasks: %s, planned by %s in %.2f s", prepared.graph.tasks, answer.status, row.name, seconds)
    points, said = curve(prepared, row, replace(settings, ends=ends)) if asked["curve"] else (None, ())
    comparing = Budget(math.inf, ends=max(ends, now()) + COMPARING_S)
    summary, cut = replication_figures.summary(
        _spent(question, answer), question.current, answer.node, settings.seed, comparing
    )
    warnings = of_command((*problem.warnings, *prepared.warnings, *answer.warnings, *said, *cut), settings.time_limit_s)
    return Plan(
        kind=TASK_REPLICATION.name,
        algorithm=row.name,
        options=_recorded(asked, question),
        seed=settings.seed,
        inputs=problem.inputs if question.current.file is None else (*problem.inputs, question.current.file),
        status=answer.status,
        reason=answer.reason,
        objective=_objective(question, answer),
        rules=_rules(question),
        summary=summary,
        warnings=warnings,
        infeasible=answer.infeasible,
        plan=None if answer.node is None else replication_figures.body(prepared, question.current, answer.node, points),
        tool_version=ftplan.__version__,
    )


def _question(problem: Problem, row: registry.Row, asked: Mapping[str, Any], ends: float) -> _Question:
    budget = parse_budget(asked["budget"], asked["budget_cpu"], asked["budget_mb"], asked["target"])
    prepared = prepare(
        problem,
        budget,
        fail=asked["fail"],
        worst_case=asked["worst_case"],
        metric=asked["metric"],
        weight=asked["weight"],
    )
    current = current_of(asked["current"], problem, prepared.graph)
    limits = Limits.of(asked["max_changes"], asked["threshold"], current.known)
    if budget.target is not None and limits != Limits():
        raise FtplanError("--target: the fewest replicas that reach it leave no room for --max-changes or --threshold")
    settings = ReplicationOptions(asked["seed"], asked["time_limit_s"], asked["iterations"], ends)
    return _Question(problem, prepared, row, budget, settings, float(asked["max_cpu"]), current, limits)


def _answer(question: _Question) -> _Answer:
    """Choose, drop what is useless, keep to the limits of change, and place."""
    prepared, budget = question.prepared, question.budget
    if budget.target is not None:
        return _with_target(question, budget.target)
    choice = choose(prepared, question.row, question.settings)
    if choice.replicated is None:
        return _Answer(choice.status, None, choice.bound, choice.reason, choice.infeasible, choice.warnings)
    chosen, warnings = _without_useless(prepared, choice.replicated)
    plan, kept = limited(prepared, chosen, question.current, question.limits, Budget.of(question.settings))
    if isinstance(plan, Infeasible):
        return _Answer("infeasible", None, choice.bound, plan.reason, plan, choice.warnings)
    if kept is not None:
        warnings += (Warn("NO_CHANGE", kept),)
    answer = _placed(question, plan, replace(choice, warnings=(*choice.warnings, *warnings)))
    most = question.limits.max_changes
    return replace(answer, reason=answer.reason or kept or unchanged(question.current, chosen, answer.node, most))


def _with_target(question: _Question, target: float) -> _Answer:
    """Return the fewest replicas that reach a target on their nodes too."""
    prepared = question.prepared

    def enough(replicated: BoolArray) -> bool:
        if question.given.cluster is None or not _nodes_fail(prepared):
            return True
        node = _placed(question, prepared.useful(replicated), Choice(replicated, "feasible")).node
        return node is None or _value(prepared, node) >= target - ROUNDING  # no room is said where the plan is made

    choice = fewest(prepared, question.row, question.settings, target, enough)
    if choice.replicated is None:
        return _Answer(choice.status, None, choice.bound, choice.reason, choice.infeasible, choice.warnings)
    chosen, warnings = _without_useless(prepared, choice.replicated)
    answer = _placed(question, chosen, replace(choice, warnings=(*choice.warnings, *warnings)))
    cut = any(warning.code == "TIME_LIMIT" for warning in answer.warnings)
    if cut and answer.infeasible is not None:  # fewer replicas may find room and reach it
        reason = f"no plan was found within the time limit: {answer.reason}"
        return replace(answer, status="no-plan-in-time", reason=reason, infeasible=None)
    if answer.node is None:
        return answer
    reached = _value(prepared, answer.node)
    if reached >= target - ROUNDING:
        return replace(answer, reason=answer.reason or unchanged(question.current, chosen, answer.node, None))
    reason = f"with a replica of every task that may fail the metric is {reached:.6g}, below the target {target:.6g}"
    fix = f"--target {int(reached * 1e6) / 1e6:.10g}"
    return _Answer(
        "infeasible", None, None, reason, Infeasible(reason, "target", reached, target, fix), answer.warnings
    )


def _without_useless(prepared: Prepared, replicated: BoolArray) -> tuple[BoolArray, tuple[Warn, ...]]:
    useful = prepared.useful(replicated)
    dropped = int(replicated.sum() - useful.sum())
    if dropped == 0:
        return useful, ()
    what = "1 replica completes" if dropped == 1 else f"{dropped:,} replicas complete"
    text = f"{what} no tree of live tasks up to an output and were dropped: the plan is as good and cheaper"
    return useful, (Warn("USELESS_REPLICAS", text.replace("were", "was") if dropped == 1 else text),)


def _placed(question: _Question, replicated: BoolArray, choice: Choice) -> _Answer:
    """Give the replicas nodes, where there is a cluster."""
    prepared, cluster = question.prepared, question.given.cluster
    tasks = replicated.nonzero()[0].tolist()
    if cluster is None:
        return _Answer(choice.status, dict.fromkeys(tasks), choice.bound, choice.reason, warnings=choice.warnings)

    def given(chosen: BoolArray) -> tuple[PlacementProblem, Placed]:
        return _nodes(question, cluster, chosen)

    clock = Budget.of(question.settings)
    asked, found = given(replicated)
    if len(found.left) == 0:
        return _with_nodes(question, cluster, choice, asked, found)
    refusal = no_room(asked, found, prepared, cluster, question.max_cpu)
    if question.budget.target is None:
        chooser = None if question.limits != Limits() else _chooser(question)
        fewer, attempt = fitted(prepared, Attempt(asked, found), chooser, given, clock)
        again = _nodes(question, cluster, fewer, attempt.nodes(prepared.graph.tasks))
        if fewer.any() and len(again[1].left) == 0:
            text = f"{refusal.reason}: others were chosen; to have these, {refusal.smallest_fix}"
            warnings = (*choice.warnings, Warn("NO_ROOM", text))
            bound = None if choice.bound is None else min(choice.bound, room_bound(prepared, asked, clock))
            less = replace(choice, status="feasible", bound=bound, warnings=(*warnings, *clock.warnings()))
            return _with_nodes(question, cluster, less, *again)
    if not found.proven:
        reason = f"no placement was found within the time limit: {refusal.reason}"
        return _Answer("no-plan-in-time", None, choice.bound, reason, warnings=choice.warnings)
    return _Answer("infeasible", None, choice.bound, refusal.reason, refusal, choice.warnings)


def _nodes(
    question: _Question, cluster: Cluster, replicated: BoolArray, known: IntArray | None = None
) -> tuple[PlacementProblem, Placed]:
    """Look for nodes; where nodes fail with the primaries, those that lose least. *known* has some by task."""
    prepared = question.prepared
    asked = placement_problem(prepared, cluster, replicated, question.current.node, question.max_cpu)
    tasks = asked.task.tolist()

    def value(node: Any) -> float:
        return _value(prepared, {task: cluster.nodes[n].id for task, n in zip(tasks, node.tolist(), strict=True)})

    settled = None if known is None else known[asked.task]
    return asked, place(asked, question.settings, value if _nodes_fail(prepared) else None, settled)


def _nodes_fail(prepared: Prepared) -> bool:
    return any(case.nodes for case in prepared.problem.cases)


def _chooser(question: _Question) -> Chooser:
    """Return the planner as a function of the question, with a part of the time for each run."""
    part = replace(question.settings, time_limit_s=question.settings.time_limit_s / (WITHOUT + LESS))

    def again(prepared: Prepared) -> BoolArray | None:
        found = choose(prepared, question.row, part).replicated
        return None if found is None else prepared.useful(found)

    return again


def _with_nodes(
    question: _Question, cluster: Cluster, choice: Choice, asked: PlacementProblem, found: Placed
) -> _Answer:
    pairs = zip(asked.task.tolist(), found.node.tolist(), strict=True)
    node: dict[int, str | None] = {task: cluster.nodes[n].id for task, n in pairs}
    status = choice.status
    if question.budget.target is None and choice.bound is not None and status in ("optimal", "feasible"):
        status = "optimal" if met(_value(question.prepared, node), choice.bound) else "feasible"
    return _Answer(status, node, choice.bound, choice.reason, warnings=choice.warnings)


def _value(prepared: Prepared, node: Mapping[int, str | None]) -> float:
    return replication_figures.value(prepared, prepared.measured, node)


def _objective(question: _Question, answer: _Answer) -> Objective:
    """Return the objective with the value of the plan on its nodes, whatever the planner reports."""
    prepared = question.prepared
    if question.budget.target is not None:
        count = None if answer.node is None else float(len(answer.node))
        return Objective.of("replicas", "min", count, answer.bound)
    value = None if answer.node is None else _value(prepared, answer.node)
    bound = None if answer.bound is None else min(1.0, answer.bound)
    return Objective.of(prepared.problem.metric, "max", value, bound)


def _spent(question: _Question, answer: _Answer) -> Prepared:
    """Return the question with the budget that random choices may spend: with a target, what the answer takes."""
    prepared = question.prepared
    if question.budget.target is None or answer.node is None:
        return prepared
    return replace(prepared, problem=replace(prepared.problem, budget=float(len(answer.node))))


def _rules(question: _Question) -> tuple[str, ...]:
    rules = ["target" if question.budget.target is not None else "budget"]
    if question.given.cluster is not None:
        rules += ["replica-not-with-primary", "replica-not-in-primary-zone", "capacity", "memory"]
    return tuple(rules)


def _recorded(asked: Mapping[str, Any], question: _Question) -> dict[str, Any]:
    """Return the options as the plan keeps them: as asked, files by their paths, and what was derived beside."""
    problem, file = question.prepared.problem, question.current.file
    recorded = {name: value for name, value in asked.items() if name != "seed"}
    return {
        **recorded,
        "fail": list(asked["fail"]),
        "current": None if file is None else file.path,
        "budget_unit": question.budget.unit,
        "budget_limit": None if question.budget.target is not None else problem.budget,
        "cases": [case.id for case in problem.cases],
        "spread": any(warning.code == "SPREAD" for warning in question.given.warnings),
    }
