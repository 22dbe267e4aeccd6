"""Replicas by what they save in the recovery after a failure: least expected priority x seconds down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE, ReplicaHosts
from ftplan.model.plan import sound_bound
from ftplan.model.tolerances import LEAST_SCALE, NOISE, SOLVED
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget, now
from ftplan.planners.replicate_tasks.algorithms.models.downtime_relaxation import (
    CaseRelaxation,
    Outages,
    downtime_bound,
)
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement, in_place
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.result import Result

#: Budgets that are planned for one after another: every whole number up to so many replicas, then a quarter more each.
WHOLE_LEVELS, RISE = 6, 1.25
#: Where replicas weigh differently: levels in equal parts of what all replicas together cost.
PARTS = 12
#: Part of the time for the bound.
BOUNDING = 0.2
#: Sets of replicas that are scored: for a step of growth, where none of these saves anything, and for a local search.
GROWTH_LOOKS, MOST_LOOKS, SEARCH_LOOKS = 8, 40, 100
#: Times that sets are ranked anew while replicas fill the budget; entries of sets and queries that are held at most.
FILLS, MOST_ENTRIES = 8, 3_000_000


@dataclass(frozen=True, eq=False)
class DowntimeModel:
    """What sets of replicas are worth: T tasks on N nodes, given as the node of each task's replica, shape (T,).

    ``expected`` is the objective: expected priority x seconds down in the recovery schedule afterwards. ``roughly`` is
    a cheaper schedule's, never less. ``most_fidelity`` returns the replicas of most output fidelity within a budget,
    None where there are none.
    """

    expected: Callable[[IntArray], float]
    roughly: Callable[[IntArray], float]
    most_fidelity: Callable[[float], IntArray | None]
    cases: tuple[CaseRelaxation, ...]


def recovery_savings(
    problem: ReplicationProblem, model: DowntimeModel, options: ReplicationOptions, search: bool = True
) -> Result[IntArray]:
    """Choose replicas and nodes of least expected priority x seconds down in the recovery that follows.

    The limit on changes must leave some choice (:func:`too_few_changes`). For each budget of a ladder up to the
    problem's: replicas grow from nothing by sets that shorten the restore of some query (its failed tasks that take
    longest), always by the set that saves most for its cost; the best of these, the replicas of most fidelity, those in
    place, and the answer for the budget before is improved by adding, dropping, exchanging and moving replicas (with
    *search*). What is of no use is dropped.

    Cost: for each budget about :data:`GROWTH_LOOKS` schedules a replica, at most :data:`MOST_LOOKS`, and
    :data:`SEARCH_LOOKS` for the search (``iterations`` where these are given).

    Guarantee: no worse than no replicas, those of most fidelity, and those in place where they keep the limits; of
    two budgets of the ladder the larger is never worse, unless the clock ends it. The bound is that of
    :func:`downtime_bound`.

    References: the question of [SuZhou2016] and [SuZhouTR] together, which neither asks.
    """
    clock = Budget.of(options)
    part = clock.part(BOUNDING)
    hosts = problem.hosts
    assert hosts is not None
    bound = downtime_bound(problem, model.cases, hosts.cpu, options.seed, part)
    clock.cut |= part.cut
    pool = _Pool(hosts, model)
    steps, slowest_s = levels(problem), 0.0
    for number, level in enumerate(steps):
        left = len(steps) - number
        if left > 1 and not clock.pays(left * slowest_s / 2.0):
            continue  # what time is left is for the budget that was asked for
        began, part = now(), clock.part(1.0 / left)
        _plan_level(pool, replace(problem, budget=level), part, options, search)
        clock.cut |= part.cut
        slowest_s = max(slowest_s, now() - began)
    assert pool.best is not None
    node = _without_useless(pool, problem, pool.best, clock)
    value = model.expected(node)
    most = sum(case.weight * case.horizon_s * float(case.start.priority.sum()) for case in model.cases)
    bound = sound_bound("min", value, bound, most)  # a sum over all time that ends near 0 is rounded as its parts are
    optimal = value - bound <= SOLVED * value
    reason = None
    if problem.current is not None and (node == problem.current).all():
        reason = "no change: no other replicas were found that save more in the recovery than those in place"
    elif (node == NOWHERE).all():
        reason = "no replicas: none were found that save anything in the recovery"
    return Result("optimal" if optimal else "feasible", node, ("budget",), bound, reason, warnings=clock.warnings())


def levels(problem: ReplicationProblem) -> list[float]:
    """Return the budgets that are planned for, ascending, the problem's own last: the others do not depend on it."""
    most = problem.cost(problem.fails)
    if (problem.weight[problem.fails] == 1.0).all():
        rungs, rung = [float(k) for k in range(WHOLE_LEVELS + 1)], float(WHOLE_LEVELS)
        while rung < most:
            rung = math.floor(rung * RISE)
            rungs.append(rung)
    else:
        rungs = [most * k / PARTS for k in range(PARTS + 1)]
    top = min(problem.budget, most)
    return [rung for rung in rungs if rung < top] + [problem.budget]


