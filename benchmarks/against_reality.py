"""Simulated beside measured recoveries of real Flink jobs: time to recover, and the curve of the lag.

Run from the project's root: ``python benchmarks/against_reality.py [FOLDER] [--quick] [--drill DIR]``. FOLDER holds
``recoveries.csv`` and ``curves.parquet`` of [Geldenhuys2022] (github dos-group/khaos, data/ysb); FTPLAN_RECOVERIES
names it too, and without it the one curve of ``examples/recoveries`` stands in. ``--drill`` names what
``benchmarks/flink_drill.py`` has written (default: ``benchmarks/flink-drill``). Prints Markdown tables.

Of each interval every other rate calibrates; recoveries at the others are held out and simulated, batch by
batch, by the simulator of ``ftplan simulate recovery`` in its mode ``task-local``: the job stops, starts again, goes
back to its last checkpoint, replays and catches up.
"""

from __future__ import annotations

import argparse
import csv
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

import ftplan
from ftplan.costs.curves import find_recoveries
from ftplan.costs.recoveries import read_recoveries
from ftplan.costs.recoveries.tables import ReadingOptions
from ftplan.model.recovery_costs import Curve
from ftplan.model.topology import FloatArray
from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.recovery.modes import MODES
from ftplan.simulation.recovery.run import run_recovery
from ftplan.simulation.recovery.series import query_series
from ftplan.simulation.recovery.setting import (
    NodeFailure,
    RecoverySetting,
    RecoveryStart,
    RecoveryTiming,
    SimulatedNode,
)

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "recoveries"
DRILL = ROOT / "benchmarks" / "flink-drill"
#: A failure in a curve and a row of the table are one where their rates differ by less than this share.
SAME_RATE = 0.005
#: Parallelism of the measured job.
PARALLELISM = 4
#: The lag is normal again below this multiple of its level before, or below so many seconds' worth of records.
CALM, CALM_S = 1.5, 0.5
#: Seconds of source time in a batch; tasks of these jobs have room for two between them, as little as keeps both busy.
BATCH_S = 0.2


@dataclass(frozen=True)
class Measured:
    """A recovery of the table with the failure in the curves that belongs to it; lag above its level before."""

    interval_s: float
    rate: float
    recovery_s: float
    peak_lag: float
    lag_area: float


class Costs(NamedTuple):
    """What is simulated with.

    Attributes
    ----------
    stopped_s
        Until tasks run again.
    replay_share
        Age of the last checkpoint, as a share of the interval.
    capacity
        Records per second of the job once it is warm.
    warming_s, warming_pace
        So long after the restart it runs at this share of that.
    seen_s
        From when the job has caught up until its metrics say so.
    lag_unit
        Part of all waiting records that the metric of the lag shows (one partition of several).
    """

    stopped_s: float
    replay_share: float
    capacity: float
    warming_s: float
    warming_pace: float
    seen_s: float
    lag_unit: float


class Simulated(NamedTuple):
    """A simulated recovery: seconds until the lag is normal, the lag's peak and area above its level before."""

    recovery_s: float
    peak_lag: float
    lag_area: float


def measured_recoveries(folder: Path) -> list[Measured]:
    """Return the rows of the table whose failure is found in the curves, once."""
    rows = read_recoveries([folder / "recoveries.csv"], "auto", ReadingOptions()).recoveries
    curves = next(folder / name for name in ("curves.parquet", "curve.parquet") if (folder / name).is_file())
    measured = []
    for curve in read_recoveries([curves], "auto", ReadingOptions()).curves:
        free = [row for row in rows if row.interval_s == curve.interval_s]
        for found in find_recoveries(curve):
            near = min(free, key=lambda row: abs((row.rate or 0.0) - (found.rate or 0.0)), default=None)
            if (
                near is None
                or found.end_s is None
                or found.failures > 1
                or near.rate is None
                or near.recovery_s is None
            ):
                continue
            if abs(near.rate / (found.rate or 1.0) - 1.0) >= SAME_RATE:
                continue
            free.remove(near)
            peak, area = _lag(curve, found.begin_s, found.end_s)
            measured.append(Measured(curve.interval_s or 0.0, near.rate, near.recovery_s, peak, area))
    return measured


