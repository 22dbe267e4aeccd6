"""Find failures in the curves of a job, and how long it took to recover from each.

A failure is a fall in throughput with a jump in lag (in latency, where there is no lag); one signal alone will do
where there is no other. The job has recovered when lag and throughput are back at the level before, and stay there.
Times begin with the first sign in the curves, which is later than the failure itself where metrics are sampled
rarely.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ftplan.model.recovery_costs import Curve
from ftplan.model.topology import FloatArray

#: Seconds before a moment whose median is the level of a signal, and those right before it that are left out.
LEVEL_S, GUARD_S = 300.0, 30.0
#: Throughput below this share of its level has fallen; lag or latency above this multiple has jumped.
FALLEN, JUMPED = 0.5, 3.0
#: A fall or jump of less is a slip of a scrape; signs of one failure lie at most so far apart.
LEAST_S, TOGETHER_S = 5.0, 60.0
#: Back to normal: throughput within this share of its level, lag below this multiple of it, for so long.
NEAR, CALM, STEADY_S = 0.05, 1.5, 30.0
#: A recovery that takes longer is given up, and failures are looked for after that.
GIVEN_UP_S = 7200.0
#: Standard deviations of a quiet signal that are normal.
DEVIATIONS = 5.0
#: A job that catches up for this long shows its capacity, as this quantile of its throughput.
SHOWN_S, SHOWN_QUANTILE = 60.0, 0.9
#: Samples of the grid on which curves are looked at: a gap of years does not make it endless.
MOST_SAMPLES = 5_000_000

Mask = NDArray[np.bool_]


class FoundRecovery(NamedTuple):
    """A failure and the recovery from it."""

    #: ``begin_s``, ``end_s``: first sign of the failure; when the job had caught up, None where the curve ends before
    begin_s: float
    end_s: float | None
    rate: float | None  # median throughput before the failure, None without throughput
    failures: int  # 1, or more where the job failed again before it had caught up
    capacity: float | None  # records per second while it caught up, None where that was too short to tell


class _Signal(NamedTuple):
    """A signal on an even grid, and its level at each moment."""

    value: FloatArray
    level: FloatArray


def find_recoveries(curve: Curve) -> list[FoundRecovery]:
    """Return the failures in a curve in the order of time; cost O(n log n) for n samples.

    A failure in the first 90 seconds is not seen: there is no level yet to compare with.
    """
    step = _step(curve.time_s)
    if step is None:
        return []
    grid = np.arange(curve.time_s[0], curve.time_s[-1] + step / 2, step)
    throughput, lag, latency = (
        None if values is None else _on_grid(curve.time_s, values, grid, step)
        for values in (curve.throughput, curve.lag, curve.latency)
    )
    waiting = lag or latency
    jumps = [_runs(item.value > JUMPED * item.level) for item in (lag, latency) if item is not None]
    signs = _signs(throughput, jumps, step)
    found: list[FoundRecovery] = []
    free = 0
    for sign in signs:
        if sign < free:
            found[-1] = found[-1]._replace(failures=found[-1].failures + 1)
            continue
        begin = _first_sign(sign, jumps, round(TOGETHER_S / step))
        end = _end(begin, sign, throughput, waiting, step)
        found.append(_found(grid, begin, end, throughput, step))
        free = sign + round(GIVEN_UP_S / step) if end is None else end
    return found


def _step(time_s: FloatArray) -> float | None:
    """Return the seconds between samples, None where there are too few for a level."""
    if len(time_s) < 5:
        return None
    return max(float(np.median(np.diff(time_s))), float(time_s[-1] - time_s[0]) / MOST_SAMPLES)


def _on_grid(time_s: FloatArray, values: FloatArray, grid: FloatArray, step: float) -> _Signal:
    """Return a signal by its last sample at each moment; what is older than a minute or five steps is missing."""
    import pandas as pd

    known = np.isfinite(values)
    if not known.any():
        return _Signal(np.full(len(grid), np.nan), np.full(len(grid), np.nan))
    times, samples = time_s[known], values[known]
    last = np.searchsorted(times, grid + 1e-6 * step, side="right") - 1
    fresh = (last >= 0) & (grid - times[np.maximum(last, 0)] <= max(TOGETHER_S, 5 * step))
    value = np.where(fresh, samples[np.maximum(last, 0)], np.nan)
    width = max(round(LEVEL_S / step), 5)
    level = pd.Series(value).rolling(width, min_periods=max(width // 5, 3)).median()
    return _Signal(value, level.shift(max(round(GUARD_S / step), 1)).to_numpy())


def _runs(mask: Mask) -> list[tuple[int, int]]:
    """Return the stretches [begin, end) in which a mask holds."""
    edges = np.diff(np.concatenate(([False], mask, [False])).astype(np.int8))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))


def _signs(throughput: _Signal | None, jumps: list[list[tuple[int, int]]], step: float) -> list[int]:
    """Return where failures show, ascending.

    What waits jumps, and throughput falls near by; where samples are too rare to show a fall, throughput at least
    leaves its level. The one of the two is enough where the other is not measured.
    """
    long_enough, together = LEAST_S / step, round(TOGETHER_S / step)
    if throughput is None:
        return [begin for begin, end in jumps[0] if end - begin >= long_enough] if jumps else []
    falls = [begin for begin, end in _runs(throughput.value < FALLEN * throughput.level) if end - begin >= long_enough]
    if not jumps:
        return falls
    away = (throughput.value < FALLEN * throughput.level) | (throughput.value > (1.0 + 2 * NEAR) * throughput.level)
    signs: set[int] = set()
    for begin, end in jumps[0]:
        if end - begin < long_enough:
            continue
        near = falls[bisect_left(falls, begin - together) : bisect_right(falls, end + together)]
        if near:
            signs.update(near)
        elif away[max(0, begin - together) : end + together].any():
            signs.add(begin)
    return sorted(signs)


def _first_sign(sign: int, jumps: list[list[tuple[int, int]]], reach: int) -> int:
    """Return where a failure shows first: the begin of jumps that go on at the sign, at most *reach* before it."""
    first = sign
    for runs in jumps:
        at = bisect_left(runs, first, key=itemgetter(1))
        if at < len(runs) and runs[at][0] <= first:
            first = max(runs[at][0], sign - reach)
    return first


def _end(begin: int, sign: int, throughput: _Signal | None, waiting: _Signal | None, step: float) -> int | None:
    """Return where a recovery ends: from where on all is as before, for long enough."""
    calm = np.ones(0, dtype=np.bool_)
    for signal, high in ((throughput, False), (waiting, True)):
        if signal is None:
            continue
        before, level = _before(signal, begin, step)
        spread = 1.4826 * float(np.nanmedian(np.abs(before - level))) if np.isfinite(before).any() else 0.0
        after = signal.value[sign : sign + round(GIVEN_UP_S / step)]
        if high:
            normal = after <= max(CALM * level, level + DEVIATIONS * spread)
        else:
            normal = np.abs(after - level) <= max(NEAR * level, DEVIATIONS * spread)
            if waiting is not None:  # what comes in may have changed meanwhile: then lag says whether it is catching up
                later = _ahead(after, step)
                normal |= np.abs(after - later) <= NEAR * later
        calm = normal if not len(calm) else calm & normal
    steady = max(round(STEADY_S / step), 2)
    return next((sign + a for a, b in _runs(calm) if a > 0 and b - a >= steady), None)


def _before(signal: _Signal, begin: int, step: float) -> tuple[FloatArray, float]:
    """Return a signal shortly before a moment, and its level there."""
    value = signal.value[max(0, begin - round((LEVEL_S + GUARD_S) / step)) : max(1, begin - round(GUARD_S / step))]
    return value, float(np.nanmedian(value)) if np.isfinite(value).any() else float(signal.level[begin])


def _ahead(values: FloatArray, step: float) -> FloatArray:
    """Return the level of the time after each moment."""
    import pandas as pd

    width = max(round(LEVEL_S / step), 5)
    return pd.Series(values[::-1]).rolling(width, min_periods=3).median().to_numpy()[::-1]


def _found(grid: FloatArray, begin: int, end: int | None, throughput: _Signal | None, step: float) -> FoundRecovery:
    ended = None if end is None else float(grid[end])
    if throughput is None:
        return FoundRecovery(float(grid[begin]), ended, None, 1, None)
    _, rate = _before(throughput, begin, step)
    ahead = throughput.value[begin:end]
    ahead = ahead[ahead > (1.0 + NEAR) * rate]
    shows = len(ahead) * step >= SHOWN_S
    return FoundRecovery(
        float(grid[begin]), ended, rate, 1, float(np.quantile(ahead, SHOWN_QUANTILE)) if shows else None
    )
