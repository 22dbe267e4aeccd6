"""The alarming threshold: from which score on a backup runs, so that it is ready when its operator is a bottleneck."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.measures.measured_tasks import carried
from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray, IntArray

#: Points of the front that are shown, and decimals of thresholds.
POINTS, DECIMALS = 120, 9


class AlarmingPoint(NamedTuple):
    """What a threshold would have meant in the history."""

    threshold: float
    ready: float  # share of the crossings for which the backup was ready, 0 to 1
    #: Share of the windows, over all operators, in which a backup stood by: the score was at least the threshold and
    #: not above the promotion's
    backup_share: float


class Alarming(NamedTuple):
    """The threshold that is taken, and what the others would have meant.

    ``front`` are the thresholds that are worth a look, ascending: less time with backups costs readiness. Of more than
    120 these are as many, spread evenly. ``crossings`` is how many they are judged on.
    """

    chosen: AlarmingPoint
    front: tuple[AlarmingPoint, ...]
    crossings: int
    warnings: tuple[Warn, ...] = ()


def alarming_threshold(
    scores: FloatArray,
    scale_in: float,
    promote: float,
    setup_windows: float | FloatArray | IntArray,
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
    scores.
    """
    history = _history(scores, promote, setup_windows)
    if not len(history.least):
        taken = float(np.clip(otherwise, np.nextafter(scale_in, promote), promote))
        message = f"no score of the statistics crosses {promote:g}: the alarming threshold is {taken:g}"
        chosen = history.at(taken)
        return Alarming(chosen, (chosen,), 0, (Warn("NO_CROSSINGS", message),))
    front = _front(history, scale_in, promote)
    enough = [point for point in front if point.ready >= ready - 1e-12]
    chosen = enough[-1] if enough else front[0]
    shown = _spread(front, chosen)
    if enough:
        return Alarming(chosen, shown, len(history.least))
    message = (
        f"no alarming threshold above {scale_in:g} is ready for {ready:.0%} of the {len(history.least)} crossings: "
        f"{chosen.threshold:g} is for {chosen.ready:.0%}"
    )
    return Alarming(chosen, shown, len(history.least), (Warn("RARELY_READY", message),))


def alarming_point(
    scores: FloatArray, threshold: float, promote: float, setup_windows: float | FloatArray | IntArray
) -> AlarmingPoint:
    """Return what a threshold would have meant, see :func:`alarming_threshold`; ready for all where nothing crosses."""
    return _history(scores, promote, setup_windows).at(threshold)


class _History(NamedTuple):
    """What thresholds are judged on."""

    least: FloatArray  # ascending, of each crossing the least score while a backup would be set up
    standing: FloatArray  # ascending, the scores that are not above the promotion's
    windows: int  # how many scores there are in all

    def at(self, threshold: float) -> AlarmingPoint:
        """Return what a threshold would have meant; cost O(log n)."""
        ready = len(self.least) - int(np.searchsorted(self.least, threshold))
        standing = len(self.standing) - int(np.searchsorted(self.standing, threshold))
        return AlarmingPoint(
            threshold, ready / len(self.least) if len(self.least) else 1.0, standing / max(self.windows, 1)
        )


def _history(scores: FloatArray, promote: float, setup_windows: float | FloatArray | IntArray) -> _History:
    known = carried(scores.reshape(len(scores), -1))
    known[np.isnan(known)] = -np.inf  # nothing is known before the first: below every threshold
    setup = np.ceil(np.asarray(setup_windows) - 1e-9).astype(np.int64)
    least = _least_before(known, promote, np.broadcast_to(setup, known.shape[1:]))
    return _History(np.sort(least), np.sort(known[known <= promote]), known.size)


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


def _front(history: _History, scale_in: float, promote: float) -> tuple[AlarmingPoint, ...]:
    """Return the points at which readiness falls, and *promote*; those that save nothing are left out."""
    least = history.least[(history.least > scale_in) & (history.least < promote)]
    different = np.append(scale_in, history.standing[history.standing > scale_in])
    front: list[AlarmingPoint] = []
    for score in np.unique(np.append(least, promote)).tolist():
        below = float(different[np.searchsorted(different, score) - 1])
        point = history.at(score if score == promote else _roundest(below, score, scale_in))
        if not front or front[-1].backup_share > point.backup_share:
            front.append(point)
    return tuple(front)


def _spread(front: tuple[AlarmingPoint, ...], chosen: AlarmingPoint) -> tuple[AlarmingPoint, ...]:
    """Return at most so many points of a front as are shown, with both ends and the one that is taken."""
    at = {*np.linspace(0, len(front) - 1, min(len(front), POINTS - 1)).astype(int).tolist(), front.index(chosen)}
    return tuple(front[position] for position in sorted(at))


def _roundest(below: float, most: float, least: float) -> float:
    """Return the largest number of the fewest decimals that is above *below* and at most *most*.

    Of scores that differ by rounding errors alone both are reached, unless that is not above *least*.
    """
    for decimals in range(DECIMALS + 1):
        number = float(np.floor(most * 10.0**decimals)) / 10.0**decimals
        if below < number <= most:
            return number
    return number if least < number <= most else most
