"""Tasks whose replicas are of use only together, so that an integer program decides once for all of them."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.replicate_tasks.algorithms.models.circuit import Circuit, CircuitNode


def bundles(circuit: Circuit, tasks: int) -> IntArray:
    """Return the bundle of each task, named by a task of it, shape (tasks,).

    A task that alone fills an input stream of another task, and feeds nothing else, is of use only with that task; and
    that task keeps nothing without it. So some optimum takes both or neither. Linear in the circuit.
    """
    bundle = np.arange(tasks, dtype=np.int64)
    feeds = np.zeros(len(circuit.nodes), dtype=np.int64)
    for node in circuit.nodes:
        for slot in node.slots:
            feeds[list(slot)] += 1
    for node in reversed(circuit.nodes):  # what a node feeds is named before it
        own = _task(node)
        if own is None:
            continue
        for slot in node.slots:
            if len(slot) == 1:
                (tail,) = slot
                feeder = _task(circuit.nodes[tail])
                if feeder is not None and feeds[tail] == 1:
                    bundle[feeder] = bundle[own]
    return bundle


def _task(node: CircuitNode) -> int | None:
    """Return the task of a node that is one task and may fail."""
    if node.base > 0.0 or len(node.blocks) != 1 or node.blocks[0].most != 1:
        return None
    return int(node.blocks[0].tasks[0])
