"""Estimate parameters, and leave out those on which recoveries turn out not to depend.

That is where fits without them predict recoveries that they have not seen (:func:`held_out`) hardly worse.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ftplan.costs.fit import Values, at_limit, estimate, predict
from ftplan.costs.unknowns import Sample, Unknowns, groups, usable
from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray

#: Fewer groups than this leave too little to fit on when one is held out.
LEAST_GROUPS = 3
#: Recoveries that are held out one by one; of more, each so many-th is held out together, so that fits stay as many.
MOST_GROUPS = 200

By = Literal["rate", "interval", "recovery"]

#: A capacity above this multiple of the highest rate is as good as none.
UNLIMITED = 1000.0
#: What only seems to explain recoveries is left out where without it their held-out error is below this multiple.
HARDLY_WORSE = 2.0


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
    parameter depends on. Cost: a fit a group; single recoveries make :data:`MOST_GROUPS` at most.
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
    single = np.where(timed, (np.cumsum(timed) - 1) % MOST_GROUPS, -1)
    return ("recovery", single) if single.max(initial=-1) + 1 >= LEAST_GROUPS else None


def relative_errors(predicted_s: FloatArray, measured_s: FloatArray) -> FloatArray:
    """Return how far predictions are off, as shares of what was measured; pairs with a NaN are left out."""
    known = ~np.isnan(predicted_s) & ~np.isnan(measured_s)
    return np.asarray(np.abs(predicted_s[known] / measured_s[known] - 1.0))


def selected(sample: Sample, unknown: Unknowns) -> tuple[Sample, Unknowns, dict[str, float]]:
    """Return the usable recoveries, the parameters that they tell, and their values; cost: some fits.

    It estimates, and again without parameters on which nothing turned out to depend.
    """
    while True:
        ready = usable(sample, unknown)
        values = estimate(ready, unknown)
        ended = at_limit(values, unknown, ready)
        gone = {name for name in ended if _without_effect(name, values, ready)}
        if "capacity_records_s" in gone:
            gone.add("replay_share")
        if not gone:
            break
        names = " and ".join(name for name in unknown.fitted if name in gone)
        unknown = _without(unknown, gone, f"{names} cannot be told: recoveries do not get longer with it; left out")
    if "bandwidth_mb_s" in unknown.fitted and any(values[name] == 0.0 for name in ended):
        text = "bandwidth_mb_s is left out: sizes of state would explain all of the time that tasks stood still, and "
        less = _without(unknown, {"bandwidth_mb_s"}, f"{text}held-out recoveries are not off by much more without it")
        fewer = usable(sample, less)
        again = estimate(fewer, less)
        if _held_out_error(fewer, less, again, sample) < HARDLY_WORSE * _held_out_error(ready, unknown, values, sample):
            return fewer, less, again
    return ready, unknown, values


def _without(unknown: Unknowns, gone: Collection[str], text: str) -> Unknowns:
    fitted = tuple(name for name in unknown.fitted if name not in gone)
    return unknown._replace(fitted=fitted, warnings=(*unknown.warnings, Warn("NOT_IDENTIFIED", text)))


def _held_out_error(sample: Sample, unknown: Unknowns, values: Values, read: Sample) -> float:
    """Return the median error on held-out recoveries, 0 where none can be held out."""
    tested = held_out(sample, unknown, values, read)
    return 0.0 if tested is None else float(np.median(relative_errors(tested.predicted_s, sample.recovery_s)))


def _without_effect(name: str, values: Values, sample: Sample) -> bool:
    """Return whether a parameter ended where it takes no time: a capacity or bandwidth without limit."""
    if name == "capacity_records_s":
        return values[name] > UNLIMITED / 2 * float(np.nanmax(sample.rate))
    return name == "bandwidth_mb_s" and values[name] > 1e6
