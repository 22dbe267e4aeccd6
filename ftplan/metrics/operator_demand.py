"""What each operator of a job has to process, window by window: the offers of its sources through the topology.

Shapes: W windows, O operators by position in the topology.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftplan.metrics.key_group_series import known_operator
from ftplan.metrics.measured_tasks import MeasuredTasks
from ftplan.metrics.true_rates import Flow, propagated
from ftplan.model.problem import StatsTables
from ftplan.model.rates import rates
from ftplan.model.statistics import window_numbers
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray


class Flows(NamedTuple):
    """What goes over each pair of joined operators, and the senders of which it is the topology that says so."""

    flows: tuple[Flow, ...]
    stated: tuple[int, ...]


def operator_demand(graph: TaskGraph, measured: MeasuredTasks, flows: Sequence[Flow], window_s: float) -> FloatArray:
    """Return the demand on each operator, (O, W) in records/s; NaN where nothing tells.

    A source is offered what it processed, and what its queue grew by. What the operators after it have to process
    follows by selectivities alone, whatever reached them. Where an operator before has no statistics, the records of
    the operator itself stand in; a source without statistics offers its ``rate_out``, if the topology states one.
    """
    operators = graph.topology.operators
    before: dict[int, list[int]] = {}
    for flow in flows:
        before.setdefault(flow.target, []).append(flow.source)
    known = np.zeros(len(operators), dtype=np.bool_)
    offered = np.full((len(operators), len(measured.processed)), np.nan)
    for i in graph.order:
        fed = i in before and all(known[source] for source in before[i])
        counted = measured.source[i] is not None
        if not fed and counted:
            offered[i] = _offered(measured, graph.slice_of(i), window_s)
        known[i] = fed or counted
        rate_out = operators[i].rate_out
        if not known[i] and i not in before and rate_out is not None:
            offered[i] = rate_out.sum()
    return propagated(graph.order, flows, offered)


def _offered(measured: MeasuredTasks, tasks: slice, window_s: float) -> FloatArray:
    """Return what is offered to tasks in each window, (W,) in records/s: what they processed, and what waits more."""
    queue = np.nansum(measured.queue_length[:, tasks], axis=1)
    growth = np.diff(queue, prepend=queue[:1])
    return np.asarray(np.maximum(np.nansum(measured.processed[:, tasks], axis=1) + growth, 0.0) / window_s)


def measured_flows(graph: TaskGraph, stats: StatsTables, measured: MeasuredTasks, window: slice) -> Flows:
    """Return what goes over each pair of joined operators for each record that the sender processes.

    In this order: the substreams between the two; ``records_out`` of the sender, all of which goes over each of its
    edges; the records of the receiver, where it has no other operator before it; what the topology states.

    Parameters
    ----------
    window
        The windows that count.
    """
    totals = {
        name: [float(np.nansum(values[window, graph.slice_of(i)])) for i in range(len(graph.topology.operators))]
        for name, values in (
            ("processed", measured.processed),
            ("in", measured.records_in),
            ("out", measured.records_out),
        )
    }
    substreams = _substreams(graph, stats, window)
    stated = _stated(graph)
    senders: dict[int, set[int]] = {}
    for source, target in stated:
        senders.setdefault(target, set()).add(source)
    flows, by_word = [], set()
    for (source, target), selectivity in stated.items():
        processed = totals["processed"][source]
        sent = substreams.get((source, target))
        if sent is None and measured.counts_output[source]:
            sent = totals["out"][source]
        if sent is None and len(senders[target]) == 1 and measured.source[target] is not None:
            sent = totals["in"][target]
        if sent is not None and processed > 0.0:
            selectivity = sent / processed
        else:
            by_word.add(source)
        flows.append(Flow(source, target, selectivity))
    return Flows(tuple(flows), tuple(sorted(by_word)))


def _stated(graph: TaskGraph) -> dict[tuple[int, int], float]:
    """Return the topology's records over each pair of joined operators for each record that the sender processes."""
    known = rates(graph)
    carried: dict[tuple[int, int], float] = {}
    for stream in known.streams:
        ends = (stream.source, stream.target)
        carried[ends] = carried.get(ends, 0.0) + float(stream.received().sum())
    through = {}
    for (source, target), rate in carried.items():
        operator, tasks = graph.topology.operators[source], graph.slice_of(source)
        processed = float((known.into if graph.in_edges[source] else known.out)[tasks].sum())
        otherwise = operator.selectivity if graph.in_edges[source] else 1.0
        through[source, target] = rate / processed if processed > 0.0 else otherwise
    return through


def _substreams(graph: TaskGraph, stats: StatsTables, window: slice) -> dict[tuple[int, int], float]:
    """Return the records between each pair of operators that the substreams of some windows have."""
    table = stats.tables.get("substreams")
    if table is None or table.num_rows == 0:
        return {}
    codes = []
    for column in ("from_operator", "to_operator"):
        encoded = table[column].combine_chunks().dictionary_encode()
        names = encoded.dictionary.to_pylist()
        place = [graph.topology.position[known_operator(name, graph.topology).id] for name in names]
        codes.append(np.array(place, dtype=np.int64)[encoded.indices.to_numpy(zero_copy_only=False)])
    number, _ = window_numbers(table["window_start"], stats.manifest)
    inside = (number >= window.start) & (number < window.stop)
    count = len(graph.topology.operators)
    pairs, which = np.unique((codes[0] * count + codes[1])[inside], return_inverse=True)
    records = np.bincount(which, weights=table["records"].to_numpy()[inside], minlength=len(pairs))
    return {divmod(pair, count): total for pair, total in zip(pairs.tolist(), records.tolist(), strict=True)}


def demand_statistic(demand: FloatArray, statistic: str, window: slice) -> FloatArray:
    """Return the demand of some windows that operators are sized for, (O,), NaN where unknown.

    Parameters
    ----------
    statistic
        ``peak``, ``mean``, or ``pN`` for a percentile, between two windows in proportion.
    """
    some = demand[:, window]
    if statistic == "mean":
        return np.asarray(some.mean(axis=1))
    percentile = 100.0 if statistic == "peak" else float(statistic.removeprefix("p"))
    return np.asarray(np.percentile(some, percentile, axis=1))


def look_back(windows: int, window_s: float, look_back_s: float) -> slice:
    """Return the windows of the last seconds of the statistics, at least one."""
    return slice(max(0, windows - max(1, math.ceil(look_back_s / window_s - 1e-9))), windows)
