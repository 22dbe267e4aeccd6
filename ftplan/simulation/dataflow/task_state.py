"""The state of a task at the end of a batch: what a checkpoint of it holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ftplan.simulation.dataflow.input_order import LOG, Identity, Records
from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.dataflow.ledger import TaskHistory


class TaskRole(NamedTuple):
    """What a task is in its job; streams by number, with their shares where it sends."""

    task: int
    inputs: tuple[int, ...]
    outputs: dict[int, float]
    record_time_s: float
    threads: float
    deterministic: bool


def task_role(job: StreamJob, task: int) -> TaskRole:
    """Return a task's role."""
    inputs = tuple(stream for stream in range(job.streams) if job.receiver[stream] == task)
    outputs = {stream: float(job.share[stream]) for stream in range(job.streams) if job.sender[stream] == task}
    return TaskRole(
        task, inputs, outputs, float(job.record_time_s[task]), float(job.threads[task]), bool(job.deterministic[task])
    )


@dataclass
class TaskState:
    """A task's state after *batch* batches.

    Attributes
    ----------
    records
        Records that it has processed.
    positions
        Number of the last record processed of each input stream.
    counters
        Number of the last record emitted on each output stream.
    history
        What it has come from; None where identities are not kept.
    """

    batch: int
    records: int
    positions: dict[int, int]
    counters: dict[int, int]
    history: TaskHistory | None = field(default_factory=TaskHistory)

    def copy(self) -> TaskState:
        """Return a snapshot."""
        history = self.history.copy() if self.history else None
        return TaskState(self.batch, self.records, dict(self.positions), dict(self.counters), history)

    def process(self, role: TaskRole, taken: Sequence[Records], nonce: Callable[[], int]) -> list[Records]:
        """Process a batch in the order given; return what is emitted on each output stream, maybe no records.

        For the i-th record that a task ever processes it emits on a stream the records up to number
        ``floor(share * i)``. An emitted record is its task, stream, number, and what it was made from; what a task that
        is not deterministic emits, is another record each time (*nonce* gives another number each time).
        """
        emitted = [self._emit(role, stream, taken, nonce) for stream in role.outputs]
        for records in taken:
            if records.stream != LOG:
                self.positions[records.stream] = records.last
        self.records += sum(records.size for records in taken)
        self.batch += 1
        if self.history:
            self.history.taken.append(tuple(taken))
            self.history.emitted.append(tuple(emitted))
        return emitted

    def _emit(self, role: TaskRole, stream: int, taken: Sequence[Records], nonce: Callable[[], int]) -> Records:
        share = role.outputs[stream]
        first = self.counters[stream] + 1
        last = _emitted(share, self.records + sum(records.size for records in taken))
        names: list[Identity] = []
        if self.history:
            origins = [name for records in taken for name in records.identities]
            for processed, origin in enumerate(origins, self.records + 1):
                for number in range(first + len(names), _emitted(share, processed) + 1):
                    name = (role.task, stream, number, origin)
                    names.append(name if role.deterministic else (*name, nonce()))
        self.counters[stream] = last
        return Records(stream, self.batch, first, last - first + 1, tuple(names))


def rebuilt_state(job: StreamJob, role: TaskRole, batch: int, identities: bool) -> TaskState:
    """Return the state after *batch* batches where there is no checkpoint; nothing is known of what it came from."""
    before = job.records_in(batch + 1)

    def numbers(streams: Sequence[int]) -> dict[int, int]:
        return {stream: int(job.records_on(stream, before)[batch]) for stream in streams}

    history = TaskHistory(since=batch) if identities else None
    return TaskState(batch, int(before[batch, role.task]), numbers(role.inputs), numbers([*role.outputs]), history)


def _emitted(share: float, processed: int) -> int:
    """Return how many records have been emitted on a stream after a number of processed ones; as in StreamJob."""
    return math.floor(share * processed + 1e-9)
