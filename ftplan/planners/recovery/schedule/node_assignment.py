"""On which node each recovered task starts."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import now
from ftplan.planners.recovery.knapsack.instance import SLACK

#: Tasks that are placed between two looks at the clock.
LOOK_EVERY = 256

#: First key group and their number of each task that may be split over nodes.
Splittable = Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Part:
    """A task on a host: the whole of it, or the key groups ``[first, last]``."""

    task: int
    host: int
    cpu: float
    key_groups: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Sites:
    """Where there is room, for one step. ``pool`` caps the summed use of the hosts in ``pooled``."""

    room: FloatArray  # (H,) cores, negative where the host is not there
    pooled: int  # hosts [0, pooled) share the pool
    pool: float  # cores, infinite without a cap
    local: Mapping[int, Mapping[int, float]]  # task -> host -> bytes of its state that lie there
    splittable: Splittable


def assign(tasks: Sequence[int], cost: FloatArray, sites: Sites) -> tuple[list[Part], list[int]]:
    """Place tasks in descending cpu, each on the node with most room left; return the parts and what did not fit.

    A node that holds the task's checkpoint comes first, the one with most of it before others: no transfer is better
    than room. Ties end at the task's and the host's number. Cost O(tasks * log hosts).

    Notes
    -----
    Su & Zhou, section 5 (end) name the node; the order of the tasks is not said, descending cpu packs best.
    """
    placing = Placing(cost, sites)
    placed: list[Part] = []
    left: list[int] = []
    for task in sorted(tasks, key=lambda t: (-cost[t], t)):
        parts = placing.place(task)
        placed += parts
        if not parts:
            left.append(task)
    return placed, left


def assign_in_order(
    tasks: Iterable[int], cost: FloatArray, sites: Sites, until_s: float = math.inf
) -> tuple[list[Part], bool]:
    """Place tasks in their order until one does not fit; return the parts, and whether the clock ended it.

    *until_s* is a time of ``budget.clock``. Nodes are chosen as by :func:`assign`; cost O(log hosts) a task.
    """
    placing = Placing(cost, sites)
    placed: list[Part] = []
    for number, task in enumerate(tasks):
        if number % LOOK_EVERY == LOOK_EVERY - 1 and now() > until_s:
            return placed, True
        parts = placing.place(task)
        if not parts:
            break
        placed += parts
    return placed, False


class Placing:
    """Room while tasks are placed one after another."""

    def __init__(self, cost: FloatArray, sites: Sites) -> None:
        self._cost, self._sites = cost, sites
        self._room, self._pool = sites.room.copy(), sites.pool
        self._heap = [(-value, host) for host, value in enumerate(self._room.tolist()) if value >= 0.0]
        heapq.heapify(self._heap)

    def place(self, task: int) -> list[Part]:
        """Place a task on one node or, where it may be split, on several; return no parts where it does not fit."""
        sites, room = self._sites, self._room
        need = float(self._cost[task])
        host = _near_checkpoint(task, need, room, self._pool, sites)
        if host is None:
            host = _most_room(need, self._heap, room, self._pool, sites)
        parts = _split(task, need, room, self._pool, sites) if host is None else [Part(task, host, need)]
        for part in parts:
            room[part.host] -= part.cpu
            self._pool -= part.cpu if part.host < sites.pooled else 0.0
            heapq.heappush(self._heap, (-float(room[part.host]), part.host))
        return parts


def fits(need: float, have: float) -> bool:
    """Return whether a cost fits, up to a rounding error."""
    return need <= have + SLACK * max(1.0, abs(have))


def _near_checkpoint(task: int, need: float, room: FloatArray, pool: float, sites: Sites) -> int | None:
    copies = sites.local.get(task)
    if not copies:
        return None
    open_to = [
        (-size, -float(room[host]), host)
        for host, size in copies.items()
        if size > 0.0 and sites.room[host] >= 0.0 and fits(need, _usable(host, room, pool, sites))
    ]
    return min(open_to)[2] if open_to else None


def _usable(host: int, room: FloatArray, pool: float, sites: Sites) -> float:
    return min(float(room[host]), pool) if host < sites.pooled else float(room[host])


def _most_room(need: float, heap: list[tuple[float, int]], room: FloatArray, pool: float, sites: Sites) -> int | None:
    """Return the host with most room that takes the task; outdated entries of the heap are dropped on the way."""
    passed: list[tuple[float, int]] = []
    found = None
    while heap:
        value, host = heap[0]
        if -value != room[host]:
            heapq.heappop(heap)  # an entry from before its last task
            continue
        if not fits(need, -value):
            break  # nothing has more room
        if fits(need, _usable(host, room, pool, sites)):
            found = host
            break
        passed.append(heapq.heappop(heap))  # room, but the pool is used up
    for entry in passed:
        heapq.heappush(heap, entry)
    return found


def _split(task: int, need: float, room: FloatArray, pool: float, sites: Sites) -> list[Part]:
    """Divide a task with key groups over the nodes with most room; nothing if it does not fit even so."""
    first, groups = sites.splittable.get(task, (0, 0))
    if groups < 2 or need <= 0.0:
        return []
    each = need / groups
    if int((np.maximum(room, 0.0) / each + SLACK).astype(np.int64).sum()) < groups:
        return []  # not even without a pool
    parts: list[Part] = []
    following = 0
    for host in sorted(range(len(room)), key=lambda h: (-room[h], h)):
        takes = min(groups - following, int(_usable(host, room, pool, sites) / each + SLACK))
        if takes <= 0:
            continue
        pool -= takes * each if host < sites.pooled else 0.0
        parts.append(Part(task, host, takes * each, (first + following, first + following + takes - 1)))
        following += takes
        if following == groups:
            return parts
    return []


def fillable(room: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return how much of each host's room tasks of some sizes can use at most, shape (hosts,).

    Parameters
    ----------
    room
        Cores left on each host.
    sizes
        Cores of the tasks that may be placed, any number of each.

    Notes
    -----
    Sums are counted in millionths of a core, sizes rounded down and room rounded up; what rounding took off the sizes
    comes on top for as many tasks as a host can hold, so that the answer never is too small. Where there are more
    than 64 sizes or the sums too many, or a size is less than a millionth, the room itself is it.
    """
    sizes = sizes[sizes > 0.0]
    floors = np.floor(sizes * 1e6 + 1e-3).astype(np.int64)
    units = np.unique(floors)
    if len(units) == 0 or units[0] == 0:
        return room.copy()
    unit = int(np.gcd.reduce(units))
    room = np.maximum(room, 0.0)
    have = np.ceil(room * 1e6 - 1e-3).astype(np.int64) // unit
    lost = max(0.0, float((sizes - floors * 1e-6).max()))
    slack = lost * np.ceil(room / float(sizes.min())) + 1e-9
    answer: FloatArray = np.minimum(room, have * unit * 1e-6 + slack)
    answer[have * unit < units[0]] = 0.0
    if len(units) > 64 or int(have.max(initial=0)) > 20_000:
        return answer
    largest = _largest_sums((units // unit).tolist(), int(have.max(initial=0)))
    attainable = np.array([largest[h] for h in have.tolist()], dtype=np.float64) * unit * 1e-6
    return np.asarray(np.minimum(answer, attainable + slack), dtype=np.float64)


def _largest_sums(sizes: list[int], limit: int) -> list[int]:
    """Return for each number up to a limit the largest sum of sizes, each used any number of times, not above it."""
    reached, mask = 1, (1 << (limit + 1)) - 1
    for size in sizes:
        shift = size
        while shift <= limit:
            reached |= (reached << shift) & mask
            shift *= 2
    largest, best = [], 0
    for number in range(limit + 1):
        if reached >> number & 1:
            best = number
        largest.append(best)
    return largest
