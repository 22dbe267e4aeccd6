"""Streams: what travels on them, what is kept of it, and in which order a task takes its input.

Records are numbered one after another on each stream, with barriers between batches. What a task has sent to another
one is kept in an output buffer ([SuZhouTR], section 4.2). Input is put in order ([SuZhouTR], algorithm 1, repaired):
batches, streams in a fixed order, no record twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple, Protocol

from simpy import Environment

from ftplan.simulation.engine.network import Link

#: Which record it is: the same whenever a deterministic task makes it from the same records in the same order.
Identity = Hashable
#: "Stream" of the records that a source reads from its log.
LOG = -1


class Records(NamedTuple):
    """Consecutive records of a batch on a stream: numbers ``first .. first + size - 1``.

    *identities* names them one by one, or is empty where identities are not kept.
    """

    stream: int
    batch: int
    first: int
    size: int
    identities: tuple[Identity, ...] = ()

    @property
    def last(self) -> int:
        """Number of the last record; the one before *first* where there is none."""
        return self.first + self.size - 1

    def after(self, number: int) -> Records:
        """Return those whose number is above *number*."""
        cut = min(max(number + 1 - self.first, 0), self.size)
        return self._replace(first=self.first + cut, size=self.size - cut, identities=self.identities[cut:])


class Barrier(NamedTuple):
    """The end of a batch on a stream. A punctuation lies on such an end, and the barrier stands for it."""

    stream: int
    batch: int


Message = Records | Barrier


class Arrival(NamedTuple):
    """What became of the records of a message: queued, dropped as duplicates, or lost because they came too early."""

    queued: int = 0
    duplicate: int = 0
    early: int = 0


class InputOrder(Protocol):
    """What a task does with its input: it queues messages, and gives a batch out when that is complete."""

    def put(self, message: Message) -> Arrival:
        """Queue a message, or drop it or a part of it."""

    def take(self) -> list[Records] | None:
        """Return the next batch in the order in which it is to be processed, or None if it is not complete."""

    def arrived(self, stream: int) -> int:
        """Return how many batches a stream has brought, those before the state of the task included."""

    def queued(self, stream: int) -> int:
        """Return how many records of a stream are queued."""


class OutputBuffer:
    """Messages of one stream, first in first out; trimmed from the oldest batch on."""

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()

    @property
    def records(self) -> int:
        """Records kept."""
        return sum(message.size for message in self._messages if isinstance(message, Records))

    def keep(self, message: Message) -> None:
        """Keep a message that follows those kept."""
        self._messages.append(message)

    def since(self, batch: int) -> list[Message]:
        """Return what is kept of a batch and those after it, in order."""
        return [message for message in self._messages if message.batch >= batch]

    def trim(self, batch: int) -> None:
        """Forget what lies before a batch."""
        while self._messages and self._messages[0].batch < batch:
            self._messages.popleft()

    def keep_until(self, batch: int) -> None:
        """Forget a batch and those after it."""
        while self._messages and self._messages[-1].batch >= batch:
            self._messages.pop()

    def clear(self) -> None:
        """Forget all."""
        self._messages.clear()


class Stream:
    """A stream between two tasks.

    Attributes
    ----------
    lost, duplicate, processed
        Records so far, other than those lost under way; see ``StreamLedger``.
    """

    def __init__(self, env: Environment, delay_s: float, deliver: Callable[[Message], object]) -> None:
        self.link = Link(env, delay_s, deliver)
        self.lost = self.duplicate = self.processed = 0

    @property
    def sent(self) -> int:
        """Records sent."""
        return int(self.link.sent)

    def send(self, message: Message) -> None:
        """Send a message."""
        self.link.send(message, message.size if isinstance(message, Records) else 0)

    def cut(self, queued: int) -> None:
        """Lose what is under way, and what is queued at the receiver."""
        self.link.cut()
        self.lost += queued

    def arrive(self, arrival: Arrival) -> None:
        """Note what became of records that arrived."""
        self.lost += arrival.early
        self.duplicate += arrival.duplicate


#: Makes a task's input: last number that its state holds of each input stream, and batches that it holds.
InputOrderFactory = Callable[[Mapping[int, int], int], InputOrder]


class RepairedOrder:
    """Algorithm 1 with its errors repaired.

    Departures from the paper's listing, each needed for exactly-once:

    - A record is a duplicate if its number is not above the highest that was *queued*; the listing compares with the
      last that was processed, and queues a copy of a record that still waits.
    - Barriers are kept by stream; the listing counts them, so that one that is replayed counts for another stream.
    - After each batch the next one is looked at (by the task, which takes until nothing is complete); in the listing
      the number of the batch never rises.

    Streams are drained one after another, by their numbers, as in the listing; the text says round robin.
    """

    def __init__(self, numbers: Mapping[int, int], batch: int) -> None:
        self._highest = dict(numbers)
        self._barriers = dict.fromkeys(numbers, batch)
        self._queues: dict[int, deque[Records]] = {stream: deque() for stream in sorted(numbers)}
        self._batch = batch

    def put(self, message: Message) -> Arrival:
        """Queue what continues its stream; drop what the stream has brought before, and what leaves a gap."""
        stream, due = message.stream, self._barriers[message.stream]
        if isinstance(message, Barrier):
            if message.batch == due:
                self._barriers[stream] += 1
            return Arrival()
        new = message.after(self._highest[stream])
        duplicate = message.size - new.size
        if not new.size or new.batch != due or new.first != self._highest[stream] + 1:
            return Arrival(duplicate=duplicate, early=new.size)
        self._highest[stream] = new.last
        self._queues[stream].append(new)
        return Arrival(queued=new.size, duplicate=duplicate)

    def take(self) -> list[Records] | None:
        """Return the next batch, stream by stream, once each stream has brought its barrier."""
        if min(self._barriers.values()) <= self._batch:
            return None
        batch = []
        for queue in self._queues.values():
            while queue and queue[0].batch == self._batch:
                batch.append(queue.popleft())
        self._batch += 1
        return batch

    def arrived(self, stream: int) -> int:
        """Return how many barriers a stream has brought."""
        return self._barriers[stream]

    def queued(self, stream: int) -> int:
        """Return how many records of a stream wait."""
        return sum(records.size for records in self._queues[stream])
