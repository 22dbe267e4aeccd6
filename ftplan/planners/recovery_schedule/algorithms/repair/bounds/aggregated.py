"""A whole repair in cores summed over the hosts: which queries are up by when, as a time-indexed knapsack."""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import SOLVED
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.horizon.ruin_and_recreate import insert_in_order
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed import TimeIndexedKnapsack
from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed_model import (
    MOST_ALONE,
    single_step_bounds,
    solve_time_indexed,
)
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.by_time import Stairs, cores_by, query_up_s, sharper
from ftplan.planners.recovery_schedule.algorithms.repair.clairvoyant import Foreseen

#: Steps at most, and the share of the time for each step alone.
STEPS, ALONE = 40, 0.6


def in_sums(repair: Foreseen, stairs: Stairs, budget: Budget) -> tuple[float, Stairs]:
    """Return a lower bound on what is lost and stairs that are nowhere higher, where nothing fails later.

    Steps are the times from which more can be up: a host is there, or a query's tasks can have caught up. What is up at
    a step stays up; it needs cores, of which each host counts with what these tasks can use. First each step is solved
    alone, then all of them together, both by CP-SAT where they are small. With later failures the stairs are returned.
    """
    many = len(repair.queries.member) > MOST_ALONE
    if repair.problem.failures or repair.problem.may_pause or many or budget.over():
        return stairs.lost, stairs
    problem, at_s = _knapsack(repair)
    ends = np.append(at_s[1:], stairs.end_s)
    most = stairs.most[np.searchsorted(stairs.at_s, ends, side="left") - 1]
    by_density = np.lexsort((np.arange(problem.knapsack.queries), -problem.knapsack.density))
    incumbent = insert_in_order(problem, by_density)
    part = budget.part(ALONE)
    most = single_step_bounds(problem, incumbent, most, part, 0)
    budget.cut |= part.cut
    stairs = sharper(stairs, at_s, most)
    lost = stairs.lost
    _, gained, _ = solve_time_indexed(problem, incumbent, budget, 0, most)
    if gained is not None:
        lost = max(lost, problem.downtime(gained) - SOLVED * problem.downtime(0.0))
    return lost, stairs


def _knapsack(repair: Foreseen) -> tuple[TimeIndexedKnapsack, FloatArray]:
    """Return the choice over all steps, and the time of each, shape (K,)."""
    epoch, queries = repair.epochs[0], repair.queries
    up_s = query_up_s(repair, epoch)
    first = repair.first_runs(epoch)
    first = first[first < epoch.until_s]
    possible = np.unique(up_s[up_s < epoch.until_s])
    possible = possible[:: -(-max(1, len(possible)) // STEPS)]
    at_s = np.unique(np.concatenate(([epoch.from_s], first, possible)))
    capacity = cores_by(repair, epoch, np.append(at_s[1:], epoch.until_s))
    weight = queries.weight(np.where(repair.problem.failed, repair.problem.cost, 0.0))
    release = np.maximum(np.searchsorted(at_s, up_s, side="right") - 1, 0)
    return TimeIndexedKnapsack(
        knapsack=SetUnionKnapsack(repair.priority, weight, queries.start, queries.member, float(capacity[-1])),
        release=np.where(up_s < epoch.until_s, release, len(at_s)).astype(np.int64),
        capacity=capacity,
        gain=np.append(epoch.until_s - at_s, 0.0),
        waits_s=float(at_s[0]),
    ), at_s
