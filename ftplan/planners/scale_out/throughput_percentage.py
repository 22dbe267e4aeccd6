"""Stela's effective throughput percentage: how much output an operator lets through [Xu2016]."""

from __future__ import annotations

import numpy as np

from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray


def throughput_percentages(graph: TaskGraph, congested: BoolArray, throughput: FloatArray) -> FloatArray:
    """Return the effective throughput percentage of each operator as a share from 0 to 1, (operators,).

    It is the throughput of the sinks that a path without congested operators leads to, over that of all sinks
    [Xu2016]; sinks are the operators whose output counts. The operator itself may be congested: what
    counts is what comes after it. A sink counts once, however many paths lead to it (the paper's listing walks a tree,
    where there is one).

    Parameters
    ----------
    congested
        (operators,) by position in the topology.
    throughput
        Records/s of each operator, (operators,); only that of sinks matters.

    Returns
    -------
    0 for all where no sink has any throughput. Cost O(edges x sinks).
    """
    sinks = np.flatnonzero([operator.output for operator in graph.topology.operators])
    reached = np.zeros((len(congested), len(sinks)), dtype=np.bool_)
    reached[sinks, np.arange(len(sinks))] = True
    for i in reversed(graph.order):
        for edge in graph.out_edges[i]:
            if not congested[edge.target]:
                reached[i] |= reached[edge.target]
    value = throughput[sinks]
    total = float(value.sum())
    return np.asarray(reached @ value / total) if total > 0.0 else np.zeros(len(congested))
