"""What no schedule falls below in priority × seconds down, with all failures that are stated known.

The best of the bounds in this folder; and what holds where running queries may be preempted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.aggregated import aggregated_bound
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.single_machine import single_machine_bounds
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.step_function import step_function_bound
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.time_expanded import time_expanded_bound
from ftplan.planners.recovery_schedule.algorithms.repair.clairvoyant import clairvoyant_repair
from ftplan.planners.recovery_schedule.algorithms.repair.interval_model import solve_intervals, too_large
from ftplan.planners.recovery_schedule.algorithms.repair.pausing import as_if_paused, freed
from ftplan.planners.recovery_schedule.algorithms.repair.search.list_schedule import list_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import at_failure
from ftplan.planners.recovery_schedule.problem import Host, RecoveryProblem, pauses_are_instant


def loss_with_pauses(problem: RecoveryProblem, budget: Budget, seed: int = 0) -> float | None:
    """Return what no schedule loses less than, in priority × seconds, whoever gives way; None where that is not known.

    A repair in which all that may give way comes back as if it had never stopped is solved or bounded as any other.
    Failures stated for later, after which others may give way, are beyond it.
    """
    if problem.failures:
        return None
    instance = as_if_paused(at_failure(problem))
    if len(instance.task) == 0 or len(instance.host) == 0:
        return None
    if too_large(instance, budget):
        return None
    _, bound, _ = solve_intervals(instance, list_schedule(instance), budget, seed)
    return bound


def all_stopped(problem: RecoveryProblem) -> RecoveryProblem:
    """Return a repair without pauses that loses no more than this one with any: a bound of it is one with them.

    All that may give way at the start has failed too, and comes back there where it stood as if it had never stopped,
    elsewhere as it could. The same problem where that is not so (:func:`pauses_are_instant`).
    """
    if not problem.may_pause or not pauses_are_instant(problem):
        return problem
    state = at_failure(problem)
    paused = state.may_pause
    more = freed(state)
    room = (np.maximum(state.free, 0.0) + more).tolist()  # also where more runs than may it can come back
    for arrival in problem.arrivals:
        room[arrival.host] = problem.hosts[arrival.host].room
    size = np.ones(len(paused)) if problem.state_bytes is None else problem.state_bytes
    local = {(t, h): there for (t, h), there in problem.local_bytes.items() if not paused[t]}
    local |= {(t, int(problem.home[t])): float(size[t]) for t in np.flatnonzero(paused).tolist()}
    replay_s, _ = problem.delays.of_tasks(np.arange(len(paused)))
    pool = problem.capacity
    return replace(
        problem,
        failed=problem.failed | paused,
        home=np.where(paused, -1, problem.home),
        standby=np.where(state.may_drop, -1, problem.standby),
        hosts=tuple(Host(host.id, cores, host.zone) for host, cores in zip(problem.hosts, room, strict=True)),
        capacity=None if pool is None else pool + float(more[: problem.live_hosts].sum()),
        local_bytes=local,
        delays=problem.delays._replace(replay_s=np.where(paused, 0.0, replay_s)),
        may_pause=False,
    )


#: Shares of the time that is left: for prices of all times, for single times, and for
#: sums where restores take time.
STEP_FUNCTION, SOLVED, AGGREGATED = 0.4, 0.2, 0.2
#: Tasks up to which hosts are told apart also where nothing is restored.
MOST_TASKS_APART = 40


@dataclass(frozen=True, eq=False)
class RepairBound:
    """No schedule's Σ priority × seconds down within the horizon is below ``value``.

    From ``at_s[i]`` until the next time at most ``most[i]`` of ``asked[i]`` is up: the priority of the queries that
    have failed by then.
    """

    value: float
    at_s: FloatArray  # (N,) ascending, from 0
    most: FloatArray  # (N,)
    asked: FloatArray  # (N,)


def repair_bound(problem: RecoveryProblem, budget: Budget, seed: int = 0, *, parallel: bool = False) -> RepairBound:
    """Return a bound for the objective ``priority-time``, over all outages, also those of later failures.

    It knows restores and their lanes, replay, which hosts arrive and fail when and what runs there: a clairvoyant's.
    It holds for schedules with and without prefetch, and with *parallel* for those that split tasks.
    """
    repair = clairvoyant_repair(problem, parallel)
    if not repair.epochs or repair.queries.queries == 0:
        none = np.zeros(1)
        return RepairBound(0.0, none, none, none)
    part = budget.part(STEP_FUNCTION)
    steps = step_function_bound(repair, part)
    budget.cut |= part.cut
    lost = steps.lost
    restores = bool((repair.far_s > 0.0).any())
    apart = restores or len(repair.cost) <= MOST_TASKS_APART  # otherwise more is to be had of the sums
    if budget.iterations == 0:
        return RepairBound(lost + repair.beside, steps.at_s, steps.most, steps.asked)
    if apart:
        part = budget.part(SOLVED)
        steps = single_machine_bounds(repair, steps, part, seed)
        budget.cut |= part.cut
    part = budget.part(AGGREGATED if restores else 1.0)
    lost, steps = aggregated_bound(repair, steps, part, seed)
    budget.cut |= part.cut
    if apart:
        lost = max(lost, time_expanded_bound(repair, steps, budget, seed))
    return RepairBound(lost + repair.beside, steps.at_s, steps.most, steps.asked)
