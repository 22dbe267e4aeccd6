"""The state of a task at the end of a batch, as a checkpoint holds it; and what became of every record on the way.

By histories and ledgers exactly-once and conservation can be checked at any moment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.simulation.dataflow.job import StreamJob
from tests.simulation.reference_plane.streams import LOG, Identity, Records


@dataclass(frozen=True, eq=False)
class StreamLedger:
    """Records on streams until a moment, copies counted one by one; arrays have shape (streams,).

    ``sent = under_way + lost + duplicate + queued + processed`` at every moment.

    Attributes
    ----------
    sent
        Put on the stream, again included.
    under_way
        Sent and not there yet.
    lost
        Sent to a task that was down; under way to or queued at a task when it failed or went back; too early.
    duplicate
        Dropped because the stream had brought them already.
    queued
        Wait for their batch to be processed; those of a batch at work as well.
    processed
        Processed in batches that were finished, those that were forgotten since included.
    """

    sent: IntArray
    under_way: IntArray
    lost: IntArray
    duplicate: IntArray
    queued: IntArray
    processed: IntArray

    def missing(self) -> IntArray:
        """Return how many records nothing is known of: 0 for each stream, or the ledger is wrong."""
        known = self.under_way + self.lost + self.duplicate + self.queued + self.processed
        return np.asarray(self.sent - known)


@dataclass
class TaskHistory:
    """What a task's state has come from: what it has processed and emitted, less what it went back over.

    Attributes
    ----------
    since
        Batch of the first entry: 0, or where a state without a checkpoint was built again.
    taken
        What was processed, in its order, by batch; a source's comes from its log.
    emitted
        What was emitted, by batch. An output task's output is what it has taken.
    """

    since: int = 0
    taken: list[tuple[Records, ...]] = field(default_factory=list)
    emitted: list[tuple[Records, ...]] = field(default_factory=list)

    def copy(self) -> TaskHistory:
        """Return a history that goes its own way from here on."""
        return TaskHistory(self.since, list(self.taken), list(self.emitted))

    def numbers(self, stream: int) -> list[int]:
        """Return the numbers of a stream's records in the order of processing: exactly-once is 1, 2, ..., n."""
        runs = [records for batch in self.taken for records in batch if records.stream == stream]
        return [number for records in runs for number in range(records.first, records.last + 1)]

    def of(self, stream: int, batch: int) -> tuple[Records, ...]:
        """Return what was processed of a stream in a batch."""
        return tuple(records for records in self.taken[batch - self.since] if records.stream == stream)

    def emission(self, stream: int, batch: int) -> tuple[Records, ...]:
        """Return what was emitted on a stream in a batch; nothing where there were no records."""
        return tuple(r for r in self.emitted[batch - self.since] if r.stream == stream and r.size)

    def identities(self) -> list[tuple[Identity, ...]]:
        """Return the identities of what was processed, in its order, by batch."""
        return [tuple(name for records in batch for name in records.identities) for batch in self.taken]


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
