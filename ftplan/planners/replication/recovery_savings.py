"""Replicas by what they save in the recovery after a failure: least expected priority x seconds down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.metrics.replica_hosts import NOWHERE, ReplicaHosts
from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.model.plan import Infeasible, sound_bound
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.models.downtime_relaxation import CaseRelaxation, Outages, downtime_bound
from ftplan.planners.replication.planner import ReplicationOptions
from ftplan.planners.result import Result

#: Budgets that are planned for one after another: every whole number up to so many replicas, then a quarter more each.
WHOLE_LEVELS, RISE = 6, 1.25
#: Where replicas weigh differently: levels in equal parts of what all replicas together cost.
PARTS = 12
#: Part of the time for the bound, and the share of the value within which it counts as met.
BOUNDING, MET = 0.25, 1e-7
#: Sets of replicas that are scored at most: for each growth step, and for each level of the local search.
GROWTH_LOOKS, SEARCH_LOOKS = 8, 40


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

    For each budget of a ladder up to the problem's: replicas grow from nothing by sets that shorten the restore of
    some query (its failed tasks that take longest), always by the set that saves most for its cost; the best of these,
    the replicas of most fidelity, those in place, and the answer for the budget before are improved by adding,
    dropping, exchanging and moving replicas (with *search*). What is of no use is dropped.

    Cost: for each budget up to :data:`GROWTH_LOOKS` schedules a replica and :data:`SEARCH_LOOKS` for the search
    (``iterations`` times where these are given).

    Guarantee: no worse than no replicas, those of most fidelity, and those in place where they keep the limits; of
    two budgets of the ladder the larger is never worse, unless the clock ends it. The bound is that of
    :func:`downtime_bound`.

    References: the question of [SuZhou2016] and [SuZhouTR] together, which neither asks.
    """
    clock = Budget.of(options)
    part = clock.part(BOUNDING)
    hosts = problem.hosts
    assert hosts is not None
    bound = downtime_bound(problem, model.cases, hosts.cpu, part)
    clock.cut |= part.cut
    pool = _Pool(problem, hosts, model, clock)
    steps = levels(problem)
    for number, level in enumerate(steps):
        last = number == len(steps) - 1
        if clock.over() and not last:
            continue
        here = replace(problem, budget=level)
        _plan_level(pool, here, clock.part(1.0 / (len(steps) - number)), options, search)
    if pool.best is None:
        return _infeasible(problem, bound)
    node = _without_useless(pool, problem, pool.best, clock)
    value = model.expected(node)
    most = sum(case.weight * case.horizon_s * float(case.start.priority.sum()) for case in model.cases)
    bound = sound_bound("min", value, bound, most)  # a sum over all time that ends near 0 is rounded as its parts are
    optimal = value - bound <= MET * value
    reason = None
    if problem.current is not None and (node == problem.current).all():
        reason = "no change: no other replicas were found that save more in the recovery than those in place"
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
    fidelity = pool.model.most_fidelity(problem.budget)
    if fidelity is not None:
        pool.offer(problem, fidelity)
    starts = [nothing]
    if problem.current is not None:
        starts.append(_within(problem, problem.current))
    for start in starts:
        pool.offer(problem, start)
        if not part.over():
            pool.offer(problem, _grown(pool, problem, start, part))
    if search and pool.best is not None:
        pool.offer(problem, _searched(pool, problem, pool.best, part, options))


