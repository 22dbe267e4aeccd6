"""Small jobs whose times are easy to compute by hand, and algorithm 1 as it is printed."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.simulation.dataflow.input_order import Arrival
from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.dataflow.message import Barrier, Message, Records
from ftplan.simulation.dataflow.plane import DataPlane


def job(
    rate: Sequence[float],
    streams: Sequence[tuple[int, int, float]],
    record_time_s: float | Sequence[float] = 0.02,
    **other: Any,
) -> StreamJob:
    """Return a job with batches of 1 s whose streams are (sender, receiver, share); output tasks send nothing."""
    tasks = len(rate)
    sender, receiver, share = (np.array([stream[k] for stream in streams]) for k in range(3))
    rest: dict[str, Any] = {"threads": np.ones(tasks), "deterministic": np.ones(tasks, dtype=bool), "batch_s": 1.0}
    return StreamJob(
        rate=np.array(rate, dtype=np.float64),
        sender=sender.astype(np.int64),
        receiver=receiver.astype(np.int64),
        share=share.astype(np.float64),
        record_time_s=np.broadcast_to(np.array(record_time_s, dtype=np.float64), tasks),
        output=~np.isin(np.arange(tasks), sender),
        state_bytes=np.zeros(tasks),
        **(rest | other),
    )


def chain(share: float = 1.0, **other: Any) -> StreamJob:
    """Return a source of 10 records a second and two tasks behind it; a batch of 10 records takes a task 0.2 s."""
    return job([10, 0, 0], [(0, 1, 1.0), (1, 2, share)], **other)


def begin(plane: DataPlane, tasks: int, cores: float | None = None) -> None:
    """Start all tasks, each on a node of its own with 1 core, or all on one node with so many cores."""
    shared = None if cores is None else plane.add_node(cores)
    for task in range(tasks):
        plane.start(task, plane.add_node(1.0) if shared is None else shared, 0)


class PrintedOrder:
    """Algorithm 1 of [SuZhouTR] as printed: an ``InputOrder`` that is not exactly-once.

    It drops what is not above the last number *processed*, so that it queues a copy of what still waits; and it counts
    barriers, so that one that is replayed counts for another stream. The number of the batch rises, or nothing would.
    """

    def __init__(self, numbers: Mapping[int, int], batch: int) -> None:
        self._processed = dict(numbers)
        self._barriers: dict[int, int] = {}
        self._arrived = dict.fromkeys(numbers, batch)
        self._queues: dict[tuple[int, int], deque[Records]] = {}
        self._batch = batch

    def put(self, message: Message) -> Arrival:
        if isinstance(message, Barrier):
            self._barriers[message.batch] = self._barriers.get(message.batch, 0) + 1
            self._arrived[message.stream] = max(self._arrived[message.stream], message.batch + 1)
            return Arrival()
        new = message.after(self._processed[message.stream])
        self._queues.setdefault((message.batch, message.stream), deque()).append(new)
        return Arrival(queued=new.size, duplicate=message.size - new.size)

    def take(self) -> list[Records] | None:
        if self._barriers.get(self._batch, 0) < len(self._processed):
            return None
        batch: list[Records] = []
        for stream in sorted(self._processed):
            batch.extend(records for records in self._queues.pop((self._batch, stream), ()) if records.size)
        self._processed |= {records.stream: records.last for records in batch}
        self._batch += 1
        return batch

    def arrived(self, stream: int) -> int:
        return self._arrived[stream]

    def queued(self, stream: int) -> int:
        return sum(records.size for (_, of), queue in self._queues.items() if of == stream for records in queue)
