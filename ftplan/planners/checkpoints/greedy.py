"""The loop of Algorithm 3: the most sensitive copy first, each on its best node that is within the upper limits."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.checkpoints.arrays import BoolArray, CheckpointProblem
from ftplan.planners.checkpoints.limits import Limits

#: Costs that differ by less than this part of the largest are the same value.
SAME_VALUE = 1e-10


@dataclass(slots=True)
class _Ranking:
    """The allowed nodes of one unit from best to worst; nodes of one value form a tie set, best names first."""

    nodes: list[int]
    values: list[float]
    start: dict[int, int] = field(default_factory=dict)  # first rank still to be tried, by copy


def regret_greedy(problem: CheckpointProblem, limits: Limits) -> IntArray:
    """Place every copy in the order of Algorithm 3 and return the copies (U, c).

    R1 to R3 always hold; the upper limits hold unless a copy fits nowhere; lower limits are not looked at.

    Cost: each step places a copy or passes a tie set of nodes, at most c U (N + 1) steps of O(log(c U)) with a heap;
    a row is sorted when it is first needed. Source: paper 000, Algorithm 3, with these departures:

    1. the order is by second-best minus best, largest first: as printed (best minus second-best, descending) it places
       the least sensitive copies first, against the paper's own explanation;
    2. line 36 takes the difference to the next rank, as the explanation says, not the value itself;
    3. nodes that constraint 1 forbids from the start are left out of the ranking beforehand;
    4. equal values share a rank: after a failure the next rank is beyond the whole tie set;
    5. at the last rank, where there is no next value, the regret is infinite: nothing else is left for the copy;
    6. a copy that was placed by the fallback (lines 11 to 14) leaves the list, else the loop never ends, and the
       fallback keeps constraint 1; what it breaks of constraint 2 is repaired afterwards.
    """
    units, c = problem.load.size, problem.copies
    copies = np.full((units, c), -1, dtype=np.int64)
    used = np.zeros(limits.lower.shape)
    held = np.zeros(len(problem.nodes))  # load of the copies on each node: the tie-breaker
    quantum = SAME_VALUE * max(float(np.abs(problem.cost).max(initial=0.0)), 1e-300)
    ranking: list[_Ranking | None] = [None] * units
    heap = _first_regrets(problem, quantum)
    heapq.heapify(heap)
    while heap:
        _, u, k = heapq.heappop(heap)
        row = ranking[u]
        if row is None:
            row = ranking[u] = _ranked(problem, u, quantum)
        rank = row.start.get(k, 0)
        free = _free(problem, copies[u], problem.allowed[u])
        if rank >= len(row.nodes):  # every rank was tried
            candidates = [n for n in row.nodes if free[n]]
            least = min(row.values[row.nodes.index(n)] for n in candidates)
            candidates = [n for n in candidates if row.values[row.nodes.index(n)] == least]
            _place(problem, limits, copies, used, held, u, k, min(candidates, key=lambda n: (held[n], n)))
            continue
        end = rank + 1
        while end < len(row.nodes) and row.values[end] == row.values[rank]:
            end += 1
        tied = [n for n in row.nodes[rank:end] if free[n] and _fits(limits, used, u, n)]
        if tied:
            _place(problem, limits, copies, used, held, u, k, min(tied, key=lambda n: (held[n], n)))
            continue
        row.start[k] = end
        regret = np.inf
        if end + 1 < len(row.nodes):
            regret = row.values[end + 1] - row.values[end]
        heapq.heappush(heap, (-regret, u, k))
    return copies


def _first_regrets(problem: CheckpointProblem, quantum: float) -> list[tuple[float, int, int]]:
    """Return (minus regret, unit, copy) of every copy: second-best minus best allowed value."""
    cost = np.where(problem.allowed, problem.cost, np.inf)
    if cost.shape[1] < 2:
        return [(-np.inf, u, k) for u in range(cost.shape[0]) for k in range(problem.copies)]
    two: FloatArray = np.round(np.partition(cost, 1, axis=1)[:, :2] / quantum)
    with np.errstate(invalid="ignore"):
        regret = np.nan_to_num((two[:, 1] - two[:, 0]), nan=np.inf, posinf=np.inf)
    return [(-r, u, k) for u, r in enumerate(regret.tolist()) for k in range(problem.copies)]


def _ranked(problem: CheckpointProblem, unit: int, quantum: float) -> _Ranking:
    """Return the allowed nodes of a unit by (value, name)."""
    nodes = np.flatnonzero(problem.allowed[unit])
    values = np.round(problem.cost[unit, nodes] / quantum)
    order = np.argsort(values, kind="stable")
    return _Ranking(nodes[order].tolist(), values[order].tolist())


def _free(problem: CheckpointProblem, mine: IntArray, allowed: BoolArray) -> BoolArray:
    """Return where a further copy of a unit may go by R1 to R3, shape (N,)."""
    placed = mine[mine >= 0]
    if not placed.size:
        return allowed
    return allowed & ~np.isin(problem.domain, problem.domain[placed])


def _fits(limits: Limits, used: FloatArray, unit: int, node: int) -> bool:
    """Return whether a copy keeps the upper limits of a node (constraint 2)."""
    return bool(np.all(used[:, node] + limits.weight[:, unit] <= limits.upper[:, node]))


def _place(
    problem: CheckpointProblem,
    limits: Limits,
    copies: IntArray,
    used: FloatArray,
    held: FloatArray,
    unit: int,
    copy: int,
    node: int,
) -> None:
    copies[unit, copy] = node
    used[:, node] += limits.weight[:, unit]
    held[node] += problem.load[unit]
