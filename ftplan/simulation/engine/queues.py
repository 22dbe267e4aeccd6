"""Arrivals and the times between them, and queues that count what goes through them: nothing gets lost unseen."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

import numpy as np
from simpy import Environment, Process
from simpy.events import ProcessGenerator

from ftplan.simulation.engine.clock import DataEvent, data_timeout


def regular_gaps(rate: float) -> Iterator[float]:
    """Yield the seconds between arrivals of *rate* a second, all alike, for ever."""
    while True:
        yield 1.0 / rate


def poisson_gaps(rate: float, rng: np.random.Generator) -> Iterator[float]:
    """Yield the seconds between the arrivals of a Poisson process of *rate* a second, for ever."""
    while True:
        yield from rng.exponential(1.0 / rate, 1024).tolist()


def arrivals(env: Environment, gaps: Iterable[float], arrive: Callable[[], object]) -> Process:
    """Let *arrive* happen after each gap; return the process, which ends with the gaps."""

    def source() -> ProcessGenerator:
        for gap in gaps:
            yield data_timeout(env, gap)
            arrive()

    return env.process(source())


Entry = TypeVar("Entry")


class CountedQueue(Generic[Entry]):
    """First in, first out; an entry stands for a number of records.

    Attributes
    ----------
    entered, left, dropped
        Records so far; ``entered = left + dropped + held`` at every moment. What does not fit is entered and dropped.
    held
        Records in the queue.
    """

    def __init__(self, env: Environment, capacity: float = np.inf) -> None:
        self.env = env
        self.capacity = capacity
        self.entered = self.left = self.dropped = self.held = 0.0
        self._entries: deque[tuple[Entry, float]] = deque()
        self._takers: deque[DataEvent] = deque()

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def put(self, entry: Entry, records: float = 1.0) -> bool:
        """Put an entry in, or drop it where its records are more than there is room for; return whether it is in."""
        self.entered += records
        if self.held + records > self.capacity:
            self.dropped += records
            return False
        self.held += records
        self._entries.append((entry, records))
        self._serve()
        return True

    def get(self) -> DataEvent:
        """Return an event that succeeds with the first entry when there is one; whoever asked first is served first."""
        taker = DataEvent(self.env)
        self._takers.append(taker)
        self._serve()
        return taker

    def clear(self) -> None:
        """Drop all entries."""
        self.dropped += self.held
        self.held = 0.0
        self._entries.clear()

    def _serve(self) -> None:
        while self._entries and self._takers:
            entry, records = self._entries.popleft()
            self.held -= records
            self.left += records
            self._takers.popleft().succeed(entry)
