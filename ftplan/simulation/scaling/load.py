"""The input over time: a shape that is asked for, a table of rates, or what statistics say; cut into batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.topology import FloatArray
from ftplan.simulation.scaling.options import ALTERNATING, DOUBLING, LOADS, STEADY, ScalingSimulationOptions
from ftplan.simulation.scaling.setting import BatchedLoad

#: How long a rate lasts, and how many steps are simulated.
STEP_S, STEPS = {DOUBLING: 500.0, ALTERNATING: 300.0}, {DOUBLING: 3, ALTERNATING: 6}
#: Simulated time of a steady load; batches at least and at most, batches times tasks, and the shortest batch, where
#: nobody says.
STEADY_S, FEW_BATCHES, BATCHES, WORK, BATCH_S = 600.0, 200, 2000, 100_000, 0.1
#: Most batches that are simulated.
MOST_BATCHES = 1_000_000


class RateCurve(NamedTuple):
    """Times, ascending from 0, and the input from each of them on, as a multiple of what a load of 1 is, both (P,).

    ``until_s`` is where it ends.
    """

    at_s: FloatArray
    level: FloatArray
    until_s: float


def curve(
    options: ScalingSimulationOptions, default: str, usual_records_s: float, measured: RateCurve | None
) -> RateCurve:
    """Return the input over time.

    *default*: the load where none is asked for. *usual_records_s*: records per second of all sources at a load of 1.
    *measured*: what statistics say; None without.

    Raises FtplanError if a table cannot be read or is none, or statistics are missing.
    """
    load = options.load or default
    first = 1.0 if options.rate is None else options.rate / usual_records_s
    if load == STEADY:
        return RateCurve(np.zeros(1), np.full(1, first), options.until_s or STEADY_S)
    if isinstance(load, str) and load in STEP_S:
        return _steps(options, load, first)
    given = _table(load, usual_records_s) if not isinstance(load, str) or load not in LOADS else measured
    if given is None:
        raise FtplanError("--load: stats: there are no statistics that tell what sources put out; give --stats")
    return given._replace(until_s=options.until_s or given.until_s)


def batched(
    given: RateCurve, options: ScalingSimulationOptions, usual_records_s: float, random: np.random.Generator | None,
    tasks: int = 1,
) -> BatchedLoad:  # fmt: skip
    """Return the input in batches: each comes when the time that it stands for is over.

    *tasks*: that process each batch: with many there are fewer batches. *random*: draws Poisson arrivals; None: what is
    expected.

    Raises FtplanError if there would be too many.
    """
    batch_s = options.batch_s or _batch_s(given, options.window_s, tasks)
    count = int(np.ceil(given.until_s / batch_s - 1e-9))
    if count > MOST_BATCHES:
        raise FtplanError(f"--batch: {batch_s:g} s makes {count:,} batches; at most {MOST_BATCHES:,} are simulated")
    ends = np.minimum(batch_s * np.arange(count + 1.0), given.until_s)
    seconds = np.diff(integral(given, ends))
    if random is not None:
        seconds = random.poisson(seconds * usual_records_s) / usual_records_s
    return BatchedLoad(ends[1:], seconds, batch_s)


def _batch_s(given: RateCurve, window_s: float, tasks: int) -> float:
    """Return how long a batch is where nobody says: windows hold a whole number of them, or scores would waver."""
    batch_s = max(BATCH_S, given.until_s / min(BATCHES, max(FEW_BATCHES, WORK // tasks)))
    return window_s / np.ceil(window_s / batch_s) if batch_s < window_s else batch_s


def integral(given: RateCurve, at_s: FloatArray) -> FloatArray:
    """Return the input until some times, in seconds of a load of 1."""
    ends = np.append(given.at_s[1:], np.inf)
    lasts = np.clip(at_s[:, None] - given.at_s, 0.0, ends - given.at_s)
    return np.asarray(lasts @ given.level)


def _steps(options: ScalingSimulationOptions, load: str, first: float) -> RateCurve:
    """Return a rate that is doubled every step, or in every other one, each time over a ramp of 20 small steps."""
    step_s = options.step_s or STEP_S[load]
    until_s = options.until_s or STEPS[load] * step_s
    ramp_s = min(options.ramp_s, step_s)
    at_s, level, before = [0.0], [1.0], 1.0
    for step in range(1, int(np.ceil(until_s / step_s))):
        then = 2.0 * before if load == DOUBLING else 1.0 + step % 2
        for part in range(20):
            at_s.append(step * step_s + part * ramp_s / 20.0)
            level.append(before + (then - before) * (part + 0.5) / 20.0)
        at_s.append(step * step_s + ramp_s)
        level.append(then)
        before = then
    return RateCurve(np.array(at_s), first * np.array(level), until_s)


def _table(given: Any, usual_records_s: float) -> RateCurve:
    """Read a table of rates, from a path or a mapping of its columns; the last rate lasts as long as the one before."""
    if isinstance(given, Mapping):
        name, columns = "--load", {key: np.asarray(given.get(key, ()), dtype=np.float64) for key in ("time_s", "rate")}
    else:
        from ftplan.costs.recoveries.tables import load_rates

        name, columns = load_rates(given)
    at_s, rate = columns["time_s"], columns["rate"]
    if not len(at_s) == len(rate) >= 1:
        raise FtplanError(f"{name}: needs columns time_s and rate, equally long, with at least one row")
    if not (
        np.isfinite(at_s).all() and np.isfinite(rate).all() and (np.diff(at_s) > 0.0).all() and (rate >= 0.0).all()
    ):
        raise FtplanError(f"{name}: time_s must rise from row to row, and no rate be below 0")
    last_s = float(at_s[-1] - at_s[-2]) if len(at_s) > 1 else STEADY_S
    return RateCurve(at_s - at_s[0], rate / usual_records_s, float(at_s[-1] - at_s[0]) + last_s)
