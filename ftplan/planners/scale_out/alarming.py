"""The alarming threshold: from which score on a backup runs, so that it is ready when its operator is a bottleneck."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray, IntArray


class AlarmingPoint(NamedTuple):
    """What a threshold would have meant in the history.

    Attributes
    ----------
    ready
        Share of the crossings for which the backup was ready, 0 to 1.
    backup_share
        Share of the windows, over all operators, in which a backup stood by: the score was at least the threshold and
        not above the promotion's.
    """

    threshold: float
    ready: float
    backup_share: float


class Alarming(NamedTuple):
    """The threshold that is taken, and what the others would have meant.

    ``front`` is every threshold that is worth a look, ascending: less time with backups costs readiness. ``crossings``
    is how many it is judged on.
    """

    chosen: AlarmingPoint
    front: tuple[AlarmingPoint, ...]
    crossings: int
    warnings: tuple[Warn, ...] = ()


def alarming_threshold(
    scores: FloatArray,
    scale_in: float,
    promote: float,
    setup_windows: float | FloatArray,
    ready: float,
    otherwise: float,
) -> Alarming:
    """Return the threshold of least backup running time that is ready for the share *ready* of the crossings.

    The threshold lies above *scale_in* and is at most *promote* ([Mudassar2019], figure 12). *scores* is (W, O), or
    (W,) of one operator; in a window without one (NaN) that of the window before stays. A crossing is a window whose
    score is above *promote* while that of the window before is not; it is ready where the score was at least the
    threshold in all of the *setup_windows* (a number, or (O,)) before it. Crossings in the first of these windows,
    whose past is not known, are left out.

    Exact: readiness falls only at the least scores before crossings, and backup time falls with the threshold, so that
    the largest threshold that is ready often enough is the best. Without crossings *otherwise* is taken; where no
    threshold is ready often enough, the one that is ready most often, of these the largest. Cost O(n log n) for n
    scores, and O(n) for each point of the front.
    """
    known = _filled(scores.reshape(len(scores), -1))
    setup = np.ceil(np.asarray(setup_windows) - 1e-9).astype(np.int64)
    least = _least_before(known, promote, np.broadcast_to(setup, known.shape[1:]))
    if not len(least):
        taken = float(np.clip(otherwise, np.nextafter(scale_in, promote), promote))
        message = f"no score of the statistics crosses {promote:g}: the alarming threshold is {taken:g}"
        chosen = AlarmingPoint(taken, 1.0, _backup_share(known, taken, promote))
        return Alarming(chosen, (chosen,), 0, (Warn("NO_CROSSINGS", message),))
    front = _front(known, least, scale_in, promote)
    enough = [point for point in front if point.ready >= ready - 1e-12]
    if enough:
        return Alarming(enough[-1], front, len(least))
    chosen = front[0]
    message = (
        f"no alarming threshold above {scale_in:g} is ready for {ready:.0%} of the {len(least)} crossings: "
        f"{chosen.threshold:g} is for {chosen.ready:.0%}"
    )
    return Alarming(chosen, front, len(least), (Warn("RARELY_READY", message),))


def _filled(scores: FloatArray) -> FloatArray:
    """Return scores (W, O) with the last known one where there is none; below all before the first."""
    last = np.maximum.accumulate(np.where(np.isnan(scores), -1, np.arange(len(scores))[:, None]), axis=0)
    return np.where(last < 0, -np.inf, np.take_along_axis(scores, np.maximum(last, 0), axis=0))


def _least_before(scores: FloatArray, promote: float, setup_windows: IntArray) -> FloatArray:
    """Return, of each crossing, the least score while a backup would be set up, inf where that takes no window."""
    above = scores > promote
    windows, operators = np.nonzero(above[1:] & ~above[:-1])
    windows = windows + 1
    return np.array(
        [
            scores[window - setup : window, operator].min(initial=np.inf)
            for window, operator, setup in zip(
                windows.tolist(), operators.tolist(), setup_windows[operators].tolist(), strict=True
            )
            if window >= setup
        ]
    )


def _front(scores: FloatArray, least: FloatArray, scale_in: float, promote: float) -> tuple[AlarmingPoint, ...]:
    """Return the points at which readiness falls, and *promote*; those that save nothing are left out."""
    order = np.sort(least)
    different = np.unique(np.append(scores, scale_in))
    front: list[AlarmingPoint] = []
    for score in np.unique(np.append(order[(order > scale_in) & (order < promote)], promote)).tolist():
        below = max(float(different[np.searchsorted(different, score) - 1]), scale_in)
        threshold = score if score == promote else _roundest(below, score)
        ready = (len(order) - int(np.searchsorted(order, threshold))) / len(order)
        point = AlarmingPoint(threshold, ready, _backup_share(scores, threshold, promote))
        if not front or front[-1].backup_share > point.backup_share:
            front.append(point)
    return tuple(front)


def _roundest(below: float, most: float) -> float:
    """Return the largest number of the fewest decimals that is above *below* and at most *most*."""
    for decimals in range(10):
        number = float(np.floor(most * 10.0**decimals)) / 10.0**decimals
        if below < number <= most:
            return number
    return most


def _backup_share(scores: FloatArray, threshold: float, promote: float) -> float:
    """Return the share of the windows with a score from the threshold to the promotion's."""
    return float(((scores >= threshold) & (scores <= promote)).mean()) if scores.size else 0.0
