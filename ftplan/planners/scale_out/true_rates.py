"""What tasks could process if they never waited, and what is offered to them: the model of DS2 [Kalavri2018].

Back pressure makes observed rates useless: a task that waits processes little, whether it waits for its inputs or for
a slow operator after it. The true rate counts the time of work alone. Shapes: W windows, T tasks of an operator, O
operators, X points in time of any kind.

:func:`throughput_percentages` is Stela's measure [Xu2016]: how much of all output an operator lets through.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

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


class OperatorFlow(NamedTuple):
    """What goes from one operator to another, by position: records for each record that the sender processes."""

    source: int
    target: int
    selectivity: float


def true_rates(records: FloatArray, busy_s: FloatArray) -> FloatArray:
    """Return the true rate of each task in records/s, (T,): records over the seconds in which it was busy.

    Parameters
    ----------
    records, busy_s
        Of each window and task, (W, T). Windows whose busy time is unknown (NaN) are left out.

    Returns
    -------
    NaN for a task that never worked, or whose busy time is unknown.
    """
    known = ~np.isnan(busy_s) & ~np.isnan(records)
    processed = np.where(known, records, 0.0).sum(axis=0)
    busy = np.where(known, busy_s, 0.0).sum(axis=0)
    rates = np.full(records.shape[1], np.nan)
    np.divide(processed, busy, out=rates, where=(busy > 0.0) & (processed > 0.0))
    return rates


def mean_true_rate(rates: FloatArray) -> float:
    """Return the true rate of a task of an operator: DS2's aggregated rate over the number of tasks.

    Tasks that never worked count like the mean of the others. NaN where none did.
    """
    known = rates[~np.isnan(rates)]
    return float(known.mean()) if len(known) else math.nan


def propagated(order: Iterable[int], flows: Sequence[OperatorFlow], offered: FloatArray) -> FloatArray:
    """Return the demand on each operator, (O, X) in records/s: what the sources offer, through selectivities.

    No operator's own speed matters, so that one below a throttled operator is sized for what will reach it once that
    is gone ([Kalavri2018], section 3).

    Parameters
    ----------
    order
        Operators by position in topological order.
    offered
        (O, X) where the demand is known by itself, as of sources; NaN where it follows from the operators before.

    Returns
    -------
    NaN where an operator without operators before it offers nothing known. Cost O((O + flows) X).
    """
    entering: dict[int, list[OperatorFlow]] = {}
    for flow in flows:
        entering.setdefault(flow.target, []).append(flow)
    demand = offered.copy()
    for i in order:
        if i in entering:
            brought = np.sum([flow.selectivity * demand[flow.source] for flow in entering[i]], axis=0)
            demand[i] = np.where(np.isnan(offered[i]), brought, offered[i])
    return demand


def tasks_kept_busy(demand: float, true_rate: float) -> float:
    """Return how many tasks a demand keeps busy, 0 where it or the true rate is unknown.

    Rounded up it is DS2's parallelism ([Kalavri2018], section 3), see
    :func:`~ftplan.planners.scale_out.problem.required_tasks`.
    """
    tasks = demand / true_rate if true_rate > 0.0 else 0.0
    return tasks if math.isfinite(tasks) else 0.0