def _plan_level(
    pool: _Pool, problem: ReplicationProblem, part: Budget, options: ReplicationOptions, search: bool
) -> None:
    """Offer the replicas for one budget to the pool."""
    nothing = np.full(problem.tasks, NOWHERE, dtype=np.int64)
    pool.offer(problem, nothing)
    if not part.over():
        pool.offer(problem, _filled(pool, problem, nothing, part))
    fidelity = pool.model.most_fidelity(problem.budget)
    if fidelity is not None:
        pool.offer(problem, fidelity)
    starts = [nothing]
    if problem.current is not None:
        starts.append(in_place(problem).node)
    for start in starts:
        pool.offer(problem, start)
        if not part.over():
            pool.offer(problem, _grown(pool, problem, start, part))
    if search and pool.best is not None:
        pool.offer(problem, _searched(pool, problem, pool.best, part, options))


class _Pool:
    """The best replicas so far, and what is known of nodes and tasks."""

    def __init__(self, hosts: ReplicaHosts, model: DowntimeModel) -> None:
        self.hosts, self.model = hosts, model
        self.best: IntArray | None = None
        self._value = math.inf
        self.sets = _restore_sets(model.cases)
        self._idle: dict[int, FloatArray] = {}

    def offer(self, problem: ReplicationProblem, node: IntArray) -> None:
        """Take replicas that keep all limits and are worth more, of equals the cheaper."""
        if not self.keeps(problem, node):
            return
        value = self.model.expected(node)
        if self.best is not None:
            equal = abs(value - self._value) <= NOISE * max(1.0, value)
            cheaper = problem.cost(node != NOWHERE) < problem.cost(self.best != NOWHERE)
            if not (cheaper if equal else value < self._value):
                return
        self.best, self._value = node, value

    def idle(self, task: int) -> FloatArray:
        """Return the weight of the cases in which each node lives and a task does not fail, shape (N,)."""
        if task not in self._idle:
            idle = np.zeros(len(self.hosts.ids))
            for case in self.model.cases:
                if not any(task in out.queries.task for out in (case.start, *case.later)):
                    idle += case.weight * np.isinf(case.fails_s)
            self._idle[task] = np.round(idle, 12)
        return self._idle[task]

    def keeps(self, problem: ReplicationProblem, node: IntArray) -> bool:
        """Return whether replicas are within budget, changes and room, on nodes where they may stand."""
        if (node < NOWHERE).any():
            return False
        room = ReplicaPlacement(problem, node)
        cpu, mb = (free < -SOLVED * np.maximum(1.0, np.abs(free)) for free in (room.cpu, room.mb))
        placed = np.flatnonzero(node != NOWHERE)
        over = (cpu | mb)[node[placed]].any()
        allowed = all(self.hosts.allowed(task)[node[task]] for task in placed.tolist())
        return room.cost <= room.limit and room.within_changes and not over and allowed


