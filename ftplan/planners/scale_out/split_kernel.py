"""Contiguous ranges of key groups under two limits, from running sums, (K + 1,); compiled where there are many."""

from __future__ import annotations

from typing import Any

from ftplan.compiled import compiled


@compiled
def reach(sums: Any, start: Any, limit: Any) -> Any:
    """Return the last end of a range from *start* on whose sum is within a limit; *start* where there is none."""
    low, high = start, len(sums) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if sums[middle] - sums[start] <= limit:
            low = middle
        else:
            high = middle - 1
    return low


@compiled
def cover(first: Any, limit: Any, second: Any, other: Any, parts: Any) -> Any:
    """Cover all key groups from the left by ranges that are as long as both limits let them be.

    Returns how many ranges that takes, parts + 1 where *parts* do not do; the largest first sum of these, and the least
    first limit above the present one at which any of them would be longer, inf where none would.
    """
    groups = len(first) - 1
    start, used, largest, higher = 0, 0, 0.0, float("inf")
    while start < groups:
        if used == parts:
            return parts + 1, largest, higher
        by_first, by_second = reach(first, start, limit), reach(second, start, other)
        end = min(by_first, by_second)
        if by_first < by_second:
            higher = min(higher, first[by_first + 1] - first[start])
        if end == start:
            return parts + 1, largest, higher
        largest = max(largest, first[end] - first[start])
        start = end
        used += 1
    return used, largest, higher


@compiled
def least_largest(first: Any, second: Any, other: Any, parts: Any, low: Any, high: Any) -> Any:
    """Return the least limit of first sums with which *parts* ranges do, between *low* and *high*; inf where none does.

    Bisection whose limits step to sums that ranges really have, so that it ends with the exact value [Pinar2004].
    """
    used, largest, _ = cover(first, high, second, other, parts)
    if used > parts:
        return float("inf")
    high = largest
    middle = low
    while low < high:
        used, largest, higher = cover(first, middle, second, other, parts)
        if used <= parts:
            high = largest
        else:
            low = higher
        middle = low + (high - low) / 2
        if not middle < high:
            middle = low
    return high


@compiled
def cuts(first: Any, limit: Any, second: Any, other: Any, parts: Any, ends: Any) -> Any:
    """Put the ends of *parts* ranges within both limits into *ends*, (parts + 1,), first sums as even as can be.

    There has to be such a cover; no range is empty, with at least as many key groups as ranges.
    """
    groups = len(first) - 1
    ends[parts] = groups
    for part in range(parts - 1, 0, -1):  # the earliest ends with which the ranges after them do
        low, high = part, ends[part + 1] - 1
        while low < high:
            middle = (low + high) // 2
            after = ends[part + 1]
            if first[after] - first[middle] <= limit and second[after] - second[middle] <= other:
                high = middle
            else:
                low = middle + 1
        ends[part] = low
    ends[0] = 0
    total = first[groups]
    for part in range(1, parts):
        start = ends[part - 1]
        last = min(reach(first, start, limit), reach(second, start, other), groups - (parts - part))
        earliest = max(ends[part], start + 1)
        even = first[start] + (total - first[start]) / (parts - part + 1)  # what is left, divided evenly
        if total > 0.0:
            end = reach(first, start, even - first[start])
            if end < last and first[end + 1] - even < even - first[end]:
                end += 1
        else:
            end = groups * part // parts
        ends[part] = min(max(end, earliest), last)
    return ends
