"""Few tasks on few nodes, placed by search: at once, and without a solver that takes longer to load than to solve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.recovery.schedule.node_assignment import Sites

#: Tasks and bundles up to which it is tried, and how many placements of a task are looked at before it is given up.
MOST_TASKS, MOST_BUNDLES = 16, 12
STEPS = 30_000
#: Cores count in millionths, so that sums are exact.
UNIT = 1e6


class TooMuch(Exception):
    """The search was given up: nothing is known."""


class Nodes:
    """Where tasks may go, in whole millionths of a core, and how many placements may still be looked at."""

    def __init__(self, sites: Sites, hosts: Sequence[int]) -> None:
        self._hosts = list(hosts)
        self._room = [whole_room(float(sites.room[host])) for host in hosts]
        self._pooled = [host < sites.pooled for host in hosts]
        self._pool = whole_room(sites.pool) if np.isfinite(sites.pool) else sum(map(abs, self._room)) + 1
        self._steps = STEPS

    @property
    def free(self) -> int:
        """All room there is for tasks."""
        inside = sum(room for room, pooled in zip(self._room, self._pooled, strict=True) if pooled and room > 0)
        outside = sum(room for room, pooled in zip(self._room, self._pooled, strict=True) if not pooled and room > 0)
        return min(inside, max(self._pool, 0)) + outside

    def placed(self, sizes: Sequence[int]) -> list[int] | None:
        """Return a host for each task, None where there is no packing.

        Depth first, the largest task first onto the least room that takes it; nodes with equal room are tried once.

        Raises
        ------
        TooMuch
            If that takes more than the placements that are left.
        """
        order = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
        rest = [0] * (len(order) + 1)
        for at in range(len(order) - 1, -1, -1):
            rest[at] = rest[at + 1] + sizes[order[at]]
        if rest[0] > self.free:
            return None
        room, pool = list(self._room), self._pool
        chosen = [-1] * len(sizes)

        def go(at: int, pool: int) -> bool:
            if at == len(order):
                return True
            size = sizes[order[at]]
            seen: set[tuple[int, bool]] = set()
            for i in sorted(range(len(room)), key=lambda i: (room[i], i)):
                left = pool - size if self._pooled[i] else pool
                if room[i] < size or left < 0 or (room[i], self._pooled[i]) in seen:
                    continue
                seen.add((room[i], self._pooled[i]))
                self._steps -= 1
                if self._steps < 0:
                    raise TooMuch
                room[i] -= size
                chosen[order[at]] = self._hosts[i]
                if go(at + 1, left):
                    return True
                room[i] += size
            return False

        return chosen if go(0, pool) else None


def whole_size(cost: float) -> int:
    """Return what a task takes, rounded up."""
    return int(np.ceil(cost * UNIT - 1e-3))


def whole_room(room: float) -> int:
    """Return what a node holds, rounded down."""
    return int(np.floor(room * UNIT + 1e-3))


def best_that_fits(
    nodes: Nodes, needs: Sequence[int], priority: FloatArray, sizes: Sequence[Sequence[int]]
) -> tuple[float, int, list[int]]:
    """Return the largest summed priority of queries that can be placed whole, their bundles, and a host for each task.

    Every set of bundles is looked at, the most valuable first, of equal ones the cheapest: the first that can be
    packed is the best.

    Parameters
    ----------
    needs, priority
        Bundles of each query as a bit mask, and its priority.
    sizes
        What the tasks of each bundle take, in millionths of a core. The hosts stand in the order of the tasks.

    Raises
    ------
    TooMuch
        If packing takes more placements than there may be.
    """
    sets: IntArray = np.arange(1 << len(sizes), dtype=np.int64)
    value = np.zeros(len(sets))
    for need, worth in zip(needs, priority.tolist(), strict=True):
        value += worth * ((sets & need) == need)
    cost = np.zeros(len(sets), dtype=np.int64)
    for bundle, tasks in enumerate(sizes):
        cost += sum(tasks) * ((sets >> bundle) & 1)
    order = np.lexsort((sets, cost, -value))
    for bundles in order[cost[order] <= nodes.free].tolist():
        tasks = [size for bundle, own in enumerate(sizes) if bundles >> bundle & 1 for size in own]
        hosts = nodes.placed(tasks)
        if hosts is not None:
            return float(value[bundles]), bundles, hosts
    return 0.0, 0, []
