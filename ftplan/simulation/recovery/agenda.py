"""What is to come in the order of time, and tasks that are about to start: where, and when they have their state."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from enum import IntEnum

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.simulation.recovery.setting import RecoverySetting, RecoveryStart


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


class PendingStarts:
    """Starts between the time that the schedule gives them and the time that the data plane starts their tasks."""

    def __init__(self, setting: RecoverySetting) -> None:
        used = setting.starts if setting.mode.waits != "nothing" else ()
        self.placed: dict[int, RecoveryStart] = {}  # by task, what starts once the whole job goes back
        self.loaded_s: dict[int, float] = {}  # when tasks of these that were ordered to load their state have it
        self.early: list[RecoveryStart] = []  # starts whose task's failure is not detected yet
        self._to_come: IntArray = np.bincount([start.task for start in used] or [0], minlength=setting.job.tasks)
        self._to_come[0] -= not used

    def place(self, start: RecoveryStart) -> None:
        """Note that a task has a place."""
        self.placed[start.task] = start

    def passed(self, task: int) -> None:
        """Note that a start of the schedule is not to come any more."""
        self._to_come[task] -= 1

    def comes(self, tasks: Iterable[int]) -> bool:
        """Return whether the schedule starts any of some tasks that have no place yet."""
        return any(self._to_come[task] > 0 for task in tasks if task not in self.placed)

    def take_early(self) -> list[RecoveryStart]:
        """Remove the early starts and return them."""
        early, self.early = self.early, []
        return early

    def not_ordered(self) -> list[int]:
        """Return the tasks that have a place and do not load their state yet."""
        return [task for task in self.placed if task not in self.loaded_s]

    def leave(self, nodes: Iterable[int]) -> list[RecoveryStart]:
        """Remove the places on nodes that failed of tasks that do not load yet; return them."""
        nodes = set(nodes)
        return [self.placed.pop(task) for task in self.not_ordered() if self.placed[task].node in nodes]

    def remove(self, task: int) -> RecoveryStart | None:
        """Forget a task's place; return it."""
        self.loaded_s.pop(task, None)
        return self.placed.pop(task, None)
