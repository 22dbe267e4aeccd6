"""Contiguous arcs of indivisible positions on a circle, for nodes in a fixed order; compiled.

Shapes: M positions, n arcs. ``sums`` is (2M + 1,), sums of the load over two rounds of the circle from position 0;
``cpu`` (n,) is what a node's load is measured by; places go from 0 to 2M.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.compiled import compiled

#: Ends of arcs that are kept at most where positions are too heavy for some nodes.
MOST_ENDS = 2_000_000


@compiled
def farthest(sums: Any, start: Any, most: Any, last: Any) -> Any:
    """Return the last end of an arc from *start*, at most *last*, whose load is at most *most*; *start* if none."""
    step, low = 1, start
    while low + step <= last and sums[low + step] - sums[start] <= most:
        low += step
        step *= 2
    high = min(low + step - 1, last)
    while low < high:
        middle = (low + high + 1) // 2
        if sums[middle] - sums[start] <= most:
            low = middle
        else:
            high = middle - 1
    return low


@compiled
def nearest(sums: Any, end: Any, most: Any, first: Any) -> Any:
    """Return the first start of an arc to *end*, at least *first*, whose load is at most *most*; *end* if none."""
    step, high = 1, end
    while high - step >= first and sums[end] - sums[high - step] <= most:
        high -= step
        step *= 2
    low = max(high - step + 1, first)
    while low < high:
        middle = (low + high) // 2
        if sums[end] - sums[middle] <= most:
            high = middle
        else:
            low = middle + 1
    return high


@compiled
def covered(sums: Any, cpu: Any, left: Any, start: Any, limit: Any, ends: Any) -> Any:
    """Cover the circle from *start* by arcs that are as long as the limit lets them be; return whether that works.

    ``left`` (n + 1,) is the cpu from each arc on. The end of each goes into ``ends`` (n,); arcs may be empty where a
    position is too heavy for a node. At least one position is left for each arc that follows.
    """
    arcs, size = len(cpu), (len(sums) - 1) // 2
    goal = start + size
    place = start
    for arc in range(arcs):
        if sums[goal] - sums[place] > limit * left[arc]:
            return False
        place = farthest(sums, place, limit * cpu[arc], goal - (arcs - 1 - arc))
        ends[arc] = place
    return place == goal


@compiled
def spread(sums: Any, cpu: Any, left: Any, start: Any, limit: Any, ends: Any, least: Any) -> Any:
    """Move the ends of a cover towards fair shares, within the limit; return whether no arc is empty then.

    ``least`` (n,) takes the first end of each arc with which the arcs after it do.
    """
    arcs, size = len(cpu), (len(sums) - 1) // 2
    goal = start + size
    least[arcs - 1] = goal
    for arc in range(arcs - 1, 0, -1):
        least[arc - 1] = nearest(sums, least[arc], limit * cpu[arc], start + arc)
    place, per_cpu = start, (sums[goal] - sums[start]) / left[0]
    for arc in range(arcs - 1):
        most = min(ends[arc], farthest(sums, place, limit * cpu[arc], ends[arc]))
        fair = sums[start] + per_cpu * (left[0] - left[arc + 1])
        low, high = max(least[arc], place + 1), most
        if low > high:
            return False
        while low < high:
            middle = (low + high) // 2
            if sums[middle] < fair:
                low = middle + 1
            else:
                high = middle
        if low > max(least[arc], place + 1) and fair - sums[low - 1] < sums[low] - fair:
            low -= 1
        ends[arc] = low
        place = low
    ends[arcs - 1] = goal
    return place < goal and sums[goal] - sums[place] <= limit * cpu[arcs - 1]


@compiled
def exactly(sums: Any, cpu: Any, start: Any, limit: Any, ends: Any, least: Any) -> Any:
    """Cover the circle from *start* without empty arcs, wherever that can be done; return whether it can.

    Keeps every end that an arc may have between the latest of *ends*, as :func:`covered` found them, and the first with
    which the arcs after it do. Cost O(n + the sum of these spans); where that is above MOST_ENDS it is not tried.
    """
    arcs, size = len(cpu), (len(sums) - 1) // 2
    goal = start + size
    least[arcs - 1] = goal
    total = 1
    for arc in range(arcs - 1, 0, -1):
        least[arc - 1] = nearest(sums, least[arc], limit * cpu[arc], start + arc)
        if least[arc - 1] > ends[arc - 1]:
            return False
        total += ends[arc - 1] - least[arc - 1] + 1
        if total > MOST_ENDS:
            return False
    before = np.empty(total, dtype=np.int64)  # the last start of an arc that ends there, -1 for none
    offset = np.empty(arcs, dtype=np.int64)
    used = 0
    for arc in range(arcs):
        offset[arc] = used
        from_place, latest = (start, start) if arc == 0 else (least[arc - 1], -1)
        for end in range(least[arc], ends[arc] + 1):
            if arc > 0:
                upto = min(end - 1, ends[arc - 1])
                while from_place <= upto:
                    if before[offset[arc - 1] + from_place - least[arc - 1]] >= 0:
                        latest = from_place
                    from_place += 1
            fits = 0 <= latest < end and sums[end] - sums[latest] <= limit * cpu[arc]
            before[used] = latest if fits else -1
            used += 1
    place = goal
    if before[offset[arcs - 1]] < 0:
        return False
    for arc in range(arcs - 1, -1, -1):
        ends[arc] = place
        place = before[offset[arc] + place - least[arc]]
    return True


@compiled
def fits(
    sums: Any, cpu: Any, left: Any, heaviest: Any, smallest: Any, start: Any, limit: Any, ends: Any, least: Any
) -> Any:
    """Return whether arcs from *start*, none of them empty, keep the limit; their ends are in ``ends`` then."""
    if not covered(sums, cpu, left, start, limit, ends):
        return False
    if heaviest <= limit * smallest:  # each node can take any position
        return True
    place, empty = start, False
    for arc in range(len(cpu)):
        empty = empty or ends[arc] == place
        place = ends[arc]
    if not empty or spread(sums, cpu, left, start, limit, ends, least):
        return True
    covered(sums, cpu, left, start, limit, ends)
    return exactly(sums, cpu, start, limit, ends, least)


@compiled
def largest(sums: Any, cpu: Any, start: Any, ends: Any) -> Any:
    """Return the largest load by cpu of arcs that end there."""
    worst, place = 0.0, start
    for arc in range(len(cpu)):
        worst = max(worst, (sums[ends[arc]] - sums[place]) / cpu[arc])
        place = ends[arc]
    return worst


@compiled
def least_largest(sums: Any, cpu: Any, left: Any, heaviest: Any, starts: Any, low: Any, high: Any, noise: Any) -> Any:
    """Return the least largest load by cpu over all arcs that begin at one of *starts*, and where it begins.

    Each start is asked for less than the best so far, and only one that has less is bisected: with the starts in no
    order, that is about log(starts) of them. Limits step to loads that arcs really have, and end with the exact value
    (none is less by more than the share *noise*).

    *low*: no arcs have less. *high*: some arcs may have less than this; where none do, inf and -1 are returned.
    """
    arcs = len(cpu)
    ends, least = np.empty(arcs, dtype=np.int64), np.empty(arcs, dtype=np.int64)
    smallest = cpu.min()
    best, chosen = high, -1
    for start in starts:
        if best <= low * (1.0 + noise):
            break
        if not fits(sums, cpu, left, heaviest, smallest, start, best * (1.0 - noise), ends, least):
            continue
        best, chosen = largest(sums, cpu, start, ends), start
        under = low
        while under < best * (1.0 - noise):
            middle = 0.5 * (under + best)
            if not under < middle < best:
                break
            if fits(sums, cpu, left, heaviest, smallest, start, middle, ends, least):
                best = min(largest(sums, cpu, start, ends), middle)
            else:
                under = middle
    return (best, chosen) if chosen >= 0 else (float("inf"), -1)