@dataclass(frozen=True, eq=False)
class _RestoreSets:
    """Sets of tasks that shorten the restore of some query. Entries are the tasks of all queries, one after another."""

    member: IntArray  # tasks of the sets, one after another
    set_of: IntArray  # of each member
    entry: IntArray  # task of each entry
    first: IntArray  # first entry of each query
    seconds: FloatArray  # restore of each entry
    outage: IntArray  # in which case and outage each entry fails
    worth: FloatArray  # probability x priority of each query
    lives: BoolArray  # (outages, N) whether a node outlives the outage
    pair_set: IntArray  # pairs of a set and a query that it shortens
    pair_query: IntArray
    other: IntArray  # entries of the query that are not in the set, for each pair, and one more without a restore
    other_first: IntArray

    @property
    def count(self) -> int:
        """Number of sets."""
        return int(self.set_of[-1]) + 1 if len(self.set_of) else 0

    def left_s(self, node: IntArray) -> FloatArray:
        """Return what of each entry's restore is left with replicas, shape (entries + 1,); the last one has none."""
        here = node[self.entry]
        live = (here != NOWHERE) & self.lives[self.outage, here]
        return np.append(np.where(live, 0.0, self.seconds), 0.0)

    def waiting(self, node: IntArray) -> float:
        """Return the expected priority x seconds that queries wait for restores alone."""
        if not len(self.entry):
            return 0.0
        return float(self.worth @ np.maximum.reduceat(self.left_s(node)[:-1], self.first))

    def saved(self, node: IntArray) -> FloatArray:
        """Return by how much each set would shorten that, if all its replicas lived, shape (sets,)."""
        if not len(self.pair_set):
            return np.zeros(self.count)
        left = self.left_s(node)
        longest = np.maximum.reduceat(left[:-1], self.first)
        without = np.maximum.reduceat(left[self.other], self.other_first)
        gain = self.worth[self.pair_query] * (longest[self.pair_query] - without)
        return np.asarray(np.bincount(self.pair_set, gain, self.count), dtype=np.float64)

    def tasks(self, number: int) -> IntArray:
        """Return the tasks of a set."""
        return self.member[slice(*np.searchsorted(self.set_of, (number, number + 1)))]


def _restore_sets(cases: Sequence[CaseRelaxation]) -> _RestoreSets:
    """Return for each query that goes down its tasks of the longest restores, of the two longest, ..., and all."""
    sets: dict[tuple[int, ...], None] = {}
    entries: list[IntArray] = []
    seconds: list[FloatArray] = []
    worth: list[float] = []
    lives: list[BoolArray] = []
    outage: list[int] = []
    for case in cases:
        for out in (case.start, *case.later):
            left_s = max(0.0, case.horizon_s - out.at_s)
            for tasks, priority in _tasks_of(out):
                restore = np.minimum(case.restore_s[tasks], left_s)
                for least in np.unique(restore)[::-1].tolist():
                    sets[tuple(sorted(tasks[restore >= least].tolist()))] = None
                for task in tasks[restore > 0.0].tolist():
                    sets[(task,)] = None
                entries.append(tasks)
                seconds.append(restore)
                worth.append(case.weight * priority)
                outage += [len(lives)] * len(tasks)
            lives.append(case.fails_s > out.at_s)
    none = np.zeros(0, dtype=np.int64)
    entry = np.concatenate([*entries, none]).astype(np.int64)
    first = np.cumsum([0, *(len(tasks) for tasks in entries)])[:-1].astype(np.int64)
    listed, pairs = _pairs(list(sets), entries, first)
    return _RestoreSets(
        member=np.concatenate([np.array(each, dtype=np.int64) for each in listed] or [none]),
        set_of=np.repeat(np.arange(len(listed)), [len(each) for each in listed]),
        entry=entry,
        first=first,
        seconds=np.concatenate([*seconds, np.zeros(0)]),
        outage=np.array(outage, dtype=np.int64),
        worth=np.array(worth),
        lives=np.array(lives, dtype=np.bool_),
        pair_set=np.array([number for number, _, _ in pairs], dtype=np.int64),
        pair_query=np.array([query for _, query, _ in pairs], dtype=np.int64),
        other=np.concatenate([np.append(rest, len(entry)) for _, _, rest in pairs] or [none]).astype(np.int64),
        other_first=np.cumsum([0, *(len(rest) + 1 for _, _, rest in pairs)])[:-1].astype(np.int64),
    )


