"""Which queries a failure takes down, and which failed tasks each of them waits for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray

#: Queries that are traced upstream at a time; the trace takes an eighth of this in bytes for each task.
QUERIES_AT_A_TIME = 8192
#: Answers of a graph that are kept: the same failure is asked about by every planner, policy and comparison.
KEPT = 4
_BITS = 64


@dataclass(frozen=True, eq=False)
class FailedQueries:
    """The failed queries and the failed tasks that they wait for ([SuZhouTR], section 2.3).

    A query is an output task and everything upstream of it, whatever the kind of inputs. Failed tasks that stand in
    exactly the same queries form a *bundle*: they come back together or not at all, and thousands of tasks behind a
    full edge are one bundle. Queries stand in the order of their tasks' numbers; bundles in that of their first task
    in topological order.
    """

    task: IntArray  # (F,) failed tasks that some query needs, in topological order
    bundle: IntArray  # (F,) bundle of each
    bundles: int
    query: IntArray  # (Q,) output task of each failed query, ascending
    start: IntArray  # (Q + 1,)
    member: IntArray  # (start[Q],) bundles of each query, ascending
    needless: IntArray  # failed tasks that no query needs, in topological order

    @property
    def queries(self) -> int:
        """Number of failed queries."""
        return len(self.query)

    @cached_property
    def row(self) -> IntArray:
        """Query of each entry of :attr:`member`."""
        return np.repeat(np.arange(self.queries, dtype=np.int64), np.diff(self.start))

    @cached_property
    def sharing(self) -> IntArray:
        """Number of failed queries that need each bundle, the paper's f, shape (bundles,)."""
        return np.bincount(self.member, minlength=self.bundles)

    def weight(self, cost: FloatArray) -> FloatArray:
        """Return the summed cost of each bundle's tasks, shape (bundles,); *cost* is by task number."""
        sums = np.bincount(self.bundle, weights=cost[self.task], minlength=self.bundles)
        return np.asarray(sums, dtype=np.float64)

    def members(self, query: int) -> IntArray:
        """Return the bundles of one query."""
        return self.member[self.start[query] : self.start[query + 1]]

    def tasks_of(self, bundles: BoolArray) -> IntArray:
        """Return the failed tasks of some bundles, in topological order."""
        return self.task[bundles[self.bundle]]

    def without(self, back: BoolArray) -> FailedQueries:
        """Return what is left when some tasks are back, shape (tasks of the graph,): whole queries drop out."""
        left = ~back[self.task]
        bundle = np.zeros(self.bundles, dtype=np.bool_)
        bundle[self.bundle[left]] = True
        kept = bundle[self.member]
        number = np.cumsum(bundle) - 1
        counts = np.bincount(self.row[kept], minlength=self.queries)
        down = counts > 0
        return FailedQueries(
            task=self.task[left],
            bundle=number[self.bundle[left]],
            bundles=int(bundle.sum()),
            query=self.query[down],
            start=np.concatenate(([0], np.cumsum(counts[down]))).astype(np.int64),
            member=number[self.member[kept]],
            needless=self.needless[~back[self.needless]],
        )

    def shared_fraction(self, cost: FloatArray) -> float:
        """Return the share of the failed cost that every failed query needs: at 1 no order gains anything."""
        weight = self.weight(cost)
        total = float(weight.sum())
        return float(weight[self.sharing == self.queries].sum()) / total if total > 0.0 else 1.0


def failed_queries(graph: TaskGraph, failed: BoolArray) -> FailedQueries:
    """Trace which output tasks each failed task feeds.

    Parameters
    ----------
    failed
        Shape (tasks,).

    Notes
    -----
    Sets of queries are rows of bits, combined operator by operator against the streams; a full edge passes one row
    on. Cost O((tasks + substreams) * queries / 64). The last answers are kept with the graph: arrays of an answer are
    not to be written to.
    """
    key = np.packbits(failed).tobytes()
    known: FailedQueries | None = graph.traced.pop(key, None)
    traced = trace(graph, failed) if known is None else known
    graph.traced[key] = traced  # the last asked for stands last
    while len(graph.traced) > KEPT:
        graph.traced.pop(next(iter(graph.traced)), None)
    return traced


