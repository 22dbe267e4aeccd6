"""How well fits predict recoveries that they have not seen."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ftplan.costs.fit import Values, estimate, predict
from ftplan.costs.sample import Sample, groups
from ftplan.costs.unknowns import Unknowns
from ftplan.model.topology import FloatArray

#: Fewer groups than this leave too little to fit on when one is held out.
LEAST_GROUPS = 3

By = Literal["rate", "interval", "recovery"]


class HeldOut(NamedTuple):
    """Predictions of recoveries, each by a fit on all others of another rate (interval, or on all others).

    ``predicted_s`` has shape (n,): infinite where the fit says that the job never catches up, NaN for rows of the
    sample that are no whole recovery.
    """

    by: By
    predicted_s: FloatArray


def held_out(sample: Sample, unknown: Unknowns, values: Values, read: Sample) -> HeldOut | None:
    """Leave out one rate after the other; where rates are few one interval, else one recovery; None where all are few.

    Searches begin at *values*, those of all recoveries. *read* is the sample with all that was measured, also what no
    parameter depends on. Cost: a fit a group.
    """
    chosen = _grouped(read, sample.timed)
    if chosen is None or not unknown.fitted:
        return None
    by, group = chosen
    predicted = np.full(len(group), np.nan)
    for number in range(int(group.max()) + 1):
        out = group == number
        predicted[out] = predict(estimate(sample.take(~out), unknown, values), sample.take(out))
    return HeldOut(by, predicted)


def _grouped(sample: Sample, timed: NDArray[np.bool_]) -> tuple[By, NDArray[np.int64]] | None:
    by_rate, by_interval = (
        groups(np.where(timed & (column > 0.0), column, np.nan)) for column in (sample.rate, sample.interval_s)
    )
    if by_rate.max(initial=-1) + 1 >= LEAST_GROUPS:
        return "rate", by_rate
    if by_interval.max(initial=-1) + 1 >= LEAST_GROUPS:
        return "interval", by_interval
    single = np.where(timed, np.cumsum(timed) - 1, -1)
    return ("recovery", single) if single.max(initial=-1) + 1 >= LEAST_GROUPS else None


def relative_errors(predicted_s: FloatArray, measured_s: FloatArray) -> FloatArray:
    """Return how far predictions are off, as shares of what was measured; pairs with a NaN are left out."""
    known = ~np.isnan(predicted_s) & ~np.isnan(measured_s)
    return np.asarray(np.abs(predicted_s[known] / measured_s[known] - 1.0))
