"""On which node each recovered task starts."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import now

#: Tasks that are placed between two looks at the clock.
LOOK_EVERY = 256


@dataclass(frozen=True, slots=True)
class StepAssignment:
    """A task on a host: the whole of it, or the key groups ``[first, last]``."""

    task: int
    host: int
    cpu: float
    key_groups: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class ResidualCapacity:
    """Where there is room, for one step. ``pool`` caps the summed use of the hosts in ``pooled``."""

    room: FloatArray  # (H,) cores, negative where the host is not there
    pooled: int  # hosts [0, pooled) share the pool
    pool: float  # cores, infinite without a cap
    local: Mapping[int, Mapping[int, float]]  # task -> host -> bytes of its state that lie there
    splittable: Mapping[int, tuple[int, int]]  # task -> its first key group and their number, where it may be split

    @property
    def total(self) -> float:
        """Cores free on all hosts."""
        room = np.maximum(self.room, 0.0)
        return min(float(room[: self.pooled].sum()), self.pool) + float(room[self.pooled :].sum())

    @property
    def largest(self) -> float:
        """Cores of the largest task that may fit: no limit where tasks are split."""
        return np.inf if self.splittable else float(self.room.max(initial=0.0))

    def after(self, placed: Iterable[StepAssignment]) -> ResidualCapacity:
        """Return what is left."""
        room, pool = self.room.copy(), self.pool
        for item in placed:
            room[item.host] -= item.cpu
            pool -= item.cpu if item.host < self.pooled else 0.0
        return replace(self, room=room, pool=pool)


def assign(tasks: Sequence[int], cost: FloatArray, residual: ResidualCapacity) -> list[StepAssignment] | None:
    """Place tasks in descending cpu, each on the node with most room left; None where one does not fit.

    A node that holds the task's checkpoint comes first, the one with most of it before others: no transfer is better
    than room. Ties end at the task's and the host's number. Cost O(tasks * log hosts).

    [SuZhouTR], section 5 (end), names the node; the order of the tasks is not said, descending cpu packs best.
    """
    packing = _Packing(cost, residual)
    placed: list[StepAssignment] = []
    for task in sorted(tasks, key=lambda t: (-cost[t], t)):
        parts = packing.place(task)
        if not parts:
            return None
        placed += parts
    return placed


def assign_in_order(
    tasks: Iterable[int], cost: FloatArray, residual: ResidualCapacity, until_s: float = math.inf
) -> list[StepAssignment]:
    """Place tasks in their order until one does not fit, or until *until_s*, a time of ``budget.now``.

    Nodes are chosen as by :func:`assign`; cost O(log hosts) a task.
    """
    packing = _Packing(cost, residual)
    placed: list[StepAssignment] = []
    for number, task in enumerate(tasks):
        late = number % LOOK_EVERY == LOOK_EVERY - 1 and now() > until_s
        parts = [] if late else packing.place(task)
        if not parts:
            break
        placed += parts
    return placed


class _Packing:
    """What is left while tasks are placed one after another."""

    def __init__(self, cost: FloatArray, residual: ResidualCapacity) -> None:
        self._cost, self._residual = cost, residual
        self._room, self._pool = residual.room.copy(), residual.pool
        self._heap = [(-value, host) for host, value in enumerate(self._room.tolist()) if value >= 0.0]
        heapq.heapify(self._heap)

    def place(self, task: int) -> list[StepAssignment]:
        """Place a task on one node or, where it may be split, on several; return nothing where it does not fit."""
        need = float(self._cost[task])
        host = self._near_checkpoint(task, need)
        if host is None:
            host = self._most_room(need)
        parts = self._split(task, need) if host is None else [StepAssignment(task, host, need)]
        for part in parts:
            self._room[part.host] -= part.cpu
            self._pool -= part.cpu if part.host < self._residual.pooled else 0.0
            heapq.heappush(self._heap, (-float(self._room[part.host]), part.host))
        return parts

    def _usable(self, host: int) -> float:
        room = float(self._room[host])
        return min(room, self._pool) if host < self._residual.pooled else room

    def _near_checkpoint(self, task: int, need: float) -> int | None:
        """Return the host with most of the task's state that takes it."""
        open_to = [
            (-size, -float(self._room[host]), host)
            for host, size in self._residual.local.get(task, {}).items()
            if size > 0.0 and self._residual.room[host] >= 0.0 and fits(need, self._usable(host))
        ]
        return min(open_to)[2] if open_to else None

    def _most_room(self, need: float) -> int | None:
        """Return the host with most room that takes the task; outdated entries of the heap are dropped on the way."""
        heap = self._heap
        passed: list[tuple[float, int]] = []
        chosen = None
        while heap and chosen is None:
            value, host = heap[0]
            if -value != self._room[host]:
                heapq.heappop(heap)  # an entry from before its last task
            elif not fits(need, -value):
                break  # nothing has more room
            elif fits(need, self._usable(host)):
                chosen = host
            else:
                passed.append(heapq.heappop(heap))  # room, but the pool is used up
        for entry in passed:
            heapq.heappush(heap, entry)
        return chosen

    def _split(self, task: int, need: float) -> list[StepAssignment]:
        """Divide a task with key groups over the nodes with most room; nothing if it does not fit even so."""
        first, groups = self._residual.splittable.get(task, (0, 0))
        if groups < 2 or need <= 0.0:
            return []
        each = need / groups
        if int((np.maximum(self._room, 0.0) / each + ROUNDING).astype(np.int64).sum()) < groups:
            return []  # not even without a pool
        parts: list[StepAssignment] = []
        pool, following = self._pool, 0
        for host in sorted(range(len(self._room)), key=lambda h: (-self._room[h], h)):
            pooled = host < self._residual.pooled
            usable = min(float(self._room[host]), pool) if pooled else float(self._room[host])
            takes = min(groups - following, int(usable / each + ROUNDING))
            if takes <= 0:
                continue
            pool -= takes * each if pooled else 0.0
            parts.append(StepAssignment(task, host, takes * each, (first + following, first + following + takes - 1)))
            following += takes
            if following == groups:
                return parts
        return []


def fits(need: float, have: float) -> bool:
    """Return whether a cost fits, up to a rounding error."""
    return need <= have + ROUNDING * max(1.0, abs(have))
