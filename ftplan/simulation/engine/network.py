"""The network: links and channels that keep order, and transfers that hold several links at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from simpy import Environment, Event, Process, Resource
from simpy.events import ProcessGenerator

from ftplan.simulation.engine.clock import after, data_timeout

Message = TypeVar("Message")


class Link(Generic[Message]):
    """A link that delivers every message after a constant delay, first in first out, until it is cut."""

    def __init__(self, env: Environment, delay_s: float, deliver: Callable[[Message], object]) -> None:
        self.env = env
        self.delay_s = delay_s
        #: ``sent``, ``delivered``, ``lost``: records so far; ``sent = delivered + lost + under_way`` at every moment
        self.sent = self.delivered = self.lost = 0.0
        self._deliver = deliver
        self._cuts = 0

    @property
    def under_way(self) -> float:
        """Records under way."""
        return self.sent - self.delivered - self.lost

    def send(self, message: Message, records: float = 1.0) -> None:
        """Send a message that stands for *records* records."""
        self.sent += records
        cuts = self._cuts
        after(self.env, self.delay_s, lambda: self._arrive(message, records, cuts))

    def cut(self) -> None:
        """Lose what is under way; what is sent from now on arrives."""
        self._cuts += 1
        self.lost += self.under_way

    def _arrive(self, message: Message, records: float, cuts: int) -> None:
        if cuts == self._cuts:
            self.delivered += records
            self._deliver(message)


class FifoChannel(Generic[Message]):
    """Messages that take different times, delivered first in first out: none before those that were sent earlier."""

    def __init__(self, deliver: Callable[[Message], object]) -> None:
        self._deliver = deliver
        self._under_way: deque[tuple[Message, Event]] = deque()

    def send(self, message: Message, there: Event) -> None:
        """Send a message that is there when an event that has not been processed yet is, if not held up by others."""
        self._under_way.append((message, there))
        there.callbacks.append(self._hand_over)

    def _hand_over(self, _: Event) -> None:
        while self._under_way and self._under_way[0][1].processed:
            self._deliver(self._under_way.popleft()[0])


def transfer(env: Environment, links: Sequence[Resource], seconds: float, delay_s: float = 0.0) -> Process:
    """Transfer something over all of some links at once, each waited for in the given order; return the process.

    It is there *delay_s* after the links are free again. Transfers that have links in common have to wait for them in
    one order, or they might wait for each other for ever.
    """

    def carry_over() -> ProcessGenerator:
        held = []
        for link in links:
            held.append((link, link.request()))
            yield held[-1][1]
        yield data_timeout(env, seconds)
        for link, request in held:
            link.release(request)
        if delay_s > 0.0:
            yield data_timeout(env, delay_s)

    return env.process(carry_over())
