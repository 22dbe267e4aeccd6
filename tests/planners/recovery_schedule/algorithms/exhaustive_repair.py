"""The best placement of a small repair: every host, step and order of restores that may still be better.

An oracle for searches and models where brute force over all placements takes too long.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass, field

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.host_groups import interchangeable_hosts
from ftplan.planners.recovery_schedule.algorithms.repair.instance import NOWHERE, RepairInstance, RepairPlacement

#: Tasks up to which it is tried, and partial placements that are looked at before it is given up: the first are some
#: tenths of a second.
MOST_TASKS, LEAST_VISITED, MOST_VISITED = 16, 20_000, 200_000
#: Partial placements more for each second that is left, about a sixth of it, or for each iteration.
BY_SECOND, BY_ITERATION = 4_000, 1_000
#: Partial placements between two looks at the clock.
LOOK_EVERY = 64


class _TooMany(Exception):
    """More partial placements than are looked at."""


def kinds_of_task(instance: RepairInstance) -> list[tuple[float, ...]]:
    """Return of each task what tasks that can take its place have too, the same queries among it. Shape (J,)."""
    own = (instance.bundle, instance.cost, instance.noticed_s, instance.down_s, instance.replay_s, instance.catch_up)
    seconds = instance.seconds
    return [(*(float(values[t]) for values in own), *seconds[t].tolist()) for t in range(len(instance.task))]


def optimum_where_few(instance: RepairInstance, budget: Budget, most: int | None = None) -> RepairPlacement | None:
    """Return a placement of the least priority × time down, None where there are too many to go through.

    Tasks are placed one after another, each at every place in the queue of every host (and, where tasks may not be
    begun ahead of their queries, at every step). A task more in a queue delays those behind it or nobody, so what
    queries lose with the tasks so far, the others as early as they could be alone, bounds what comes of it. Of hosts
    alike and still empty only the first is tried, of tasks alike only one order. Cost: at most *most* partial
    placements, by default as many as the budget is worth, each O(tasks · hosts + entries). Guarantee: optimal; nothing
    is rounded.
    """
    if len(instance.task) > MOST_TASKS:
        return None
    search = _ExhaustiveSearch.of(instance, budget, _worth(budget) if most is None else most)
    try:
        search.place(0)
    except _TooMany:
        return None
    return search.placement(instance)


def _worth(budget: Budget) -> int:
    more = BY_SECOND * budget.left_s if budget.iterations is None else BY_ITERATION * budget.iterations
    return int(min(LEAST_VISITED + more, MOST_VISITED))


@dataclass(frozen=True, slots=True)
class _Start:
    """A way to start a task: on a host at a step; it runs from ``begins`` on where it has nothing to fetch."""

    host: int
    step: int
    begins: float
    lasts: float


@dataclass(slots=True)
class _ExhaustiveSearch:
    """Partial placements of tasks in the order ``order``, and the best whole one so far."""

    budget: Budget
    most: int  # partial placements that are looked at
    order: list[int]
    starts: list[list[_Start]]  # of each task, by host and step
    cost: list[float]
    room: list[float]
    pooled: int
    pool: float
    lanes: list[list[float]]  # sorted, as a heap is
    alike: list[int]  # the first host that is like each
    twin: list[int]  # of each task the one before it in the order that is like it, -1 for none
    behind: list[tuple[float, float]]  # caught up = first + second × ready
    needs: list[list[int]]  # tasks of each query
    needed: list[list[int]]  # queries of each task
    priority: list[float]
    floor: list[float]
    at_s: float
    horizon_s: float
    prefetch: bool
    steps: list[float]
    chosen: list[_Start | None] = field(default_factory=list)
    placed: list[bool] = field(default_factory=list)
    caught_up: list[float] = field(default_factory=list)
    queue: list[list[int]] = field(default_factory=list)  # tasks that fetch something, of each host
    crowd: list[int] = field(default_factory=list)  # tasks on each host
    visited: int = 0
    best: float = math.inf
    best_chosen: list[_Start | None] = field(default_factory=list)
    best_queue: list[list[int]] = field(default_factory=list)

    @staticmethod
    def of(instance: RepairInstance, budget: Budget, most: int) -> _ExhaustiveSearch:
        """Return the search before its first task."""
        tasks, hosts, queries = len(instance.task), len(instance.host), len(instance.priority)
        steps = instance.steps.tolist()
        members = [instance.queries.members(q).tolist() for q in range(queries)]
        needs = [[t for t in range(tasks) if int(instance.bundle[t]) in own] for own in map(set, members)]
        needed = [[q for q in range(queries) if t in needs[q]] for t in range(tasks)]
        weight = [sum(float(instance.priority[q]) for q in needed[t]) for t in range(tasks)]
        kind = kinds_of_task(instance)
        order = sorted(range(tasks), key=lambda t: (-weight[t], int(instance.bundle[t]), kind[t], t))
        twin = [-1] * tasks
        for before, task in itertools.pairwise(order):
            twin[task] = before if kind[before] == kind[task] else -1
        limit = instance.room + ROUNDING * np.maximum(1.0, np.abs(instance.room))
        search = _ExhaustiveSearch(
            budget=budget,
            most=most,
            order=order,
            starts=[_starts(instance, t, steps) for t in range(tasks)],
            cost=instance.cost.tolist(),
            room=limit.tolist(),
            pooled=instance.pooled,
            pool=instance.pool + ROUNDING * max(1.0, abs(instance.pool)),
            lanes=[sorted(row) for row in instance.lanes.tolist()],
            alike=interchangeable_hosts(instance),
            twin=twin,
            behind=[_behind(instance, t) for t in range(tasks)],
            needs=needs,
            needed=needed,
            priority=instance.priority.tolist(),
            floor=instance.floor_s.tolist(),
            at_s=instance.at_s,
            horizon_s=instance.horizon_s,
            prefetch=instance.prefetch,
            steps=steps,
        )
        search.chosen, search.placed, search.caught_up = [None] * tasks, [False] * tasks, [math.inf] * tasks
        search.queue, search.crowd = [[] for _ in range(hosts)], [0] * hosts
        search.best_chosen, search.best_queue = [None] * tasks, [[] for _ in range(hosts)]
        search.best = instance.nothing
        return search

    def place(self, depth: int) -> None:
        """Place the task at *depth* of the order, and all behind it, in every way that may be better."""
        if depth == len(self.order):
            loss = self.least()
            if loss < self.best:
                self.best, self.best_chosen = loss, list(self.chosen)
                self.best_queue = [list(queue) for queue in self.queue]
            return
        task = self.order[depth]
        ways: list[tuple[float, int, _Start | None, int]] = []
        for start, place in self.ways(task):
            self.put(task, start, place)
            if self.prefetch or self.in_time():
                ways.append((self.least(), len(ways), start, place))
            self.take(task, start)
        for least, _, start, place in sorted(ways, key=lambda way: way[:2]):
            if least < self.best:
                self.put(task, start, place)
                self.place(depth + 1)
                self.take(task, start)

    def ways(self, task: int) -> list[tuple[_Start | None, int]]:
        """Return where a task can be started, with its place in the queue, and last not at all."""
        if all(self.back_s(q) >= self.horizon_s for q in self.needed[task]):
            return [(None, 0)]
        found: list[tuple[_Start | None, int]] = []
        twin = self.twin[task]
        like = self.chosen[twin] if twin >= 0 else None
        for start in self.starts[task]:
            host = start.host
            if twin >= 0 and (like is None or (host, start.step) < (like.host, like.step)):
                continue
            if not self.fits(task, host) or (self.crowd[host] == 0 and self._empty_before(host)):
                continue
            if start.lasts <= 0.0:
                found.append((start, 0))
                continue
            queue = self.queue[host]
            step_of = [other.step for t in queue if (other := self.chosen[t]) is not None]
            first = sum(step < start.step for step in step_of)
            last = sum(step <= start.step for step in step_of)
            if like is not None and like.host == host:
                first = max(first, queue.index(twin) + 1)
            found += [(start, place) for place in range(first, last + 1)]
        return [*found, (None, 0)]

    def fits(self, task: int, host: int) -> bool:
        """Return whether a host, and the pool, have room for a task."""
        return self.cost[task] <= self.room[host] and (host >= self.pooled or self.cost[task] <= self.pool)

    def _empty_before(self, host: int) -> bool:
        return any(self.alike[h] == self.alike[host] and self.crowd[h] == 0 for h in range(self.alike[host], host))

    def put(self, task: int, start: _Start | None, place: int) -> None:
        """Start a task."""
        self.chosen[task], self.placed[task], self.caught_up[task] = start, True, math.inf
        if start is None:
            return
        self._use(task, start.host, self.cost[task])
        self.crowd[start.host] += 1
        if start.lasts > 0.0:
            self.queue[start.host].insert(place, task)
            self._replay(start.host)
        else:
            self.caught_up[task] = self._after(task, start.begins)

    def take(self, task: int, start: _Start | None) -> None:
        """Undo :meth:`put`."""
        self.chosen[task], self.placed[task] = None, False
        if start is None:
            return
        self._use(task, start.host, -self.cost[task])
        self.crowd[start.host] -= 1
        if start.lasts > 0.0:
            self.queue[start.host].remove(task)
            self._replay(start.host)

    def _use(self, task: int, host: int, cores: float) -> None:
        self.room[host] -= cores
        if host < self.pooled:
            self.pool -= cores

    def _replay(self, host: int) -> None:
        lanes = self.lanes[host].copy()
        for task in self.queue[host]:
            start = self.chosen[task]
            if start is not None:
                ready = max(start.begins, lanes[0]) + start.lasts
                heapq.heapreplace(lanes, ready)
                self.caught_up[task] = self._after(task, ready)

    def _after(self, task: int, ready: float) -> float:
        first, second = self.behind[task]
        return first + second * ready

    def in_time(self) -> bool:
        """Return whether every task may belong to a query that becomes whole with it or has before."""
        step = [math.inf if start is None else start.step for start in self.chosen]
        for task, start in enumerate(self.chosen):
            if start is not None and not any(
                all(not self.placed[t] or step[t] <= start.step for t in self.needs[q]) for q in self.needed[task]
            ):
                return False
        return True

    def earliest(self, task: int) -> float:
        """Return when a task has caught up at the earliest: alone on a host with room."""
        least = math.inf
        for start in self.starts[task]:
            if self.fits(task, start.host):
                begins = start.begins
                if start.lasts > 0.0:
                    begins = max(begins, self.lanes[start.host][0]) + start.lasts
                least = min(least, self._after(task, begins))
        return least

    def back_s(self, query: int) -> float:
        """Return when a query is whole with the tasks placed so far, whatever else it needs."""
        return max([self.floor[query], *(self.caught_up[t] for t in self.needs[query] if self.placed[t])])

    def least(self) -> float:
        """Return what is lost at least, exactly that where all tasks are placed."""
        self.visited += 1
        if self.visited > self.most or (self.visited % LOOK_EVERY == 0 and self.budget.over()):
            raise _TooMany
        soonest = [self.caught_up[t] if done else self.earliest(t) for t, done in enumerate(self.placed)]
        loss = 0.0
        for q, tasks in enumerate(self.needs):
            back_s = max([self.floor[q], *(soonest[t] for t in tasks)])
            loss += self.priority[q] * max(0.0, min(back_s, self.horizon_s) - self.at_s)
        return loss

    def placement(self, instance: RepairInstance) -> RepairPlacement:
        """Return the best placement found."""
        host = np.array([NOWHERE if s is None else s.host for s in self.best_chosen], dtype=np.int64)
        queued = [task for queue in self.best_queue for task in queue]
        order = np.array(queued + [t for t in range(len(host)) if t not in queued], dtype=np.int64)
        if instance.prefetch:
            return RepairPlacement(host, order)
        step_s = np.array([math.inf if s is None else self.steps[s.step] for s in self.best_chosen])
        return RepairPlacement(host, order, step_s)


def _starts(instance: RepairInstance, task: int, steps: list[float]) -> list[_Start]:
    """Return every way to start a task; where it may be begun ahead, starting it later gains nothing."""
    starts = []
    for host, there_s in enumerate(instance.there_s.tolist()):
        first = steps.index(there_s)
        for step in range(first, first + 1 if instance.prefetch else len(steps)):
            begins = float(instance.starts(steps[step], task))
            starts.append(_Start(host, step, begins, float(instance.seconds[task, host])))
    return starts


def _behind(instance: RepairInstance, task: int) -> tuple[float, float]:
    replay_s, ratio = float(instance.replay_s[task]), float(instance.catch_up[task])
    if not math.isfinite(replay_s + ratio):
        return math.inf, 0.0
    return replay_s - ratio * float(instance.down_s[task]), 1.0 + ratio
