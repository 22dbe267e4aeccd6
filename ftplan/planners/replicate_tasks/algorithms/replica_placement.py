"""Replicas on nodes while a plan grows and changes: what they take, and where one more would go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ftplan.model.measures.fidelity_gains import gains
from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE
from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

#: Nodes on which one replica may be moved away to make room for another one, those with most room first.
CHAINS = 20


def significant(values: FloatArray) -> FloatArray:
    """Return the values rounded to about 12 significant digits, so that equal ones tie in spite of rounding errors."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(mantissa, 12), exponent), dtype=np.float64)


def better(value: float, than: float) -> bool:
    """Return whether a fidelity is larger than another by more than the last digits; both may be tiny."""
    return value > than * (1.0 + NOISE)


class ReplicaPlacement:
    """A solution of a replication problem that keeps to budget, cores, memory, zones and the limit on changes.

    Without hosts all replicas stand on node 0, which holds everything. ``limit`` is the budget, up to rounding errors.
    """

    def __init__(self, problem: ReplicationProblem, node: IntArray | None = None) -> None:
        self.problem, self.limit, hosts = problem, problem.limit, problem.hosts
        self.node: IntArray = np.full(problem.tasks, NOWHERE, dtype=np.int64)
        self.cost, self.changes = 0.0, problem.changes(self.node)
        self.cpu = np.zeros(1) if hosts is None else hosts.residual_cpu.copy()
        self.mb = np.zeros(1) if hosts is None else hosts.residual_mb.copy()
        for task in [] if node is None else np.flatnonzero(node != NOWHERE).tolist():
            self.put(task, int(node[task]))  # type: ignore[index]

    def copy(self, limit: float | None = None) -> ReplicaPlacement:
        """Return the same solution, to be changed apart from this one, perhaps within another limit."""
        other = ReplicaPlacement.__new__(ReplicaPlacement)
        other.problem, other.cost, other.changes = self.problem, self.cost, self.changes
        other.limit = self.limit if limit is None else limit
        other.node, other.cpu, other.mb = self.node.copy(), self.cpu.copy(), self.mb.copy()
        return other

    def empty(self) -> ReplicaPlacement:
        """Return the solution without any replica, within the same limit."""
        return ReplicaPlacement(self.problem).copy(self.limit)

    @property
    def replicated(self) -> BoolArray:
        """Which tasks have a replica, shape (T,)."""
        return np.asarray(self.node != NOWHERE, dtype=np.bool_)

    @property
    def value(self) -> float:
        """The expected fidelity."""
        return self.problem.value_at(self.node)

    @property
    def single_changes(self) -> FloatArray:
        """By how much the expected fidelity changes with the replica of each failing task alone, shape (T,)."""
        problem, total = self.problem, self.problem.total_weight or 1.0
        change = np.zeros(problem.tasks)
        for case, live in zip(problem.cases, problem.live_at(self.node), strict=True):
            change += case.weight / total * case.failed * gains(problem.model, live).change
        return change

    @property
    def rank(self) -> tuple[float, float]:
        """The value but for its last digits, the largest first, then the cost: the least rank is best."""
        return -float(f"{self.value:.11e}"), self.cost

    def put(self, task: int, node: int) -> None:
        """Let the replica of a task that has none run on a node, whatever its room."""
        self._take(task, node, 1.0)
        self.node[task] = node

    def remove(self, task: int) -> int:
        """Take a replica away and return the node on which it was."""
        node = int(self.node[task])
        self._take(task, node, -1.0)
        self.node[task] = NOWHERE
        return node

    def _take(self, task: int, node: int, sign: float) -> None:
        self.cost += sign * float(self.problem.weight[task])
        self.changes += int(sign) * self._changes(task, node)
        if self.problem.hosts is not None:
            self.cpu[node] -= sign * self.problem.hosts.cpu[task]
            self.mb[node] -= sign * self.problem.hosts.memory_mb[task]

    def _changes(self, task: int, node: int) -> int:
        """Return how many changes more a replica on a node makes than none."""
        if self.problem.current is None:
            return 1
        here = int(self.problem.current[task])
        return 1 if here == NOWHERE or here not in (node, ANYWHERE) else -1

    @property
    def within_changes(self) -> bool:
        """Whether no more replicas start and stop than may."""
        return self.problem.max_changes is None or self.changes <= self.problem.max_changes

    def open_to(self, task: int, case: int | None = None) -> IntArray:
        """Return the nodes that a replica may go to and that have room for it, and live in a *case*."""
        hosts = self.problem.hosts
        if hosts is None:
            return np.zeros(1, dtype=np.int64)
        fitting = hosts.fits(task, self.cpu, self.mb) & hosts.allowed(task)
        if case is not None:
            fitting &= ~self.problem.down[case]
        return np.flatnonzero(fitting)

    def best(self, task: int, case: int | None = None) -> int:
        """Return the node where a replica fails least with its primary; NOWHERE where there is no room.

        Of equal ones that where it runs now, then one outside the primary's zone, then the fullest that holds it.
        """
        nodes, hosts, current = self.open_to(task, case), self.problem.hosts, self.problem.current
        if len(nodes) == 0:
            return NOWHERE
        if hosts is None or len(nodes) == 1:
            return int(nodes[0])
        away = nodes != (NOWHERE if current is None else current[task])
        near = ~hosts.apart(task)[nodes] if hosts.same_zone != "never" else np.zeros(len(nodes))
        keys = (nodes, np.round(self.mb[nodes], 6), np.round(self.cpu[nodes], 9), near, away, self.risk(task)[nodes])
        return int(nodes[np.lexsort(keys)[0]])

    def risk(self, task: int) -> FloatArray:
        """Return the weight of the cases in which a task fails together with each node, shape (N,)."""
        problem = self.problem
        if not problem.nodes_fail:
            return np.zeros(len(self.cpu))
        weights = np.array([case.weight * float(case.failed[task]) for case in problem.cases])
        return np.round(weights @ problem.down, 12)

    def add(self, tasks: Sequence[int], case: int | None = None) -> list[int]:
        """Let all of some tasks have a replica that lives in a *case*, or change nothing.

        Those that fail in the case with their node move. Returns the tasks that found no place: none where all did.
        """
        before: list[tuple[int, int]] = []
        order = sorted(tasks, key=lambda t: (-self._size(t), t))
        for task in order:
            old = self.remove(task) if self.node[task] != NOWHERE else NOWHERE
            before.append((task, old))
            node = self.best(task, case)
            if node == NOWHERE:
                node = self._make_room(task, case, before)
            if node == NOWHERE:
                self._restore(before)
                return [task]
            self.put(task, node)
        if self.cost <= self.limit and self.within_changes:
            return []
        self._restore(before)
        return list(tasks)

    def _restore(self, before: Iterable[tuple[int, int]]) -> None:
        """Put replicas back to where they were, the last change first."""
        for task, node in reversed(list(before)):
            if self.node[task] != NOWHERE:
                self.remove(task)
            if node != NOWHERE:
                self.put(task, node)

    def _size(self, task: int) -> float:
        return 0.0 if self.problem.hosts is None else float(self.problem.hosts.cpu[task])

    def _make_room(self, task: int, case: int | None, moved: list[tuple[int, int]]) -> int:
        """Move one other replica to a node that is as safe for it, so that a task's finds room where that was.

        Returns the node, NOWHERE where no such move was seen; the move is noted in *moved*.
        """
        hosts, problem = self.problem.hosts, self.problem
        assert hosts is not None
        allowed = hosts.allowed(task) if case is None else hosts.allowed(task) & ~problem.down[case]
        nodes = np.flatnonzero(allowed & (self.cpu + self._largest() >= hosts.cpu[task]))
        nodes = nodes[np.lexsort((nodes, -self.cpu[nodes], self.risk(task)[nodes]))][:CHAINS].tolist()
        for node in nodes:
            for other in np.flatnonzero(self.node == node).tolist():
                self.remove(other)
                if bool(hosts.fits(task, self.cpu, self.mb)[node]):
                    self.put(task, node)
                    target = self.best(other)
                    risk = self.risk(other)
                    self.remove(task)
                    if target not in (NOWHERE, node) and risk[target] <= risk[node]:
                        self.put(other, target)
                        moved.append((other, node))
                        return int(node)
                self.put(other, node)
        return NOWHERE

    def _largest(self) -> float:
        """Return the cores of the largest replica."""
        hosts, some = self.problem.hosts, self.node != NOWHERE
        return 0.0 if hosts is None else float(hosts.cpu[some].max(initial=0.0))

    def possible(self) -> BoolArray:
        """Return the tasks whose replica would find room on some node, if perhaps too little memory, shape (T,)."""
        hosts = self.problem.hosts
        if hosts is None:
            return np.ones(self.problem.tasks, dtype=np.bool_)
        cpu, (order, first_of, home) = np.where(hosts.accepting, self.cpu, -np.inf), hosts.homes
        most = np.maximum.reduceat(cpu[order], first_of)
        first = int(np.argmax(most))
        largest = np.where(home == first, np.partition(most, -2)[-2] if len(most) > 1 else -np.inf, most[first])
        if hosts.kept is not None:
            largest = np.where(hosts.kept >= 0, np.maximum(largest, self.cpu[hosts.kept]), largest)
        largest = np.maximum(largest, -1.0)  # no node at all
        return np.asarray(hosts.cpu <= largest + ROUNDING * np.maximum(1.0, largest), dtype=np.bool_)


