"""A job as it runs: tasks, the streams between them, and what a batch of source time means for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray


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
