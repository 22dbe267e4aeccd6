"""Queries over time: latency, availability, queues, buffers, duplicates, and the lag of the sources."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.simulation.dataflow.job import Observed, StreamJob
from ftplan.simulation.recovery.outcome import QuerySeries, RecoveryOutcome

#: What of a query's latency before the failure counts: not the first part, while queues fill.
SETTLED = 0.25


def query_series(
    outcome: RecoveryOutcome, window_s: float = 10.0, threshold: float = 1.2, slide_s: float | None = None
) -> QuerySeries:
    """Return what each query was like over time.

    A query is available while the mean of its relative latency over the last *window_s* seconds (Δ_T) is below
    *threshold* (Θ) ([SuZhouTR], section 7.2). Where no record came out in them, the latency is that of the last batch:
    a query of few records is available if it keeps up, one that is stuck is not.

    The paper's latencies are those of windows: a record also waits until its window slides. The flow of batches does
    not show this wait; half of *slide_s* is added to latencies before they are divided. None: a second, or ten batches
    if these are longer. Without it a task that is back on a node a little busier than before, or waits for its batches,
    would never count as available.

    Costs a few operations for each stream and bin.

    Raises FtplanError if a query that had records had no output before the failure, so that there is no latency to
    compare with.
    """
    job, observed = outcome.setting.job, outcome.observed
    query = np.flatnonzero(job.output)
    time_s: FloatArray = observed.start_s + np.arange(1.0, len(observed.processed) + 1.0) * observed.bin_s
    latency_sum, finished = observed.latency_s[:, query], observed.finished[:, query]
    flow = Flow(job, observed, time_s)
    before = _before(outcome, query, time_s, latency_sum, finished, flow)
    wait_s = 0.5 * (max(1.0, 10.0 * job.batch_s) if slide_s is None else slide_s)
    latency_s = _ratio(latency_sum, finished)
    mean_s = _ratio(_moving(latency_sum, observed.bin_s, window_s), _moving(finished, observed.bin_s, window_s))
    mean_s = np.where(np.isnan(mean_s), flow.behind_s()[:, query], mean_s)
    members = members_of(job, query)
    waiting, kept = flow.waiting(), flow.kept_bytes()
    return QuerySeries(
        query=query,
        time_s=time_s,
        latency_s=latency_s,
        relative_latency=(latency_s + wait_s) / (before + wait_s),
        available=(mean_s + wait_s) / (before + wait_s) < threshold,
        queue_records=waiting @ members,
        buffered_bytes=kept @ members,
        duplicates=observed.duplicates @ members,
        lag_records=flow.lag(),
        all_queue_records=waiting.sum(axis=1),
        all_buffered_bytes=kept.sum(axis=1),
    )


def members_of(job: StreamJob, query: IntArray) -> FloatArray:
    """Return 1 where a task is part of a query: its output task and all that feeds it; shape (tasks, queries)."""
    members = np.zeros((job.tasks, len(query)), dtype=bool)
    members[query, np.arange(len(query))] = True
    leaving: list[list[int]] = [[] for _ in range(job.tasks)]
    for sender, receiver in zip(job.sender.tolist(), job.receiver.tolist(), strict=True):
        leaving[sender].append(receiver)
    for task in job.order[::-1].tolist():
        if leaving[task]:
            members[task] |= members[leaving[task]].any(axis=0)
    return members.astype(np.float64)


class Flow:
    """What waits and what is kept at the end of each bin, in records.

    A task that is down has no queue: what was in it is gone. The place in a source's log that it read last is known.
    """

    def __init__(self, job: StreamJob, observed: Observed, time_s: FloatArray) -> None:
        self._job, self._observed = job, observed
        batches = int(np.ceil((time_s[-1] - observed.start_s) / job.batch_s)) + 1 if len(time_s) else 1
        self._before = _records_in(job, batches)
        self._since_s = time_s - observed.start_s
        self.up: BoolArray = observed.processed >= 0
        self._done = self._records(np.maximum(observed.processed, 0))  # (bins, tasks)

    def _records(self, batch: IntArray) -> FloatArray:
        """Return how many records each task processes before a batch of its own, shape (bins, tasks)."""
        return np.asarray(np.take_along_axis(self._before, np.minimum(batch, len(self._before) - 1), axis=0))

    def _on_streams(self, batch: IntArray) -> FloatArray:
        """Return how many records each stream carries before a batch of its own, shape (bins, streams)."""
        row = np.clip(batch, 0, len(self._before) - 1)
        return self._sent(self._before[row, self._job.sender])

    def _sent(self, processed: FloatArray) -> FloatArray:
        """Return how many records each stream carries when its sender has processed so many."""
        return np.asarray(np.floor(self._job.share * processed + 1e-9))

    def got(self, since_s: float) -> FloatArray:
        """Return how many records of the batches before a time, at least of the first, each task gets, shape (tasks,).

        The time is in seconds from the begin.
        """
        return np.asarray(self._before[max(1, int(since_s / self._job.batch_s))])

    def log_end(self) -> FloatArray:
        """Return how many records each source's log has, 0 for other tasks, shape (bins, tasks)."""
        place = np.minimum(self._since_s / self._job.batch_s, len(self._before) - 1.0)
        row = np.minimum(place.astype(np.int64), len(self._before) - 2)
        source, first, last = self._job.source, self._before[row], self._before[row + 1]
        return np.where(source, first + (place - row)[:, None] * (last - first), 0.0)

    def behind_s(self) -> FloatArray:
        """Return the latency of the next batch of each task if it were processed now, infinite while it is down."""
        behind_s = self._since_s[:, None] - (self._observed.processed + 1.0) * self._job.batch_s
        return np.where(self.up, np.maximum(behind_s, 0.0), np.inf)

    def waiting(self) -> FloatArray:
        """Return how many records wait for each task, in its log if it is a source, shape (bins, tasks)."""
        job, observed = self._job, self._observed
        arrived = self._on_streams(observed.received)
        taken = self._on_streams(observed.processed[:, job.receiver])
        queued = np.where(self.up[:, job.receiver], arrived - taken, 0.0)
        waiting = _summed(np.maximum(queued, 0.0), job.receiver, job.tasks)
        return np.asarray(waiting + np.where(job.source, self.log_end() - self._read(), 0.0))

    def _read(self) -> FloatArray:
        """Return how many records each task has processed, or had when it was seen last, shape (bins, tasks)."""
        row = np.where(self.up, np.arange(len(self.up))[:, None], 0)
        return np.asarray(np.take_along_axis(self._done, np.maximum.accumulate(row, axis=0), axis=0))

    def lag(self) -> FloatArray:
        """Return the lag as a consumer of the logs would report it: their ends minus what sources have processed."""
        source = self._job.source
        return np.asarray((self.log_end() - self._read())[:, source].sum(axis=1))

    def kept_bytes(self) -> FloatArray:
        """Return what each task but the sources keeps of its output, shape (bins, tasks)."""
        job, observed = self._job, self._observed
        keeps = observed.buffering[:, None] & (self.up & ~job.source)[:, job.sender]
        trimmed = self._before[np.minimum(observed.trimmed, len(self._before) - 1)]
        kept = self._sent(self._done[:, job.sender]) - self._sent(trimmed[:, job.sender])
        return _summed(np.where(keeps, np.maximum(kept, 0.0), 0.0), job.sender, job.tasks) * job.record_bytes


