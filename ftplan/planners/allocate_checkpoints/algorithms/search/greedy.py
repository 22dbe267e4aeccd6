"""The loop of Algorithm 3: the most sensitive copy first, each on its best node that is within the upper limits."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import scan
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.search.repair import repair
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget, OutOfTime

#: Costs that differ by less than this part of the largest are the same value.
SAME_VALUE = 1e-10


def regret_greedy(problem: CheckpointProblem, limits: Limits, budget: Budget | None = None) -> IntArray:
    """Place every copy in the order of Algorithm 3 and return the copies (U, c).

    R1 to R3 always hold; the upper limits hold unless a copy fits nowhere; lower limits are not looked at.

    Cost: each step places a copy or renews the regret of one whose best node has filled up, O(N + log(c U)) with a
    heap; at most c U (N + 1) steps, in practice a few a copy.

    Source: [Madsen2015], Algorithm 3. Departures:

    1. The order is by second-best minus best, largest first. As printed (best minus second-best, descending) it places
       the least sensitive copies first, against the paper's own explanation.
    2. Line 36 takes the difference to the next rank, as the explanation says, not the value itself.
    3. Nodes that constraint 1 forbids are not ranked. On a failure all full nodes are skipped at once: nodes only
       fill up, so these ranks could never be used again.
    4. Equal values share a rank: the best nodes are tried together, and a failure goes beyond the whole tie set.
    5. At the last rank, where there is no next value, the regret is infinite: nothing else is left for the copy.
    6. A copy placed by the fallback (lines 11 to 14) leaves the list, else the loop never ends. The fallback keeps
       constraint 1; what it breaks of constraint 2 is repaired afterwards.

    Raises :class:`OutOfTime` if the clock of *budget* runs out: copies without a place are no allocation.
    """
    units, c = problem.load.size, problem.copies
    copies = np.full((units, c), -1, dtype=np.int64)
    used = np.zeros(limits.lower.shape)
    held = np.zeros(len(problem.nodes))  # load of the copies on each node: the tie-breaker
    quantum = SAME_VALUE * max(problem.largest_cost, 1e-300)
    best, heap = _first_regrets(problem, quantum)
    heapq.heapify(heap)
    while heap:
        if budget is not None:
            budget.check()
        _, u, k = heapq.heappop(heap)
        free = _free(problem, copies[u], problem.allowed[u])
        open_nodes = free & np.all(used + limits.weight[:, u, None] <= limits.upper, axis=0)
        value = np.round(problem.cost[u] / quantum)
        if not open_nodes.any():  # lines 11 to 14: every rank was tried
            candidates = free
            best[u, k] = value[free].min()
        else:
            candidates = open_nodes
        tied = candidates & (value == best[u, k])
        if tied.any():
            node = int(np.where(tied, held, np.inf).argmin())
            copies[u, k] = node
            used[:, node] += limits.weight[:, u]
            held[node] += problem.load[u]
            continue
        ranked = np.sort(value[open_nodes])[:2]
        best[u, k] = ranked[0]
        regret = ranked[1] - ranked[0] if ranked.size > 1 else np.inf
        heapq.heappush(heap, (-float(regret), u, k))
    return copies


def repaired_greedy(problem: CheckpointProblem, limits: Limits, budget: Budget) -> IntArray | None:
    """Return the copies (U, c) of Algorithm 3 brought within all limits, None where repair gets stuck or time is up."""
    try:
        working = WorkingAllocation.of(problem, limits, regret_greedy(problem, limits, budget))
    except OutOfTime:
        return None
    return working.copies if repair(working, budget) else None


def _first_regrets(problem: CheckpointProblem, quantum: float) -> tuple[FloatArray, list[tuple[float, int, int]]]:
    """Return the best value (U, c), and (second-best minus best, negated, unit, copy) for every copy."""
    cost = scan(replace(problem, copies=1), None, None, 2).cost
    if cost.shape[1] < 2:
        cost = np.pad(cost, ((0, 0), (0, 2 - cost.shape[1])), constant_values=np.inf)
    two: FloatArray = np.round(np.sort(cost, axis=1) / quantum)
    regret = np.where(np.isinf(two[:, 1]), np.inf, two[:, 1] - two[:, 0])
    heap = [(-r, u, k) for u, r in enumerate(regret.tolist()) for k in range(problem.copies)]
    return np.repeat(two[:, :1], problem.copies, axis=1), heap


def _free(problem: CheckpointProblem, mine: IntArray, allowed: BoolArray) -> BoolArray:
    """Return where a further copy of a unit may go by R1 to R3, shape (N,)."""
    nodes = mine[mine >= 0]
    return allowed & ~np.isin(problem.domain, problem.domain[nodes]) if nodes.size else allowed
