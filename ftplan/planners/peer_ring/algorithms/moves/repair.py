"""Fewer windows with a zone twice, by moving few nodes of an order."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.orders.windows import distinct_in_windows

#: Places on either side to which a node is moved.
REACH = 24


def repaired(zone: IntArray, order: IntArray, walk: int, enough: int, budget: Budget) -> IntArray:
    """Return the order after moves of one node at a time, each of which saves most windows with a zone twice.

    Of moves that save as many the shortest is made, that of the first node in the order. Ends at *enough* windows, or
    where no move saves any. Good, not proven. Cost O(n walk REACH) windows a move.
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
            turned = np.roll(order, REACH - slot)  # the node is at REACH, so that moves near it do not wrap
            for step in range(max(-REACH, -(n - 1) // 2), min(REACH, n // 2) + 1):
                if step == 0:
                    continue
                moved = _moved(turned, min(REACH, n - 1) if n > REACH else REACH % n, step)
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
