"""How many complete trees of live tasks there are, and how many need one task."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ftplan.model.task_graph import BoolArray, TaskGraph


def live_trees(graph: TaskGraph, live: BoolArray) -> int:
    """Return how many MC-trees have live tasks only (Su & Zhou, ICDE 2016, definition 1), without listing them.

    A tree counts once for each way to choose its substreams: one of one stream below a task with independent inputs,
    one of every stream below a join.

    Parameters
    ----------
    live
        Shape (tasks,).

    Notes
    -----
    Whole numbers of any size; O(tasks + substreams) sums and products, a full edge costs its senders only.
    """
    trees = np.zeros(graph.tasks, dtype=object)
    for position in graph.order:
        tasks = graph.slice_of(position)
        streams = _entering(graph, position, trees)
        join = graph.topology.operators[position].inputs == "correlated"
        trees[tasks] = [
            _combined([sums[k] for sums, fed in streams if fed[k]], join) if up else 0
            for k, up in enumerate(live[tasks].tolist())
        ]
    return int(sum(trees[graph.output].tolist()))


def _entering(graph: TaskGraph, position: int, trees: npt.NDArray[np.object_]) -> list[tuple[list[int], list[bool]]]:
    """Return for each input stream of an operator the trees that enter each task, and whether it has a substream."""
    count = graph.topology.operators[position].parallelism
    streams: dict[int, tuple[list[int], list[bool]]] = {}
    for edge in graph.in_edges[position]:
        sums, fed = streams.setdefault(edge.source, ([0] * count, [False] * count))
        senders = trees[graph.slice_of(edge.source)].tolist()
        pairs = graph.pairs(edge)
        if pairs is None:
            total = sum(senders)
            sums[:] = [value + total for value in sums]
            fed[:] = [True] * count
            continue
        for sender, receiver in zip(pairs[0].tolist(), pairs[1].tolist(), strict=True):
            sums[receiver] += senders[sender]
            fed[receiver] = True
    return list(streams.values())


def _combined(entering: list[int], join: bool) -> int:
    if not entering:
        return 1
    if not join:
        return sum(entering)
    product = 1
    for count in entering:
        product *= count
    return product


def trees_through(graph: TaskGraph, live: BoolArray, task: int) -> int:
    """Return how many of the live MC-trees contain a task, of those that there would be if it lived."""
    live = live.copy()
    live[task] = True
    whole = live_trees(graph, live)
    live[task] = False
    return whole - live_trees(graph, live)
