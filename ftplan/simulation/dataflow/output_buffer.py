"""What a task keeps of what it has sent to one task that it feeds ([SuZhouTR], section 4.2)."""

from __future__ import annotations

from collections import deque

from ftplan.simulation.dataflow.message import Message, Records


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
