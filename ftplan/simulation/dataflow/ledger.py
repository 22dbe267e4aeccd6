"""What became of every record, so that exactly-once and conservation can be checked at any moment."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.simulation.dataflow.input_order import Identity, Records


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
