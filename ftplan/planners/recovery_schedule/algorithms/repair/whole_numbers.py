"""A repair in whole numbers for CP-SAT, rounded so that no placement is cut off or counts for more than it loses.

Also a placement in whole numbers as a start for the interval model, and the points in time at which that model counts.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.repair.host_groups import interchangeable_hosts
from ftplan.planners.recovery_schedule.algorithms.repair.instance import NOWHERE, RepairInstance, RepairPlacement

#: Points where restores may end at any time, and where all times at which anything can be back are known before.
POINTS, MOST_KNOWN = 40, 150


def known_points(whole: IntegerRepair, possible: BoolArray) -> list[int] | None:
    """Return every time at which a query can be whole, None where restores take time or there are too many."""
    if whole.lasts[possible].any():
        return None
    early = np.concatenate((whole.earliest()[possible], whole.floor[whole.floor < whole.end], [0]))
    points = np.unique(early)
    return None if len(points) > MOST_KNOWN else [int(at) for at in points]


def spread_points(whole: IntegerRepair, possible: BoolArray, hint: IntegerTimes) -> list[int]:
    """Return times by which tasks alone can have caught up, and halves of the largest gaps between them."""
    alone = np.unique(whole.earliest()[possible])
    if len(alone) > POINTS // 2:
        alone = alone[np.unique(np.linspace(0, len(alone) - 1, POINTS // 2).astype(np.int64))]
    points = {0, *(int(at) for at in alone)}
    points.add(max([max(points), *(at for at in hint.whole if at < whole.end)]))
    while 1 < len(points) < POINTS and bool((whole.lasts > 0).any()):
        gap, left = max((later - early, -early) for early, later in itertools.pairwise(sorted(points)))
        if gap <= max(1, whole.end // 1000):
            break
        points.add(-left + gap // 2)
    return sorted(points - {0})


@dataclass(frozen=True)
class IntegerTimes:
    """When what happens in a placement, in whole numbers; the horizon stands for never."""

    host: list[int]
    begins: list[int]
    caught_up: list[int]
    whole: list[int]


def integer_times(instance: RepairInstance, whole: IntegerRepair, placement: RepairPlacement) -> IntegerTimes:
    """Return the times of a placement."""
    begins = whole.begun(instance, placement)
    of_bundle = np.zeros(instance.queries.bundles, dtype=np.int64)
    for task, host in enumerate(placement.host.tolist()):
        late = whole.end
        if host >= 0:
            late = min(late, whole.caught_up(int(begins[task] + whole.lasts[task, host]), task))
        of_bundle[instance.bundle[task]] = max(int(of_bundle[instance.bundle[task]]), late)
    of_query = np.minimum(whole.floor, whole.end)
    np.maximum.at(of_query, instance.queries.row, of_bundle[instance.queries.member])
    begins = np.where(placement.host >= 0, np.minimum(begins, whole.end), 0)
    return IntegerTimes(placement.host.tolist(), begins.tolist(), of_bundle.tolist(), of_query.tolist())


def interchangeable_groups(instance: RepairInstance) -> list[list[int]]:
    """Return the hosts that are alike, where there are several."""
    hosts: dict[int, list[int]] = defaultdict(list)
    for host, first in enumerate(interchangeable_hosts(instance)):
        hosts[first].append(host)
    return [own for own in hosts.values() if len(own) > 1]


def useful_times(instance: RepairInstance, whole: IntegerRepair, start: RepairPlacement) -> IntegerTimes:
    """Return the times of a placement without bundles that are late, of hosts alike the fullest first."""
    times = integer_times(instance, whole, start)
    host = np.where(np.array(times.caught_up)[instance.bundle] < whole.end, start.host, NOWHERE)
    on = host >= 0
    load = np.bincount(host[on], whole.cost[on], len(instance.host))
    to = np.arange(len(load))
    for hosts in interchangeable_groups(instance):
        to[sorted(hosts, key=lambda h: (-load[h], h))] = hosts
    host[on] = to[host[on]]
    return integer_times(instance, whole, RepairPlacement(host, start.order, start.step_s))


#: Units of time until the horizon, of cores on the largest host, and of priority in all, where no unit is exact.
TIMES, CORES, PRIORITIES = 2**26, 2**22, 2**22
#: The finest unit that may be exact: of a second, a core, a priority.
FINEST = 1e-6
#: How far from whole numbers of it values may lie that count as such.
OFF = 1e-3


@dataclass(frozen=True, eq=False)
class IntegerRepair:
    """J tasks, H hosts, Q queries; times count from ``at_s`` on.

    A task has caught up when ``den × time >= num × ready + add``, rounded down. Everything that delays is rounded
    down, what limits is rounded up.
    """

    unit_s: float
    priority_unit: float
    end: int  # the horizon
    there: IntArray  # (H,) the first step of each host
    restart: int
    begins: IntArray  # (J, H) when a task that starts at the first step of a host can begin to fetch its state
    lasts: IntArray  # (J, H)
    lanes: IntArray  # (H, N)
    num: IntArray  # (J,)
    den: int
    add: IntArray  # (J,)
    floor: IntArray  # (Q,)
    priority: IntArray  # (Q,)
    cost: IntArray  # (J,)
    room: IntArray  # (H,)
    pool: int

    @property
    def unit(self) -> float:
        """Priority × seconds of one unit of what is lost."""
        return self.unit_s * self.priority_unit

    def caught_up(self, ready: int, task: int) -> int:
        """Return when a task has caught up that runs with its state from *ready* on."""
        return max(0, (int(self.num[task]) * ready + int(self.add[task])) // self.den)

    def latest_ready(self, by: int, task: int) -> int:
        """Return by when a task must run with its state to have caught up by some time."""
        return ((by + 1) * self.den - 1 - int(self.add[task])) // int(self.num[task])

    def earliest(self) -> IntArray:
        """Return when each task has caught up at the earliest on each host, shape (J, H)."""
        fetching = np.maximum(self.begins, self.lanes.min(axis=1, initial=0)[None, :]) + self.lasts
        ready = np.where(self.lasts > 0, fetching, self.begins)
        behind = (self.num[:, None] * ready + self.add[:, None]) // self.den
        return np.asarray(np.maximum(behind, 0), dtype=np.int64)

    def begun(self, instance: RepairInstance, placement: RepairPlacement) -> IntArray:
        """Return when each task of a placement begins to fetch its state, ``end`` where it is not started, (J,)."""
        begins = np.full(len(self.num), self.end, dtype=np.int64)
        lanes = self.lanes.copy()
        started = placement.order[placement.host[placement.order] >= 0]
        if placement.step_s is not None:
            started = started[np.argsort(placement.step_s[started], kind="stable")]
        for task in started.tolist():
            host = int(placement.host[task])
            begins[task] = self.begins[task, host]
            if placement.step_s is not None:
                at_s = float(instance.starts(float(placement.step_s[task]), task)) - instance.at_s
                begins[task] = max(int(begins[task]), int(at_s / self.unit_s))
            if self.lasts[task, host] > 0:
                lane = int(np.argmin(lanes[host]))
                begins[task] = max(int(begins[task]), int(lanes[host, lane]))
                lanes[host, lane] = begins[task] + self.lasts[task, host]
        return begins


def integer_repair(instance: RepairInstance) -> IntegerRepair | None:
    """Return a repair in whole numbers, None where its numbers are too far apart to be held. Cost O(J · H)."""
    span = instance.horizon_s - instance.at_s
    tasks = np.arange(len(instance.task))
    begins = instance.starts(instance.there_s[None, :], tasks[:, None]) - instance.at_s
    lanes = np.maximum(instance.lanes - instance.at_s, 0.0)
    floor = np.clip(instance.floor_s - instance.at_s, 0.0, span)
    add = instance.replay_s + instance.catch_up * (instance.at_s - instance.down_s)
    if not (span > 0.0 and np.all(np.isfinite(add)) and np.all(np.isfinite(floor)) and instance.priority.sum() > 0.0):
        return None
    there = np.append(np.minimum(instance.there_s - instance.at_s, span), instance.restart_s)
    near = begins <= span  # what begins after the horizon may be as late as it likes
    unit_s = _exact_unit(TIMES, span, begins[near], instance.seconds, np.minimum(lanes, span), floor, add, there)
    exact = unit_s is not None
    unit_s = span / TIMES if unit_s is None else unit_s
    den = 1
    if instance.catch_up.any():  # no unit is exact for what catching up takes: a fine one
        den, unit_s = 2**18, unit_s / 2 ** int(math.log2(TIMES * unit_s / span))

    def down(seconds: FloatArray | float) -> IntArray:
        units = np.minimum(np.asarray(seconds, dtype=np.float64), 2.0 * span) / unit_s
        return np.asarray(np.round(units) if exact else np.floor(units), dtype=np.int64)

    num = np.floor((1.0 + instance.catch_up) * den)
    shift = np.floor(np.clip(add, -2.0 * span, 2.0 * span) / unit_s * den + (0.5 if exact else 0.0))
    if num.max(initial=1.0) * (2.0 * span / unit_s) > 2.0**52:
        return None
    cost, room, pool = _whole_cores(instance)
    priority_unit = _exact_unit(PRIORITIES, float(instance.priority.sum()), instance.priority)
    if priority_unit is None:
        priority_unit = float(instance.priority.sum()) / PRIORITIES
        priority = np.floor(instance.priority / priority_unit)
    else:
        priority = np.round(instance.priority / priority_unit)
    return IntegerRepair(
        unit_s=unit_s,
        priority_unit=priority_unit,
        end=int(down(span)),
        there=down(instance.there_s - instance.at_s),
        restart=int(down(instance.restart_s)),
        begins=down(begins),
        lasts=down(instance.seconds),
        lanes=down(lanes),
        num=num.astype(np.int64),
        den=den,
        add=shift.astype(np.int64),
        floor=down(floor),
        priority=priority.astype(np.int64),
        cost=cost,
        room=room,
        pool=pool,
    )


def _exact_unit(most: int, largest: float, *values: FloatArray) -> float | None:
    """Return the largest unit that all values are multiples of, None where *largest* has more than *most* of it."""
    every = np.concatenate([np.ravel(own) for own in (*values, np.array([largest]))])
    if not np.all(np.isfinite(every)) or np.abs(every).max() > 2.0**50 * FINEST:
        return None
    whole = np.round(every / FINEST)
    if np.any(np.abs(every / FINEST - whole) > OFF):
        return None
    unit = max(1, int(np.gcd.reduce(whole.astype(np.int64))))
    return unit * FINEST if largest / FINEST / unit <= most else None


def _whole_cores(instance: RepairInstance) -> tuple[IntArray, IntArray, int]:
    """Return costs, rooms and the pool; where no unit is exact costs are rounded down and the others up.

    Rooms are as large as what :meth:`RepairInstance.fits` lets pass.
    """
    limit = instance.room + ROUNDING * np.maximum(1.0, np.abs(instance.room))
    pool = instance.pool + ROUNDING * max(1.0, abs(instance.pool))
    largest = max(float(limit.max(initial=0.0)), ROUNDING)
    needed = np.minimum(instance.cost, 2.0 * largest)
    unit = _exact_unit(CORES, min(largest, float(needed.sum())), needed)
    cores = largest / CORES if unit is None else unit
    cost = np.floor(needed / cores) if unit is None else np.round(needed / cores)
    slack = 1.0 if unit is None else min(1.0, OFF * FINEST / cores * (1 + len(cost)))
    most = math.ceil(min(float(cost.sum()), 2.0**40)) + 1
    room = np.floor(np.minimum(limit / cores + slack, most))
    return cost.astype(np.int64), room.astype(np.int64), int(min(pool / cores + slack, float(most)))
