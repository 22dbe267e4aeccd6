"""What came out of a run: what happened, queries over time, and what can be said of the whole in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.simulation.dataflow.job import Observed
from ftplan.simulation.recovery.setting import RecoverySetting


class ControlEvent(NamedTuple):
    """Something that happened or was ordered; *what* is one of these words.

    ``failure``: tasks failed, with a node or by themselves. ``node-arrived``. ``stalled``: tasks with a replica failed;
    they take over (``taken-over``) on its node. ``detected``: the coordinator knows of failed tasks. ``job-stopped``:
    all live tasks stop. ``rolled-back``: live tasks go back to a checkpoint. ``started``: a task was told to start on a
    node. ``running``: tasks have loaded their state. ``skipped``: the schedule starts a task that is not down, or on a
    node that is not there. ``buffers-on``, ``buffers-off``: tasks keep their output, or no longer.
    """

    at_s: float
    what: str
    tasks: tuple[int, ...] = ()
    node: int | None = None


@dataclass(frozen=True, eq=False)
class RecoveryOutcome:
    """What happened, with times in seconds from the first failure. Bins end at ``time_s``."""

    setting: RecoverySetting
    observed: Observed
    events: tuple[ControlEvent, ...]
    #: When each task had processed again what it had before its (last) failure, inf if never, NaN if it never failed:
    #: the recovery of [SuZhou2016], section VI: progress vector at least that before the failure.
    caught_up_s: FloatArray  # (T,)


@dataclass(frozen=True, eq=False)
class QuerySeries:
    """Queries over time; a query is an output task. Shapes (bins,) and (bins, queries)."""

    query: IntArray  # output tasks, ascending, shape (queries,)
    time_s: FloatArray  # end of each bin
    latency_s: FloatArray  # mean latency of the records that were finished in the bin; NaN where none was
    relative_latency: FloatArray  # the same divided by the query's mean before the failure ([SuZhouTR], section 7.2)
    #: Whether the mean of the relative latency over the window that ends with the bin is below the threshold; where
    #: nothing came out in it, the latency of the next batch counts
    available: BoolArray
    queue_records: FloatArray  # records that wait for any task of the query, the sources' logs included
    buffered_bytes: FloatArray  # what tasks of the query keep of their output
    duplicates: FloatArray  # records dropped as duplicates by tasks of the query in the bin
    lag_records: FloatArray  # records in the sources' logs that they have not processed, shape (bins,)
    #: ``all_queue_records``, ``all_buffered_bytes``: what waits for and is kept by all tasks together, each counted
    #: once, shape (bins,)
    all_queue_records: FloatArray
    all_buffered_bytes: FloatArray


@dataclass(frozen=True)
class RecoverySummary:
    """What can be said of a simulated recovery."""

    priority_down_s: float  # summed priority of queries x seconds that they were not available, until the end
    #: ``first_back_s``, ``last_back_s``: when the first and the last query that was down was available again for good;
    #: None: none, or one is not back
    first_back_s: float | None
    last_back_s: float | None
    #: ``down_s``, ``back_s``: seconds that each query was not available; when it was back for good, None for not within
    #: the time; by query
    down_s: tuple[float, ...]
    back_s: tuple[float | None, ...]
    #: ``peak_lag_records``, ``lag_record_s``: most that waited in the sources' logs, and the area under that curve
    #: above its level before
    peak_lag_records: float
    lag_record_s: float
    #: ``peak_buffer_bytes``, ``spilled_bytes``: most that was buffered at once; what of it was beyond the memory for
    #: buffers
    peak_buffer_bytes: float
    spilled_bytes: float
    #: ``peak_queue_records``, ``duplicates``: most that waited in queues at once; records dropped as duplicates in all
    peak_queue_records: float
    duplicates: float


def summarise(
    outcome: RecoveryOutcome, series: QuerySeries, priority: FloatArray, memory_bytes: float = np.inf
) -> RecoverySummary:
    """Return the summary of a recovery.

    *priority*: of each query, in the order of ``series.query``, shape (queries,). *memory_bytes*: for what tasks keep
    of their output; what is beyond it is spilled to disk.
    """
    time_s, down = series.time_s, ~series.available
    seconds = np.clip(time_s, 0.0, outcome.observed.bin_s)  # of each bin that lie after the failure
    down_s = seconds @ down
    back = _back(time_s, down & (seconds > 0.0)[:, None])
    again = [moment for moment, was_down in zip(back, down_s > 0.0, strict=True) if was_down]
    known = [moment for moment in again if moment is not None]
    lag, after = series.lag_records, time_s > 0.0
    level = float(lag[~after].mean()) if (~after).any() else 0.0
    peak_buffer = float(series.all_buffered_bytes[after].max(initial=0.0))
    return RecoverySummary(
        priority_down_s=float(priority @ down_s),
        first_back_s=min(known, default=None),
        last_back_s=max(known, default=None) if len(known) == len(again) else None,
        down_s=tuple(down_s.tolist()),
        back_s=back,
        peak_lag_records=float(lag[after].max(initial=0.0)),
        lag_record_s=float(np.maximum(lag - level, 0.0) @ seconds),
        peak_buffer_bytes=peak_buffer,
        spilled_bytes=max(0.0, peak_buffer - memory_bytes),
        peak_queue_records=float(series.all_queue_records[after].max(initial=0.0)),
        duplicates=float(outcome.observed.duplicates[after].sum()),
    )


def _back(time_s: FloatArray, down: BoolArray) -> tuple[float | None, ...]:
    """Return when each query was back for good: the end of its last bin down, None if that is the last bin of all."""
    back: list[float | None] = []
    for column in down.T:
        last = np.flatnonzero(column)
        if not len(last):
            back.append(0.0)
        else:
            back.append(float(time_s[last[-1]]) if last[-1] + 1 < len(time_s) else None)
    return tuple(back)