def trace(graph: TaskGraph, failed: BoolArray) -> FailedQueries:
    """Return what :func:`failed_queries` does, traced anew."""
    outputs = np.flatnonzero(graph.output)
    tasks = np.flatnonzero(failed)
    group = np.zeros(len(tasks), dtype=np.int64)
    parts: list[npt.NDArray[np.uint64]] = []
    for first in range(0, len(outputs), QUERIES_AT_A_TIME):
        reached = _reached(graph, outputs[first : first + QUERIES_AT_A_TIME])[tasks]
        group = _refined(group, reached)
        parts.append(reached)
    needed = np.zeros(len(tasks), dtype=np.bool_)
    for part in parts:
        needed |= part.any(axis=1)
    order = np.argsort(graph.topological_rank[tasks], kind="stable")
    kept = order[needed[order]]
    labels, first_of, bundle = np.unique(group[kept], return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first_of, kind="stable"), kind="stable")  # by first task in topological order
    representative = np.empty(len(labels), dtype=np.int64)
    representative[rank] = kept[first_of]
    query, row, member = _needs(parts, representative, outputs)
    return FailedQueries(
        task=tasks[kept],
        bundle=rank[bundle],
        bundles=len(labels),
        query=query,
        start=np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(query))))).astype(np.int64),
        member=member,
        needless=tasks[order[~needed[order]]],
    )


def _reached(graph: TaskGraph, outputs: IntArray) -> npt.NDArray[np.uint64]:
    """Return which of some output tasks lie downstream of each task, as bits, shape (tasks, words)."""
    words = -(-len(outputs) // _BITS)
    reached = np.zeros((graph.tasks, words), dtype=np.uint64)
    place = np.arange(len(outputs))
    reached[outputs, place // _BITS] |= np.uint64(1) << (place % _BITS).astype(np.uint64)
    for i in reversed(graph.order):
        here = reached[graph.slice_of(i)]
        edges = graph.out_edges[i]
        if len(edges) > 1 and len(here) == 1 and all(edge.substreams is None for edge in edges):
            # A task that feeds thousands of operators: whatever their edges are, it feeds all of their tasks.
            targets = [np.arange(*graph.slice_of(edge.target).indices(graph.tasks)) for edge in edges]
            here |= np.bitwise_or.reduce(reached[np.concatenate(targets)], axis=0)
            continue
        for edge in edges:
            there = reached[graph.slice_of(edge.target)]
            pairs = graph.pairs(edge)
            if pairs is None:
                here |= np.bitwise_or.reduce(there, axis=0)
            else:
                _pass_back(here, there, *pairs)
    return reached


def _pass_back(
    here: npt.NDArray[np.uint64], there: npt.NDArray[np.uint64], senders: IntArray, receivers: IntArray
) -> None:
    """Add to each sender what its receivers reach."""
    if len(senders) == 0:
        return
    order = np.argsort(senders, kind="stable")
    senders, receivers = senders[order], receivers[order]
    firsts = np.flatnonzero(np.concatenate(([True], senders[1:] != senders[:-1])))
    here[senders[firsts]] |= np.bitwise_or.reduceat(there[receivers], firsts, axis=0)


def _refined(group: IntArray, rows: npt.NDArray[np.uint64]) -> IntArray:
    """Split groups so that members of one have equal rows."""
    if len(rows) == 0:
        return group
    keyed = np.ascontiguousarray(np.column_stack((group.astype(np.uint64), rows)))
    whole_rows = keyed.view(np.dtype((np.void, keyed.dtype.itemsize * keyed.shape[1]))).ravel()
    return np.asarray(np.unique(whole_rows, return_inverse=True)[1], dtype=np.int64)


def _needs(
    parts: list[npt.NDArray[np.uint64]], representative: IntArray, outputs: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the failed output tasks and the (query, bundle) pairs, sorted by both."""
    rows, members = [], []
    for i, part in enumerate(parts):
        bits = part[representative]
        for word in range(bits.shape[1]):
            some = np.flatnonzero(bits[:, word])
            bytes_of = bits[some, word].astype("<u8").view(np.uint8).reshape(-1, 8)
            bit, place = np.nonzero(np.unpackbits(bytes_of, axis=1, bitorder="little").T)
            rows.append(i * QUERIES_AT_A_TIME + word * _BITS + bit)
            members.append(some[place])
    if not rows:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing
    place, row = np.unique(np.concatenate(rows), return_inverse=True)
    return outputs[place], row, np.concatenate(members)
