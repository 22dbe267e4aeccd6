"""MC-trees listed one by one, and the tasks that stand in them: what counts and gains are held to."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray
from ftplan.planners.replicate_tasks.mc_trees import Choices, InputStream, input_streams, listed


def mc_trees(graph: TaskGraph, limit: int | None = None) -> Iterator[frozenset[int]]:
    """Yield MC-trees as sets of task numbers, each set once, by output task and then by senders.

    They are made one at a time, up to *limit* of them.
    """
    choices = _structure(graph)
    return itertools.islice(listed(np.flatnonzero(graph.output).tolist(), choices), limit)


def _structure(graph: TaskGraph) -> Choices:
    """Return the choices below each task by the topology alone; a substream at rate 0 counts."""
    streams = [list(input_streams(graph, i)) for i in range(len(graph.topology.operators))]

    def choices(task: int) -> list[Sequence[int]]:
        i = int(graph.operator_of[task])
        found = [_senders(graph, stream, task - int(graph.offset[i])) for stream in streams[i]]
        found = [senders for senders in found if len(senders)]
        if graph.topology.operators[i].inputs == "correlated" or len(found) < 2:
            return found
        return [list(itertools.chain.from_iterable(found))]

    return choices


def _senders(graph: TaskGraph, stream: InputStream, index: int) -> Sequence[int]:
    """Return the numbers of the tasks that feed one task by one stream."""
    tasks = graph.slice_of(stream.source)
    if stream.full:
        return range(tasks.start, tasks.stop)
    senders: list[int] = (stream.sender[stream.receiver == index] + tasks.start).tolist()
    return senders


def complete(graph: TaskGraph, live: BoolArray) -> BoolArray:
    """Return which tasks stand in some MC-tree all of whose tasks live, shape (tasks,); O(tasks + substreams).

    Forward: what produces output, given that something does so on one (a join: on each) of its streams. Backward: what
    of that is used. All other live tasks are of no use: without them the output fidelity is the same.
    """
    produces = live.copy()
    for i in graph.order:
        tasks = graph.slice_of(i)
        fed = [_fed(graph, stream, produces, tasks.stop - tasks.start) for stream in input_streams(graph, i)]
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
        for stream in input_streams(graph, i):
            senders = graph.slice_of(stream.source)
            asked = np.ones(senders.stop - senders.start, dtype=np.bool_) & here.any()
            if not stream.full:
                asked = np.bincount(stream.sender, here[stream.receiver], minlength=len(asked)) > 0
            used[senders] |= produces[senders] & asked
    return used


def _fed(graph: TaskGraph, stream: InputStream, produces: BoolArray, receivers: int) -> tuple[BoolArray, BoolArray]:
    """Return whether each task gets something on a stream, and whether it has the stream at all."""
    sending = produces[graph.slice_of(stream.source)]
    if stream.full:
        return np.full(receivers, sending.any()), np.ones(receivers, dtype=np.bool_)
    has = np.bincount(stream.receiver, sending[stream.sender], minlength=receivers) > 0
    return has, np.bincount(stream.receiver, minlength=receivers) > 0