def _lag(curve: Curve, begin_s: float, end_s: float) -> tuple[float, float]:
    """Return peak and area of the lag above its level before a failure."""
    assert curve.lag is not None
    first, last = np.searchsorted(curve.time_s, (begin_s - 5.0, end_s + 60.0))
    level = float(np.nanmedian(curve.lag[max(0, first - 300) : first]))
    above = np.nan_to_num(curve.lag[first:last] - level)
    return float(above.max()), float(np.maximum(above, 0.0).sum())


def as_calibrated(half: Sequence[Measured]) -> Costs:
    """Return what ``ftplan calibrate`` fits to the times; the lag's unit is fitted to the peaks afterwards."""
    values = _fitted((item.recovery_s, item.rate, item.interval_s) for item in half)
    stopped = values.get("detection_s", 0.0) + values["restart_s"]
    # recoveries at one interval do not tell the replay from the stop
    costs = Costs(stopped, values.get("replay_share", 0.0), values["capacity_records_s"], 0.0, 1.0, 0.0, 1.0)
    rate, interval, _, peak, _ = _columns(half)
    return costs._replace(lag_unit=float(np.median(peak / (rate * (costs.replay_share * interval + stopped)))))


def _fitted(rows: Iterable[tuple[float, float, float]]) -> dict[str, float]:
    """Return what ``ftplan calibrate`` fits to rows of recovery seconds, rate and interval."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "half.csv")
        with table.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("recovery_s", "records_s", "checkpoint_interval_s"))
            writer.writerows(rows)
        costs = ftplan.calibrate(table, draws=0).costs
    return {name: item.value for name, item in costs.estimates.items()}


def with_lag(half: Sequence[Measured]) -> Costs:
    """Fit to times, peaks and areas of the lag together: then stop, warming up and late metrics can be told apart.

    The metrics of this job say nothing while it stands still: its curves begin when it runs again.
    """
    rate, interval, time, peak, area = _columns(half)

    def off(x: FloatArray) -> FloatArray:
        costs = Costs(*x)
        left = costs.capacity - rate
        waiting = rate * (costs.replay_share * interval + costs.stopped_s)
        warm = np.maximum(waiting + (rate - costs.warming_pace * costs.capacity) * costs.warming_s, 0.0)
        took = costs.stopped_s + costs.warming_s + warm / left + costs.seen_s
        under = (waiting + warm) / 2.0 * costs.warming_s + warm**2 / 2.0 / left
        shown = costs.lag_unit * np.stack((np.maximum(waiting, warm) / peak, under / area))
        return np.concatenate((took / time, *shown)) - 1.0

    fastest = float(rate.max())
    start = (30.0, 0.9, 1.5 * fastest, 30.0, 0.6, 30.0, 0.1)
    low, high = (0.0, 0.0, 1.02 * fastest, 0.0, 0.3, 0.0, 1e-6), (300.0, 1.0, 20.0 * fastest, 300.0, 1.0, 300.0, 1.0)
    scale = (10.0, 0.1, fastest, 10.0, 0.1, 10.0, 0.1)
    fit = least_squares(off, start, bounds=(low, high), x_scale=scale, loss="soft_l1", f_scale=0.1)
    return Costs(*fit.x.tolist())


def _columns(rows: Sequence[Measured]) -> FloatArray:
    return np.array([(r.rate, r.interval_s, r.recovery_s, r.peak_lag, r.lag_area) for r in rows]).T


def job(rate: float, capacity: float) -> StreamJob:
    """Return a job of sources and of tasks that are the bottleneck, all to all."""
    n = PARALLELISM
    sender, receiver = np.divmod(np.arange(n * n), n)
    order = np.lexsort((sender, receiver))
    return StreamJob(
        rate=np.repeat((rate / n, 0.0), n),
        sender=sender[order],
        receiver=receiver[order] + n,
        share=np.full(n * n, 1.0 / n),
        record_time_s=np.repeat((0.1 * n / capacity, n / capacity), n),
        threads=np.ones(2 * n),
        output=np.repeat((False, True), n),
        deterministic=np.ones(2 * n, dtype=np.bool_),
        state_bytes=np.zeros(2 * n),
        batch_s=BATCH_S,
    )


def simulated(rate: float, interval_s: float, age_s: float, costs: Costs, from_s: float = 0.0) -> Simulated:
    """Kill one of the processes of a job, and let the job restart; the lag counts from a time after the kill on."""
    n = PARALLELISM
    until = 60.0 + 3.0 * (costs.stopped_s + costs.warming_s + age_s) * costs.capacity / (costs.capacity - rate)
    killed = (0, n)
    setting = RecoverySetting(
        job=job(rate, costs.capacity),
        nodes=tuple(SimulatedNode(f"n{i}", 2.0) for i in range(n)),
        home=np.tile(np.arange(n), 2),
        failures=(NodeFailure(0.0, frozenset(), np.array(killed)),),
        starts=tuple(RecoveryStart(0.0, task, 0) for task in killed),
        mode=MODES["task-local"],
        timing=RecoveryTiming(restart_s=costs.stopped_s, warming_s=costs.warming_s, warming_pace=costs.warming_pace),
        checkpoint_s=interval_s,
        checkpoint_age_s=age_s,
        queue_batches=2,
        warm_up_s=2.0 * interval_s + 10.0,
        until_s=until,
    )
    series = query_series(run_recovery(setting))
    before = series.time_s <= 0.0
    level = float(np.median(series.lag_records[before]))
    lag, time = series.lag_records[~before], series.time_s[~before]
    waiting = np.flatnonzero(lag > max(CALM * level, level + CALM_S * rate))
    if not len(waiting) or waiting[-1] + 1 == len(lag):
        raise RuntimeError(f"{rate:g} records/s: the simulated job had not caught up after {until:g} s")
    above = np.maximum(lag - level, 0.0)
    step = float(time[1] - time[0])
    return Simulated(
        float(time[waiting[-1] + 1]) + costs.seen_s,
        costs.lag_unit * float(above[time >= from_s].max()),
        costs.lag_unit * float(above[time >= from_s].sum()) * step,
    )


def khaos(folder: Path, quick: bool) -> None:
    """Print simulated beside measured recoveries of the benchmark job of Khaos."""
    half, rest = _halves(measured_recoveries(folder))
    rest = rest[:: 5 if quick else 1]
    print("| fitted to | stopped s | replay share | capacity /s | warming up s | at pace | seen late s | lag shown |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    fits = {"times (`ftplan calibrate`)": as_calibrated(half), "times, peak and area of the lag": with_lag(half)}
    for name, costs in fits.items():
        shown = f"{costs.stopped_s:.1f} | {costs.replay_share:.2f} | {costs.capacity:,.0f} | {costs.warming_s:.1f}"
        shown += f" | {costs.warming_pace:.2f} | {costs.seen_s:.1f} | 1/{1.0 / costs.lag_unit:.1f}"
        print(f"| {name} | {shown} |")
    print(f"\n{len(half)} recoveries fitted, {len(rest)} others simulated. Errors, median and 90th percentile:\n")
    print("| fitted to | recovery time | 90 % | mean | peak lag | 90 % | mean | area of the lag | 90 % | mean |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    tables = []
    for name, costs in fits.items():
        outcomes = [
            simulated(r.rate, r.interval_s, costs.replay_share * r.interval_s, costs, costs.stopped_s) for r in rest
        ]
        tables.append(outcomes)
        _, _, *truth = _columns(rest)
        off = np.array(outcomes).T / np.array(truth) - 1.0
        cells = [f"{np.median(abs(e)):.1%} | {np.quantile(abs(e), 0.9):.1%} | {e.mean():+.1%}" for e in off]
        print(f"| {name} | {' | '.join(cells)} |")
    print(
        "\n| interval s | records/s | measured s | simulated s | error | peak lag | simulated | error | area | error |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for row, found in zip(rest, tables[-1], strict=True):
        cells = (
            f"{row.interval_s:g} | {row.rate:,.0f} | {row.recovery_s:.0f} | {found.recovery_s:.0f} | "
            f"{found.recovery_s / row.recovery_s - 1.0:+.0%} | {row.peak_lag:,.0f} | {found.peak_lag:,.0f} | "
            f"{found.peak_lag / row.peak_lag - 1.0:+.0%} | {row.lag_area:,.0f} | "
            f"{found.lag_area / row.lag_area - 1.0:+.0%}"
        )
        print(f"| {cells} |")


def _halves(rows: Sequence[Measured]) -> tuple[list[Measured], list[Measured]]:
    """Return the recoveries at every other rate of each interval, and the others."""
    halves: tuple[list[Measured], list[Measured]] = ([], [])
    for interval in sorted({row.interval_s for row in rows}):
        for number, row in enumerate(sorted((r for r in rows if r.interval_s == interval), key=lambda r: r.rate)):
            halves[number % 2].append(row)
    return halves


def drill(folder: Path) -> None:
    """Print simulated beside measured recoveries of a drill on one machine, with the curves of the lag."""
    with (folder / "recoveries.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    half, rest = rows[::2], rows[1::2]
    with tempfile.TemporaryDirectory() as place:
        fitted = Path(place, "fitted.csv")
        with fitted.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(half)
        values = {name: item.value for name, item in ftplan.calibrate(fitted, draws=0).costs.estimates.items()}
    stopped = values.get("detection_s", 0.0) + values.get("restart_s", 0.0)
    costs = Costs(stopped, values["replay_share"], values["capacity_records_s"], 0.0, 1.0, 0.0, 1.0)
    print(
        f"\nA drill of {len(rows)} kills of a real Flink job, fitted on every other one by `ftplan calibrate`: stopped "
        f"{stopped:.1f} s, replay share {costs.replay_share:.2f}, capacity {costs.capacity:,.0f}/s. The others are "
        "simulated twice: as it can be said before a kill, and with the stop and the moment that chance gave it.\n"
    )
    before, known = "time | peak lag | area", "time | peak lag | area"
    print(f"| kill | records/s | interval s | into it s | measured s | before: {before} | known: {known} |")
    print(f"|{'---:|' * 11}")
    errors = []
    for row in rest:
        kill = {key: float(value or "nan") for key, value in row.items() if key != "taskmanager"}
        rate, interval, took = kill["records_s"], kill["checkpoint_interval_s"], kill["recovery_s"]
        truth = (took, *_drill_lag(folder / f"lag-{interval:g}s.csv", kill["time"], kill["down_s"], took))
        known_costs = costs._replace(stopped_s=kill["down_s"])
        guesses = (
            simulated(rate, interval, costs.replay_share * interval, costs, stopped),
            simulated(rate, interval, min(kill["since_checkpoint_s"], interval), known_costs, kill["down_s"]),
        )
        off = [[a / b - 1.0 for a, b in zip(guess, truth, strict=True)] for guess in guesses]
        errors.append(np.abs(off))
        cells = " | ".join(f"{value:+.0%}" for guess in off for value in guess)
        print(
            f"| {kill['number']:.0f} | {rate:,.0f} | {interval:g} | {kill['since_checkpoint_s']:.1f} | {took:.1f} | "
            f"{cells} |"
        )
    medians = " | ".join(f"{value:.0%}" for guess in np.median(errors, axis=0) for value in guess)
    print(f"| median of absolute errors | | | | | {medians} |")


def _drill_lag(curve: Path, killed: float, down_s: float, took: float) -> tuple[float, float]:
    """Return peak and area of the lag above its level before a kill, from when the job reads again on.

    Its place in the source is not known before that. A second of the curve is what waits at its end.
    """
    time, _, lag = np.loadtxt(curve, delimiter=",", skiprows=1).T
    level = float(np.median(lag[(time > killed - 5.0) & (time <= killed - 1.0)]))
    above = np.maximum(lag[(time + 1.0 >= killed + down_s) & (time <= killed + took + 1.0)] - level, 0.0)
    return float(above.max()), float(above.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("FTPLAN_RECOVERIES", EXAMPLE))
    parser.add_argument("--drill", type=Path, default=DRILL, help="folder that benchmarks/flink_drill.py has written")
    parser.add_argument("--quick", action="store_true", help="one in five of the held-out recoveries")
    options = parser.parse_args()
    khaos(Path(options.folder), options.quick)
    drill(options.drill)


if __name__ == "__main__":
    main()
