"""Where no query returns: which comes nearest, what it lacks, and the smallest change that brings one back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.failed_queries import failed_queries
from ftplan.model.plan import Infeasible
from ftplan.model.rates import paces
from ftplan.model.tolerances import ROUNDING, SOLVED
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density
from ftplan.planners.recovery_schedule.algorithms.schedule.baselines import random_order
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host, RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.recovery_schedule.warnings import overload
from ftplan.planners.result import Result

#: How finely a fix is stated, in cores, and how many halvings look for it.
GRAIN, HALVINGS = 1e-4, 24
#: When a node that would help is asked for, and how long the planner may take to confirm that it does, in seconds.
HELP_S, CONFIRM_S = 300.0, 5.0
#: Share of the cores that leaves tasks some to catch up with, where all are used.
LESS_CPU = 0.9
#: Seconds that a fix may be looked for in any case, and the share of the time in which its size is halved.
LEAST_S, SEARCH = 1.0, 0.5

Planner = Callable[[RecoveryProblem, RecoveryOptions], Result[Schedule]]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a fix may change, and the planner that it must help."""

    max_cpu: float
    assumed_arrivals: bool  # new nodes that nobody gave: they go when one is given
    with_cluster: bool
    planner: Planner
    arrivals: bool = True  # False: nobody may arrive, as --no-arrivals says
    coordinator_cpu: float = 0.0  # cores that the first node to arrive gives away, after a complete failure


def infeasible(problem: RecoveryProblem, options: RecoveryOptions, setting: Setting) -> Infeasible | None:
    """Say which query is the cheapest, how many cores it lacks, and what to change so that a query returns.

    None where nothing is down at the start. The search for a small change takes ``options.time_limit_s``, and a
    second more where that is nearly over; what is not known to help by then is not offered, but what surely does.
    """
    clock = Budget(max(options.time_limit_s, LEAST_S))
    name, cost = _cheapest(problem)
    if name is None:
        return None
    if float(cost.max(initial=0.0)) > float(problem.cost.max(initial=0.0)):  # it needs one that is never started
        return _overload(problem, setting)
    needed, heaviest = float(cost.sum()), float(cost.max(initial=0.0))
    free = sum(host.room for host in problem.hosts[: problem.live_hosts])
    if problem.capacity is not None:
        free = min(free, problem.capacity)
    most = free + sum(host.room for host in problem.hosts[problem.live_hosts :])
    largest = max((host.room for host in problem.hosts), default=0.0)
    start = f"no query returns within {problem.horizon_s:g} s: the cheapest, {name}, needs {needed:.6g} cores"
    if most < needed - ROUNDING * max(1.0, needed):
        reason = f"{start} and there are {most:.6g} in all: it lacks {needed - most:.6g}"
        return Infeasible(reason, "capacity", most, needed, _more_cores(problem, options, setting, cost, clock))
    if _fits(cost, problem):
        horizon = _horizon(problem, options, setting.planner, clock)
        if horizon is not None and horizon > problem.horizon_s:
            reason = f"{start}, and there are {most:.6g}, but the first one is back after {horizon:g} s"
            return Infeasible(reason, "horizon", problem.horizon_s, horizon, f"--horizon {horizon:g}")
        if _confirmed(problem, options, replace(setting, planner=best_density), clock):
            reason = (
                f"{start}, and there are {most:.6g}, but this algorithm's order of tasks completes no query with them"
            )
            return Infeasible(reason, "algorithm", None, "best-density", "--algorithm best-density")
    reason = (
        f"{start}, and there are {most:.6g}, but not where its tasks fit: the largest needs {heaviest:.6g}, and the "
        f"node with most room has {largest:.6g}"
    )
    return Infeasible(reason, "room on a node", largest, heaviest, _more_cores(problem, options, setting, cost, clock))


def _overload(problem: RecoveryProblem, setting: Setting) -> Infeasible:
    """Name a task that never catches up, and what would let it."""
    never = problem.failed & problem.delays.never(problem.graph.tasks)
    usual, most = paces(problem.graph, problem.cost, 1.0 / setting.max_cpu)
    task = int(np.argmax(np.where(never, usual / most, -1.0)))
    operator, _ = problem.graph.name(task)
    reason = f"no query returns: {overload(problem, task, setting.max_cpu)}, so that it never catches up"
    needed = float(usual[task])
    fix = f"operator {operator}: more tasks, or cpu: {_up(usual[task]):g} if a task of it can use that many cores"
    if usual[task] <= problem.cost[task] * (1.0 + ROUNDING):  # nothing is left beside what it usually takes
        needed, fix = needed / LESS_CPU, f"--max-cpu {LESS_CPU:g}"
    return Infeasible(reason, "pace of a task", float(most[task]), needed, fix)


