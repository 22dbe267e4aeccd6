"""The few nodes that matter to each unit at given prices, found in passes over blocks of the cost matrix."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.models.separate import cheapest
from ftplan.planners.checkpoints.rules.limits import Limits

#: Numbers of one block: 4 MB, which stays in a core's cache.
BLOCK = 1 << 19
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
    found = Scan(
        np.zeros((units, problem.copies), dtype=np.int64),
        np.zeros(units),
        np.zeros((units, width), dtype=np.int64),
        np.zeros((units, width)),
    )
    rows: list[int] = []
    if limits is not None and prices is not None:
        rows = [r for r in range(prices.shape[0]) if prices[r].any()]
    step = max(1, BLOCK // max(nodes, 1))

    def block(start: int) -> None:
        here = slice(start, min(start + step, units))
        priced = problem.cost[here].copy()
        for r in rows:
            assert limits is not None
            assert prices is not None
            priced += np.multiply.outer(limits.weight[r, here], prices[r])
        priced[~problem.allowed[here]] = np.inf
        found.copies[here], found.total[here] = cheapest(priced, problem.domain, problem.copies)
        if k:
            part = (
                np.argpartition(priced, k - 1, axis=1)[:, :k]
                if k < nodes
                else np.tile(np.arange(nodes), (len(priced), 1))
            )
            if width > k:  # the cheapest may lie in few domains: the chosen ones come first
                part = np.concatenate([found.copies[here], part], axis=1)
            found.nodes[here] = part
            cost = np.take_along_axis(problem.cost[here], part, axis=1)
            found.cost[here] = np.where(np.take_along_axis(problem.allowed[here], part, axis=1), cost, np.inf)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(block, range(0, units, step)))
    return found


def keeping(found: Scan, problem: CheckpointProblem, limits: Limits, prices: FloatArray, known: IntArray) -> Scan:
    """Return a scan with the *known* copies (U, c) of every unit whose priced cost ties with the cheapest.

    Whole costs tie on many nodes, of which a scan chooses the first: all copies pile up there, and say nothing.
    """
    units = np.arange(len(known))
    cost = np.take_along_axis(problem.cost, known, axis=1)
    total = cost.sum(axis=1)
    for weight, price in zip(limits.weight, prices, strict=True):
        total += weight * price[known].sum(axis=1)
    tied = total <= found.total + 1e-9 * max(problem.largest_cost, 1e-300)
    nodes, costs = found.nodes.copy(), found.cost.copy()
    if problem.copies > 1:  # the chosen ones stand first
        column = np.tile(np.arange(problem.copies), (len(known), 1))
    else:  # in the place of the first candidate that was not chosen, where it is none itself
        here = nodes == known
        spare = np.argmax(nodes != found.copies, axis=1)
        column = np.where(here.any(axis=1), here.argmax(axis=1), spare)[:, None]
    rows = units[tied, None]
    nodes[rows, column[tied]], costs[rows, column[tied]] = known[tied], cost[tied]
    return replace(found, copies=np.where(tied[:, None], known, found.copies), nodes=nodes, cost=costs)
