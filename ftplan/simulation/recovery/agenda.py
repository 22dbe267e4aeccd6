"""What is to come, in the order of time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from enum import IntEnum


class Kind(IntEnum):
    """What comes first of what comes at one time."""

    FAILURE = 0
    ARRIVAL = 1
    LOADED = 2
    TAKEOVER = 3
    DETECTION = 4
    START = 5
    REPLAY = 6
    LOOK = 7


class Agenda:
    """Things to do, taken by time, then by kind, then in the order in which they were added."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, Kind, int, Callable[[], None]]] = []
        self._added = 0

    def add(self, at_s: float, kind: Kind, act: Callable[[], None]) -> None:
        """Add something."""
        heapq.heappush(self._heap, (at_s, kind, self._added, act))
        self._added += 1

    def next_s(self) -> float:
        """Return when the next thing comes, infinite if none does."""
        return self._heap[0][0] if self._heap else float("inf")

    def take(self) -> Callable[[], None]:
        """Remove the next thing and return it."""
        return heapq.heappop(self._heap)[3]
