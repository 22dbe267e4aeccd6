"""Minimal complete trees (MC-trees): the least sets of live tasks that put something out ([SuZhou2016], definition 1).

An output task stands at the root. Below a task with independent inputs stands one substream of one stream, below a
join one substream of every stream; sources, and tasks that no substream enters, are leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, Edge, IntArray

#: Senders of each choice below a task: a tree takes one of each. No choices: a leaf.
Choices = Callable[[int], Sequence[Sequence[int]]]


@dataclass(frozen=True, slots=True, eq=False)
class InputStream:
    """All substreams from one upstream operator, as indices; ``full`` where all meet all."""

    source: int
    full: bool
    sender: IntArray
    receiver: IntArray


def count_mc_trees(graph: TaskGraph, live: BoolArray | None = None) -> int:
    """Return how many MC-trees there are, all or those of *live* tasks, shape (tasks,), without listing them.

    A tree counts once for each way to choose its substreams. Where two streams of a join share an ancestor, several
    ways may use the same tasks.

    Cost: O(tasks + substreams) additions and products of whole numbers; a full edge costs its senders only.

    Examples
    --------
    Two of two tasks, all to all: four trees.

    >>> from ftplan.model.topology import Edge, Operator, Topology
    >>> import numpy as np
    >>> one = np.ones(2)
    >>> ends = [Operator(id, 2, one, one, one, output=id == "b") for id in "ab"]
    >>> count_mc_trees(TaskGraph(Topology(tuple(ends), (Edge(0, 1, "full"),))))
    4
    """
    trees: dict[int, list[int]] = {}
    for i in graph.order:
        operator = graph.topology.operators[i]
        entering = [_entering(stream, trees[stream.source], operator.parallelism) for stream in input_streams(graph, i)]
        join = operator.inputs == "correlated"
        up = [True] * operator.parallelism if live is None else live[graph.slice_of(i)].tolist()
        trees[i] = [_combined([e[k] for e in entering], join) if up[k] else 0 for k in range(operator.parallelism)]
    return sum(sum(trees[i]) for i, operator in enumerate(graph.topology.operators) if operator.output)


def _entering(stream: InputStream, trees: list[int], receivers: int) -> list[int | None]:
    """Return the trees that enter each task by one stream; None where it has no substream of it."""
    if stream.full:
        return [sum(trees)] * receivers
    entering: list[int | None] = [None] * receivers
    for sender, receiver in zip(stream.sender.tolist(), stream.receiver.tolist(), strict=True):
        entering[receiver] = (entering[receiver] or 0) + trees[sender]
    return entering


def _combined(entering: list[int | None], join: bool) -> int:
    """Return the trees of one task from those of its streams."""
    counts = [count for count in entering if count is not None]
    return (prod(counts) if join else sum(counts)) if counts else 1


def trees_through(graph: TaskGraph, live: BoolArray, task: int) -> int:
    """Return how many of the live MC-trees contain a task, of those that there would be if it lived."""
    live = live.copy()
    live[task] = True
    whole = count_mc_trees(graph, live)
    live[task] = False
    return whole - count_mc_trees(graph, live)


def listed(roots: Sequence[int], choices: Choices) -> Iterator[frozenset[int]]:
    """Yield the trees below *roots*, each set of tasks once."""
    seen: set[frozenset[int]] = set()
    for root in roots:
        for tree in _below(root, choices):
            if tree not in seen:
                seen.add(tree)
                yield tree


def _below(task: int, choices: Choices) -> Iterator[frozenset[int]]:
    """Yield the trees rooted at a task."""
    yield from _grown(frozenset((task,)), choices(task), choices)


def _grown(tree: frozenset[int], open_: Sequence[Sequence[int]], choices: Choices) -> Iterator[frozenset[int]]:
    """Yield *tree* with one sender of each open choice and all below it."""
    if not open_:
        yield tree
        return
    for sender in open_[0]:
        for branch in _below(sender, choices):
            yield from _grown(tree | branch, open_[1:], choices)


def input_streams(graph: TaskGraph, operator: int) -> Iterator[InputStream]:
    """Yield the input streams of an operator, by upstream operator; parallel edges are one stream."""
    by_source: dict[int, list[Edge]] = {}
    for edge in graph.in_edges[operator]:
        by_source.setdefault(edge.source, []).append(edge)
    nothing = np.zeros(0, dtype=np.int64)
    for source in sorted(by_source, key=lambda i: int(graph.offset[i])):
        pairs = [graph.pairs(edge) for edge in by_source[source]]
        known = [pair for pair in pairs if pair is not None]
        if len(known) < len(pairs):
            yield InputStream(source, True, nothing, nothing)
            continue
        sender, receiver = np.concatenate([p[0] for p in known]), np.concatenate([p[1] for p in known])
        if len(known) > 1:
            sender, receiver = np.unique(np.stack((sender, receiver)), axis=1)
        yield InputStream(source, False, sender, receiver)