class _Pool:
    """The best replicas so far, and what is known of nodes and tasks."""

    def __init__(self, problem: ReplicationProblem, hosts: ReplicaHosts, model: DowntimeModel, clock: Budget) -> None:
        self.hosts, self.model, self.clock = hosts, model, clock
        self.best: IntArray | None = None
        self._value = math.inf
        self.sets = _restore_sets(model.cases)
        self._places: dict[int, IntArray] = {}
        self._current = problem.current

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

    def keeps(self, problem: ReplicationProblem, node: IntArray) -> bool:
        """Return whether replicas are within budget, changes and room, on nodes where they may stand."""
        if not problem.fits(problem.cost(node != NOWHERE)) or (node < NOWHERE).any():
            return False
        if problem.max_changes is not None and problem.changes(node) > problem.max_changes:
            return False
        cpu, mb = self.room(node)
        tight = (cpu < -1e-9 * np.maximum(1.0, np.abs(self.hosts.residual_cpu))) | (mb < -1e-9)
        used = np.bincount(node[node != NOWHERE], minlength=len(cpu)) > 0
        placed = np.flatnonzero(node != NOWHERE).tolist()
        return not (tight & used).any() and all(self.hosts.allowed(t)[node[t]] for t in placed)

    def room(self, node: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the cores and memory that replicas leave on each node, shapes (N,)."""
        hosts, placed = self.hosts, np.flatnonzero(node != NOWHERE)
        count = len(hosts.ids)
        cpu = hosts.residual_cpu - np.bincount(node[placed], hosts.cpu[placed], count)
        return cpu, hosts.residual_mb - np.bincount(node[placed], hosts.memory_mb[placed], count)

    def placed(self, problem: ReplicationProblem, node: IntArray, tasks: Sequence[int]) -> IntArray | None:
        """Return the replicas with those of some tasks, None where there is no room, or the budget does not last."""
        new = [task for task in tasks if node[task] == NOWHERE]
        if not new or not problem.fits(problem.cost(node != NOWHERE) + float(problem.weight[new].sum())):
            return None
        node = node.copy()
        cpu, mb = self.room(node)
        for task in sorted(new, key=lambda t: (-self.hosts.cpu[t], t)):
            fits = self.hosts.fits(task, cpu, mb)
            place = next((n for n in self._ordered(task, cpu) if fits[n]), None)
            if place is None:
                return None
            node[task] = place
            cpu[place] -= self.hosts.cpu[task]
            mb[place] -= self.hosts.memory_mb[task]
        if problem.max_changes is not None and problem.changes(node) > problem.max_changes:
            return None
        return node

    def _ordered(self, task: int, cpu: FloatArray) -> list[int]:
        """Return the nodes that a replica may stand on: first where it lives when its task fails.

        Of these first the one on which it stands already, then those whose cores it takes least from other recoveries,
        then those with most room.
        """
        if task not in self._places:
            allowed = np.flatnonzero(self.hosts.allowed(task))
            lost, idle = np.zeros(len(self.hosts.ids)), np.zeros(len(self.hosts.ids))
            for case in self.model.cases:
                at_s = _fails_at(case, task)
                if np.isfinite(at_s):
                    lost += case.weight * (case.fails_s <= at_s)
                else:
                    idle += case.weight * np.isinf(case.fails_s)
            moved = np.ones(len(self.hosts.ids))
            if self._current is not None and self._current[task] >= 0:
                moved[self._current[task]] = 0.0
            keys = np.round(np.column_stack((lost, moved, idle)), 12)[allowed]
            self._places[task] = np.column_stack((allowed, np.unique(keys, axis=0, return_inverse=True)[1].ravel()))
        nodes, rank = self._places[task].T
        order = np.lexsort((nodes, -np.round(cpu[nodes], 9), rank))
        return [int(n) for n in nodes[order]]


def _fails_at(case: CaseRelaxation, task: int) -> float:
    for out in (case.start, *case.later):
        if task in out.queries.task:
            return out.at_s
    return math.inf


@dataclass(frozen=True, eq=False)
class _RestoreSets:
    """Sets of tasks that shorten the restore of some query, and the entries from which that is told."""

    tasks: list[tuple[int, ...]]
    entry: IntArray  # tasks of all queries of all cases, one after another
    first: IntArray  # of each query
    seconds: FloatArray  # restore of each entry
    worth: FloatArray  # probability x priority of each query
    case_fails_s: FloatArray  # (entries, N) when each node fails less when the task does: above 0 a replica lives

    def saved(self, node: IntArray) -> FloatArray:
        """Return what of each entry's restore is left with replicas, shape (entries,)."""
        here = node[self.entry]
        live = (here != NOWHERE) & (self.case_fails_s[np.arange(len(self.entry)), here] > 0.0)
        return np.where(live, 0.0, self.seconds)

    def waiting(self, node: IntArray) -> float:
        """Return the expected priority x seconds that queries wait for restores alone."""
        if not len(self.entry):
            return 0.0
        return float(self.worth @ np.maximum.reduceat(self.saved(node), self.first))


def _restore_sets(cases: Sequence[CaseRelaxation]) -> _RestoreSets:
    """Return for each query that goes down its tasks of the longest restores, of the two longest, ..., and all."""
    sets: dict[tuple[int, ...], None] = {}
    entries: list[IntArray] = []
    seconds: list[FloatArray] = []
    alive: list[FloatArray] = []
    worth: list[float] = []
    first = [0]
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
                alive.append(np.tile(case.fails_s - out.at_s, (len(tasks), 1)))
                worth.append(case.weight * priority)
                first.append(first[-1] + len(tasks))
    nodes = len(cases[0].fails_s) if cases else 0
    return _RestoreSets(
        tasks=list(sets),
        entry=np.concatenate([*entries, np.zeros(0, dtype=np.int64)]).astype(np.int64),
        first=np.array(first[:-1], dtype=np.int64),
        seconds=np.concatenate([*seconds, np.zeros(0)]),
        worth=np.array(worth),
        case_fails_s=np.concatenate([*alive, np.zeros((0, nodes))]),
    )


def _tasks_of(out: Outages) -> Iterator[tuple[IntArray, float]]:
    """Yield the failed tasks and the priority of each query."""
    queries = out.queries
    for q, priority in enumerate(out.priority.tolist()):
        needed = np.zeros(queries.bundles, dtype=np.bool_)
        needed[queries.members(q)] = True
        yield queries.tasks_of(needed), priority


def _ranked(pool: _Pool, problem: ReplicationProblem, node: IntArray, most: int) -> list[tuple[float, float, IntArray]]:
    """Return (restores saved for the cost, cost, replicas) of the best sets that could be added, the best first."""
    now_waiting, rows = pool.sets.waiting(node), []
    seen: set[bytes] = set()
    for number, tasks in enumerate(pool.sets.tasks):
        more = pool.placed(problem, node, tasks)
        if more is None or more.tobytes() in seen:
            continue
        seen.add(more.tobytes())
        cost = problem.cost(more != NOWHERE) - problem.cost(node != NOWHERE)
        density = (now_waiting - pool.sets.waiting(more)) / max(cost, 1e-9)
        rows.append((-round(density, 9), round(cost, 9), number, more))
    return [(-density, cost, more) for density, cost, _, more in sorted(rows, key=lambda row: row[:3])[:most]]


def _grown(pool: _Pool, problem: ReplicationProblem, start: IntArray, part: Budget) -> IntArray:
    """Return replicas grown from a start by the set that saves most for its cost, as long as any saves."""
    if (start < NOWHERE).any():
        return start
    node, value = start, pool.model.roughly(start)
    while not part.over():
        best: tuple[float, IntArray, float] | None = None
        for _, cost, more in _ranked(pool, problem, node, GROWTH_LOOKS):
            if part.over():
                break
            reached = pool.model.roughly(more)
            density = (value - reached) / max(cost, 1e-9)
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
    cpu, mb = pool.room(node)
    for task in chosen:
        fits = pool.hosts.allowed(task) & pool.hosts.fits(task, cpu, mb)
        fits[node[task]] = False
        for place in draw.permutation(np.flatnonzero(fits))[:2].tolist():
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


def _within(problem: ReplicationProblem, current: IntArray) -> IntArray:
    """Return the replicas in place without the heaviest ones, as few as bring the rest within the budget."""
    kept, heaviest = current.copy(), np.flatnonzero(current != NOWHERE)
    for task in heaviest[np.lexsort((heaviest, -problem.weight[heaviest]))].tolist():
        if problem.fits(problem.cost(kept != NOWHERE)):
            break
        kept[task] = NOWHERE
    return kept


def _infeasible(problem: ReplicationProblem, bound: float) -> Result[IntArray]:
    """Say how many of the replicas in place must stop at least."""
    assert problem.current is not None
    stops = problem.changes(_within(problem, problem.current))
    reason = (
        f"the replicas in place take {problem.cost(problem.current != NOWHERE):.6g} of a budget of "
        f"{problem.budget:.6g}: at least {stops} must stop, and only {problem.max_changes} changes are allowed"
    )
    limit = Infeasible(reason, "max-changes", problem.max_changes, stops, f"--max-changes {stops}")
    return Result("infeasible", None, (), bound, reason, limit)
