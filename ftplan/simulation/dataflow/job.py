"""A job as it runs: tasks, the streams between them, and what a batch of source time means for each.

And how batches flow, and what is observed of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class FlowOptions:
    """How batches flow."""

    delay_s: float = 0.001  # from when a task has processed a batch until the next tasks have its output
    #: Batches that a task may be ahead of a task that it feeds, unless its output is buffered (back-pressure)
    queue_batches: int = 10
    checkpoint_s: float = 10.0  # seconds of source time between checkpoints, a multiple of a batch; infinite for none
    #: Checkpoints by punctuations through the whole job ([SuZhouTR], section 4.1); else each task makes its own, at a
    #: phase of its own
    coordinated: bool = True
    #: Batches by which each task's own checkpoints are shifted, shape (tasks,); None for none
    phase: IntArray | None = None
    bin_s: float = 1.0  # width of the bins of what is observed


class CompletedCheckpoint(NamedTuple):
    """A checkpoint of the whole job that became complete: the state after the first *batch* batches."""

    at_s: float
    batch: int


@dataclass
class Observed:
    """What was seen, in bins of time; row i is the moment ``start_s + (i + 1) * bin_s`` or the time up to it.

    There is a row for each bin that has ended. What happens at its end, to a billionth of a bin, counts in the next.
    """

    #: ``start_s``, ``bin_s``: when the plane was made (0), and the width of a bin
    start_s: float
    bin_s: float
    processed: IntArray  # batches that each task has processed, shape (bins, tasks); -1 while it is down
    #: Batches that have arrived on each stream, those that a checkpoint stands for included, shape (bins, streams); -1
    #: while its receiver is down
    received: IntArray
    #: Batch from which on sources' logs and buffers are kept: the last complete checkpoint, shape (bins,)
    trimmed: IntArray
    buffering: BoolArray  # whether tasks keep their output, shape (bins,)
    #: ``latency_s``, ``finished``: sum of ``records * latency`` and records that each task finished in the bin, shape
    #: (bins, tasks), filled for output tasks alone, each time that they finish a batch. Latency counts from the middle
    #: of the batch in batch mode, where a record waits half a batch for its batch to be full, and from the end of the
    #: batch otherwise.
    latency_s: FloatArray
    finished: FloatArray
    duplicates: FloatArray  # records that arrived again and were dropped, shape (bins, tasks)
    #: Completed ones in the order of time; of several in one moment, the last at least
    checkpoints: list[CompletedCheckpoint] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class StreamJob:
    """Tasks are numbered as in ``TaskGraph``; a stream is a substream between two tasks, by (receiver, sender).

    Batch b holds what the sources' logs got during ``[b, b + 1) * batch_s``, and all that follows from these records.
    How many records of a batch a task processes and a stream carries is the same whenever and however often it is
    processed, so that a batch stands for its records: :meth:`records_in`, :meth:`records_on`.
    """

    rate: FloatArray  # records per second that each source task's log gets, 0 for other tasks, shape (tasks,)
    #: ``sender``, ``receiver``: tasks of each stream, shape (streams,)
    sender: IntArray
    receiver: IntArray
    share: FloatArray  # records on a stream for each record that its sender processes, shape (streams,)
    record_time_s: FloatArray  # core-seconds that a task takes for a record, shape (tasks,)
    #: Most cores that a task can use at once, shape (tasks,); its fastest pace is ``threads / record_time_s``
    threads: FloatArray
    output: BoolArray  # which tasks are output tasks, shape (tasks,)
    deterministic: BoolArray  # which tasks do the same again when they process the same again, shape (tasks,)
    state_bytes: FloatArray  # state of each task, shape (tasks,)
    record_bytes: float = 100.0  # bytes of a record in buffers
    batch_s: float = 0.1  # seconds of source time in a batch

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return len(self.rate)

    @property
    def streams(self) -> int:
        """Number of streams."""
        return len(self.sender)

    @cached_property
    def source(self) -> BoolArray:
        """Which tasks have no input streams, shape (tasks,)."""
        return np.asarray(np.bincount(self.receiver, minlength=self.tasks) == 0)

    @cached_property
    def order(self) -> IntArray:
        """Tasks in topological order, by depth and number, shape (tasks,)."""
        depth = np.zeros(self.tasks, dtype=np.int64)
        for _ in range(self.tasks):
            deeper = depth.copy()
            np.maximum.at(deeper, self.receiver, depth[self.sender] + 1)
            if (deeper == depth).all():
                break
            depth = deeper
        return np.lexsort((np.arange(self.tasks), depth))

    def read(self, batches: int) -> FloatArray:
        """Return how many records each source's log has got by the end of each of the first batches.

        Shape (batches + 1, tasks), whole numbers; row b is what came before batch b.
        """
        seconds = np.arange(batches + 1.0) * self.batch_s
        return np.asarray(np.floor(np.outer(seconds, self.rate) + 1e-9))

    def records_in(self, batches: int) -> FloatArray:
        """Return how many records each task processes before each of the first batches, shape (batches + 1, tasks)."""
        total = np.ascontiguousarray(self.read(batches).T)
        leaving: list[dict[float, list[int]]] = [{} for _ in range(self.tasks)]
        for sender, receiver, share in zip(
            *(x.tolist() for x in (self.sender, self.receiver, self.share)), strict=True
        ):
            leaving[sender].setdefault(share, []).append(receiver)
        for task in self.order.tolist():
            for share, receivers in leaving[task].items():
                carried = np.floor(share * total[task] + 1e-9)
                for receiver in receivers:
                    total[receiver] += carried
        return np.asarray(total.T)

    def records_on(self, stream: int, records_in: FloatArray) -> FloatArray:
        """Return how many records a stream carries before each batch: numbers 1..n in order; shape (batches + 1,)."""
        return np.asarray(np.floor(self.share[stream] * records_in[:, self.sender[stream]] + 1e-9))
