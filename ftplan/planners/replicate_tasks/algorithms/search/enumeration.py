"""All choices of replicas of a small job, with their best nodes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.placement.assignment import Work, assigned
from ftplan.planners.replicate_tasks.algorithms.placement.room import in_place
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

#: Failing tasks up to which all sets of replicas are looked at, and steps of all assignments to nodes.
TASKS, STEPS = 8, 20_000


def enumerated(problem: ReplicationProblem) -> tuple[IntArray, bool] | None:
    """Return the nodes of the best replicas, (T,), and whether this is proven; None for more than :data:`TASKS` tasks.

    Cost: 2^tasks evaluations and :data:`STEPS` steps. Guarantee: optimal where it says so.
    """
    failing = np.flatnonzero(problem.fails)
    if len(failing) > TASKS:
        return None
    sets = []
    for bits in range(1 << len(failing)):
        replicated = problem.mask(failing[[k for k in range(len(failing)) if bits >> k & 1]].tolist())
        if problem.fits(problem.cost(replicated)):
            sets.append(replicated)
    return best_of(problem, sets, STEPS)


def best_of(
    problem: ReplicationProblem, sets: Iterable[BoolArray], steps: int, budget: Budget | None = None
) -> tuple[IntArray, bool]:
    """Return the nodes of the best of some sets of replicas that find nodes, (T,), and whether all were looked through.

    Sets of the largest value on nodes that never fail come first, of equal ones the cheapest; the search ends with the
    first that can be no better than what was reached. Raises :class:`OutOfTime` where the clock of *budget* runs out.
    """
    work = Work(steps)
    valued = []
    for k, some in enumerate(sets):
        if budget is not None:
            budget.check()
        valued.append((-round(problem.value(some), 12), problem.cost(some), k, some))
    best, value = None, -1.0
    for ceiling, _, _, replicated in sorted(valued, key=lambda item: item[:3]):
        if budget is not None:
            budget.check()
        if best is not None and -ceiling <= value + NOISE:
            break
        node = assigned(problem, replicated, value, work)
        if node is not None:
            best, value = node, problem.value_at(node)
    if best is None:
        best = np.full(problem.tasks, NOWHERE) if problem.max_changes is None else in_place(problem).node
    return best, work.left >= 0
