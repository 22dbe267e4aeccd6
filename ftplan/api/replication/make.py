"""From a problem to a plan of kind ``task-replication``, whichever algorithm answers."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import replace
from functools import partial
from typing import Any

import ftplan
from ftplan.api.replication.budget import ReplicationBudget, parse_budget
from ftplan.api.replication.comparison import random_choices
from ftplan.api.replication.current import Current, current_of
from ftplan.api.replication.figures import body, summary
from ftplan.api.replication.hosts import hosts_of
from ftplan.api.replication.options import BUDGETS, TaskReplicationOptions
from ftplan.api.replication.problem import PreparedReplication, prepare
from ftplan.api.replication.recovery_figures import PRIORITY_TIME
from ftplan.api.replication.then_recover import FollowingRecovery, by_recovery, refuse
from ftplan.errors import FtplanError
from ftplan.metrics.replication_problem import NodeByTask
from ftplan.model.kinds import TASK_REPLICATION
from ftplan.model.plan import Objective, Plan
from ftplan.model.problem import Problem
from ftplan.model.replication_rules import BUDGET, CAPACITY, MEMORY, PRIMARY, ZONE
from ftplan.planners import registry
from ftplan.planners.budget import Budget, now, of_command
from ftplan.planners.replication.changes import ChangeLimits
from ftplan.planners.replication.choice import ReplicationPlanner
from ftplan.planners.replication.curve import curve, curve_budgets
from ftplan.planners.replication.deployment import DeploymentProblem, deployed
from ftplan.planners.replication.planner import ReplicationOptions
from ftplan.planners.result import Result

_log = logging.getLogger(__name__)

#: Part of the time for the plan where a curve follows; seconds that comparisons may take beyond the limit.
PLANNED, COMPARING_S = 0.5, 0.5


def make(problem: Problem, planner: registry.Row, options: TaskReplicationOptions) -> Plan:
    """Plan which tasks get an active replica, and where; see ``ftplan replicate-tasks --help``.

    Raises
    ------
    FtplanError
        If an input is missing, options contradict each other, or a selector names what is not there.
    """
    if options.then_recover:
        refuse(options, planner, problem)
    began, limit_s = now(), options.time_limit_s
    ends = began + limit_s
    settings = ReplicationOptions(
        options.seed, limit_s, options.iterations, began + (PLANNED if options.curve else 1.0) * limit_s
    )
    prepared = prepare(problem, parse_budget(*(getattr(options, name) for name in BUDGETS)), options)
    current = current_of(options.current, problem, prepared.graph)
    changes = _change_limits(options, current)
    choose = ReplicationPlanner.of(planner)
    started = time.perf_counter()
    cluster, known = problem.cluster, current.node if current.known else None
    hosts = None if cluster is None else hosts_of(prepared, cluster, options.max_cpu)
    asked = DeploymentProblem(prepared.problem, hosts, known, changes, options.target)
    following = FollowingRecovery.of(prepared, problem, options) if options.then_recover else None
    plan = deployed if following is None else partial(by_recovery, following=following)
    result = plan(asked, choose, settings)
    seconds = time.perf_counter() - started
    _log.info("%d tasks: %s, planned by %s in %.2f s", prepared.graph.tasks, result.status, planner.name, seconds)
    warnings = (*problem.warnings, *prepared.warnings, *result.warnings)
    points = None
    if options.curve:
        budgets = curve_budgets(prepared.problem)
        reached, cut = curve(prepared.problem, choose, replace(settings, ends=ends), budgets)
        points, warnings = [point._asdict() for point in reached], (*warnings, *cut)
    node, random = result.answer, None
    if node is not None:
        clock = Budget(math.inf, ends=max(ends, now()) + COMPARING_S)
        random, cut = random_choices(_spending(prepared, node), node, settings.seed, clock)
        warnings = (*warnings, *cut)
    figures = {**summary(prepared, current, node), "random": random}
    if following is not None:
        warnings = (*warnings, *following.warnings)
        figures = following.figures(figures, prepared, current.node, node)
    return Plan(
        kind=TASK_REPLICATION.name,
        algorithm=planner.name,
        options=_recorded(options, problem, prepared, current),
        seed=options.seed,
        inputs=problem.inputs if current.file is None else (*problem.inputs, current.file),
        status=result.status,
        reason=result.reason,
        objective=_objective(prepared, result, following),
        rules=_rules(prepared.budget, cluster is not None),
        summary=figures,
        warnings=of_command(warnings, limit_s),
        infeasible=result.infeasible,
        plan=None if node is None else _body(prepared, current, node, points, following),
        tool_version=ftplan.__version__,
    )


def _change_limits(options: TaskReplicationOptions, current: Current) -> ChangeLimits:
    """Return the limits of change, which need the replicas in place and a budget to choose within."""
    limits = ChangeLimits(options.max_changes, options.threshold)
    if limits != ChangeLimits() and not current.known:
        raise FtplanError(
            "--max-changes and --threshold need the replicas now in place: give --current PLAN, or "
            "placement.replicas in the cluster file"
        )
    if limits != ChangeLimits() and options.target is not None:
        raise FtplanError("--target: the fewest replicas that reach it leave no room for --max-changes or --threshold")
    return limits


def _spending(prepared: PreparedReplication, node: NodeByTask) -> PreparedReplication:
    """Return the problem with the budget that random choices may spend: with a target, what the plan takes."""
    if prepared.budget.target is None:
        return prepared
    return replace(prepared, problem=replace(prepared.problem, budget=float(len(node))))


def _body(
    prepared: PreparedReplication,
    current: Current,
    node: NodeByTask,
    points: list[dict[str, Any]] | None,
    following: FollowingRecovery | None,
) -> dict[str, Any]:
    """Return the body of the plan, with the recoveries that follow where it was chosen by them."""
    made = body(prepared, current, node, points)
    return made if following is None else {**made, "recovery": following.schedules(node)}


def _objective(
    prepared: PreparedReplication, result: Result[NodeByTask], following: FollowingRecovery | None
) -> Objective:
    """Return the objective with the value of the plan on its nodes, whatever the planner reports."""
    node = result.answer
    if following is not None:
        return Objective.of(PRIORITY_TIME, "min", None if node is None else following.expected(node), result.bound)
    if prepared.budget.target is not None:
        return Objective.of("replicas", "min", None if node is None else float(len(node)), result.bound)
    value = None if node is None else prepared.problem.value_on(node)
    bound = None if result.bound is None else min(1.0, result.bound)
    return Objective.of(prepared.problem.metric, "max", value, bound)


def _rules(budget: ReplicationBudget, with_cluster: bool) -> tuple[str, ...]:
    placed = (PRIMARY, ZONE, CAPACITY, MEMORY) if with_cluster else ()
    return (BUDGET if budget.target is None else "target", *placed)


def _recorded(
    options: TaskReplicationOptions, problem: Problem, prepared: PreparedReplication, current: Current
) -> dict[str, Any]:
    """Return the options as the plan keeps them: as asked, files by their paths, and what was derived beside."""
    return {
        **options.recorded(),
        "current": None if current.file is None else current.file.path,
        "budget_unit": prepared.budget.unit,
        "budget_limit": None if options.target is not None else prepared.problem.budget,
        "cases": [case.id for case in prepared.problem.cases],
        "spread": any(warning.code == "SPREAD" for warning in problem.warnings),
    }
