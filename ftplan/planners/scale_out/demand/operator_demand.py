"""What each operator of a job has to process, window by window: the offers of its sources through the topology.

The model is that of DS2 [Kalavri2018]. :func:`throughput_percentages` is Stela's measure [Xu2016]: how much of all
output an operator lets through. Shapes: W windows, O operators by position in the topology, X points in time of any
kind.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.key_group_series import known_operator
from ftplan.model.measures.measured_tasks import MeasuredTasks
from ftplan.model.problem import StatsTables
from ftplan.model.rates import rates
from ftplan.model.statistics import window_numbers
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray


def throughput_percentages(graph: TaskGraph, congested: BoolArray, throughput: FloatArray) -> FloatArray:
    """Return the effective throughput percentage of each operator as a share from 0 to 1, (operators,).

    It is the throughput of the sinks that a path without congested operators leads to, over that of all sinks
    [Xu2016]; sinks are the operators whose output counts. The operator itself may be congested: what
    counts is what comes after it. A sink counts once, however many paths lead to it (the paper's listing walks a tree,
    where there is one).

    *congested*: (operators,) by position in the topology. *throughput*: records/s of each operator, (operators,); only
    that of sinks matters.

    It is 0 for all where no sink has any throughput. Cost O(edges x sinks).
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


