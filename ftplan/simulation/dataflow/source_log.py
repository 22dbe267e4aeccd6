"""The log that a source reads: it survives failures, and is kept since the last complete checkpoint."""

from __future__ import annotations

from ftplan.simulation.dataflow.input_order import Arrival
from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.dataflow.message import LOG, Message, Records


class SourceLog:
    """What the logs of all sources have got, by batch.

    Attributes
    ----------
    batches
        Whole batches that the logs have got.
    kept_from
        Batch from which on they are kept.
    """

    def __init__(self, job: StreamJob, identities: bool) -> None:
        self.batches = 0
        self.kept_from = 0
        self._job = job
        self._identities = identities
        self._read = job.read(64)

    def read(self, task: int, batch: int) -> Records:
        """Return a source's records of a batch.

        Raises
        ------
        LookupError
            If the log has been trimmed beyond it.
        """
        if batch < self.kept_from:
            raise LookupError(f"the log of source {task} is kept from batch {self.kept_from} on, batch {batch} is gone")
        while len(self._read) <= batch + 1:
            self._read = self._job.read(2 * len(self._read))
        before, after = int(self._read[batch, task]), int(self._read[batch + 1, task])
        numbers = range(before + 1, after + 1)
        names = tuple((task, number) for number in numbers) if self._identities else ()
        return Records(LOG, batch, before + 1, after - before, names)


class SourceInput:
    """A source's input: an ``InputOrder`` that takes batches from the log."""

    def __init__(self, log: SourceLog, task: int, batch: int) -> None:
        self._log = log
        self._task = task
        self._batch = batch

    def put(self, message: Message) -> Arrival:
        """Refuse: nothing is sent to a source."""
        raise TypeError(f"{message} was sent to a source")

    def take(self) -> list[Records] | None:
        """Return the next batch once the log has all of it."""
        if self._batch >= self._log.batches:
            return None
        self._batch += 1
        return [self._log.read(self._task, self._batch - 1)]

    def arrived(self, stream: int) -> int:
        """Return 0: a source has no streams."""
        return 0

    def queued(self, stream: int) -> int:
        """Return 0: what waits is in the log."""
        return 0
