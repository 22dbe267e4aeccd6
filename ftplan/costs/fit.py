"""Fit the parameters of :func:`ftplan.model.measures.recovery_time.recovery_time` to measured recoveries.

Least squares on the logarithm of predicted over measured time, with the loss soft_l1 at 10 %: an error counts by its
share of the recovery, as recoveries of seconds and of hours stand side by side, and outliers (a second failure, a
slow node) pull less. With a rate of [Geldenhuys2022] held out the median error is 5.2 to 5.5 % whatever the scale is
(2 to 10 %, or plain squares), and 5.4 to 5.9 % without the logarithm. Where it was measured how long tasks stood
still, how old the checkpoint was, or what was processed while catching up, that counts too.

:func:`confidence_limits` fits again to recoveries that are drawn with replacement (bootstrap).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ftplan.costs.unknowns import Sample, Unknowns
from ftplan.model.measures.recovery_time import RecoveryParameters, RecoveryParts, recovery_time
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB

#: The share of draws between the limits.
CONFIDENCE = 0.95
#: Fewer measurements than this say nothing of how they vary.
LEAST_MEASURED = 4

#: Error from which on it counts as that of an outlier.
SCALE = 0.1
#: Most of an interval that is processed again: no checkpoint is older.
MOST_REPLAYED = 1.0
#: A part of a recovery that is a smaller share of the median is none.
NOTHING = 1e-6
#: Where searches begin: each parameter's place between its limits.
_STARTS = ((0.4, 0.4, 0.4), (0.4, 0.8, 0.8), (0.1, 0.6, 0.2))
Values = Mapping[str, float]


def confidence_limits(
    sample: Sample,
    unknown: Unknowns,
    values: Values,
    draws: int,
    seed: int,
    report: Callable[[float], None] = lambda share: None,
) -> Mapping[str, tuple[float, float]]:
    """Return the limits of each parameter that is not fixed, by quantiles of its draws; cost: *draws* fits.

    Whole recoveries and those of which parts were measured are drawn apart. A parameter that rests on fewer than four
    measurements has none.
    """
    timed = np.flatnonzero(sample.timed)
    parts = np.flatnonzero(~sample.timed)
    names = [
        name
        for name in (*unknown.medians, *unknown.fitted)
        if _measured(name, sample, unknown) >= LEAST_MEASURED + (name in unknown.fitted) * (len(unknown.fitted) - 1)
    ]
    if not names or not draws:
        return {}
    drawn: dict[str, list[float]] = {name: [] for name in names}
    for number in range(draws):
        rng = np.random.default_rng([seed, number])
        rows = np.concatenate([rng.choice(some, len(some)) for some in (timed, parts) if len(some)])
        again = sample.take(rows)
        if any(not np.isfinite(getattr(again, name)).any() for name in unknown.medians):
            continue
        found = estimate(again, unknown, values)
        for name in names:
            drawn[name].append(found[name])
        report((number + 1) / draws)
    ends = ((1.0 - CONFIDENCE) / 2, (1.0 + CONFIDENCE) / 2)
    limits = {}
    for name, some in drawn.items():
        if some:
            low, high = np.quantile(some, ends)
            limits[name] = (min(float(low), values[name]), max(float(high), values[name]))
    return limits


def _measured(name: str, sample: Sample, unknown: Unknowns) -> int:
    """Return how many measurements a parameter rests on."""
    if name in unknown.medians:
        return int(np.isfinite(getattr(sample, name)).sum())
    return int(sample.timed.sum())


class _Scales(NamedTuple):
    """What parameters are measured in while they are fitted, so that all are around 1."""

    seconds: float
    rate: float
    mb: float


def estimate(sample: Sample, unknown: Unknowns, start: Values | None = None) -> dict[str, float]:
    """Return a value for each parameter of *unknown*.

    Parameters
    ----------
    sample
        What :func:`ftplan.costs.unknowns.usable` returns, or rows of it.
    start
        Values to search from; None tries several places, and the best of them counts.
    """
    values = {name: float(np.nanmedian(getattr(sample, name))) for name in unknown.medians}
    if "replay_share" in values:
        values["replay_share"] = min(values["replay_share"], MOST_REPLAYED)
    values |= unknown.fixed
    whole = sample.take(sample.timed)
    if not unknown.fitted or not len(whole.recovery_s):
        return values
    from scipy.optimize import least_squares

    scales = _scales(whole)
    low, high = _limits(unknown.fitted, whole, scales)
    begin = (
        [low + (high - low) * np.array([place[i % 3] for i in range(len(low))]) for place in _STARTS]
        if start is None
        else [np.clip(_inward(start, unknown.fitted, scales), low * 1.001 + 1e-9, high * 0.999)]
    )

    halted = whole.stopped_s > 0.0
    shown = shown_capacity(whole) if "capacity_records_s" in unknown.fitted else None

    def errors(x: FloatArray) -> FloatArray:
        tried = {**values, **_outward(x, unknown.fitted, scales)}
        parts = _parts(tried, _as_replayed(tried, whole))
        off = [np.log(np.maximum(parts.total_s, 1e-300) / whole.recovery_s)]
        off.append(np.log(np.maximum(parts.stopped_s[halted], 1e-300) / whole.stopped_s[halted]))
        if shown is not None:
            off.append(np.log([tried["capacity_records_s"] / shown]))
        return np.concatenate(off)

    tried = [least_squares(errors, x, bounds=(low, high), loss="soft_l1", f_scale=SCALE, max_nfev=200) for x in begin]
    best = min(tried, key=lambda one: float(one.cost))
    return values | _outward(best.x, unknown.fitted, scales)


def shown_capacity(sample: Sample) -> float | None:
    """Return the capacity that throughput shows while jobs catch up, None where none does.

    It is a high quantile over the recoveries: who catches up for a short time does not reach it. In a fit it counts as
    one more measurement, which decides where rates are too few or too close to tell a capacity.
    """
    known = sample.capacity[np.isfinite(sample.capacity)]
    return float(np.quantile(known, 0.9)) if len(known) else None


def predict(values: Values, sample: Sample) -> FloatArray:
    """Return the seconds that each recovery of a sample takes, infinite where the job would never catch up.

    What was measured in the course of a recovery, such as the age of the checkpoint, is not looked at.
    """
    return _parts(values, sample).total_s


def _parts(values: Values, sample: Sample) -> RecoveryParts:
    columns = (np.nan_to_num(item) for item in (sample.rate, sample.interval_s, sample.state_bytes))
    return recovery_time(RecoveryParameters(**values), *columns)


def _as_replayed(values: Values, sample: Sample) -> Sample:
    """Return a sample whose intervals are such that their share is what was processed again, where that is known."""
    share = values.get("replay_share", 0.0)
    if share <= 0.0:
        return sample
    known = np.isfinite(sample.replayed_s)
    return sample._replace(interval_s=np.where(known, sample.replayed_s / share, sample.interval_s))


def at_limit(values: Values, unknown: Unknowns, sample: Sample) -> list[str]:
    """Return the fitted parameters that ended at a limit: the recoveries do not tell them."""
    whole = sample.take(sample.timed)
    if not unknown.fitted or not len(whole.recovery_s):
        return []
    scales = _scales(whole)
    low, high = _limits(unknown.fitted, whole, scales)
    x = _inward(values, unknown.fitted, scales)
    near = (x <= low + 1e-3 * (high - low)) | (x >= high - 1e-3 * (high - low))
    return [name for name, ended in zip(unknown.fitted, near, strict=True) if ended]


def _scales(whole: Sample) -> _Scales:
    size = float(whole.state_bytes.max(initial=0.0)) / MB
    return _Scales(float(np.median(whole.recovery_s)), float(whole.rate.max(initial=0.0)) or 1.0, size or 1.0)


def _limits(fitted: tuple[str, ...], whole: Sample, scales: _Scales) -> tuple[FloatArray, FloatArray]:
    """Return the least and largest value of each, as :func:`_inward` scales them."""
    longest = 2.0 * float(whole.recovery_s.max()) / scales.seconds  # searches do not end at a limit itself
    limits = {
        "detection_s": (1e-9, longest),
        "restart_s": (1e-9, longest),
        "capacity_records_s": (1e-6, 0.9999),  # the share of it that the highest rate takes
        "replay_share": (1e-9, MOST_REPLAYED),  # what files hold as more than 0
        "bandwidth_mb_s": (1e-9, longest),  # seconds that the largest state takes
    }
    low, high = zip(*(limits[name] for name in fitted), strict=True)
    return np.array(low), np.array(high)


def _inward(values: Values, fitted: tuple[str, ...], scales: _Scales) -> FloatArray:
    """Return the fitted parameters as the search sees them: smooth, and around 1."""
    seen = {
        "detection_s": lambda v: v / scales.seconds,
        "restart_s": lambda v: v / scales.seconds,
        "capacity_records_s": lambda v: scales.rate / v,
        "replay_share": lambda v: v,
        "bandwidth_mb_s": lambda v: scales.mb / v / scales.seconds,
    }
    return np.array([seen[name](values[name]) for name in fitted])


def _outward(x: FloatArray, fitted: tuple[str, ...], scales: _Scales) -> dict[str, float]:
    meant = {
        "detection_s": lambda v: (v > NOTHING) * v * scales.seconds,
        "restart_s": lambda v: (v > NOTHING) * v * scales.seconds,
        "capacity_records_s": lambda v: scales.rate / v,
        "replay_share": lambda v: v,
        "bandwidth_mb_s": lambda v: scales.mb / (v * scales.seconds),
    }
    return {name: float(meant[name](value)) for name, value in zip(fitted, x.tolist(), strict=True)}
