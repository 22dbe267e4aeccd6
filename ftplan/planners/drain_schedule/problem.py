"""The question of a drain schedule: which nodes must be restarted, and what has to hold while some of them are down.

A *round* restarts its nodes together, and all of them are back before the next round begins: rounds are independent.
:class:`DrainOptions` is how planners search.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE
from ftplan.model.plan import Warn
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import SearchOptions


@dataclass(frozen=True, slots=True)
class DrainOptions(SearchOptions):
    """Options of ``drain-schedule`` that say how to search.

    With ``partial`` nodes that may not restart even alone are left out, and named as unplaced; without it they make the
    problem infeasible. ``ends`` is when the command has to end, see :class:`ftplan.planners.budget.Budget`.
    """

    partial: bool = False
    ends: float = math.inf


@dataclass(frozen=True, eq=False)
class KeyGroupCopies:
    """The nodes of the copies of G key groups that must not go together; which copies count is the asker's choice.

    Copies may be the primary's node and those of its checkpoints. A node stands twice where it holds two copies of one
    group: it may then not go even alone.
    """

    operator: tuple[str, ...]  # (G,) id
    number: IntArray  # (G,) key group of the operator
    start: IntArray  # (G + 1,)
    node: IntArray  # (start[G],)

    @staticmethod
    def of(groups: Iterable[tuple[str, int, Sequence[int]]]) -> KeyGroupCopies:
        """Return copies given as (operator, key group, nodes)."""
        rows = sorted((operator, number, sorted(nodes)) for operator, number, nodes in groups)
        start = np.cumsum([0, *(len(nodes) for _, _, nodes in rows)], dtype=np.int64)
        node = np.array([node for _, _, nodes in rows for node in nodes], dtype=np.int64)
        return KeyGroupCopies(
            tuple(row[0] for row in rows), np.array([row[1] for row in rows], dtype=np.int64), start, node
        )

    @cached_property
    def group(self) -> IntArray:
        """Place of the group of each copy, shape of :attr:`node`."""
        return np.repeat(np.arange(len(self.operator)), np.diff(self.start))

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """The pairs of copies of one group: the group's place and the two nodes. Cost O(copies x copies a group)."""
        groups, firsts, seconds = [], [], []
        for apart in range(1, int(np.diff(self.start).max(initial=0))):
            same = np.flatnonzero(self.group[apart:] == self.group[:-apart])
            groups.append(self.group[same])
            firsts.append(self.node[same])
            seconds.append(self.node[same + apart])
        nothing = [np.zeros(0, dtype=np.int64)]
        return np.concatenate(groups or nothing), np.concatenate(firsts or nothing), np.concatenate(seconds or nothing)


#: Output fidelity from which on there is some output.
LEAST_OUTPUT = 1e-6


@dataclass(frozen=True, slots=True)
class DrainLimits:
    """What has to hold in every round; None is no limit."""

    min_fidelity: float | None = None  # output fidelity while the round's tasks are down, from 0 to 1
    #: No query of this priority or more is down: its output task and all tasks upstream of it run.
    keep_priority: float | None = None
    #: ``max_per_zone``, ``max_nodes``: nodes of one zone, and of all, that go together; at least 1.
    max_per_zone: int | None = None
    max_nodes: int | None = None
    one_zone: bool = False  # the nodes of a round are of one zone
    #: A round leaves an output fidelity of LEAST_OUTPUT, or each of its nodes would leave less even alone.
    some_output: bool = False
    #: Whether the tasks of the round's nodes are moved to other nodes for the round and back after it. Then none is
    #: down, but there must be room for them. Without it they stand still, which takes no room.
    move: bool = False


@dataclass(frozen=True, eq=False)
class MovingRoom:
    """What tasks take that are moved for a round, and what each node has left for such tasks."""

    cpu: FloatArray  # (N,) cores that tasks, replicas and other work (``used_cpu``) leave of the usable ones
    memory_mb: FloatArray  # (N,) units of 2^20 bytes left; infinite where the node does not state its memory
    accepting: BoolArray  # (N,) whether it takes tasks
    task_cpu: FloatArray  # (T,) cores
    task_mb: FloatArray  # (T,) units of 2^20 bytes
    max_cpu: float = 1.0  # the usable share of a node's cores


class Move(NamedTuple):
    """A task runs on another node while a round lasts; both by number."""

    task: int
    node: int


@dataclass(frozen=True, eq=False)
class DrainProblem:
    """Restart the chosen ones of N nodes in as few rounds as possible; T tasks, numbered as in :class:`TaskGraph`.

    Nodes stand in natural order of their ids, as in :class:`~ftplan.model.cluster.Cluster`. A task on a node that
    restarts is down unless its active replica stands on a node that does not, or (``limits.move``) it is moved. A
    primary never goes together with its replica.

    Without moving, a round is allowed exactly if each of its subsets is: fewer nodes down are never worse for any
    limit. With moving likewise, since fewer tasks then need room on more nodes.
    """

    graph: TaskGraph
    model: FidelityModel
    nodes: tuple[str, ...]  # (N,) ids
    zone: IntArray  # (N,)
    zone_names: tuple[str, ...]  # (N,) what each node's zone is called
    chosen: BoolArray  # (N,) whether it must be restarted
    task_node: IntArray  # (T,) or NOWHERE
    replica_node: IntArray  # (T,) node of the active replica; NOWHERE without one, ANYWHERE where it never fails
    priority: FloatArray  # (T,) of the queries, by output task
    copies: KeyGroupCopies
    restart_s: FloatArray  # (N,) from a node's stop until all on it runs again: restart, and recovery where known
    limits: DrainLimits = DrainLimits()
    room: MovingRoom | None = None  # required by ``limits.move``
    warnings: tuple[Warn, ...] = ()

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return self.graph.tasks

    def mask(self, nodes: Iterable[int]) -> BoolArray:
        """Return nodes given by number as flags, shape (N,)."""
        mask = np.zeros(len(self.nodes), dtype=np.bool_)
        mask[list(nodes)] = True
        return mask

    @cached_property
    def to_restart(self) -> tuple[int, ...]:
        """The chosen nodes, ascending."""
        return tuple(np.flatnonzero(self.chosen).tolist())

    @cached_property
    def replicated(self) -> BoolArray:
        """Which tasks have an active replica, shape (T,)."""
        return np.asarray((self.replica_node >= 0) | (self.replica_node == ANYWHERE), dtype=np.bool_)

    @cached_property
    def replica_pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Tasks whose primary and replica both have a node, and the two nodes."""
        tasks = np.flatnonzero((self.task_node != NOWHERE) & (self.replica_node >= 0))
        return tasks, self.task_node[tasks], self.replica_node[tasks]


@dataclass(frozen=True)
class Drain:
    """Rounds of nodes, ascending in each, the moves of each round, and the chosen nodes that cannot be restarted.

    ``moves`` is empty for each round unless tasks are moved. ``unplaced`` holds (node, reason).
    """

    rounds: tuple[tuple[int, ...], ...]
    moves: tuple[tuple[Move, ...], ...]
    unplaced: tuple[tuple[int, str], ...] = ()