def _pairs(
    sets: list[tuple[int, ...]], entries: list[IntArray], first: IntArray
) -> tuple[list[tuple[int, ...]], list[tuple[int, int, IntArray]]]:
    """Return the sets, as many as :data:`MOST_ENTRIES` allow, and (set, query, other entries) where they meet."""
    queries: dict[int, list[int]] = {}
    for query, tasks in enumerate(entries):
        for task in tasks.tolist():
            queries.setdefault(task, []).append(query)
    pairs, size = [], 0
    for number, members in enumerate(sets):
        for query in sorted({query for task in members for query in queries[task]}):
            rest = np.flatnonzero(~np.isin(entries[query], members)) + first[query]
            pairs.append((number, query, rest))
            size += len(rest) + 1
        if size > MOST_ENTRIES:
            return sets[: number + 1], pairs
    return sets, pairs


def _tasks_of(out: Outages) -> Iterator[tuple[IntArray, float]]:
    """Yield the failed tasks and the priority of each query."""
    queries = out.queries
    for q, priority in enumerate(out.priority.tolist()):
        needed = np.zeros(queries.bundles, dtype=np.bool_)
        needed[queries.members(q)] = True
        yield queries.tasks_of(needed), priority


def _ranked(pool: _Pool, problem: ReplicationProblem, node: IntArray, most: int) -> list[tuple[float, float, IntArray]]:
    """Return (restores saved for the cost, cost, replicas) of the best sets that could be added, the best first."""
    rows: list[tuple[float, float, IntArray]] = []
    room, seen = ReplicaPlacement(problem, node), {node.tobytes()}
    for number, density in _by_density(pool.sets, problem, node):
        if len(rows) == most:
            break
        tasks = pool.sets.tasks(number)
        more = _placed(pool, room, tasks[node[tasks] == NOWHERE].tolist())
        if more is not None and more.node.tobytes() not in seen:
            seen.add(more.node.tobytes())
            rows.append((density, more.cost - room.cost, more.node))
    return rows


def _by_density(sets: _RestoreSets, problem: ReplicationProblem, node: IntArray) -> list[tuple[int, float]]:
    """Return the sets that the budget still holds, with the restores that each saves for its cost, the best first."""
    new = node[sets.member] == NOWHERE
    cost = np.bincount(sets.set_of, problem.weight[sets.member] * new, sets.count)
    lacks = np.bincount(sets.set_of, new, sets.count) > 0.0
    density = sets.saved(node) / np.maximum(cost, LEAST_SCALE)
    left = problem.limit - problem.cost(node != NOWHERE)
    open_ = np.flatnonzero(lacks & (cost <= left))
    order = open_[np.lexsort((open_, np.round(cost[open_], 9), -np.round(density[open_], 9)))]
    return list(zip(order.tolist(), density[order].tolist(), strict=True))


def _filled(pool: _Pool, problem: ReplicationProblem, start: IntArray, part: Budget) -> IntArray:
    """Return replicas grown by the restores that they save alone, without any schedule: for jobs of any size."""
    node = start
    for _ in range(FILLS):
        room, before = ReplicaPlacement(problem, node), node
        half = room.cost + (room.limit - room.cost) / 2.0
        for number, density in _by_density(pool.sets, problem, node):
            if density <= 0.0 or part.over() or (room.cost > half and (room.node != before).any()):
                break
            tasks = pool.sets.tasks(number)
            more = _placed(pool, room, tasks[room.node[tasks] == NOWHERE].tolist())
            room = room if more is None else more
        node = room.node
        if (node == before).all():
            break
    return node


