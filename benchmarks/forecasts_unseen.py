"""Forecasts of real load curves beside 'same as yesterday', on time that neither the choice nor the fit has seen.

Run from the project's root: ``python benchmarks/forecasts_unseen.py [--quick]``. Prints Markdown.

Methods are chosen and fitted on the first half of a curve. Errors are those of forecasts from every hour of the second
half, one hour, six hours and a day ahead: mean absolute error as a share of the mean. "Less by" is how
much smaller that of ``auto`` is than that of 'same as yesterday', "in range" the share of windows between its low and
its high, which should hold nine of ten.

Houston 2011 (departures by hour) is part of the project, the curves of Gontarska et al. (IC2E 2021, five minutes, MIT)
are not: FTPLAN_LOAD_CURVES names their folder.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from exact_allocation import houston

from ftplan.planners.scale_out.forecasting.forecast import forecaster
from ftplan.planners.scale_out.forecasting.methods import windows_a_day

HOURS = (1, 6, 24)
METHODS = ("seasonal-naive", "trend", "smoothing", "auto")


def curves() -> Iterator[tuple[str, np.ndarray, float]]:
    """Yield the name of a curve, its records by window, and the seconds of one."""
    yield "Houston, departures", houston().sum(axis=1), 3600.0
    folder = os.environ.get("FTPLAN_LOAD_CURVES")
    for file in sorted(Path(folder).glob("*_5min.csv")) if folder else ():
        yield file.stem.removesuffix("_5min"), pd.read_csv(file)["messages"].to_numpy(dtype=float), 300.0


def errors(series: np.ndarray, window_s: float, hours: int, method: str) -> tuple[str, float, float]:
    """Return the method that is taken, its error on the second half, and the share of windows in its range."""
    half, hour = len(series) // 2, round(3600.0 / window_s)
    horizon = hours * hour
    how = forecaster(series, half, horizon, windows_a_day(window_s), method)
    origins = np.arange(half, len(series) - horizon + 1, hour)
    actual = series[origins[:, None] + np.arange(horizon)]
    inside = []
    for origin, later in zip(origins.tolist(), actual, strict=True):
        told = how.at(series[:origin], horizon)
        inside.append(((later >= told.low) & (later <= told.high)).mean())
    off = np.abs(how.mean(origins, horizon) - actual).mean()
    name = how.method + (", daily" if how.season and how.method != "seasonal-naive" else "")
    return name, float(off / actual.mean()), float(np.mean(inside))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the first 2,000 windows of each curve")
    asked = parser.parse_args()
    print("| load | hours ahead | same as yesterday | trend | smoothing | auto | taken | less by | in range |")
    print("|---|--:|--:|--:|--:|--:|---|--:|--:|")
    for name, series, window_s in curves():
        for hours in HOURS:
            part = series[:2000] if asked.quick else series
            rows = {method: errors(part, window_s, hours, method) for method in METHODS}
            taken, error, inside = rows["auto"]
            cells = [name, hours, *(f"{100 * rows[method][1]:.2f} %" for method in METHODS), taken]
            cells += [f"{1.0 - error / rows['seasonal-naive'][1]:.0%}", f"{inside:.0%}"]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
