"""A stream: the link that brings its messages in order, and what became of its records."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from simpy import Environment

from ftplan.simulation.dataflow.input_order import Arrival, Message, Records
from ftplan.simulation.engine.network import Link


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
