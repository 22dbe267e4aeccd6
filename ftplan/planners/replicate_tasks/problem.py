"""The question of task replication: what may fail, what a replica costs, and what a set of replicas is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.measures.fidelity_gains import useful
from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE, ReplicaHosts
from ftplan.model.task_graph import TaskGraph
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray

#: Tasks times cases of a problem of usual size.
USUAL = 100_000

#: The node of each replica by task; None is no node in particular, which never fails.
NodeByTask = Mapping[int, str | None]


@dataclass(frozen=True, slots=True, eq=False)
class FailureCase:
    """One way to fail: its weight against the others, the tasks that go down and the nodes that do."""

    id: str
    weight: float
    failed: BoolArray  # (T,)
    nodes: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class ReplicationProblem:
    """Choose tasks to replicate, and with ``hosts`` nodes for the replicas; T tasks, numbered as in :class:`TaskGraph`.

    A solution is a node for each task, NOWHERE for no replica. Without hosts there is one node, 0, which holds
    everything and never fails.

    The fidelity of ``model`` is what is maximised: output fidelity, key-aligned fidelity, in whose model tasks have
    parts, or internal completeness, which is the fidelity of a model in which every task is an output. In the worst
    case ([SuZhou2016], section III-B: some task of every MC-tree fails, nobody knows which) there is one case in which
    all tasks fail.
    """

    graph: TaskGraph
    model: FidelityModel
    cases: tuple[FailureCase, ...]
    weight: FloatArray  # (T,) what a replica costs: 1, cores, or units of 2^20 bytes; >= 0
    budget: float
    metric: str = "output-fidelity"
    hosts: ReplicaHosts | None = None
    current: IntArray | None = None  # (T,) node of each replica in place, NOWHERE for none, ANYWHERE where unknown
    max_changes: int | None = None  # replicas that may start or stop; one that moves does both

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return self.graph.tasks

    @cached_property
    def fails(self) -> BoolArray:
        """Which tasks fail in some case, shape (T,): only these gain by a replica."""
        return np.asarray(np.any([case.failed for case in self.cases], axis=0), dtype=np.bool_)

    @property
    def looks(self) -> float:
        """How dear one look at all tasks in all cases is, at least 1; dearer searches take larger steps."""
        return max(1.0, self.tasks * len(self.cases) / USUAL)

    @property
    def total_weight(self) -> float:
        """Sum of the weights of all cases."""
        return sum(case.weight for case in self.cases)

    @property
    def free(self) -> BoolArray:
        """The tasks that may fail and whose replicas cost nothing, shape (T,)."""
        return self.fails & (self.weight <= 0.0)

    @property
    def limit(self) -> float:
        """The budget, and what rounding errors of sums may add to it."""
        return self.budget + ROUNDING * max(1.0, abs(self.budget))

    def mask(self, tasks: Iterable[int]) -> BoolArray:
        """Return tasks given by number as flags, shape (T,)."""
        mask = np.zeros(self.tasks, dtype=np.bool_)
        mask[list(tasks)] = True
        return mask

    def cost(self, replicated: BoolArray) -> float:
        """Return what a set of replicas costs, in units of the budget."""
        return float(self.weight[replicated].sum())

    def fits(self, cost: float) -> bool:
        """Return whether a cost is within the budget, up to a rounding error."""
        return cost <= self.limit

    def live(self, replicated: BoolArray, node: NodeByTask | None = None) -> list[BoolArray]:
        """Return which tasks live in each case, shape (T,) each; a replica is down where its own *node* is."""
        live = []
        for case in self.cases:
            standing = replicated
            if node and case.nodes:
                standing = replicated.copy()
                standing[[task for task, name in node.items() if name in case.nodes]] = False
            live.append(~case.failed | standing)
        return live

    def value(
        self,
        replicated: BoolArray,
        node: NodeByTask | None = None,
        model: FidelityModel | None = None,
    ) -> float:
        """Return the expected fidelity over all cases, in *model* instead of the problem's own where one is given."""
        fidelity = (model or self.model).fidelity
        live = self.live(replicated, node)
        expected = sum(case.weight * fidelity(up) for case, up in zip(self.cases, live, strict=True))
        return min(1.0, expected / self.total_weight)

    def value_on(self, node: NodeByTask, model: FidelityModel | None = None) -> float:
        """Return :meth:`value` of replicas given with their nodes."""
        return self.value(self.mask(node), node, model)

    @cached_property
    def down(self) -> BoolArray:
        """Which nodes fail in which case, shape (cases, nodes)."""
        ids = self.hosts.ids if self.hosts is not None else (None,)
        return np.array([[name in case.nodes for name in ids] for case in self.cases], dtype=np.bool_)

    @property
    def nodes_fail(self) -> bool:
        """Whether a replica may fail with its node."""
        return bool(self.down.any())

    def live_at(self, node: IntArray) -> list[BoolArray]:
        """Return which tasks live in each case, shape (T,) each, with replicas on nodes *node*, (T,)."""
        replicated = node != NOWHERE
        if not self.nodes_fail:
            return self.live(replicated)
        return [~c.failed | (replicated & ~down[node]) for c, down in zip(self.cases, self.down, strict=True)]

    def value_at(self, node: IntArray) -> float:
        """Return the expected fidelity with replicas on nodes *node*, shape (T,)."""
        fidelity = self.model.fidelity
        expected = sum(case.weight * fidelity(up) for case, up in zip(self.cases, self.live_at(node), strict=True))
        return min(1.0, expected / self.total_weight)

    def changes(self, node: IntArray) -> int:
        """Return how many replicas start or stop, from those in place to *node*, (T,); one that moves does both."""
        if self.current is None:
            return int((node != NOWHERE).sum())
        started = (node != NOWHERE) & (node != self.current) & (self.current != ANYWHERE)
        stopped = (self.current != NOWHERE) & (node != self.current) & ((self.current != ANYWHERE) | (node == NOWHERE))
        return int(started.sum() + stopped.sum())

    def useful_at(self, node: IntArray) -> IntArray:
        """Return the nodes of replicas, (T,), of those only without which the value would be lower.

        The others may go all at once: fidelity is a polynomial with coefficients of at least 0, and each of its terms
        that counts has useful tasks only ([SuZhou2016], section IV: replicas outside complete MC-trees are wasted).
        """
        completing = np.zeros(self.tasks, dtype=np.bool_)
        for case, up in zip(self.cases, self.live_at(node), strict=True):
            if case.weight > 0.0:
                completing |= case.failed & useful(self.model, up)
        return np.where(completing, node, NOWHERE)

    def without_useless(self, node: IntArray) -> IntArray:
        """Return :meth:`useful_at`, (T,), but where changes are limited what is in place stays, useful or not."""
        useful = self.useful_at(node)
        if self.max_changes is None or self.current is None:
            return useful
        return np.where(self.current == NOWHERE, useful, node)

    def losses(self, replicated: BoolArray) -> FloatArray:
        """Return the expected loss without the replica of each task, shape (T,).

        Exact but for tasks that reach one join on two ways, see :meth:`FidelityModel.slope`.
        """
        losses = np.zeros(self.tasks)
        for case, live in zip(self.cases, self.live(replicated), strict=True):
            intact = self.model.intact(live)
            lost = self.model.by_task(intact * self.model.slope(live, intact), self.tasks)
            losses += case.weight * np.where(case.failed, lost, 0.0)
        return losses / self.total_weight
