"""Replicas by what they save in the recovery after a failure: least expected priority x seconds down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE, ReplicaHosts
from ftplan.model.tolerances import LEAST_SCALE, NOISE
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget, now
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.replicate_tasks.algorithms.models.downtime_relaxation import (
    CaseRelaxation,
    downtime_bound,
)
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.replica_placement import ReplicaPlacement, in_place, keeps_limits
from ftplan.planners.replicate_tasks.algorithms.restore_sets import RestoreSets, restore_sets
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
#: Pairs of a task and a node up to which replicas also grow one by one on every node, up to how many, and how many sets
#: are scored of each number.
FEW_PAIRS, TOGETHER, SCORED = 100, 3, 400
#: Of these the sets for which whole schedules are made.
BEST = 6
#: Times that sets are ranked anew while replicas fill the budget.
FILLS = 8


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
    longest), always by the set that saves most for its cost; of few tasks and nodes, one by one on every node too; the
    best of these, the replicas of most fidelity, those in place, and the answer for the budget before is improved by
    adding, dropping, exchanging and moving replicas (with *search*). Where nothing was found that saves anything, each
    replica is tried on each node. What is of no use is dropped.

    Cost: for each budget about :data:`GROWTH_LOOKS` schedules a replica, at most :data:`MOST_LOOKS`, and
    :data:`SEARCH_LOOKS` for the search (``iterations`` where these are given), and with few pairs of a task and a node
    :data:`SCORED` for each of the first :data:`TOGETHER`.

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
    node = _without_useless(pool, problem, pool.best, clock)
    pool.log.offer(node, model.expected(node), "useful replicas")
    pool.log.prove(bound, "relaxation")
    reason = None
    if problem.current is not None and (node == problem.current).all():
        reason = "no change: no other replicas were found that save more in the recovery than those in place"
    elif (node == NOWHERE).all():
        reason = "no replicas: none were found that save anything in the recovery"
    status, bound = pool.log.status, pool.log.bound
    return Result(status, node, ("budget",), bound, reason, warnings=clock.warnings())


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
    starts = [nothing] if problem.current is None else [nothing, in_place(problem).node]
    # growth looks at rough schedules: it comes before the first whole one, many times as dear, which may take all time
    grown = [_grown(pool, problem, start, part) for start in starts if not part.over()]
    filled = nothing if part.over() else _filled(pool, problem, nothing, part)
    if pool.model.roughly(filled) < min(map(pool.model.roughly, grown), default=math.inf):
        grown.append(filled)
    fidelity = pool.model.most_fidelity(problem.budget)
    for found, by in (
        (starts, "in place"),
        (grown, "growth"),
        ([] if fidelity is None else [fidelity], "most fidelity"),
    ):
        for each in found:
            pool.offer(problem, each, by)
    few = _pairs(problem, ReplicaPlacement(problem, nothing), FEW_PAIRS)
    if len(few) < FEW_PAIRS or (pool.log.answer is not None and (pool.best == NOWHERE).all()):
        sizes, width = (TOGETHER, SCORED // max(1, len(few))) if len(few) < FEW_PAIRS else (1, 1)
        for each in _one_by_one(pool, problem, sizes, width, part):
            pool.offer(problem, each, "one by one")
    if search and pool.log.answer is not None:
        pool.offer(problem, _searched(pool, problem, pool.best, part, options), "local search")


class _Pool:
    """The best replicas so far, and what is known of nodes and tasks."""

    def __init__(self, hosts: ReplicaHosts, model: DowntimeModel) -> None:
        self.hosts, self.model = hosts, model
        # a sum over all time that ends near 0 is rounded as its parts are
        most = sum(case.weight * case.horizon_s * float(case.start.priority.sum()) for case in model.cases)
        self.log: Incumbents[IntArray] = Incumbents("min", "priority-time", size=most)
        self.sets = restore_sets(model.cases)
        self._idle: dict[int, FloatArray] = {}

    @property
    def best(self) -> IntArray:
        """The best replicas."""
        assert self.log.answer is not None
        return self.log.answer

    def offer(self, problem: ReplicationProblem, node: IntArray, by: str) -> None:
        """Take replicas that keep all limits and are worth more, of equals the cheaper."""
        if not keeps_limits(problem, node):
            return
        value = self.model.expected(node)
        if self.log.answer is not None and abs(value - self.log.value) <= NOISE * max(1.0, value):
            if problem.cost(node != NOWHERE) < problem.cost(self.best != NOWHERE):
                self.log.answer = node
            return
        self.log.offer(node, value, by)

    def idle(self, task: int) -> FloatArray:
        """Return the weight of the cases in which each node lives and a task does not fail, shape (N,)."""
        if task not in self._idle:
            idle = np.zeros(len(self.hosts.ids))
            for case in self.model.cases:
                if not any(task in out.queries.task for out in (case.start, *case.later)):
                    idle += case.weight * np.isinf(case.fails_s)
            self._idle[task] = np.round(idle, 12)
        return self._idle[task]


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


def _by_density(sets: RestoreSets, problem: ReplicationProblem, node: IntArray) -> list[tuple[int, float]]:
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


def _one_by_one(pool: _Pool, problem: ReplicationProblem, sizes: int, width: int, part: Budget) -> list[IntArray]:
    """Return the best replicas of so many *sizes* that grow one by one, on any node, from the best of each number.

    A replica on one node may save what it does not on another, where it takes room that others are restored in.
    """
    nothing = np.full(problem.tasks, NOWHERE, dtype=np.int64)
    grown, best = [(pool.model.roughly(nothing), nothing)], [(pool.model.roughly(nothing), nothing)]
    for _ in range(sizes):
        more: dict[bytes, tuple[float, IntArray]] = {}
        for _, node in grown:
            for task, place in _pairs(problem, ReplicaPlacement(problem, node)):
                other = node.copy()
                other[task] = place
                if part.over():
                    return [found for _, found in best[:BEST]]
                if other.tobytes() not in more and keeps_limits(problem, other):
                    more[other.tobytes()] = (pool.model.roughly(other), other)
        grown = sorted(more.values(), key=lambda each: (round(each[0], 9), each[1].tolist()))[:width]
        best = sorted([*grown, *best], key=lambda each: (round(each[0], 9), problem.cost(each[1] != NOWHERE)))[:width]
    return [found for _, found in best[:BEST]]


def _pairs(problem: ReplicationProblem, room: ReplicaPlacement, most: int | None = None) -> list[tuple[int, int]]:
    """Return tasks that may fail and have no replica, each with the nodes that have room for one; at most so many."""
    pairs: list[tuple[int, int]] = []
    for task in np.flatnonzero(problem.fails & ~room.replicated).tolist():
        if room.cost + float(problem.weight[task]) <= room.limit:
            pairs += [(task, place) for place in room.open_to(task).tolist()]
        if most is not None and len(pairs) >= most:
            return pairs[:most]
    return pairs


def _searched(
    pool: _Pool, problem: ReplicationProblem, start: IntArray, part: Budget, options: ReplicationOptions
) -> IntArray:
    """Return replicas at least as good as a start: the first neighbour that saves more is taken, again and again."""
    node, value = start, pool.model.roughly(start)
    looks = SEARCH_LOOKS if options.iterations is None else options.iterations
    draw = np.random.default_rng(options.seed)
    while looks > 0:
        for other in _neighbours(pool, problem, node, draw):
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
        if keeps_limits(problem, less[task]):
            yield less[task]
        for _, _, more in _ranked(pool, problem, less[task], 2):
            if (more != node).any() and keeps_limits(problem, more):
                yield more
    room = ReplicaPlacement(problem, node)
    for task in chosen:
        open_to = room.open_to(task)
        for place in draw.permutation(open_to[open_to != node[task]])[:2].tolist():
            moved = node.copy()
            moved[task] = place
            if keeps_limits(problem, moved):
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
        if keeps_limits(problem, less) and pool.model.expected(less) <= value:
            node, value = less, pool.model.expected(less)
    return node
