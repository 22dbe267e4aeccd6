"""Confidence limits of fitted parameters, by fitting again to recoveries drawn with replacement (bootstrap)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ftplan.costs.fit import Values, estimate
from ftplan.costs.sample import Sample
from ftplan.costs.unknowns import Unknowns

#: The share of draws between the limits.
CONFIDENCE = 0.95
#: Fewer measurements than this say nothing of how they vary.
LEAST_MEASURED = 4


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
