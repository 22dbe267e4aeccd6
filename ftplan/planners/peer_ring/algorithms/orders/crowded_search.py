"""Better orders of zones by swaps of two nodes, for rings on which some zone is too large."""

from __future__ import annotations

from random import Random

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.orders.windows import crowded

#: Places of windows that are looked at in all, and swaps of each node without a gain after which it ends.
WINDOWS, IDLE = 2_000_000, 20
#: Swaps between two looks at the clock.
LOOK = 64


def swapped(order: IntArray, width: int, bound: int, seed: int, budget: Budget) -> IntArray:
    """Return the order (n,) after swaps of nodes that make it no worse, until nothing is left to gain.

    Judged by windows with a zone twice, then by zones in the worst window. Random by *seed*; cost O(n width) each, at
    most WINDOWS in all, and fewer by the budget's iterations.
    """
    total, random = len(order), Random(seed)
    best, value = order.copy(), crowded(order, width)
    rounds = budget.passes(max(WINDOWS // max(total * width, 1), 20 * LOOK))
    varied, gained = min(width - 1, len(np.unique(order))), 0
    for number in range(rounds):
        if (value[0] <= bound and value[1] <= -varied) or number > gained + IDLE * total:
            break
        if number % LOOK == 0 and budget.over():
            break
        first, second = random.randrange(total), random.randrange(total)
        if best[first] == best[second]:
            continue
        best[[first, second]] = best[[second, first]]
        now = crowded(best, width)
        if now <= value:
            value, gained = now, number if now < value else gained
        else:
            best[[first, second]] = best[[second, first]]
    return np.asarray(best)
