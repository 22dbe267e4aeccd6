"""Windows of neighbours on a ring: how many have a zone twice, and how few zones the worst has.

Few nodes are moved so that fewer windows have a zone twice (:func:`less_crowded`).
"""

from __future__ import annotations

from math import ceil

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget

#: Places on either side to which a node is moved.
MOST_PLACES_MOVED = 24


def less_crowded(zone: IntArray, order: IntArray, walk: int, enough: int, budget: Budget) -> IntArray:
    """Return the order after moves of one node at a time, each of which saves most windows with a zone twice.

    Of moves that save as many the shortest is made, that of the first node in the order. Ends at *enough* windows, or
    where no move saves any. Good, not proven. Cost O(n walk MOST_PLACES_MOVED) windows a move.
    """
    order = order.copy()
    while not budget.over():
        crowded = np.flatnonzero(distinct_in_windows(zone[order], walk) < walk)
        if len(crowded) <= enough:
            break
        better = _best_move(zone, order, walk, crowded)
        if better is None:
            break
        order = better
    return order


def _best_move(zone: IntArray, order: IntArray, walk: int, crowded: IntArray) -> IntArray | None:
    """Return the order after the best move of a node in the first crowded window that can be improved on."""
    n = len(order)
    for window in crowded.tolist():
        best: tuple[int, int, IntArray] | None = None
        for slot in ((window + np.arange(walk)) % n).tolist():
            turned = np.roll(order, MOST_PLACES_MOVED - slot)  # so that moves near it do not wrap
            for step in range(max(-MOST_PLACES_MOVED, -(n - 1) // 2), min(MOST_PLACES_MOVED, n // 2) + 1):
                if step == 0:
                    continue
                moved = _moved(
                    turned, min(MOST_PLACES_MOVED, n - 1) if n > MOST_PLACES_MOVED else MOST_PLACES_MOVED % n, step
                )
                saved = len(crowded) - int((distinct_in_windows(zone[moved], walk) < walk).sum())
                if saved > 0 and (best is None or (saved, -abs(step)) > best[:2]):
                    best = (saved, -abs(step), moved)
        best = best or _best_guest(zone, order, walk, window, len(crowded))
        if best is not None:
            return best[2]
    return None


def _best_guest(
    zone: IntArray, order: IntArray, walk: int, window: int, crowded: int
) -> tuple[int, int, IntArray] | None:
    """Return the order after the best move of a node from anywhere into a window, with what it saves; None without."""
    best: tuple[int, int, IntArray] | None = None
    n = len(order)
    for gap in range(1, walk):
        turned = np.roll(order, -((window + gap) % n))  # the gap is before the first
        for at in range(n - walk + 1):
            moved = np.concatenate([turned[at : at + 1], turned[:at], turned[at + 1 :]])
            saved = crowded - int((distinct_in_windows(zone[moved], walk) < walk).sum())
            if saved > 0 and (best is None or saved > best[0]):
                best = saved, -at, moved
    return best


def _moved(order: IntArray, at: int, step: int) -> IntArray:
    rest = np.delete(order, at)
    return np.insert(rest, (at + step) % len(order), order[at])


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
