"""Algorithm 1 of [SuZhouTR] as it is printed, error by error; only here, to see that the invariants catch each."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from tests.simulation.reference_plane.streams import Arrival, Barrier, Message, Records


class PrintedOrder:
    """An input order with errors of the listing; none of them: a second implementation of the repaired one.

    Parameters
    ----------
    compares_processed
        A record is a duplicate if its number is not above the last that was *processed*: a copy of one that is still
        queued is queued twice.
    counts_barriers
        Barriers of a batch are counted: one that comes again counts for another stream.
    same_batch
        The number of the batch never rises.
    """

    def __init__(
        self,
        numbers: Mapping[int, int],
        batch: int,
        *,
        compares_processed: bool = True,
        counts_barriers: bool = True,
        same_batch: bool = False,
    ) -> None:
        self._batch = batch
        self._processed = dict(numbers)
        self._queued = dict(numbers)
        self._queues: dict[int, deque[Records]] = {stream: deque() for stream in numbers}
        self._barriers: dict[int, list[int]] = {}
        self._arrived = dict.fromkeys(numbers, batch)
        self._compares_processed = compares_processed
        self._counts_barriers = counts_barriers
        self._same_batch = same_batch

    def put(self, message: Message) -> Arrival:
        """Queue records unless they are duplicates; count a barrier."""
        stream = message.stream
        if isinstance(message, Barrier):
            came = self._barriers.setdefault(message.batch, [])
            if self._counts_barriers or stream not in came:
                came.append(stream)
            self._arrived[stream] = max(self._arrived[stream], message.batch + 1)
            return Arrival()
        last = self._processed if self._compares_processed else self._queued
        new = message.after(last[stream])
        if new.size:
            self._queues[stream].append(new)
            self._queued[stream] = max(new.last, self._queued[stream])
        return Arrival(queued=new.size, duplicate=message.size - new.size)

    def take(self) -> list[Records] | None:
        """Return what is queued of the batch, stream by stream, once it has as many barriers as there are streams."""
        if len(self._barriers.get(self._batch, ())) < len(self._queues):
            return None
        taken = []
        for stream, queue in sorted(self._queues.items()):
            mine = [records for records in queue if records.batch == self._batch]
            self._queues[stream] = deque(records for records in queue if records.batch != self._batch)
            self._processed[stream] = max([self._processed[stream], *(records.last for records in mine)])
            taken += mine
        del self._barriers[self._batch]
        self._batch += not self._same_batch
        return taken

    def arrived(self, stream: int) -> int:
        """Return how many batches a stream has brought."""
        return self._arrived[stream]

    def queued(self, stream: int) -> int:
        """Return how many records wait."""
        return sum(records.size for records in self._queues[stream])
