"""A stream: the link that brings its messages in order, and what became of its records."""

from __future__ import annotations

from collections.abc import Callable

from simpy import Environment

from ftplan.simulation.dataflow.input_order import Arrival
from ftplan.simulation.dataflow.message import Message, Records
from ftplan.simulation.engine.network import Link


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
