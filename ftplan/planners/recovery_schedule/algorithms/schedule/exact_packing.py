"""Tasks packed onto nodes exactly: few by search, faster than a solver is loaded, more by CP-SAT."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import ResidualCapacity, StepAssignment
from ftplan.planners.solver import SatAnswer, solve_sat

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

#: Tasks up to which they are packed by search, and placements of a task that are tried before it is given up.
MOST_TASKS, PLACEMENTS = 16, 30_000
#: Pairs of task and node up to which a solver places tasks, and the deterministic work of one that packs given tasks.
PAIRS, WORK = 20_000, 2.0
#: Seconds that it takes to hand the solver one pair: where there is no time for that it is not asked.
HANDING_S = 5e-5
#: Cores count in millionths, so that sums are exact.
UNIT = 1e6


class SearchLimitReached(Exception):
    """The search was given up: nothing is known."""


class Bins:
    """Hosts that take tasks, in whole millionths of a core, and how many placements may still be tried."""

    def __init__(self, residual: ResidualCapacity, hosts: Iterable[int]) -> None:
        self._hosts = list(hosts)
        self._room = [whole_room(float(residual.room[host])) for host in self._hosts]
        self._pooled = [host < residual.pooled for host in self._hosts]
        self._pool = whole_room(residual.pool) if np.isfinite(residual.pool) else sum(map(abs, self._room)) + 1
        self._left = PLACEMENTS

    @property
    def free(self) -> int:
        """All room there is for tasks."""
        inside = sum(max(room, 0) for room, pooled in zip(self._room, self._pooled, strict=True) if pooled)
        outside = sum(max(room, 0) for room, pooled in zip(self._room, self._pooled, strict=True) if not pooled)
        return min(inside, max(self._pool, 0)) + outside

    def pack(self, sizes: Sequence[int]) -> list[int] | None:
        """Return a host for each task, None where there is no packing.

        Depth first, the largest task first onto the least room that takes it; nodes with equal room are tried once.

        Raises
        ------
        SearchLimitReached
            If that takes more than the placements that are left.
        """
        if sum(sizes) > self.free:
            return None
        order = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
        room = list(self._room)
        chosen = [-1] * len(sizes)

        def go(at: int, pool: int) -> bool:
            if at == len(order):
                return True
            size = sizes[order[at]]
            tried: set[tuple[int, bool]] = set()
            for i in sorted(range(len(room)), key=lambda i: (room[i], i)):
                left = pool - size if self._pooled[i] else pool
                if room[i] < size or left < 0 or (room[i], self._pooled[i]) in tried:
                    continue
                tried.add((room[i], self._pooled[i]))
                self._left -= 1
                if self._left < 0:
                    raise SearchLimitReached
                room[i] -= size
                chosen[order[at]] = self._hosts[i]
                if go(at + 1, left):
                    return True
                room[i] += size
            return False

        return chosen if go(0, self._pool) else None


def whole_size(cost: float) -> int:
    """Return what a task takes, rounded up."""
    return int(np.ceil(cost * UNIT - 1e-3))


def whole_room(room: float) -> int:
    """Return what a node holds, rounded down."""
    return int(np.floor(room * UNIT + 1e-3))


def pack_exactly(
    tasks: Sequence[int], cost: FloatArray, residual: ResidualCapacity, seconds: float, seed: int
) -> list[StepAssignment] | None:
    """Return a packing of all tasks, None where there is none or the problem is too large for about *seconds*."""
    hosts = np.flatnonzero(residual.room > 0.0).tolist()
    if len(tasks) * len(hosts) > PAIRS or residual.splittable or not hosts:
        return None
    if len(tasks) <= MOST_TASKS:
        with suppress(SearchLimitReached):
            chosen = Bins(residual, hosts).pack([whole_size(float(cost[task])) for task in tasks])
            pairs = zip(tasks, chosen or (), strict=False)
            return None if chosen is None else [StepAssignment(task, host, float(cost[task])) for task, host in pairs]
    if seconds <= len(tasks) * len(hosts) * HANDING_S:
        return None
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    use = placements(model, tasks, hosts, cost, residual)
    for task in tasks:
        model.add_exactly_one([use[task, host] for host in hosts])
    answer = solve_sat(model, Budget(seconds), seed, work_s=WORK)
    return chosen_placements(answer, use, cost) if answer.found else None


def placements(
    model: cp_model.CpModel, tasks: Sequence[int], hosts: Sequence[int], cost: FloatArray, residual: ResidualCapacity
) -> dict[tuple[int, int], Any]:
    """Add to a model a variable for each task on each host, within the room of the hosts and the pool."""
    size = {task: whole_size(float(cost[task])) for task in tasks}
    use = {(task, host): model.new_bool_var("") for task in tasks for host in hosts}
    for host in hosts:
        model.add(sum(size[task] * use[task, host] for task in tasks) <= whole_room(float(residual.room[host])))
    if np.isfinite(residual.pool):
        pooled = [size[task] * use[task, host] for task in tasks for host in hosts if host < residual.pooled]
        model.add(sum(pooled) <= whole_room(residual.pool))
    return use


def chosen_placements(answer: SatAnswer, use: Mapping[tuple[int, int], Any], cost: FloatArray) -> list[StepAssignment]:
    """Return the placements of a solution."""
    return [StepAssignment(task, host, float(cost[task])) for task, host in answer.chosen(use)]
