"""What no schedule falls below in priority × seconds down, with all failures that are stated known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.aggregated import in_sums
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.by_time import stairs
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.single_machine import solved
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.time_expanded import linked_bound
from ftplan.planners.recovery_schedule.algorithms.repair.clairvoyant import foreseen
from ftplan.planners.recovery_schedule.problem import RecoveryProblem

#: Shares of the time that is left: for prices of all times, for single times, and for
#: sums where restores take time.
STAIRS, SOLVED, IN_SUMS = 0.4, 0.2, 0.2
#: Tasks up to which hosts are told apart also where nothing is restored.
FEW = 40


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


def repair_bound(problem: RecoveryProblem, budget: Budget, *, parallel: bool = False) -> RepairBound:
    """Return a bound for the objective ``priority-time``, over all outages, also those of later failures.

    It knows restores and their lanes, replay, which hosts arrive and fail when and what runs there: a clairvoyant's.
    It holds for schedules with and without prefetch, and with *parallel* for those that split tasks.
    """
    repair = foreseen(problem, parallel)
    if not repair.epochs or repair.queries.queries == 0:
        none = np.zeros(1)
        return RepairBound(0.0, none, none, none)
    part = budget.part(STAIRS)
    steps = stairs(repair, part)
    budget.cut |= part.cut
    lost = steps.lost
    restores = bool((repair.far_s > 0.0).any())
    apart = restores or len(repair.cost) <= FEW  # otherwise more is to be had of the sums
    if budget.iterations == 0:
        return RepairBound(lost + repair.beside, steps.at_s, steps.most, steps.asked)
    if apart:
        part = budget.part(SOLVED)
        steps = solved(repair, steps, part)
        budget.cut |= part.cut
    part = budget.part(IN_SUMS if restores else 1.0)
    lost, steps = in_sums(repair, steps, part)
    budget.cut |= part.cut
    if apart:
        lost = max(lost, linked_bound(repair, steps, budget))
    return RepairBound(lost + repair.beside, steps.at_s, steps.most, steps.asked)