def _before(
    outcome: RecoveryOutcome,
    query: IntArray,
    time_s: FloatArray,
    latency_sum: FloatArray,
    finished: FloatArray,
    flow: Flow,
) -> FloatArray:
    """Return each query's mean latency before the failure, 0 for one that had no records."""
    begin_s = outcome.observed.start_s
    settled = (time_s <= 0.0) & (time_s > begin_s * (1.0 - SETTLED))
    total = finished[settled].sum(axis=0)
    had_records = flow.got(-0.5 * begin_s)[query] >= 1.0
    for task in query[had_records & (total == 0.0)].tolist():
        name = outcome.setting.task_name(task)
        raise FtplanError(f"task {name} has no output in the {-begin_s:g} s before the failure: simulate more of them")
    return np.asarray(latency_sum[settled].sum(axis=0) / np.maximum(total, 1.0))


def _ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.divide(a, b, out=np.full(a.shape, np.nan), where=b > 0.0))


def _moving(values: FloatArray, bin_s: float, window_s: float) -> FloatArray:
    """Return sums over the bins of the window that ends with each bin, fewer at the begin."""
    bins = max(1, round(window_s / bin_s))
    total = np.vstack([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    first = np.maximum(np.arange(len(values)) + 1 - bins, 0)
    return np.asarray(total[1:] - total[first])


def _summed(values: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """Return the sums of columns by group, shape (rows, groups)."""
    total = np.zeros((len(values), groups))
    if len(group):
        order = np.argsort(group, kind="stable")
        known, first = np.unique(group[order], return_index=True)
        total[:, known] = np.add.reduceat(values[:, order], first, axis=1)
    return total


@lru_cache(maxsize=4)
def _records_in(job: StreamJob, batches: int) -> FloatArray:
    return job.records_in(batches)
