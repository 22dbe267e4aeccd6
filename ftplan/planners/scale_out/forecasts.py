"""How the demand on each operator goes on."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.topology import FloatArray
from ftplan.planners.scale_out.forecasting.forecast import Forecast, forecast
from ftplan.planners.scale_out.forecasting.methods import windows_a_day

#: How many windows ahead demand is foretold at most: paths of all origins are kept.
MOST_AHEAD = 20_000


def demand_forecasts(demand: FloatArray, window_s: float, horizon_s: float, method: str) -> tuple[Forecast | None, ...]:
    """Return a forecast of the demand on each operator, (O, W) in records/s; None where nothing is known of it.

    Operators whose demand is the same but for a factor, as all after one source, have one forecast times theirs.

    Raises
    ------
    FtplanError
        If the statistics are too short for the method, or the horizon has too many windows.
    """
    horizon = math.ceil(horizon_s / window_s - 1e-9)
    if method != "none" and horizon > MOST_AHEAD:
        limit = f"{MOST_AHEAD:,} windows of {window_s:g} s"
        raise FtplanError(
            f"--horizon: {horizon_s:g} s are more than {limit}: give less, or longer --window of statistics"
        )
    if method == "none" or horizon < 1:
        return (None,) * len(demand)
    season = windows_a_day(window_s)
    told: list[Forecast | None] = []
    for series in demand:
        most = 0.0 if np.isnan(series).any() else float(series.max())
        if not most > 0.0:
            told.append(None)
            continue
        shape = np.round(series / most, 12)  # equal where only a factor differs
        told.append(_times(_foretold(shape.tobytes(), horizon, season, method), most))
    return tuple(told)


@lru_cache(maxsize=1024)  # of operators after one source, and of a plan that is judged
def _foretold(series: bytes, horizon: int, season: int, method: str) -> Forecast:
    return forecast(np.frombuffer(series), horizon, season, method)


def _times(item: Forecast, factor: float) -> Forecast:
    scaled = {name: getattr(item, name) * factor for name in ("mean", "low", "high", "paths")}
    return item._replace(**scaled)
