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
    setup_windows: int | IntArray,
    ready: float,
    otherwise: float,
) -> Alarming:
    """Return the threshold of least backup running time that is ready for the share *ready* of the crossings.

    The threshold lies above *scale_in* and is at most *promote* ([Mudassar2019], figure 12). *scores* is (W, O), or
    (W,) of one operator; NaN is below all. A crossing is a window whose score is above *promote* while that of the
    window before is not; it is ready where the score was at least the threshold in all of the *setup_windows* (a
    number, or (O,)) before it. Crossings in the first of these windows, whose past is not known, are left out.

    Exact: readiness changes only at the least scores before crossings, and backup time falls with the threshold, so
    that the largest threshold that is ready often enough is the best. Without crossings *otherwise* is taken; where no
    threshold is ready often enough, the one that is ready most often. Cost O(W · O · log).
    """
    known = np.where(np.isnan(scores), -np.inf, scores).reshape(len(scores), -1)
    least = _least_before(known, promote, np.broadcast_to(np.asarray(setup_windows), known.shape[1:]))
    candidates = np.unique(np.append(least[(least > scale_in) & (least < promote)], promote))
    front = _front(known, least, candidates, promote)
    if not len(least):
        taken = float(np.clip(otherwise, np.nextafter(scale_in, promote), promote))
        message = f"no score of the statistics crosses {promote:g}: the alarming threshold stays at {taken:g}"
        chosen = AlarmingPoint(taken, 1.0, _backup_share(known, taken, promote))
        return Alarming(chosen, (chosen,), 0, (Warn("NO_CROSSINGS", message),))
    enough = [point for point in front if point.ready >= ready - 1e-12]
    if enough:
        return Alarming(enough[-1], front, len(least))
    chosen = max(front, key=lambda point: (point.ready, -point.backup_share))
    message = (
        f"no alarming threshold above {scale_in:g} is ready for {ready:.0%} of the {len(least)} crossings: "
        f"{chosen.threshold:g} is for {chosen.ready:.0%}"
    )
    return Alarming(chosen, front, len(least), (Warn("RARELY_READY", message),))


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


def _front(scores: FloatArray, least: FloatArray, candidates: FloatArray, promote: float) -> tuple[AlarmingPoint, ...]:
    """Return the candidates with their readiness and backup time; those that save nothing are left out."""
    order = np.sort(least)
    front: list[AlarmingPoint] = []
    for threshold in candidates.tolist():
        ready = 1.0 - float(np.searchsorted(order, threshold)) / max(len(order), 1)
        point = AlarmingPoint(threshold, ready, _backup_share(scores, threshold, promote))
        if front and front[-1].backup_share == point.backup_share:
            continue
        front.append(point)
    return tuple(front)


def _backup_share(scores: FloatArray, threshold: float, promote: float) -> float:
    """Return the share of the windows with a score from the threshold to the promotion's."""
    return float(((scores >= threshold) & (scores <= promote)).mean()) if scores.size else 0.0
