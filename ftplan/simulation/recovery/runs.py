"""Runs of a simulated recovery, each by itself, in this process or in several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.simulation.recovery.contenders import Contender, setting_of
from ftplan.simulation.recovery.outcome import ControlEvent, QuerySeries, RecoverySummary, summarise
from ftplan.simulation.recovery.run import run_recovery
from ftplan.simulation.recovery.scene import RecoveryScene
from ftplan.simulation.recovery.series import query_series
from ftplan.simulation.registry import Report
from ftplan.simulation.run import outcomes, too_short

#: Seconds before the failure that an answer shows.
BEFORE_S = 20.0


class OverTime(NamedTuple):
    """A recovery in cells of time, shape (cells, queries), of the lag (cells,).

    The mean of the relative latency, NaN where nothing came out; the share of time in which queries are available;
    queues, buffers and lag at the end of the cell; the sum of duplicates: of what :class:`QuerySeries` has.
    """

    relative_latency: FloatArray
    available: FloatArray
    queue_records: FloatArray
    buffered_bytes: FloatArray
    duplicates: FloatArray
    lag_records: FloatArray


class SimulatedRun(NamedTuple):
    """What one run of one contender was like; ``events`` are those of the first run alone."""

    number: int
    summary: RecoverySummary
    over_time: OverTime
    events: tuple[ControlEvent, ...]


class SimulatedRuns:
    """What the runs of one contender were like, in their order; over time their mean is kept alone."""

    def __init__(self) -> None:
        self.summaries: list[RecoverySummary] = []  # one a run
        self.events: tuple[ControlEvent, ...] = ()  # those of the first run
        self._sums: list[FloatArray] = []
        self._counts: list[IntArray] = []

    def add(self, run: SimulatedRun) -> None:
        """Add the next run."""
        self.summaries.append(run.summary)
        self.events = self.events or run.events
        known = [np.isfinite(values) for values in run.over_time]
        values = [np.where(there, own, 0.0) for there, own in zip(known, run.over_time, strict=True)]
        if not self._sums:
            self._sums, self._counts = values, [there.astype(np.int64) for there in known]
            return
        for total, count, own, there in zip(self._sums, self._counts, values, known, strict=True):
            total += own
            count += there

    @property
    def over_time(self) -> OverTime:
        """The mean over the runs, of latencies over those in which something came out."""
        with np.errstate(invalid="ignore"):
            return OverTime(*(total / count for total, count in zip(self._sums, self._counts, strict=True)))


def cell_ends(scene: RecoveryScene) -> FloatArray:
    """Return when each cell ends that an answer shows: from shortly before the failure to the end.

    It begins when a whole window lies behind.
    """
    before = int(min(max(scene.options.warm_up_s - scene.options.window_s, 0.0), BEFORE_S) / scene.every_s)
    last = int(np.floor(scene.until_s / scene.every_s + 1e-9))
    return np.asarray(np.arange(1 - before, last + 1) * scene.every_s, dtype=np.float64)


def carry_out(scene: RecoveryScene, contenders: Sequence[Contender], number: int) -> SimulatedRun:
    """Simulate one contender in one run; contenders of a run have successive numbers."""
    options = scene.options
    run, which = divmod(number, len(contenders))
    setting = setting_of(scene, contenders[which], None if options.runs == 1 else run)
    outcome = run_recovery(setting)
    series = query_series(outcome, options.window_s, options.threshold)
    priority = scene.question.situation.graph.per_task("priority")[series.query]
    memory = np.inf if options.buffer_memory is None else options.buffer_memory
    return SimulatedRun(
        number,
        summarise(outcome, series, priority, memory),
        in_cells(series, cell_ends(scene), scene.every_s),
        outcome.events if run == 0 else (),
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
    scene: RecoveryScene, contenders: Sequence[Contender], report: Report | None, ends: float | None = None
) -> list[SimulatedRuns]:
    """Return what the runs of each contender were like; what is not done at *ends* is left out.

    A run counts where all contenders have finished it within the time limit, so that they are compared on the same
    ones. What comes out is the same however many processes carry the runs out.

    Raises FtplanError if no run is done in time.
    """
    runs, many = scene.options.runs, len(contenders)
    by_contender = [SimulatedRuns() for _ in contenders]
    waiting: dict[int, SimulatedRun] = {}
    following, finished = 0, 0

    def tell(run: int) -> bool:
        numbers = range(run * many, (run + 1) * many)
        if not all(number in waiting for number in numbers):
            return False
        for one, number in zip(by_contender, numbers, strict=True):
            one.add(waiting.pop(number))
        return True

    for done in simulated(scene, contenders, range(runs * many), ends):
        finished += len(done)
        waiting.update((one.number, one) for one in done)
        while following < runs and tell(following):
            following += 1
        if report is not None:
            report(f"{finished // many:,} of {runs:,} runs", finished / (runs * many))
    for run in range(following, runs if waiting else 0):  # beyond a run that the time limit cut
        tell(run)
    if not by_contender[0].summaries:
        raise too_short(scene.options.time_limit_s)
    return by_contender


def simulated(
    scene: RecoveryScene, contenders: Sequence[Contender], numbers: Sequence[int], ends: float | None
) -> Iterator[list[SimulatedRun]]:
    """Yield runs as they are done."""
    yield from outcomes(partial(carry_out, scene, contenders), numbers, ends, scene.options.jobs)
