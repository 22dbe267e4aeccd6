"""How the demand on each operator goes on."""

from __future__ import annotations

import math

import numpy as np

from ftplan.forecasting.forecast import Forecast, forecast
from ftplan.forecasting.season import windows_a_day
from ftplan.model.topology import FloatArray


def demand_forecasts(demand: FloatArray, window_s: float, horizon_s: float, method: str) -> tuple[Forecast | None, ...]:
    """Return a forecast of the demand on each operator, (O, W) in records/s; None where nothing is known of it.

    Operators whose demand is the same but for a factor, as all after one source, have one forecast times theirs.

    Raises
    ------
    FtplanError
        If the statistics are too short for the method.
    """
    horizon = math.ceil(horizon_s / window_s - 1e-9)
    if method == "none" or horizon < 1:
        return (None,) * len(demand)
    made: dict[bytes, Forecast] = {}
    told: list[Forecast | None] = []
    for series in demand:
        most = 0.0 if np.isnan(series).any() else float(series.max())
        if not most > 0.0:
            told.append(None)
            continue
        shape = np.round(series / most, 12)
        key = shape.tobytes()
        if key not in made:
            made[key] = forecast(shape, horizon, windows_a_day(window_s), method)
        told.append(_times(made[key], most))
    return tuple(told)


def _times(item: Forecast, factor: float) -> Forecast:
    scaled = {name: getattr(item, name) * factor for name in ("mean", "low", "high", "paths")}
    return item._replace(**scaled)
