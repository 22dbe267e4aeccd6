"""Tasks of a topology as numbers, and who feeds whom, without a full edge ever being written out task by task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.names import Selector
from ftplan.model.topology import BoolArray, Edge, FloatArray, IntArray, Topology


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """A topology with numbered tasks: operators by id as text, then tasks by index, whatever the order of the file."""

    topology: Topology

    @cached_property
    def traced(self) -> dict[bytes, Any]:
        """What was last traced of this graph, see :func:`ftplan.model.failed_queries.failed_queries`."""
        return {}

    @cached_property
    def by_id(self) -> tuple[int, ...]:
        """Positions of the operators, sorted by id."""
        operators = self.topology.operators
        return tuple(sorted(range(len(operators)), key=lambda i: operators[i].id))

    @cached_property
    def offset(self) -> IntArray:
        """Number of the first task of each operator, by position in the topology, shape (operators,)."""
        offset = np.zeros(len(self.topology.operators), dtype=np.int64)
        following = 0
        for i in self.by_id:
            offset[i] = following
            following += self.topology.operators[i].parallelism
        return offset

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return self.topology.task_count

    @cached_property
    def operator_of(self) -> IntArray:
        """Position in the topology of each task's operator, shape (tasks,)."""
        counts = [self.topology.operators[i].parallelism for i in self.by_id]
        return np.repeat(np.array(self.by_id, dtype=np.int64), counts)

    def slice_of(self, operator: int) -> slice:
        """Return the tasks of the operator at a position."""
        first = int(self.offset[operator])
        return slice(first, first + self.topology.operators[operator].parallelism)

    def name(self, task: int) -> tuple[str, int]:
        """Return (operator id, index) of a task."""
        operator = int(self.operator_of[task])
        return self.topology.operators[operator].id, task - int(self.offset[operator])

    def number(self, operator_id: str, index: int) -> int:
        """Return the number of a task.

        Raises
        ------
        FtplanError
            If the topology has no such task.
        """
        operator = self.topology.operator(operator_id)
        if not 0 <= index < operator.parallelism:
            raise FtplanError(f"task:{operator_id}/{index}: {operator_id!r} has {operator.parallelism} tasks")
        return int(self.offset[self.topology.position[operator_id]]) + index

    def per_task(self, field: str) -> FloatArray:
        """Return a field of all operators (``cpu``, ``state_bytes``, ``priority``) as one array, shape (tasks,)."""
        return np.concatenate([getattr(self.topology.operators[i], field) for i in self.by_id])

    @cached_property
    def key_groups(self) -> tuple[IntArray, IntArray]:
        """The first key group of each task and how many it owns, 0 without keyed state, shapes (tasks,)."""
        first, counts = np.zeros(self.tasks, dtype=np.int64), np.zeros(self.tasks, dtype=np.int64)
        for i, operator in enumerate(self.topology.operators):
            owned = np.bincount(operator.task_of_key_groups(), minlength=operator.parallelism)
            counts[self.slice_of(i)] = owned
            first[self.slice_of(i)] = np.cumsum(owned) - owned
        return first, counts

    @cached_property
    def output(self) -> BoolArray:
        """Which tasks are output tasks, shape (tasks,)."""
        flags = np.array([operator.output for operator in self.topology.operators], dtype=np.bool_)
        return flags[self.operator_of]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Positions of the operators in topological order: by :attr:`depth`, then by id as text."""
        operators = self.topology.operators
        return tuple(sorted(range(len(operators)), key=lambda i: (self.depth[i], operators[i].id)))

    @cached_property
    def depth(self) -> tuple[int, ...]:
        """Edges on the longest way from a source to each operator, by position."""
        waiting = [len(edges) for edges in self.in_edges]
        depth = [0] * len(waiting)
        ready = [i for i, count in enumerate(waiting) if count == 0]
        while ready:
            i = ready.pop()
            for edge in self.out_edges[i]:
                depth[edge.target] = max(depth[edge.target], depth[i] + 1)
                waiting[edge.target] -= 1
                if waiting[edge.target] == 0:
                    ready.append(edge.target)
        return tuple(depth)

    @cached_property
    def out_edges(self) -> tuple[tuple[Edge, ...], ...]:
        """Edges that leave each operator, by position."""
        return self._edges_by([edge.source for edge in self.topology.edges])

    @cached_property
    def in_edges(self) -> tuple[tuple[Edge, ...], ...]:
        """Edges that enter each operator, by position."""
        return self._edges_by([edge.target for edge in self.topology.edges])

    def _edges_by(self, ends: list[int]) -> tuple[tuple[Edge, ...], ...]:
        edges: list[list[Edge]] = [[] for _ in self.topology.operators]
        for end, edge in zip(ends, self.topology.edges, strict=True):
            edges[end].append(edge)
        return tuple(map(tuple, edges))

    @cached_property
    def topological_rank(self) -> IntArray:
        """Rank of each task by (topological position of its operator, index), shape (tasks,); a permutation."""
        rank = np.empty(self.tasks, dtype=np.int64)
        following = 0
        for i in self.order:
            tasks = self.slice_of(i)
            count = tasks.stop - tasks.start
            rank[tasks] = np.arange(following, following + count)
            following += count
        return rank

    def pairs(self, edge: Edge) -> tuple[IntArray, IntArray] | None:
        """Return the (from index, to index) arrays of the tasks that meet on an edge; None for full: all meet all."""
        if edge.partitioning == "full":
            return None
        if edge.substreams is not None:
            return edge.substreams.from_index, edge.substreams.to_index
        senders = self.topology.operators[edge.source].parallelism
        receivers = self.topology.operators[edge.target].parallelism
        larger = np.arange(max(senders, receivers), dtype=np.int64)
        smaller = larger * min(senders, receivers) // max(senders, receivers)
        return (larger, smaller) if senders >= receivers else (smaller, larger)

    def upstream(self, tasks: BoolArray) -> BoolArray:
        """Return *tasks* and all tasks upstream of them, shape (tasks,)."""
        upstream = tasks.copy()
        for i in reversed(self.order):
            here = upstream[self.slice_of(i)]
            if not here.any():
                continue
            for edge in self.in_edges[i]:
                senders = upstream[self.slice_of(edge.source)]
                pairs = self.pairs(edge)
                if pairs is None:
                    senders[:] = True
                else:
                    senders[pairs[0][here[pairs[1]]]] = True
        return upstream

    def selected(self, selector: Selector) -> BoolArray:
        """Return the tasks that an ``operator:``, ``task:``, ``query:`` or ``key-group:`` selector names.

        A query is its output task and all tasks upstream; a key group is the task that owns it.

        Raises
        ------
        FtplanError
            If the selector names what the topology does not have, or nodes.
        """
        chosen = np.zeros(self.tasks, dtype=np.bool_)
        if selector.kind == "operator":
            self.topology.operator(selector.name)
            chosen[self.slice_of(self.topology.position[selector.name])] = True
            return chosen
        if selector.kind in ("node", "zone") or selector.index is None:
            raise FtplanError(f"{selector}: names no tasks of the topology")
        if selector.kind == "key-group":
            owners = self.topology.operator(selector.name).task_of_key_groups()
            if selector.index >= len(owners):
                raise FtplanError(f"{selector}: {selector.name!r} has {len(owners)} key groups")
            chosen[self.number(selector.name, int(owners[selector.index]))] = True
            return chosen
        chosen[self.number(selector.name, selector.index)] = True
        return self.upstream(chosen) if selector.kind == "query" else chosen

    def names(self, tasks: IntArray) -> Iterator[tuple[str, int]]:
        """Yield (operator id, index) of many tasks."""
        return (self.name(task) for task in tasks.tolist())