def _cheapest(problem: RecoveryProblem) -> tuple[str | None, FloatArray]:
    """Return the failed query that costs least and the cost of its failed tasks."""
    queries = failed_queries(problem.graph, problem.failed)
    if queries.queries == 0:
        return None, np.zeros(0)
    weight = queries.weight(problem.to_start)
    need = np.bincount(queries.row, weights=weight[queries.member], minlength=queries.queries)
    cheapest = int(np.argmin(need))
    operator, index = problem.graph.name(int(queries.query[cheapest]))
    members = np.zeros(queries.bundles, dtype=np.bool_)
    members[queries.members(cheapest)] = True
    return f"query:{operator}/{index}", problem.to_start[queries.tasks_of(members)]


def _more_cores(
    problem: RecoveryProblem, options: RecoveryOptions, setting: Setting, cost: FloatArray, clock: Budget
) -> str:
    """Return a capacity, or a node that has to arrive, with which the planner brings a query back."""
    everything = float(problem.cost[problem.failed].sum())
    needed = float(cost.sum())
    if not setting.with_cluster or problem.capacity is not None:
        for capacity in (needed, everything):
            larger = _with_capacity(problem, _up(capacity), setting.with_cluster)
            if _confirmed(larger, options, setting, clock):
                return f"--capacity {_up(capacity):g}"
    base = problem
    if setting.assumed_arrivals:
        base = replace(problem, hosts=problem.hosts[: problem.live_hosts], arrivals=())
    at_s = min(HELP_S, math.floor(problem.horizon_s / 2.0))
    low, high = 0.0, needed
    search = clock.part(SEARCH)
    plain = replace(options, objective="priority", prefetch=False)
    for _ in range(HALVINGS):
        if search.over():
            break
        middle = (low + high) / 2.0
        larger = _with_node(base, middle, at_s)
        if (
            _fits(cost, larger)
            and construct_schedule(larger, plain, random_order, search.started + search.time_limit_s).answer is not None
        ):
            high = middle
        else:
            low = middle
        if high - low < GRAIN:
            break
    room = next(
        (r for r in (high, needed) if _confirmed(_with_node(base, r, at_s), options, setting, clock)), everything
    )
    cores = _up((room + setting.coordinator_cpu) / setting.max_cpu)
    node = f"{{at_s: {at_s:g}, node: {{id: {_free_id(base)}, cpu: {cores:g}}}}}"
    return f"add to the arrivals of the failure file: {node}{'' if setting.arrivals else ', and drop --no-arrivals'}"


def _confirmed(problem: RecoveryProblem, options: RecoveryOptions, setting: Setting, clock: Budget) -> bool:
    """Return whether the planner itself brings a query back in half of the time that is left."""
    if clock.over():
        return False
    limited = replace(options, time_limit_s=min(clock.left_s / 2.0, CONFIRM_S))
    return setting.planner(problem, limited).answer is not None


def _with_capacity(problem: RecoveryProblem, capacity: float, with_cluster: bool) -> RecoveryProblem:
    if with_cluster:
        return replace(problem, capacity=capacity)
    hosts = tuple(replace(host, room=capacity) if host.id is None else host for host in problem.hosts)
    return replace(problem, hosts=hosts)


def _with_node(problem: RecoveryProblem, room: float, at_s: float) -> RecoveryProblem:
    """Return the problem with one more node that arrives."""
    event = ArrivalEvent(at_s, len(problem.hosts), (at_s, at_s))
    arrivals = tuple(sorted((*problem.arrivals, event), key=lambda item: item.at_s))
    return replace(problem, hosts=(*problem.hosts, Host(_free_id(problem), room)), arrivals=arrivals)


def _fits(cost: FloatArray, problem: RecoveryProblem) -> bool:
    """Return whether tasks fit onto all hosts that ever come, the largest first onto the most room."""
    room = np.array([host.room for host in problem.hosts], dtype=np.float64)
    pool = math.inf if problem.capacity is None else problem.capacity
    for need in sorted(cost.tolist(), reverse=True):
        slack = ROUNDING * max(1.0, need)
        usable = room.copy()
        if pool < need - slack:
            usable[: problem.live_hosts] = -1.0
        best = int(np.argmax(usable)) if len(usable) else -1
        if best < 0 or usable[best] < need - slack:
            return False
        room[best] -= need
        pool -= need if best < problem.live_hosts else 0.0
    return True


def _horizon(problem: RecoveryProblem, options: RecoveryOptions, planner: Planner, clock: Budget) -> float | None:
    """Return a horizon, in whole seconds, within which the planner has a query back; None where it never has."""
    limited = replace(options, objective="priority", time_limit_s=min(clock.left_s / 2.0, CONFIRM_S))
    schedule = planner(replace(problem, horizon_s=math.inf), limited).answer
    times = [d.back_s for d in schedule.downtimes if d.back_s is not None] if schedule is not None else []
    return float(math.ceil(min(times))) if times else None


def _up(cores: float) -> float:
    """Round cores up to the grain in which fixes are stated."""
    return round(math.ceil(cores / GRAIN - SOLVED) * GRAIN, 6)


def _free_id(problem: RecoveryProblem) -> str:
    taken = {host.id for host in problem.hosts}
    return next(name for k in range(1, len(taken) + 2) if (name := f"extra-{k}") not in taken)
