"""From a problem to a plan of kind ``replicate-tasks``, whichever algorithm answers."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.costs.given_costs import GivenCosts
from ftplan.errors import FtplanError
from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.plan import Objective, Plan, Warn
from ftplan.model.problem import Problem
from ftplan.model.topology import IntArray
from ftplan.planners import registry
from ftplan.planners.budget import Budget, now, of_command
from ftplan.planners.making import Made, compared, log_planned
from ftplan.planners.replicate_tasks.algorithms.curve import curve, curve_budgets
from ftplan.planners.replicate_tasks.algorithms.deployment import deployed
from ftplan.planners.replicate_tasks.algorithms.greedy import taken
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions, ReplicationPlanner
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement, in_place
from ftplan.planners.replicate_tasks.body import body
from ftplan.planners.replicate_tasks.budget import parse_budget
from ftplan.planners.replicate_tasks.hosts import Current, current_of, kept_rules, with_hosts
from ftplan.planners.replicate_tasks.metrics import PRIORITY_TIME, summary
from ftplan.planners.replicate_tasks.options import BUDGETS, TaskReplicationOptions
from ftplan.planners.replicate_tasks.prepare import PreparedReplication, limits_of, prepare
from ftplan.planners.replicate_tasks.problem import NodeByTask, ReplicationProblem
from ftplan.planners.replicate_tasks.recovery_cases import refuse
from ftplan.planners.replicate_tasks.rules import BUDGET, PLACED, violations
from ftplan.planners.replicate_tasks.then_recover import FollowingRecovery, by_recovery
from ftplan.planners.result import Result

#: Random choices that a plan is held against.
CHOICES = 20


def random_choices(
    prepared: PreparedReplication, asked: ReplicationProblem, seed: int, clock: Budget
) -> tuple[dict[str, Any] | None, tuple[Warn, ...]]:
    """Return the mean figures of random choices that keep the rules of the plan, a baseline; None without any.

    Each takes tasks that may fail in a random order as long as the budget lasts, with hosts each on a random node where
    it may stand and that has room. A warning says where the clock left out some of them.
    """
    models = prepared.compared
    figures: list[list[float]] = []
    while len(figures) < CHOICES and not clock.over():
        node = _drawn(asked, np.random.default_rng(seed + len(figures)))
        placed = np.flatnonzero(node != NOWHERE)
        names = {} if asked.hosts is None else asked.hosts.names(placed, node[placed])
        figures.append([asked.value(node != NOWHERE, names, model) for model in models.values()])
    text = f"the plan is compared with {len(figures)} of {CHOICES} random choices: the time limit is over"
    warnings = () if len(figures) == CHOICES else (Warn("COMPARISON_CUT", text),)
    if not figures:
        return None, warnings
    means = {name: float(mean) for name, mean in zip(models, np.mean(figures, axis=0), strict=True)}
    return {**means, "choices": len(figures)}, warnings


def _drawn(problem: ReplicationProblem, draw: np.random.Generator) -> IntArray:
    """Return the nodes of randomly chosen replicas, (T,), NOWHERE for none; few changes begin with those in place."""
    order = draw.permutation(np.flatnonzero(problem.fails))
    if problem.hosts is None and problem.max_changes is None:
        return np.where(taken(problem, order), 0, NOWHERE)
    few = problem.max_changes is not None and problem.current is not None
    room = in_place(problem) if few else ReplicaPlacement(problem)
    for task in order[~room.replicated[order]].tolist():
        nodes = room.open_to(task)
        if len(nodes) and problem.fits(room.cost + float(problem.weight[task])):
            room.put(task, int(draw.choice(nodes)))
            if not room.within_changes:
                room.remove(task)
    return room.node


#: Part of the time for the plan where a curve follows; seconds that comparisons may take beyond the limit.
PLANNED, COMPARING_S = 0.5, 0.5


def make(problem: Problem, planner: registry.Row, options: TaskReplicationOptions) -> Plan:
    """Plan which tasks get an active replica, and where; see ``ftplan replicate-tasks --help``.

    Raises :class:`FtplanError` if an input is missing, options contradict each other, or a selector names what is not
    there.
    """
    if options.then_recover:
        refuse(options, planner, problem)
    elif options.costs is not None:
        raise FtplanError("--costs: say what the recovery afterwards takes: give --then-recover too")
    cost_file = GivenCosts.of(options.costs).file
    began, limit_s = now(), options.time_limit_s
    ends = began + limit_s
    settings = ReplicationOptions(
        options.seed, limit_s, options.iterations, began + (PLANNED if options.curve else 1.0) * limit_s
    )
    budget = parse_budget(*(getattr(options, name) for name in BUDGETS), least=options.least)
    prepared = prepare(problem, budget, options)
    current = current_of(options.current, problem, prepared.graph)
    _check_change_limits(options, current)
    choose = ReplicationPlanner.of(planner)
    started = time.perf_counter()
    asked, said = with_hosts(prepared, problem.cluster, current, options)
    following = FollowingRecovery.of(prepared, problem, options) if options.then_recover else None
    if following is None:
        result = deployed(asked, choose, settings, options.target, options.threshold)
    else:
        result, said = by_recovery(asked, choose, settings, following), (*said, *following.warnings)
    log_planned(f"{prepared.graph.tasks} tasks", planner, result.status, started)
    warnings = (*problem.warnings, *prepared.warnings, *said, *result.warnings)
    points = None
    if options.curve:
        points, cut = _curve(asked, choose, replace(settings, ends=ends))
        warnings = (*warnings, *cut)
    node = result.answer
    random, cut = _random(prepared, asked, node, options.seed, ends)
    warnings = (*warnings, *cut)
    written = None if node is None else body(prepared, current, node, points)
    rules, broken = _rules(asked, prepared, problem, written)
    warnings = (*warnings, *broken)
    figures = {**summary(prepared, current, node), "random": random}
    if following is not None:
        figures = following.figures(figures, prepared, current.node, node)
        written = None if node is None or written is None else {**written, "recovery": following.schedules(node)}
    made = Made(
        result=replace(result, rules=rules),
        body=written,
        objective=_objective(prepared, result, following),
        summary=figures,
        warnings=of_command(warnings, limit_s),
        inputs=(*problem.inputs, *(file for file in (current.file, cost_file) if file is not None)),
        derived=_derived(prepared, options, current),
    )
    return made.plan(problem, planner, options)


def _derived(prepared: PreparedReplication, options: TaskReplicationOptions, current: Current) -> dict[str, Any]:
    """Return what a plan records besides its options."""
    return {
        "current": None if current.file is None else current.file.path,
        "budget_unit": prepared.budget.unit,
        "budget_limit": None if options.target is not None else prepared.problem.budget,
        "cases": [case.id for case in prepared.problem.cases],
    }


def _check_change_limits(options: TaskReplicationOptions, current: Current) -> None:
    """Refuse limits of change without the replicas in place, or with a target."""
    limited = options.max_changes is not None or options.threshold is not None
    if limited and not current.known:
        raise FtplanError(
            "--max-changes and --threshold need the replicas now in place: give --current PLAN, or "
            "placement.replicas in the cluster file"
        )
    if limited and options.target is not None:
        raise FtplanError("--target: the fewest replicas that reach it leave no room for --max-changes or --threshold")


def _curve(
    asked: ReplicationProblem, planner: ReplicationPlanner, settings: ReplicationOptions
) -> tuple[list[dict[str, Any]], tuple[Warn, ...]]:
    """Return what every budget buys; with hosts also what it would if every replica found a node that never fails."""
    budgets = curve_budgets(asked)
    points, cut = curve(asked, planner, settings, budgets)
    stated = [point._asdict() for point in points]
    if asked.hosts is not None:
        free, more = curve(replace(asked, hosts=None), planner, settings, budgets[: len(points)])
        cut = tuple(dict.fromkeys((*cut, *more)))
        for point, other in zip(stated, free, strict=False):
            value, bound = max(point["value"], other.value), other.bound
            point["without_placement"] = {"value": value, "bound": bound}
    return stated, cut


def _random(
    prepared: PreparedReplication, asked: ReplicationProblem, node: NodeByTask | None, seed: int, ends: float
) -> tuple[dict[str, Any] | None, tuple[Warn, ...]]:
    """Return what random choices are worth, None where nobody asks or nothing is chosen."""
    if node is None or not compared():
        return None, ()
    clock = Budget(math.inf, ends=max(ends, now()) + COMPARING_S)
    if asked.hosts is not None and asked.max_changes is None:  # only what is in place may stand near its primary
        asked = replace(asked, hosts=replace(asked.hosts, kept=None))
    if prepared.budget.target is not None:  # they may spend what the plan takes
        asked = replace(asked, budget=prepared.spent(node))
    return random_choices(prepared, asked, seed, clock)


def _objective(
    prepared: PreparedReplication, result: Result[NodeByTask], following: FollowingRecovery | None
) -> Objective:
    """Return the objective with the value of the plan on its nodes, whatever the planner reports."""
    node = result.answer
    if following is not None:
        return Objective.of(PRIORITY_TIME, "min", None if node is None else following.expected(node), result.bound)
    if prepared.budget.target is not None:
        value = None if node is None else prepared.spent(node)
        return Objective.of(prepared.budget.measure, "min", value, result.bound)
    value = None if node is None else prepared.problem.value_on(node)
    bound = None if result.bound is None else min(1.0, result.bound)
    return Objective.of(prepared.problem.metric, "max", value, bound)


def _rules(
    asked: ReplicationProblem, prepared: PreparedReplication, problem: Problem, plan: Mapping[str, Any] | None
) -> tuple[tuple[str, ...], tuple[Warn, ...]]:
    """Return the rules that a plan keeps, and a warning about those that it does not.

    Replicas in place may break some; those in their primary's zone may be wanted there.
    """
    rule = BUDGET if prepared.budget.target is None else "target"
    if asked.hosts is None or plan is None:
        return (rule, *(() if asked.hosts is None else PLACED)), ()
    limits = limits_of(prepared, problem.cluster, asked.hosts.max_cpu)
    broken = tuple(r for r in PLACED if next(violations(plan["replicas"], limits, (r,)), None) is not None)
    named, warnings = kept_rules(asked, PLACED, broken)
    return (rule, *named), warnings