def _placed(pool: _Pool, room: ReplicaPlacement, tasks: Sequence[int]) -> ReplicaPlacement | None:
    """Return the solution with replicas of some more tasks, None where they find no room.

    A replica goes where it fails least with its task, of equal nodes where it runs now, then where it takes room in
    the fewest recoveries that it does not shorten, then where most is left for the restores of other tasks; where that
    ends without a node for all, others move for them (:meth:`ReplicaPlacement.add`).
    """
    current, more = room.problem.current, room.copy()
    for task in sorted(tasks, key=lambda t: (-pool.hosts.cpu[t], t)):
        nodes = more.open_to(task)
        if len(nodes) == 0:
            more = room.copy()
            return None if more.add(tasks) else more
        moved = np.zeros(len(nodes)) if current is None else nodes != current[task]
        idle = pool.idle(task)[nodes]
        order = np.lexsort((nodes, -np.round(more.cpu[nodes], 9), idle, moved, more.risk(task)[nodes]))
        more.put(task, int(nodes[order[0]]))
    return more if more.cost <= more.limit and more.within_changes else None


def _grown(pool: _Pool, problem: ReplicationProblem, start: IntArray, part: Budget) -> IntArray:
    """Return replicas grown from a start by the set that saves most for its cost, as long as any saves."""
    node, value = start, pool.model.roughly(start)
    while not part.over():
        best: tuple[float, IntArray, float] | None = None
        for look, (_, cost, more) in enumerate(_ranked(pool, problem, node, MOST_LOOKS)):
            if part.over() or (best is not None and look >= GROWTH_LOOKS):
                break
            reached = pool.model.roughly(more)
            density = (value - reached) / max(cost, LEAST_SCALE)
            if value - reached > NOISE * max(1.0, value) and (best is None or density > best[0] * (1.0 + 1e-9)):
                best = (density, more, reached)
        if best is None:
            return node
        _, node, value = best
    return node


def _searched(
    pool: _Pool, problem: ReplicationProblem, start: IntArray, part: Budget, options: ReplicationOptions
) -> IntArray:
    """Return replicas at least as good as a start: the first neighbour that saves more is taken, again and again."""
    node, value = start, pool.model.roughly(start)
    looks = SEARCH_LOOKS if options.iterations is None else options.iterations
    while looks > 0:
        for other in _neighbours(pool, problem, node, np.random.default_rng(options.seed)):
            if looks <= 0 or part.over():
                return node
            looks -= 1
            reached = pool.model.roughly(other)
            fewer = problem.cost(other != NOWHERE) < problem.cost(node != NOWHERE)
            noise = NOISE * max(1.0, value)
            if reached < value - noise or (fewer and reached <= value + noise):
                node, value = other, reached
                break
        else:
            return node
    return node


def _neighbours(
    pool: _Pool, problem: ReplicationProblem, node: IntArray, draw: np.random.Generator
) -> Iterator[IntArray]:
    """Yield replicas one step away: a set added, one dropped, one exchanged for a set, one on another node."""
    for _, _, more in _ranked(pool, problem, node, GROWTH_LOOKS):
        yield more
    chosen = draw.permutation(np.flatnonzero(node != NOWHERE)).tolist()
    less = {task: _without(node, task) for task in chosen}
    waiting = {task: pool.sets.waiting(less[task]) for task in chosen}
    for task in sorted(chosen, key=lambda t: round(waiting[t], 9)):
        if pool.keeps(problem, less[task]):
            yield less[task]
        for _, _, more in _ranked(pool, problem, less[task], 2):
            if (more != node).any() and pool.keeps(problem, more):
                yield more
    room = ReplicaPlacement(problem, node)
    for task in chosen:
        open_to = room.open_to(task)
        for place in draw.permutation(open_to[open_to != node[task]])[:2].tolist():
            moved = node.copy()
            moved[task] = place
            if pool.keeps(problem, moved):
                yield moved


def _without(node: IntArray, task: int) -> IntArray:
    less = node.copy()
    less[task] = NOWHERE
    return less


def _without_useless(pool: _Pool, problem: ReplicationProblem, node: IntArray, clock: Budget) -> IntArray:
    """Drop the replicas one by one without which no more is lost, the dearest first."""
    value = pool.model.expected(node)
    chosen = np.flatnonzero(node != NOWHERE)
    for task in chosen[np.lexsort((chosen, -problem.weight[chosen]))].tolist():
        less = _without(node, task)
        if clock.over():
            break
        if pool.keeps(problem, less) and pool.model.expected(less) <= value:
            node, value = less, pool.model.expected(less)
    return node
