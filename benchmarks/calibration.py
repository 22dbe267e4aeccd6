"""Recoveries of a real job, predicted by fits that had not seen them, and found in its curves.

Run from the project's root: ``python benchmarks/calibration.py [FOLDER] [--quick]``. FOLDER holds ``recoveries.csv``
and ``curves.parquet`` of [Geldenhuys2022] (github dos-group/khaos, data/ysb): columns as in ``examples/recoveries``,
which has the first and is taken without FOLDER; FTPLAN_RECOVERIES names it too. Prints Markdown tables.

Held out is one rate at a time: twelve rates, each at five intervals. Beside the formula stand itself with half an
interval replayed, which is what failures at random give, a plane in rate and interval, and the mean.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import ftplan
from ftplan.costs.curves import find_recoveries
from ftplan.costs.recoveries import read_recoveries
from ftplan.costs.recoveries.tables import ReadingOptions
from ftplan.costs.unknowns import groups
from ftplan.model.recovery_costs import MeasuredRecovery
from ftplan.model.topology import FloatArray

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "recoveries"
#: A failure in a curve and a row of the table are one where their rates differ by less than this share.
SAME_RATE = 0.005


def errors_of(
    fit: Callable[[FloatArray, FloatArray], FloatArray], rows: Sequence[MeasuredRecovery]
) -> list[FloatArray]:
    """Return the relative errors in sample and of one rate held out at a time.

    *fit* takes inputs and measured seconds, and returns coefficients of ``(1, rate, interval)``.
    """
    inputs = np.array([(1.0, row.rate or 0.0, row.interval_s or 0.0) for row in rows])
    measured = np.array([row.recovery_s or 0.0 for row in rows])
    inside = np.abs(inputs @ fit(inputs, measured) / measured - 1.0)
    rate = groups(inputs[:, 1])
    outside = np.zeros(len(rows))
    for number in range(int(rate.max()) + 1):
        out = rate == number
        outside[out] = np.abs(inputs[out] @ fit(inputs[~out], measured[~out]) / measured[out] - 1.0)
    return [inside, outside]


def plane(inputs: FloatArray, measured: FloatArray) -> FloatArray:
    """Fit a plane by least squares of relative errors."""
    return np.asarray(np.linalg.lstsq(inputs / measured[:, None], np.ones(len(measured)), rcond=None)[0])


def mean(inputs: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the mean."""
    return np.array([measured.mean(), 0.0, 0.0])


def predictions(table: Path, draws: int) -> None:
    """Print how well recoveries are predicted."""
    rows = read_recoveries([table], "auto", ReadingOptions()).recoveries
    print("| model | fitted | in sample, median | 90 % | rate held out, median | 90 % |")
    print("|---|---|---:|---:|---:|---:|")
    for name, options in (("the formula", {}), ("the formula, k = 0.5", {"replay_share": 0.5})):
        calibration = ftplan.calibrate(table, draws=draws, **options)
        accuracy = calibration.fitted.accuracy
        assert accuracy is not None
        assert accuracy.held_out is not None
        values = calibration.costs.estimates
        shown = f"D {values['restart_s'].value:.1f} s, k {values['replay_share'].value:.2f}, "
        shown += f"capacity {values['capacity_records_s'].value:,.0f}/s"
        p90 = "–" if accuracy.held_out_p90 is None else f"{accuracy.held_out_p90:.1%}"
        print(f"| {name} | {shown} | {accuracy.median:.1%} | {accuracy.p90:.1%} | {accuracy.held_out:.1%} | {p90} |")
    for name, fit in (("a plane in rate and interval", plane), ("the mean", mean)):
        inside, outside = errors_of(fit, rows)
        shares = [f"{np.quantile(e, q):.1%}" for e in (inside, outside) for q in (0.5, 0.9)]
        print(f"| {name} | | {' | '.join(shares)} |")
    intervals = sorted({row.interval_s or 0.0 for row in rows})
    print(f"\n{len(rows)} recoveries at {len(intervals)} intervals from {intervals[0]:g} to {intervals[-1]:g} s.")
    with table.open(newline="") as file:
        peer = [row for row in csv.DictReader(file) if row.get("recovery_s_actual")]
    if peer:
        off = [abs(float(row["recovery_s"]) / float(row["recovery_s_actual"]) - 1.0) for row in peer]
        print(
            f"\nKhaos predicted {len(off)} further recoveries with a median error of {np.median(off):.1%} (90th "
            f"percentile {np.quantile(off, 0.9):.1%}), at intervals that it chose itself and that were not published: "
            "nobody else can be held to these."
        )


def failures(curves: Path, table: Path) -> None:
    """Print how recoveries that are found in curves compare with those of the table."""
    rows = read_recoveries([table], "auto", ReadingOptions()).recoveries
    print("\n| interval s | failures found | in the table | median off | within 10 % | largest off |")
    print("|---:|---:|---:|---:|---:|---:|")
    every: list[float] = []
    for curve in read_recoveries([curves], "auto", ReadingOptions()).curves:
        found = find_recoveries(curve)
        measured = [row for row in rows if row.interval_s == curve.interval_s]
        off = []
        for one in found:
            near = min(measured, key=lambda row: abs((row.rate or 0.0) - (one.rate or 0.0)))
            assert near.rate is not None
            assert near.recovery_s is not None
            if one.end_s is not None and abs(near.rate / (one.rate or 1.0) - 1.0) < SAME_RATE:
                off.append(abs((one.end_s - one.begin_s) / near.recovery_s - 1.0))
        every += off
        print(_row(f"{curve.interval_s:g}", len(found), off))
    print(_row("all", "", every))


def _row(name: str, found: int | str, off: Sequence[float]) -> str:
    share = np.mean(np.array(off) <= 0.1)
    return f"| {name} | {found} | {len(off)} | {np.median(off):.1%} | {share:.0%} | {max(off):.0%} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("FTPLAN_RECOVERIES", EXAMPLE))
    parser.add_argument("--quick", action="store_true", help="no confidence limits")
    options = parser.parse_args()
    folder = Path(options.folder)
    predictions(folder / "recoveries.csv", 0 if options.quick else 200)
    curves = next((folder / name for name in ("curves.parquet", "curve.parquet") if (folder / name).is_file()), None)
    if curves is None:
        print("\nCurves: not run, the folder has none.")
    else:
        failures(curves, folder / "recoveries.csv")


if __name__ == "__main__":
    main()
