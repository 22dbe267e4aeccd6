"""The points in time at which the interval model counts what is back."""

from __future__ import annotations

import itertools

import numpy as np

from ftplan.model.topology import BoolArray
from ftplan.planners.recovery_schedule.algorithms.repair.exact.interval_start import WholeTimes
from ftplan.planners.recovery_schedule.algorithms.repair.exact.whole_numbers import WholeRepair

#: Points where restores may end at any time, and where all times at which anything can be back are known before.
POINTS, MOST_KNOWN = 40, 150


def known_points(whole: WholeRepair, possible: BoolArray) -> list[int] | None:
    """Return every time at which a query can be whole, None where restores take time or there are too many."""
    if whole.lasts[possible].any():
        return None
    early = np.concatenate((whole.earliest()[possible], whole.floor[whole.floor < whole.end], [0]))
    points = np.unique(early)
    return None if len(points) > MOST_KNOWN else [int(at) for at in points]


def spread_points(whole: WholeRepair, possible: BoolArray, hint: WholeTimes) -> list[int]:
    """Return times by which tasks alone can have caught up, and halves of the largest gaps between them."""
    alone = np.unique(whole.earliest()[possible])
    if len(alone) > POINTS // 2:
        alone = alone[np.unique(np.linspace(0, len(alone) - 1, POINTS // 2).astype(np.int64))]
    points = {0, *(int(at) for at in alone)}
    points.add(max([max(points), *(at for at in hint.whole if at < whole.end)]))
    while 1 < len(points) < POINTS and bool((whole.lasts > 0).any()):
        gap, left = max((later - early, -early) for early, later in itertools.pairwise(sorted(points)))
        if gap <= max(1, whole.end // 1000):
            break
        points.add(-left + gap // 2)
    return sorted(points - {0})
