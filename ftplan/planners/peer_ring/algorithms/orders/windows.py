"""Windows of neighbours on a ring: how many have a zone twice, and how few zones the worst has."""

from __future__ import annotations

from math import ceil

import numpy as np

from ftplan.model.topology import IntArray


def distinct_in_windows(order: IntArray, width: int) -> IntArray:
    """Return how many zones there are among each *width* neighbours of a circle of zones (n,), (n,)."""
    if width <= 0:
        return np.zeros(len(order), dtype=np.int64)
    at = (np.arange(len(order))[:, None] + np.arange(width)) % len(order)
    seen = np.sort(order[at], axis=1)
    return np.asarray(1 + (seen[:, 1:] != seen[:, :-1]).sum(axis=1), dtype=np.int64)


def crowded(order: IntArray, width: int) -> tuple[int, int]:
    """Return how many windows have a zone twice, and the number of zones in the worst window, negative: less is better.

    Lexicographic, as the order of a ring is judged.
    """
    distinct = distinct_in_windows(order, width)
    return int((distinct < width).sum()), -int(distinct.min())


def fewest_crowded(sizes: IntArray, width: int) -> int:
    """Return a number of windows with a zone twice that no order of zones of these sizes (Z,) goes below.

    0 exactly where none is needed, and exact for pairs. The largest of three bounds:

    - one zone alone: m of n nodes are e = m width - n too many, and e windows have two of them, or, where e is large,
      the excess stands in one run: width - 2 + ceil(e / (width - 1)), at most n;
    - all zones: each of G other windows has *width* zones, and a zone with m nodes is in at most min(G, m width) of
      them;
    - fewer zones than *width*: all windows.

    Cost O(Z log n).
    """
    total = int(sizes.sum())
    if width <= 1 or total == 0:
        return 0
    largest = int(sizes.max())
    bound = _of_one_zone(total, largest, width)
    low, high = 0, total  # G = low can be; the condition is monotone since each min(G, m width) / G falls
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(middle, sizes * width).sum()) >= width * middle:
            low = middle
        else:
            high = middle - 1
    return max(bound, total - low)


def _of_one_zone(total: int, largest: int, width: int) -> int:
    excess = largest * width - total
    if excess <= 0:
        return 0
    return min(total, excess, width - 2 + ceil(excess / (width - 1)))
