"""Minimal complete trees (MC-trees): the least sets of live tasks that put something out ([SuZhou2016], definition 1).

An output task stands at the root. Below a task with independent inputs stands one substream of one stream, below a
join one substream of every stream; sources, and tasks that no substream enters, are leaves.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ftplan.model.task_graph import BoolArray, TaskGraph
from ftplan.model.topology import Edge, IntArray

#: Senders of each choice below a task: a tree takes one of each. No choices: a leaf.
Choices = Callable[[int], Sequence[Sequence[int]]]


@dataclass(frozen=True, slots=True, eq=False)
class _Stream:
    """All substreams from one upstream operator, as indices; ``full`` where all meet all."""

    source: int
    full: bool
    sender: IntArray
    receiver: IntArray


def count_mc_trees(graph: TaskGraph, live: BoolArray | None = None) -> int:
    """Return how many MC-trees there are, all or those of *live* tasks, shape (tasks,), without listing them.

    A tree counts once for each way to choose its substreams. Where two streams of a join share an ancestor, several
    ways may use the same tasks, and :func:`mc_trees` lists these once.

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
        entering = [_entering(stream, trees[stream.source], operator.parallelism) for stream in _streams(graph, i)]
        join = operator.inputs == "correlated"
        up = [True] * operator.parallelism if live is None else live[graph.slice_of(i)].tolist()
        trees[i] = [_combined([e[k] for e in entering], join) if up[k] else 0 for k in range(operator.parallelism)]
    return sum(sum(trees[i]) for i, operator in enumerate(graph.topology.operators) if operator.output)


def _entering(stream: _Stream, trees: list[int], receivers: int) -> list[int | None]:
    """Return the trees that enter each task by one stream; None where it has no substream of it."""
    if stream.full:
        return [sum(trees)] * receivers
    entering: list[int | None] = [None] * receivers
    for sender, receiver in zip(stream.sender.tolist(), stream.receiver.tolist(), strict=True):
        entering[receiver] = (entering[receiver] or 0) + trees[sender]
    return entering


def _combined(entering: list[int | None], join: bool) -> int:
    """Return the trees of one task from those of its streams."""
    present = [count for count in entering if count is not None]
    if not present:
        return 1
    product = 1
    for count in present:
        product *= count
    return product if join else sum(present)


def trees_through(graph: TaskGraph, live: BoolArray, task: int) -> int:
    """Return how many of the live MC-trees contain a task, of those that there would be if it lived."""
    live = live.copy()
    live[task] = True
    whole = count_mc_trees(graph, live)
    live[task] = False
    return whole - count_mc_trees(graph, live)


def mc_trees(graph: TaskGraph, limit: int | None = None) -> Iterator[frozenset[int]]:
    """Yield MC-trees as sets of task numbers, each set once, by output task and then by senders.

    They are made one at a time: their number grows with the product of the parallelisms, so ask
    :func:`count_mc_trees` first, or give a *limit*, after which the listing ends.
    """
    choices = _structure(graph)
    return itertools.islice(listed(np.flatnonzero(graph.output).tolist(), choices), limit)


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


def _structure(graph: TaskGraph) -> Choices:
    """Return the choices below each task by the topology alone; a substream at rate 0 counts."""
    streams = [list(_streams(graph, i)) for i in range(len(graph.topology.operators))]

    def choices(task: int) -> list[Sequence[int]]:
        i = int(graph.operator_of[task])
        found = [_senders(graph, stream, task - int(graph.offset[i])) for stream in streams[i]]
        found = [senders for senders in found if len(senders)]
        if graph.topology.operators[i].inputs == "correlated" or len(found) < 2:
            return found
        return [list(itertools.chain.from_iterable(found))]

    return choices


def _senders(graph: TaskGraph, stream: _Stream, index: int) -> Sequence[int]:
    """Return the numbers of the tasks that feed one task by one stream."""
    tasks = graph.slice_of(stream.source)
    if stream.full:
        return range(tasks.start, tasks.stop)
    senders: list[int] = (stream.sender[stream.receiver == index] + tasks.start).tolist()
    return senders


def _streams(graph: TaskGraph, operator: int) -> Iterator[_Stream]:
    """Yield the input streams of an operator, by upstream operator; parallel edges are one stream."""
    by_source: dict[int, list[Edge]] = {}
    for edge in graph.in_edges[operator]:
        by_source.setdefault(edge.source, []).append(edge)
    nothing = np.zeros(0, dtype=np.int64)
    for source in sorted(by_source, key=lambda i: int(graph.offset[i])):
        pairs = [graph.pairs(edge) for edge in by_source[source]]
        known = [pair for pair in pairs if pair is not None]
        if len(known) < len(pairs):
            yield _Stream(source, True, nothing, nothing)
            continue
        sender, receiver = np.concatenate([p[0] for p in known]), np.concatenate([p[1] for p in known])
        if len(known) > 1:
            sender, receiver = np.unique(np.stack((sender, receiver)), axis=1)
        yield _Stream(source, False, sender, receiver)


def complete(graph: TaskGraph, live: BoolArray) -> BoolArray:
    """Return which tasks stand in some MC-tree all of whose tasks live, shape (tasks,); O(tasks + substreams).

    Forward: what produces output, given that something does so on one (a join: on each) of its streams. Backward: what
    of that is used. All other live tasks are of no use: without them the output fidelity is the same.
    """
    produces = live.copy()
    for i in graph.order:
        tasks = graph.slice_of(i)
        fed = [_fed(graph, stream, produces, tasks.stop - tasks.start) for stream in _streams(graph, i)]
        if not fed:
            continue
        some = np.array([entered & has for has, entered in fed])
        lacking = np.array([entered & ~has for has, entered in fed])
        if graph.topology.operators[i].inputs == "correlated":
            produces[tasks] &= ~lacking.any(axis=0)
        else:
            produces[tasks] &= some.any(axis=0) | ~lacking.any(axis=0)
    used = produces & graph.output
    for i in reversed(graph.order):
        here = used[graph.slice_of(i)]
        for stream in _streams(graph, i):
            senders = graph.slice_of(stream.source)
            asked = np.ones(senders.stop - senders.start, dtype=np.bool_) & here.any()
            if not stream.full:
                asked = np.bincount(stream.sender, here[stream.receiver], minlength=len(asked)) > 0
            used[senders] |= produces[senders] & asked
    return used


def _fed(graph: TaskGraph, stream: _Stream, produces: BoolArray, receivers: int) -> tuple[BoolArray, BoolArray]:
    """Return whether each task gets something on a stream, and whether it has the stream at all."""
    sending = produces[graph.slice_of(stream.source)]
    if stream.full:
        return np.full(receivers, sending.any()), np.ones(receivers, dtype=np.bool_)
    has = np.bincount(stream.receiver, sending[stream.sender], minlength=receivers) > 0
    return has, np.bincount(stream.receiver, minlength=receivers) > 0