def propagated(order: Iterable[int], flows: Sequence[OperatorFlow], offered: FloatArray) -> FloatArray:
    """Return the demand on each operator, (O, X) in records/s: what the sources offer, through selectivities.

    No operator's own speed matters, so that one below a throttled operator is sized for what will reach it once that
    is gone ([Kalavri2018], section 3).

    *order*: operators by position in topological order. *offered*: (O, X) where the demand is known by itself, as of
    sources; NaN where it follows from the operators before.

    It is NaN where an operator without operators before it offers nothing known. Cost O((O + flows) X).
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


#: Bursts that are shorter count for nothing in themselves.
STEADY_S = 60.0


class MeasuredFlows(NamedTuple):
    """What goes over each pair of joined operators, by their positions."""

    flows: tuple[OperatorFlow, ...]
    stated: tuple[int, ...]  # senders of which it is the topology that says so
    astray: tuple[tuple[int, int], ...] = ()  # pairs that exchanged records and are not joined


def operator_demand(
    graph: TaskGraph, measured: MeasuredTasks, flows: Sequence[OperatorFlow], window_s: float
) -> FloatArray:
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
            part = graph.slice_of(i)
            offered[i] = _came(measured.processed[:, part], measured.queue_length[:, part]) / window_s
        known[i] = fed or counted
        rate_out = operators[i].rate_out
        if not known[i] and i not in before and rate_out is not None:
            offered[i] = rate_out.sum()
    return propagated(graph.order, flows, offered)


def _came(records: FloatArray, queue: FloatArray) -> FloatArray:
    """Return the records that came in each window, (W,): what tasks took, (W, T), and what their queues grew by."""
    waiting = np.nansum(queue, axis=1)
    return np.asarray(np.maximum(np.nansum(records, axis=1) + np.diff(waiting, prepend=waiting[:1]), 0.0))


def measured_flows(graph: TaskGraph, stats: StatsTables, measured: MeasuredTasks, window: slice) -> MeasuredFlows:
    """Return what goes over each pair of joined operators for each record that the sender processes.

    In this order: the substreams between the two; ``records_out`` of the sender (see :func:`_sent`); what came to the
    receiver, where it has no other operator before it; what the topology states. An operator without statistics
    processes what goes to it.

    *window*: the windows that count.
    """
    processed, wrote, came = _totals(graph, measured, window)
    substreams, stated = _substreams(graph, stats, window), _stated(graph)
    receivers: dict[int, list[int]] = {}
    for source, target in stated:
        receivers.setdefault(source, []).append(target)
    senders = Counter(target for _, target in stated)
    alone = {target: came[target] for target, count in senders.items() if count == 1 and measured.source[target]}
    flows: list[OperatorFlow] = []
    by_word = set()
    for source in graph.order:
        targets = receivers.get(source, [])
        if measured.source[source] is None:
            processed[source] = sum(
                flow.selectivity * processed[flow.source] for flow in flows if flow.target == source
            )
        sent = {target: alone[target] for target in targets if target in alone}
        if measured.counts_output[source]:
            parted = any(edge.substreams is not None for edge in graph.out_edges[source])
            sent = _sent(wrote[source], sent, {target: stated[source, target] for target in targets}, parted)
        for target in targets:
            records = substreams.get((source, target), sent.get(target))
            if records is None or not processed[source] > 0.0:
                by_word.add(source)
                flows.append(OperatorFlow(source, target, stated[source, target]))
            else:
                flows.append(OperatorFlow(source, target, records / processed[source]))
    return MeasuredFlows(tuple(sorted(flows)), tuple(sorted(by_word)), tuple(sorted(substreams.keys() - stated.keys())))


def _totals(graph: TaskGraph, measured: MeasuredTasks, window: slice) -> tuple[list[float], list[float], list[float]]:
    """Return the records that each operator processed and wrote in some windows, and that came to it."""
    parts = [graph.slice_of(i) for i in range(len(graph.topology.operators))]
    processed, wrote = (
        [float(np.nansum(values[window, part])) for part in parts]
        for values in (measured.processed, measured.records_out)
    )
    read, queue = measured.records_in, measured.queue_length
    return processed, wrote, [float(_came(read[:, part], queue[:, part])[window].sum()) for part in parts]


def _sent(wrote: float, came: Mapping[int, float], stated: Mapping[int, float], parted: bool) -> dict[int, float]:
    """Return the records that went to each operator after one that counts what it writes.

    All that it wrote where there is a single one. Where there are several, what came to each: Flink counts what is
    written over all edges, Storm stream by stream. If less came to all together than was written, each got more by as
    much. Where that is not known of all of them, every edge carries the whole output, or what the topology states of
    its substreams.

    *wrote*: records that the operator wrote. *came*, *stated*: by receiver: records that came to it, of those where
    that is known, and what the topology says of each record. *parted*: whether the topology states substreams of any
    edge.
    """
    if len(stated) > 1:
        total = sum(came.values())
        if len(came) == len(stated) and total > 0.0:
            return {target: records * max(1.0, wrote / total) for target, records in came.items()}
        most = max(stated.values())
        if parted and most > 0.0:
            return {target: wrote * part / most for target, part in stated.items()}
    return dict.fromkeys(stated, wrote)


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


def steady(demand: FloatArray, window_s: float) -> FloatArray:
    """Return the mean demand of the last minute at each window, (O, W): as it is where windows are no shorter.

    Sizes follow from it, since queues take up shorter bursts, and engines hand their counters on in bursts of their
    own: Flink every ten seconds.
    """
    count = math.ceil(STEADY_S / window_s - 1e-9)
    if count <= 1:
        return demand
    total = np.concatenate([np.zeros((len(demand), 1)), np.cumsum(demand, axis=1)], axis=1)
    last = np.arange(1, demand.shape[1] + 1)
    first = np.maximum(last - count, 0)
    return np.asarray((total[:, last] - total[:, first]) / (last - first))


def demand_statistic(demand: FloatArray, statistic: str, window: slice) -> FloatArray:
    """Return the demand of some windows that operators are sized for, (O,), NaN where unknown.

    *statistic*: ``peak``, ``mean``, or ``pN`` for a percentile, between two windows in proportion.
    """
    some = demand[:, window]
    if statistic == "mean":
        return np.asarray(some.mean(axis=1))
    percentile = 100.0 if statistic == "peak" else float(statistic.removeprefix("p"))
    return np.asarray(np.percentile(some, percentile, axis=1))


def look_back(windows: int, window_s: float, look_back_s: float) -> slice:
    """Return the windows of the last seconds of the statistics, at least one."""
    return slice(max(0, windows - max(1, math.ceil(look_back_s / window_s - 1e-9))), windows)
