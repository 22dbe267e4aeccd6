"""How often to rescale, beside measured autoscalers and on real load curves.

Run from the project's root: ``python benchmarks/autoscaling.py [--demeter FOLDER] [--curves FOLDER] [--quick]``. Prints
Markdown tables. FOLDER holds ``cars_runs.csv.gz``, ``cars_load.csv.gz`` and ``cars_profiles.csv`` of Demeter
(Geldenhuys et al., ICPE 2024; github dos-group/demeter, results), resampled to 10 s; FTPLAN_AUTOSCALERS names it too.
The other holds streams in steps of five minutes (Gontarska et al., IC2E 2021; github dos-group/load-prediction-dsp,
data), FTPLAN_LOAD_CURVES too. What is not given is left out.

Measured runs: 18 hours of a Flink job on up to 24 task managers of one core, with a failure every 45 minutes; the load
is the same six hours, a day in short, three times over. Policies are chosen on the first two of these days, and all
methods are judged on the third. A method is behind when more than ten seconds of load wait: measured as the lag of the
24 partitions, simulated for schedules that were not run, with the same failures.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.stats import norm

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.scale_out.algorithms.churn.choice import (
    RescalingPolicy,
    ThresholdPolicy,
    best_policies,
    rank,
    replayed,
)
from ftplan.planners.scale_out.algorithms.churn.optimum import offline_optimum, timely_schedule
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnLimits, DemandTrace, account, exceeds
from ftplan.planners.scale_out.forecasting.methods import day_ahead

STEP_S, WINDOW_S = 10, 60
#: A day of the measured load, and all of it.
DAY_S, END_S = 21_600, 64_800
PARTITIONS, MOST = 24, 24
FAILURE_EVERY_S = 2_703
#: The lag's metric shows the most of the last minute.
SHOWN_S = 60
#: Seconds of load that may wait.
BEHIND_S = 10.0
METHODS = ("baseline", "reactive", "operator", "demeter")
LIMITS = ChurnLimits(6, 0.05)
#: Five minutes of a stream are so many seconds when a day is as short as that of the measured load.
SHORT_S = 75.0
#: The rule of the usual horizontal autoscaler: tasks for 80 % when utilisation is off by a tenth.
CPU_RULE = ThresholdPolicy(0.88, 0.8, 0.72, 1, 0, 0)


class Capacity(NamedTuple):
    """Records per second by cores, and slots to a core, fitted to profiles: log-linear, with a standard deviation."""

    intercept: float
    by_cores: float
    by_slots: float
    deviation: float

    def of(self, cores: FloatArray, factor: float = 1.0) -> FloatArray:
        """Return what five of six profiles with one slot a core would take: one deviation below the fit."""
        fitted = np.exp(self.intercept - self.deviation + self.by_cores * np.log(np.maximum(cores, 1e-9)))
        return np.asarray(factor * np.where(cores > 0.0, fitted, 0.0))


class Run(NamedTuple):
    """A measured run, in steps of ten seconds: cores, tasks, and seconds of load that wait; NaN where unknown."""

    cores: FloatArray
    managers: FloatArray
    behind_s: FloatArray


class Job(NamedTuple):
    """The measured job.

    Attributes
    ----------
    load
        (T,) records/s that are offered, in the unit of the measured throughput, in steps.
    stops
        Seconds of load that a failure, and a rescale of each method, leave behind: medians.
    """

    load: FloatArray
    capacity: Capacity
    runs: dict[str, list[Run]]
    failure_s: float
    rescale_s: dict[str, float]


def fitted_capacity(profiles: pd.DataFrame) -> Capacity:
    """Fit throughput at saturation: profiles that kept up say only that there is more (Tobit)."""
    rows = profiles[profiles.source == "profiles"]
    cores = rows.scaleOut / rows.taskSlots * rows.cpuVal
    x = np.column_stack([np.ones(len(rows)), np.log(cores), np.log(rows.taskSlots / rows.cpuVal)])
    y, full = np.log(rows.avgThr.to_numpy()), (rows.avgLat > 5000.0).to_numpy()

    def loss(values: FloatArray) -> float:
        mean, deviation = x @ values[:3], np.exp(values[3])
        seen = norm.logpdf(y[full], mean[full], deviation).sum()
        return -float(seen + norm.logsf(y[~full], mean[~full], deviation).sum())

    options = {"maxiter": 20_000, "maxfev": 20_000, "xatol": 1e-6, "fatol": 1e-8}
    fit = minimize(loss, [9.0, 0.5, -0.5, -1.0], method="Nelder-Mead", options=options)
    return Capacity(*fit.x[:3].tolist(), float(np.exp(fit.x[3])))


def measured_job(folder: Path) -> Job:
    """Read runs, load and profiles."""
    runs, profiles = pd.read_csv(folder / "cars_runs.csv.gz"), pd.read_csv(folder / "cars_profiles.csv")
    steps = np.arange(0, END_S, STEP_S)
    offered = pd.read_csv(folder / "cars_load.csv.gz").set_index("second").records_s.reindex(steps)
    by_run = {
        (str(method), int(number)): rows.set_index("second").reindex(steps)
        for (method, number), rows in runs.groupby(["method", "run"])
    }
    # throughput counts each record several times, as it passes several operators
    times = float((by_run["baseline", 1].throughput / offered).median())
    load = offered.interpolate().to_numpy() * times
    measured: dict[str, list[Run]] = {method: [] for method in METHODS}
    left: dict[str, list[float]] = {method: [] for method in (*METHODS, "failure")}
    for (method, number), rows in by_run.items():
        managers = rows.task_managers.ffill().bfill().to_numpy()
        cores = managers * _cores_each(rows, profiles, number) if method == "demeter" else managers
        measured[method].append(Run(cores, managers, rows.consumer_lag.to_numpy() * PARTITIONS / load))
        for begin, seconds in _caught_up(rows.consumer_lag.to_numpy(), rows.throughput.to_numpy(), load):
            if method == "baseline":
                left["failure"].append(seconds)
            elif not _near_failure(begin):
                left[method].append(seconds)
    medians = {name: float(np.median(values)) for name, values in left.items() if values}
    return Job(load, fitted_capacity(profiles), measured, medians["failure"], medians)


def _cores_each(rows: pd.DataFrame, profiles: pd.DataFrame, number: int) -> FloatArray:
    """Return the cores of a task manager in each step of a run of Demeter: the configuration of as many slots, then."""
    changes = profiles[(profiles.source == "demeter") & (profiles.run == number)]
    began = (changes.startTs - changes.startTs.min()).to_numpy()
    slots = rows.task_slots.ffill().bfill().to_numpy()
    each = np.round(slots / np.maximum(rows.task_managers.ffill().bfill().to_numpy(), 1.0))
    away = np.abs(np.arange(len(rows))[:, None] * STEP_S - began)
    away = away + 1e5 * (slots[:, None] != changes.scaleOut.to_numpy())
    away = away + 1e6 * (each[:, None] != changes.taskSlots.to_numpy())
    return np.asarray(changes.cpuVal.to_numpy()[away.argmin(axis=1)], dtype=float)


def _near_failure(step: int) -> bool:
    return (step * STEP_S + 30) % FAILURE_EVERY_S < 150


def _caught_up(lag: FloatArray, throughput: FloatArray, load: FloatArray) -> Iterator[tuple[int, float]]:
    """Yield the steps in which the lag rises, and how many seconds of load were worked off until it was gone."""
    high = np.concatenate([[False], (lag > 20_000.0) | np.isnan(lag), [False]])
    edges = np.flatnonzero(np.diff(high.astype(int)))
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        span = slice(max(first - 6, 0), last + 6)
        yield first, STEP_S * float(np.nansum(np.maximum(throughput[span] / load[span] - 1.0, 0.0)))


def processed(job: Job, tasks: FloatArray, rescale_s: float, factor: float, failures: bool) -> FloatArray:
    """Return records/s that tasks of one core each take in each step, (T,): none for a while after a rescale."""
    changed = np.flatnonzero(np.diff(tasks, prepend=tasks[0]))
    stops = [(step, rescale_s) for step in changed.tolist()]
    if failures:
        stops += [(second // STEP_S, job.failure_s) for second in range(FAILURE_EVERY_S, END_S, FAILURE_EVERY_S)]
    down = np.zeros(len(tasks))
    for first, seconds in stops:
        span = np.arange(first, min(first + int(np.ceil(seconds / STEP_S)), len(tasks)))
        down[span] = np.maximum(down[span], np.clip((seconds - STEP_S * (span - first)) / STEP_S, 0.0, 1.0))
    return np.asarray(job.capacity.of(tasks, factor) * (1.0 - down))


def simulated(job: Job, tasks: FloatArray, rescale_s: float, factor: float = 1.0) -> FloatArray:
    """Return seconds of load that wait in each step, (T,), for tasks of one core each in each step.

    Nothing is processed after a rescale and after a failure for as long as measured; what has waited is worked off with
    what tasks take beyond the load.
    """
    takes = processed(job, tasks, rescale_s, factor, failures=True)
    waits = np.empty(len(tasks))
    waiting = 0.0
    for step, (offered, taken) in enumerate(zip(job.load.tolist(), takes.tolist(), strict=True)):
        waiting = max(waiting + (offered - taken) * STEP_S, 0.0)
        waits[step] = waiting / offered
    return pd.Series(waits).rolling(SHOWN_S // STEP_S, min_periods=1).max().to_numpy()


def held(tasks: FloatArray) -> FloatArray:
    """Return the task managers that were held for a minute, in each step: what flaps for a moment is no rescale."""
    level = pd.Series(tasks).rolling(13, center=True, min_periods=1).median().round().to_numpy()
    edges = np.concatenate([[0], np.flatnonzero(np.diff(level)) + 1, [len(level)]])
    short = np.repeat(np.diff(edges) < WINDOW_S // STEP_S, np.diff(edges))
    return pd.Series(np.where(short, np.nan, level)).ffill().bfill().to_numpy()


def job_trace(job: Job, rescale_s: float, factor: float = 1.0) -> DemandTrace:
    """Return the load in windows of a minute, from as many tasks as the measured runs began with."""
    demand = job.load.reshape(-1, WINDOW_S // STEP_S).mean(axis=1)
    capacity = job.capacity.of(np.arange(1.0, MOST + 1.0), factor)
    day = np.arange(len(demand)) * WINDOW_S // DAY_S
    return DemandTrace(demand, capacity, day, float(WINDOW_S), rescale_s, MOST)


def stream(path: Path, window_s: float, rescale_s: float, capacity: FloatArray, level: float) -> DemandTrace:
    """Return a stream whose 95th percentile in its first half is a level."""
    messages = pd.read_csv(path).messages.to_numpy()
    whole = len(messages) // 288 * 288
    messages = messages[:whole]
    demand = messages * level / np.quantile(messages[: whole // 2], 0.95)
    start = 1 + int(np.argmax(capacity >= demand[0]))
    return DemandTrace(demand, capacity, np.arange(whole) // 288, window_s, rescale_s, start)


def foretell_of(trace: DemandTrace) -> partial[FloatArray]:
    """Return the forecast that policies see; a short day has the pace of a whole one."""
    return partial(day_ahead, season=trace.day_windows, window_s=86_400.0 / trace.day_windows)


def table(columns: tuple[str, ...]) -> None:
    """Print the head of a table."""
    print("\n| " + " | ".join(columns) + " |")
    print("|---" + "|--:" * (len(columns) - 1) + "|")


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def percent(share: float) -> str:
    return f"{100.0 * share:.1f}%"


def beside_runs(job: Job, curves: Path | None, factor: float) -> None:
    """Print all methods on the third day."""
    rescale_s = job.rescale_s["operator"]
    trace = job_trace(job, rescale_s, factor)
    known = 2 * len(trace.demand) // 3
    last = slice(known * WINDOW_S // STEP_S, None)
    print(f"\n### The third day of a measured Flink job, capacity x {factor:g}\n")
    takes = ", ".join(f"{n}: {job.capacity.of(np.array([n]), factor)[0]:,.0f}" for n in (1.0, 4.0, 8.0, 24.0))
    print(f"Records/s by cores: {takes}; load {job.load.min():,.0f} to {job.load.max():,.0f}.")
    table((
        "method", "core-hours", "rescales", "overloaded windows", "behind > 10 s", "as simulated", "p95 behind, s"
    ))  # fmt: skip
    for method in METHODS:
        cells = np.array(
            [_measured(job, run, job.rescale_s.get(method, 0.0), last, factor) for run in job.runs[method]]
        )
        hours, rescales, below, behind, again, late = cells.mean(axis=0)
        row(method, f"{hours:.1f}", f"{rescales:.0f}", percent(below), percent(behind), percent(again), f"{late:.0f}")
    past = trace.part(0, known)
    chosen = _chosen(past, ", chosen on days 1 and 2")
    if curves is not None:
        other = stream(
            curves / "wiki_de_5min.csv", SHORT_S, rescale_s, trace.capacity, float(np.quantile(past.demand, 0.95))
        )
        chosen |= _chosen(other, ", chosen on wiki_de")
    start = 0
    for name, policy in chosen.items():
        schedule = replayed(trace, LIMITS, policy, foretell_of(trace))
        start = start or int(schedule[known - 1])
        _replayed(job, name, trace, schedule, known, factor)
    rest = trace.part(known, len(trace.demand), start)
    best = offline_optimum(rest, LIMITS)
    if best.schedule is not None:
        whole = np.concatenate([np.full(known, start), best.schedule])
        _replayed(job, "offline optimum" + ("" if best.proven else " (not proven)"), trace, whole, known, factor)
    timely = timely_schedule(rest, LIMITS)
    if timely is not None:
        whole = np.concatenate([np.full(known, start), timely[0]])
        _replayed(job, "knows all demand, keeps the limits by late windows", trace, whole, known, factor)


def _chosen(past: DemandTrace, where: str) -> dict[str, RescalingPolicy]:
    """Return the best policy of each method on a history, the best of all in bold."""
    answers = best_policies(past, LIMITS, foretell_of(past), Budget(math.inf))
    best = min(answers, key=lambda name: rank(answers[name]))
    mark = {name: "**" if name == best else "" for name in answers}
    return {f"{mark[name]}{name}{where}{mark[name]}": item.policy for name, item in answers.items()}


def _measured(job: Job, run: Run, rescale_s: float, last: slice, factor: float) -> tuple[float, ...]:
    tasks = held(run.managers)
    waits = simulated(job, held(run.cores), rescale_s, factor)
    windows = (-1, WINDOW_S // STEP_S)
    takes = processed(job, held(run.cores), rescale_s, factor, failures=False)[last].reshape(windows).mean(axis=1)
    behind = run.behind_s[last]
    return (
        float(run.cores[last].sum() * STEP_S / 3600.0),
        float(np.count_nonzero(np.diff(tasks[last]))),
        float(exceeds(job.load[last].reshape(windows).mean(axis=1), takes).mean()),
        float((behind[~np.isnan(behind)] > BEHIND_S).mean()),
        float((waits[last] > BEHIND_S).mean()),
        float(np.nanquantile(behind, 0.95)),
    )


def _replayed(job: Job, name: str, trace: DemandTrace, schedule: IntArray, known: int, factor: float) -> None:
    rest = trace.part(known, len(trace.demand), int(schedule[known - 1]))
    entry = account(rest, schedule[known:])
    steps = np.repeat(schedule, WINDOW_S // STEP_S).astype(float)
    waits = simulated(job, steps, trace.rescale_s, factor)[known * WINDOW_S // STEP_S :]
    row(
        name, f"{entry.task_s / 3600.0:.1f}", entry.rescales, percent(entry.overloaded / len(rest.demand)), "",
        percent(float((waits > BEHIND_S).mean())), f"{np.quantile(waits, 0.95):.0f}",
    )  # fmt: skip


def on_curves(folder: Path, quick: bool) -> None:
    """Print policies that were chosen on the first half of streams, on the second."""
    print(f"\n### Real streams, at most {LIMITS.rescales_per_day} rescales a day, {percent(LIMITS.overloaded)} late")
    table((
        "stream", "method", "core-hours a day", "rescales a day, most", "late", "above the optimum", "on history"
    ))  # fmt: skip
    for path in sorted(folder.glob("*_5min.csv"))[: 2 if quick else None]:
        _on_stream(path.name.removesuffix("_5min.csv"), stream(path, 300.0, 30.0, np.arange(1.0, MOST + 1.0), 10.0))


def _on_stream(name: str, trace: DemandTrace) -> None:
    known = len(trace.demand) // 2 // trace.day_windows * trace.day_windows
    past, foretell = trace.part(0, known), foretell_of(trace)
    fixed = np.full(len(trace.demand), 1 + int(np.argmax(trace.capacity >= np.quantile(past.demand, 0.95))))
    free = LIMITS._replace(rescales_per_day=trace.day_windows)
    rows = {"fixed": fixed, "cpu rule at 80 %, any rescales": replayed(trace, free, CPU_RULE, None)}
    rows |= {method: replayed(trace, LIMITS, policy, foretell) for method, policy in _chosen(past, "").items()}
    knowing = [
        np.full(len(part.demand), trace.start) if timely is None else timely[0]
        for part in (past, trace.part(known, len(trace.demand)))
        for timely in (timely_schedule(part, LIMITS),)
    ]
    rows["knows all demand"] = np.concatenate(knowing)
    for method, schedule in rows.items():
        start = trace.start if method == "knows all demand" else int(schedule[known - 1])
        parts = (trace.part(known, len(trace.demand), start), schedule[known:]), (past, schedule[:known])
        unseen, seen = (account(part, steps) for part, steps in parts)
        above = [
            f"{100.0 * (entry.task_s / offline_optimum(part, LIMITS).bound - 1.0):+.1f}%"
            for entry, (part, _) in zip((unseen, seen), parts, strict=True)
        ]
        rest = len(trace.demand) - known
        row(
            name, method, f"{unseen.task_s / 3600.0 / rest * trace.day_windows:.1f}", unseen.rescales_per_day,
            percent(unseen.late / rest), above[0], f"{above[1]}, {percent(seen.late / known)}",
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demeter", type=Path, default=os.environ.get("FTPLAN_AUTOSCALERS"))
    parser.add_argument("--curves", type=Path, default=os.environ.get("FTPLAN_LOAD_CURVES"))
    parser.add_argument("--quick", action="store_true", help="one capacity, two streams")
    asked = parser.parse_args()
    curves = None if asked.curves is None else Path(asked.curves)
    if asked.demeter is None and curves is None:
        print("Neither FTPLAN_AUTOSCALERS nor FTPLAN_LOAD_CURVES names a folder: nothing was measured.")
    if asked.demeter is not None:
        job = measured_job(Path(asked.demeter))
        stops = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in job.rescale_s.items())
        print(f"Load left behind, median: {stops}. Policies and optimum rescale as slowly as the operator.")
        for factor in (1.0,) if asked.quick else (1.0, 0.6):
            beside_runs(job, curves, factor)
    if curves is not None:
        on_curves(curves, asked.quick)


if __name__ == "__main__":
    main()
