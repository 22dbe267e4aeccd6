"""When an operator becomes a bottleneck, if demand goes on as foretold."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ftplan.forecasting.forecast import HIGH, LOW, Forecast
from ftplan.model.topology import FloatArray

#: The inputs of the inference that grow with demand; memory, between them, keeps what it has.
CPU, MEMORY, DATA = 0, 1, 2


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
    demand: float,
    ahead: Forecast,
    score: Callable[[FloatArray], FloatArray],
    promote: float,
    window_s: float,
    setup_s: float,
) -> Crossing:
    """Return when the score of an operator's worst task goes above *promote*.

    *inputs* (3,) are cpu, memory and data size of that task in the last window, in percent, *demand* what came in
    then. Along each path of the forecast cpu and data size grow with demand, clipped at 100; memory stays. *score* maps
    inputs (..., 3) to scores (...). A score that is above it already is reached at once. Without demand nothing can be
    scaled: then the score stays as it is.
    """
    if float(score(inputs)) > promote:
        return Crossing((0.0, 0.0, 0.0), 0.0)
    if not demand > 0.0:
        return Crossing(None, None)
    grown = np.broadcast_to(inputs, (*ahead.paths.shape, 3)).copy()
    for column in (CPU, DATA):
        grown[..., column] = np.clip(inputs[column] * ahead.paths / demand, 0.0, 100.0)
    above = score(grown) > promote
    first = np.where(above.any(axis=1), (above.argmax(axis=1) + 1.0) * window_s, np.inf)
    times = [float(np.quantile(first, share, method="inverted_cdf")) for share in (LOW, 0.5, HIGH)]
    if times[0] == np.inf:
        return Crossing(None, None)
    low, median, high = (None if time == np.inf else time for time in times)
    return Crossing((low, median, high), max(times[0] - setup_s, 0.0))
