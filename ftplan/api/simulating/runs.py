"""Runs of a simulated recovery, each by itself, in this process or in several."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ftplan.api.processes import cores, in_processes
from ftplan.api.simulating.scene import Scene
from ftplan.api.simulating.settings import Contender, setting_of
from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray
from ftplan.simulation.recovery.control import simulate
from ftplan.simulation.recovery.series import query_series
from ftplan.simulation.recovery.summary import summarise
from ftplan.simulation.recovery.trace import ControlEvent, QuerySeries, RecoverySummary

#: Simulations from which on more than one process pays.
FEW = 4
#: Seconds before the failure that an answer shows.
BEFORE_S = 20.0

#: Says how far the simulations are: a sentence and a share of 1.
Report = Callable[[str, float | None], None]


@dataclass(frozen=True, eq=False)
class OverTime:
    """A recovery in cells of time, shape (cells,) and (cells, queries).

    Attributes
    ----------
    relative_latency, available, queue_records, buffered_bytes, duplicates
        Mean, share, level at the end, level at the end, and sum of what :class:`QuerySeries` has in each cell.
    lag_records
        Level at the end.
    """

    relative_latency: FloatArray
    available: FloatArray
    queue_records: FloatArray
    buffered_bytes: FloatArray
    duplicates: FloatArray
    lag_records: FloatArray


@dataclass(frozen=True, eq=False)
class SimulatedRun:
    """What one run of one contender was like; ``events`` are those of the first run alone."""

    number: int
    summary: RecoverySummary
    over_time: OverTime
    events: tuple[ControlEvent, ...]
    warnings: tuple[Warn, ...]


def cell_ends(scene: Scene) -> FloatArray:
    """Return when each cell ends that an answer shows: from shortly before the failure to the end.

    It begins when a whole window lies behind.
    """
    before = int(min(max(scene.options.warm_up_s - scene.options.window_s, 0.0), BEFORE_S) / scene.every_s)
    last = int(np.floor(scene.until_s / scene.every_s + 1e-9))
    return np.asarray(np.arange(1 - before, last + 1) * scene.every_s, dtype=np.float64)


def carry_out(scene: Scene, contenders: Sequence[Contender], number: int) -> SimulatedRun:
    """Simulate one contender in one run; contenders of a run have successive numbers."""
    options = scene.options
    run, which = divmod(number, len(contenders))
    setting, warnings = setting_of(scene, contenders[which], None if options.runs == 1 else run)
    trace = simulate(setting)
    series = query_series(trace, options.window_s, options.threshold)
    priority = scene.question.graph.per_task("priority")[series.query]
    memory = np.inf if options.buffer_memory is None else options.buffer_memory
    return SimulatedRun(
        number,
        summarise(trace, series, priority, memory),
        in_cells(series, cell_ends(scene), scene.every_s),
        trace.events if run == 0 else (),
        warnings,
    )


def in_cells(series: QuerySeries, ends: FloatArray, every_s: float) -> OverTime:
    """Return a series in cells of time; a bin belongs to the cell in which it ends."""
    cell = np.round(np.ceil(series.time_s / every_s - 1e-6) - ends[0] / every_s).astype(np.int64)
    inside = (cell >= 0) & (cell < len(ends))
    cell, bins = cell[inside], np.flatnonzero(inside)
    count = np.bincount(cell, minlength=len(ends))[:, None]

    def summed(values: FloatArray) -> FloatArray:
        total = np.zeros((len(ends), values.shape[1]))
        np.add.at(total, cell, values[bins])
        return total

    def level(values: FloatArray) -> FloatArray:
        at_end = np.zeros((len(ends), *values.shape[1:]))
        at_end[cell] = values[bins]  # the last bin of a cell stays
        return at_end

    latency = series.relative_latency
    known = np.isfinite(latency)
    with np.errstate(invalid="ignore"):
        mean = summed(np.where(known, latency, 0.0)) / summed(known.astype(np.float64))
        available = summed(series.available.astype(np.float64)) / count
    return OverTime(
        mean, available, level(series.queue_records), level(series.buffered_bytes), summed(series.duplicates),
        level(series.lag_records),
    )  # fmt: skip


def all_runs(
    scene: Scene, contenders: Sequence[Contender], report: Report | None
) -> tuple[list[list[SimulatedRun]], bool]:
    """Return the runs of each contender, and whether the time limit left some out.

    A run counts where all contenders have finished it, so that they are compared on the same ones. Runs are the same
    however many processes carry them out.

    Raises
    ------
    FtplanError
        If no run is done in time.
    """
    options = scene.options
    total = options.runs * len(contenders)
    done: dict[int, SimulatedRun] = {}
    for finished in _outcomes(scene, contenders, total):
        done.update((outcome.number, outcome) for outcome in finished)
        if report is not None:
            report(f"{len(done) // len(contenders):,} of {options.runs:,} runs", len(done) / total)
    runs = [
        [done[number] for number in numbers]
        for run in range(options.runs)
        for numbers in (range(run * len(contenders), (run + 1) * len(contenders)),)
        if all(number in done for number in numbers)
    ]
    if not runs:
        raise FtplanError(f"--time-limit: {options.time_limit_s:g} s do not last for one run")
    return [list(of_one) for of_one in zip(*runs, strict=True)], len(runs) < options.runs


def _outcomes(scene: Scene, contenders: Sequence[Contender], total: int) -> Iterator[list[SimulatedRun]]:
    """Yield runs as they are done, in processes where these pay or a time limit may have to end one."""
    options, limit_s = scene.options, scene.options.time_limit_s
    ends = None if limit_s is None else time.monotonic() + limit_s
    jobs = min(options.jobs or (cores() if total >= FEW else 1), total)
    one = partial(carry_out, scene, contenders)
    if jobs > 1 or ends is not None:
        yield from in_processes(one, range(total), jobs, ends=ends, named=("the simulation", "run"))
        return
    for number in range(total):
        yield [one(number)]
