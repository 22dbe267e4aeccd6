"""When an operator becomes a bottleneck, if demand goes on as foretold."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.scale_out.forecasting.forecast import HIGH, LOW, Forecast
from ftplan.planners.scale_out.forecasting.methods import LINES, windows_a_day

#: Which inputs of the inference grow with demand: cpu and data size, not memory between them.
GROWING = (0, 2)
#: Demands between none and the largest one foretold for which scores are computed, and windows that are looked at.
STEPS, MOST_LOOKED_AT = 1000, 288


class Crossing(NamedTuple):
    """When a score is reached.

    Attributes
    ----------
    promote_in_s
        Seconds from the end of the statistics: the time before which one of twenty courses crosses, half of them,
        nineteen of twenty. None within it: so many do not within the horizon; None: fewer than one of twenty do.
    prepare_in_s
        Seconds until it has to be prepared to be ready even for the earliest; 0 is now.
    """

    promote_in_s: tuple[float | None, float | None, float | None] | None
    prepare_in_s: float | None


def crossing(
    inputs: FloatArray,
    demand: FloatArray,
    ahead: Forecast,
    score: Callable[[FloatArray], FloatArray],
    promote: float,
    window_s: float,
    setup_s: float,
) -> Crossing:
    """Return when the score of an operator's worst task goes above *promote*.

    *inputs* (W, T, 3) are cpu, memory and data size of its tasks in percent, *demand* (W,) what came in; *score* maps
    inputs (..., 3) to scores (...). A score above *promote* in the last window is reached at once.

    Along each path of the forecast cpu and data size of the worst task grow with demand, clipped at 100; memory stays.
    What a record takes of them is that of the worst task of each window of the last day, the median by records: one
    window, at night, says little. Without any demand in the last day the score stays as it is. Demands are rounded to
    a thousandth of the largest one foretold: about 20 ms whatever the horizon.
    """
    if (score(inputs[-1]) > promote).any():
        return Crossing((0.0, 0.0, 0.0), 0.0)
    day = min(max(windows_a_day(window_s), LINES[0]), len(inputs))
    last = slice(-day, None, -(-day // MOST_LOOKED_AT))
    task = _worst_task(inputs[last], demand[last], score)
    if task is None:
        return Crossing(None, None)
    most = float(ahead.paths.max())
    grown = np.broadcast_to(task, (STEPS + 1, len(task))).copy()
    for column in GROWING:
        grown[:, column] = np.clip(task[column] * np.linspace(0.0, most, STEPS + 1), 0.0, 100.0)
    step = np.rint(ahead.paths / (most or 1.0) * STEPS).astype(int)
    above = (score(grown) > promote)[step]
    first = np.where(above.any(axis=1), (above.argmax(axis=1) + 1.0) * window_s, np.inf)
    times = [float(np.quantile(first, share, method="inverted_cdf")) for share in (LOW, 0.5, HIGH)]
    if times[0] == np.inf:
        return Crossing(None, None)
    low, median, high = (None if time == np.inf else time for time in times)
    return Crossing((low, median, high), max(times[0] - setup_s, 0.0))


def _worst_task(inputs: FloatArray, demand: FloatArray, score: Callable[[FloatArray], FloatArray]) -> FloatArray | None:
    """Return cpu and data size by record, and memory, (3,), of the worst task; None without any demand."""
    windows = np.flatnonzero(np.nan_to_num(demand) > 0.0)
    if not len(windows):
        return None
    inputs, demand = inputs[windows], demand[windows]
    order = np.lexsort((np.nansum(inputs, axis=-1), np.nan_to_num(score(inputs), nan=-1.0)))
    worst = np.take_along_axis(inputs, order[:, -1:, None], axis=1)[:, 0]
    for column in GROWING:
        worst[:, column] /= demand
    return np.array([_median(column, demand) for column in worst.T])


def _median(values: FloatArray, weights: FloatArray) -> float:
    """Return the weighted median of the known values, NaN where there is none."""
    order = [item for item in np.argsort(values).tolist() if np.isfinite(values[item])]
    if not order:
        return float("nan")
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2.0)])
