"""The few nodes that matter to each unit at given prices, found in passes over blocks of the cost matrix.

Without a limit that couples them the units are independent: each copy takes its cheapest allowed node
(:func:`cheapest`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits


def cheapest(cost: FloatArray, domain: IntArray, copies: int) -> tuple[IntArray, FloatArray]:
    """Return for each unit the *copies* cheapest nodes of different domains, and their total cost.

    *cost* has shape (U, N) and is infinite where no copy may be; ties go to the first node. Taking the cheapest node
    over and over, each time without the domains already used, is optimal: the cheapest nodes of the *copies* cheapest
    domains. Returns shapes (U, copies) and (U,); a total is infinite where there are too few domains. Cost
    O(U N copies).
    """
    units = np.arange(cost.shape[0])
    chosen = np.zeros((cost.shape[0], copies), dtype=np.int64)
    total = np.zeros(cost.shape[0])
    left = cost if copies == 1 else cost.copy()
    single = np.unique(domain).size == domain.size
    for k in range(copies):
        if cost.size == 0:
            break
        best = left.argmin(axis=1)
        chosen[:, k] = best
        total += left[units, best]
        if k + 1 < copies:
            if single:
                left[units, best] = np.inf
            else:
                left[domain[None, :] == domain[best][:, None]] = np.inf
    return chosen, total


def allowed_cost(problem: CheckpointProblem) -> FloatArray:
    """Return the cost matrix with infinity where a copy may not be, shape (U, N)."""
    return np.where(problem.allowed, problem.cost, np.inf)


#: Numbers of one block: 4 MB, which stays in a core's cache.
BLOCK_NUMBERS = 1 << 19
#: Threads that work on blocks; numpy releases the interpreter's lock within each.
THREADS = 2


@dataclass(frozen=True, eq=False)
class Scan:
    """The cheapest copies at some prices, shape (U, c), their priced totals (U,), and candidates.

    ``nodes`` (U, k) holds the k cheapest nodes of each unit, in no order, the chosen ones among them; ``cost`` (U, k)
    what a copy costs there without prices, infinite where it may not be.
    """

    copies: IntArray
    total: FloatArray
    nodes: IntArray
    cost: FloatArray


def scan(problem: CheckpointProblem, limits: Limits | None, prices: FloatArray | None, k: int) -> Scan:
    """Return the cheapest copies and *k* candidates of every unit at *prices* (R, N). Cost O(U N R).

    Blocks are independent and stand in the result by unit, so that the threads change nothing.
    """
    units, nodes = problem.cost.shape
    k = min(k, nodes)
    width = k if problem.copies == 1 or k == 0 else k + problem.copies
    result = Scan(
        np.zeros((units, problem.copies), dtype=np.int64),
        np.zeros(units),
        np.zeros((units, width), dtype=np.int64),
        np.zeros((units, width)),
    )
    rows = () if limits is None or prices is None else zip(limits.weight, prices, strict=True)
    due = [(weight, price) for weight, price in rows if price.any()]
    step = max(1, BLOCK_NUMBERS // max(nodes, 1))

    def block(start: int) -> None:
        here = slice(start, min(start + step, units))
        priced = problem.cost[here].copy()
        for weight, price in due:
            priced += np.multiply.outer(weight[here], price)
        priced[~problem.allowed[here]] = np.inf
        result.copies[here], result.total[here] = cheapest(priced, problem.domain, problem.copies)
        if k == 0:
            return
        near = np.tile(np.arange(nodes), (len(priced), 1))
        if k < nodes:
            near = np.argpartition(priced, k - 1, axis=1)[:, :k]
        if width > k:  # the cheapest may lie in few domains: the chosen ones come first
            near = np.concatenate([result.copies[here], near], axis=1)
        result.nodes[here] = near
        cost = np.take_along_axis(problem.cost[here], near, axis=1)
        result.cost[here] = np.where(np.take_along_axis(problem.allowed[here], near, axis=1), cost, np.inf)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(block, range(0, units, step)))
    return result


def with_incumbent(
    scanned: Scan, problem: CheckpointProblem, limits: Limits, prices: FloatArray, best: IntArray
) -> Scan:
    """Return the scan with the incumbent's copies *best* (U, c) for every unit for which they tie with the cheapest.

    Whole costs tie on many nodes, of which a scan chooses the first: all copies pile up there, and say nothing.
    """
    units = np.arange(len(best))
    cost = np.take_along_axis(problem.cost, best, axis=1)
    total = cost.sum(axis=1)
    for weight, price in zip(limits.weight, prices, strict=True):
        total += weight * price[best].sum(axis=1)
    tied = total <= scanned.total + ROUNDING * max(problem.largest_cost, TINY)
    nodes, costs = scanned.nodes.copy(), scanned.cost.copy()
    if problem.copies > 1:  # the chosen ones stand first
        column = np.tile(np.arange(problem.copies), (len(best), 1))
    else:  # in the place of the first candidate that was not chosen, where it is none itself
        here = nodes == best
        spare = np.argmax(nodes != scanned.copies, axis=1)
        column = np.where(here.any(axis=1), here.argmax(axis=1), spare)[:, None]
    rows = units[tied, None]
    nodes[rows, column[tied]], costs[rows, column[tied]] = best[tied], cost[tied]
    return replace(scanned, copies=np.where(tied[:, None], best, scanned.copies), nodes=nodes, cost=costs)