def in_place(problem: ReplicationProblem) -> ReplicaPlacement:
    """Return the replicas in place, those of unknown nodes where there is room for them.

    Where changes are limited and they take more than the budget, the dearest ones stop.
    """
    current = problem.current
    assert current is not None
    room = ReplicaPlacement(problem, np.where(current == ANYWHERE, NOWHERE, current))
    for task in np.flatnonzero(current == ANYWHERE).tolist():
        if (node := room.best(task)) != NOWHERE:
            room.put(task, node)
    if problem.max_changes is not None:
        tasks = np.flatnonzero(room.replicated)
        for task in tasks[np.lexsort((tasks, -problem.weight[tasks]))].tolist():
            if room.cost <= room.limit:
                break
            room.remove(task)
    return room


def keeps_limits(problem: ReplicationProblem, node: IntArray) -> bool:
    """Return whether replicas on nodes, (T,), keep to budget, changes and room, on nodes where they may stand."""
    tasks, hosts = np.flatnonzero(node != NOWHERE), problem.hosts
    if not problem.fits(problem.cost(node != NOWHERE)):
        return False
    if problem.max_changes is not None and problem.changes(node) > problem.max_changes:
        return False
    if hosts is None:
        return True
    if (node < NOWHERE).any() or not all(hosts.allowed(task)[node[task]] for task in tasks.tolist()):
        return False
    used = np.bincount(node[tasks], minlength=len(hosts.ids)) > 0
    for need, have in ((hosts.cpu, hosts.residual_cpu), (hosts.memory_mb, hosts.residual_mb)):
        taken = np.bincount(node[tasks], need[tasks], len(have))
        if (used & ((taken > room(have)) | (have < 0.0))).any():
            return False
    return True


def room(residual: FloatArray) -> FloatArray:
    """Return what replicas may take of a residual capacity, rounding errors of sums included."""
    return np.maximum(residual, 0.0) + ROUNDING * np.where(np.isinf(residual), 1.0, np.maximum(1.0, residual))
