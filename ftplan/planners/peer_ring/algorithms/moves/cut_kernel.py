"""The cuts of a circular order of nodes for which the fewest bytes travel: dynamic programming; compiled.

Cut k is where the arc of slot k begins; it ends at cut k + 1, and cut n is cut 0 one turn later. Positions are counted
on over several turns, so that no arc wraps. Slot k costs, for each position of its arc, its worth times how many of its
holders, the nodes of slots k to k + ``walk`` - 1, hold no copy yet.

Shapes: n slots, M positions; bands are (n + 1,) first and last place of each cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.compiled import compiled


@compiled
def bands(sums: Any, limit: Any, low: Any, high: Any) -> Any:
    """Narrow the places of each cut to what limits and one position an arc allow, and return whether any are left.

    *sums* are the loads up to each position, ascending. Cost O(n log M).
    """
    n = len(limit)
    for k in range(n):
        low[k + 1] = max(low[k + 1], low[k] + 1)
        a, b = high[k], high[k + 1]  # the last place within the limit from the last start
        most = sums[a] + limit[k]
        while a < b:
            middle = (a + b + 1) // 2
            if sums[middle] <= most:
                a = middle
            else:
                b = middle - 1
        high[k + 1] = min(high[k + 1], a)
    for k in range(n - 1, -1, -1):
        high[k] = min(high[k], high[k + 1] - 1)
        a, b = low[k], low[k + 1]  # the first place from which the limit reaches the first end
        least = sums[b] - limit[k]
        while a < b:
            middle = (a + b) // 2
            if sums[middle] >= least:
                b = middle
            else:
                a = middle + 1
        low[k] = max(low[k], a)
    left = True
    for k in range(n + 1):
        left = left and low[k] <= high[k]
    return left


@compiled
def cheapest(
    sums: Any, worth: Any, limit: Any, walk: int, begin: Any, atom: Any, low: Any, high: Any, marked: int, came: Any,
    cuts: Any,
) -> Any:  # fmt: skip
    """Return the least cost of cuts within their bands, infinite if there are none, and the cuts in *cuts*.

    Cut n need not be cut 0 one turn later where their bands are wider than one place: the cost is then a lower bound.
    *begin* and *atom* list the positions that the node of each slot holds. *came* takes where each cut came from, as
    many as all bands have places, or is empty: then only the last cut and cut *marked* are known. Cost O(all places).
    """
    n, size = len(limit), len(worth)
    have = np.zeros(size, dtype=np.int64)
    for slot in range(walk):
        for i in range(begin[slot], begin[slot + 1]):
            have[atom[i]] += 1
    widest = 0
    longest = 0
    for k in range(n + 1):
        widest = max(widest, high[k] - low[k] + 1)
    for k in range(n):
        longest = max(longest, high[k + 1] - low[k] + 1)
    best = np.zeros(widest)
    after = np.zeros(widest)
    origin = np.zeros(widest, dtype=np.int64)
    origin_after = np.zeros(widest, dtype=np.int64)
    sum_cost = np.zeros(longest)
    queue = np.zeros(widest, dtype=np.int64)
    worths = np.zeros(widest)
    for i in range(high[0] - low[0] + 1):
        origin[i] = low[0] + i
    kept = 0
    for k in range(n):
        if k > 0:
            for i in range(begin[k - 1], begin[k]):
                have[atom[i]] -= 1
            slot = (k + walk - 1) % n
            for i in range(begin[slot], begin[slot + 1]):
                have[atom[i]] += 1
        base = low[k]
        total = 0.0
        place = base % size
        for i in range(high[k + 1] - base + 1):
            sum_cost[i] = total
            total += worth[place] * (walk - have[place])
            place += 1
            if place == size:
                place = 0
        front, back, a = 0, 0, base
        for b in range(low[k + 1], high[k + 1] + 1):
            while a < b and a <= high[k]:
                value = best[a - base] - sum_cost[a - base]
                while back > front and worths[back - 1] > value:
                    back -= 1
                queue[back], worths[back] = a, value
                back += 1
                a += 1
            while front < back and sums[b] - sums[queue[front]] > limit[k]:
                front += 1
            at = b - low[k + 1]
            if front < back:
                after[at] = worths[front] + sum_cost[b - base]
                origin_after[at] = b if k + 1 == marked else origin[queue[front] - base]
                if len(came):
                    came[kept + at] = queue[front]
            else:
                after[at] = np.inf
                origin_after[at] = base
                if len(came):
                    came[kept + at] = base
        kept += high[k + 1] - low[k + 1] + 1
        best, after = after, best
        origin, origin_after = origin_after, origin
    at = 0
    for i in range(high[n] - low[n] + 1):
        if best[i] < best[at]:
            at = i
    cuts[marked], cuts[n] = origin[at], low[n] + at
    if len(came):
        for k in range(n - 1, -1, -1):
            kept -= high[k + 1] - low[k + 1] + 1
            cuts[k] = came[kept + cuts[k + 1] - low[k + 1]]
    return best[at]
