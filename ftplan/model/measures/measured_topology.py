"""A topology as statistics measured it: what its edges carry, what its tasks emit, how its inputs divide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.measured_rates import MeasuredRates, measured_rates, rounded
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables
from ftplan.model.ranges import SHARE
from ftplan.model.rates import RATE_TOLERANCE, disagreement, sent_by
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, Edge, FloatArray, IntArray, Operator, Substreams, Topology


class MeasuredTopology(NamedTuple):
    """A topology with measured rates, and what the statistics say that does not fit it."""

    topology: Topology
    warnings: tuple[Warn, ...] = ()


class _Misfit(NamedTuple):
    """What does not fit, by what code it is warned of: how many records/s are concerned, and the sentence."""

    code: str
    rate: float
    text: str


@lru_cache(maxsize=1)  # a plan is judged in many scenarios on the same two
def measured_topology(topology: Topology, stats: StatsTables | None) -> MeasuredTopology:
    """Weigh a topology by the tables ``substreams`` and ``tasks`` of statistics.

    What is measured wins over what the topology states, as a mean over the manifest's time range:

    - an edge carries its measured substreams;
    - ``rate_out`` is ``records_out``; it is what the substreams carry, the most of them over the edges, where there is
      no ``records_out``, and where this counts the records of several edges, each of which carries the whole output;
    - ``input_share``, for full and split edges without measured substreams, is ``records_in`` less what the measured
      edges bring.

    Which tasks meet stays as the topology says, and with it every query: a full edge is still full where a pair
    exchanged no record, and what was measured between tasks that do not meet is left out. Edges that join the same
    operators share the records of the pairs that meet on both. Operators and edges without statistics stay as they
    are. So do cpu and state: these are for :func:`ftplan.model.measures.task_costs.task_costs` and
    :func:`ftplan.model.measures.task_state.task_state`.

    Warnings: ``RATES_DISAGREE`` by more than 1 %, ``STREAM_NOT_IN_TOPOLOGY`` for operators without an edge between
    them, ``SUBSTREAM_NOT_IN_TOPOLOGY`` for tasks that do not meet on their edge; one of each, which names the worst.

    Cost O(rows + tasks + substreams); a full edge without measured substreams stays rank one. The last answer is kept.

    Raises
    ------
    FtplanError
        If the statistics name an operator or task that the topology does not have, or a rate is out of range.
    """
    if stats is None:
        return MeasuredTopology(topology)
    graph = TaskGraph(topology)
    rates = measured_rates(graph, stats)
    weighed, misfits = _weighed_edges(graph, rates)
    operators: list[Operator] = []
    for i in range(len(topology.operators)):
        operator, more = _weighed_operator(graph, i, rates, weighed)
        operators.append(operator)
        misfits += more
    measured = replace(topology, operators=tuple(operators), edges=tuple(weighed.edges))
    return MeasuredTopology(measured, tuple(_warnings(misfits)))


@dataclass(frozen=True, slots=True)
class _WeighedEdges:
    """The edges of a topology in their order, and the numbers of those that enter and leave each operator."""

    edges: list[Edge]
    measured: list[bool]  # which carry measured substreams
    entering: list[list[int]]
    leaving: list[list[int]]


def _weighed_edges(graph: TaskGraph, rates: MeasuredRates) -> tuple[_WeighedEdges, list[_Misfit]]:
    """Give each edge the measured substreams between its operators whose tasks meet on it."""
    edges, misfits = list(graph.topology.edges), []
    measured = [False] * len(edges)
    entering: list[list[int]] = [[] for _ in graph.topology.operators]
    leaving: list[list[int]] = [[] for _ in graph.topology.operators]
    by_ends: dict[tuple[int, int], list[int]] = defaultdict(list)
    for k, edge in enumerate(edges):
        entering[edge.target].append(k)
        leaving[edge.source].append(k)
        by_ends[edge.source, edge.target].append(k)
    for ends, stream in rates.streams.items():
        if ends not in by_ends:
            source, target = (graph.topology.operators[i].id for i in ends)
            rate = float(stream.rate.sum())
            text = f"the statistics have {rate:.6g} records/s from {source} to {target}, but the topology no such edge"
            misfits.append(_Misfit("STREAM_NOT_IN_TOPOLOGY", rate, text))
            continue
        meeting = [_meeting(graph, edges[k], stream) for k in by_ends[ends]]
        edges_of_pair = np.sum(meeting, axis=0)
        misfits += _outside(graph, ends, stream, edges_of_pair == 0)
        for k, meet in zip(by_ends[ends], meeting, strict=True):
            if meet.any():
                rate_of_pair = stream.rate[meet] / edges_of_pair[meet]
                part = Substreams(stream.from_index[meet], stream.to_index[meet], rate_of_pair)
                edges[k], more = _weighed_edge(graph, edges[k], part)
                measured[k] = True
                misfits += more
    return _WeighedEdges(edges, measured, entering, leaving), misfits


def _keys(graph: TaskGraph, edge: Edge, senders: IntArray, receivers: IntArray) -> IntArray:
    """Return one number for each pair of tasks of an edge."""
    return senders * graph.topology.operators[edge.target].parallelism + receivers


def _meeting(graph: TaskGraph, edge: Edge, stream: Substreams) -> BoolArray:
    """Return which measured pairs meet on an edge, shape (pairs,)."""
    pairs = graph.pairs(edge)
    if pairs is None:
        return np.ones(len(stream.rate), dtype=np.bool_)
    return np.isin(_keys(graph, edge, stream.from_index, stream.to_index), _keys(graph, edge, *pairs))


def _outside(graph: TaskGraph, ends: tuple[int, int], stream: Substreams, outside: BoolArray) -> Iterator[_Misfit]:
    """Say which of the pairs that do not meet on any edge of their operators carries most."""
    if not outside.any():
        return
    k = int(np.flatnonzero(outside)[np.argmax(stream.rate[outside])])
    total, count = float(stream.rate[outside].sum()), int(outside.sum())
    source, target = (graph.topology.operators[i].id for i in ends)
    pair = f"{source}/{stream.from_index[k]} to {target}/{stream.to_index[k]}"
    others = f", and {total - stream.rate[k]:.6g} between {count - 1:,} more pairs of them" if count > 1 else ""
    text = f"the statistics have {stream.rate[k]:.6g} records/s from {pair}, which do not meet in the topology{others}"
    yield _Misfit("SUBSTREAM_NOT_IN_TOPOLOGY", total, text)


def _weighed_edge(graph: TaskGraph, edge: Edge, stream: Substreams) -> tuple[Edge, list[_Misfit]]:
    """Return an edge that carries what was measured; the other pairs that meet on it carry nothing."""
    pairs = graph.pairs(edge)
    if pairs is None:
        return replace(edge, substreams=stream), []
    keys = _keys(graph, edge, *pairs)
    order = np.argsort(keys, kind="stable")
    rate = np.zeros(len(keys))
    rate[order[np.searchsorted(keys[order], _keys(graph, edge, stream.from_index, stream.to_index))]] = stream.rate
    stated = None if edge.substreams is None else edge.substreams.rate
    misfits = _apart(
        stated,
        rate,
        lambda k: f"{_name(graph, edge.source, pairs[0][k])} -> {_name(graph, edge.target, pairs[1][k])} carries",
    )
    return replace(edge, substreams=Substreams(*pairs, rate)), misfits


def _weighed_operator(
    graph: TaskGraph, i: int, rates: MeasuredRates, weighed: _WeighedEdges
) -> tuple[Operator, list[_Misfit]]:
    """Return the operator at a position with what its tasks emit and how its unmeasured inputs divide."""
    operator, tasks = graph.topology.operators[i], graph.slice_of(i)
    misfits: list[_Misfit] = []
    counted, received = (rates.of_operator(column, tasks) for column in (rates.records_out, rates.records_in))
    sent = _sent(graph, i, weighed)
    emitted = _emitted(counted, list(sent.values()))
    if emitted is not None:
        misfits += _apart(operator.rate_out, emitted, lambda k: f"{_name(graph, i, k)} emits")
        if emitted is counted:
            misfits += _at_odds(graph, i, counted, sent)
        operator = replace(operator, rate_out=emitted)
    left = None if received is None else _left_for_rules(i, received, weighed)
    if left is not None:
        share = operator.input_share
        stated = None if share is None else share / share.sum() * left.sum()
        misfits += _apart(stated, left, lambda k: f"{_name(graph, i, k)} gets, by its input_share,")
        share = rounded(left / left.sum() * len(left))
        operator = replace(operator, input_share=np.where((share > 0.0) & (share < SHARE.low), SHARE.low, share))
    return operator, misfits


def _sent(graph: TaskGraph, i: int, weighed: _WeighedEdges) -> dict[str, FloatArray]:
    """Return what the tasks of an operator put on its measured edges, by the id of the receiving operator."""
    sent: dict[str, FloatArray] = {}
    for k in weighed.leaving[i]:
        stream = weighed.edges[k].substreams
        if weighed.measured[k] and stream is not None:
            to = graph.topology.operators[weighed.edges[k].target].id
            sent[to] = sent.get(to, 0.0) + sent_by(stream, graph.topology.operators[i].parallelism)
    return sent


def _emitted(counted: FloatArray | None, sent: Sequence[FloatArray]) -> FloatArray | None:
    """Return what an operator's tasks emit on each edge, (parallelism,), from counters and edges; None where unknown.

    Some logs count a record once for each edge that it leaves on, and :mod:`ftplan.spark_stats` sums over the edges
    where there is no counter.
    """
    if not sent:
        return counted
    total = float(np.sum(sent))
    if counted is None or (len(sent) > 1 and abs(float(counted.sum()) - total) <= RATE_TOLERANCE * total):
        return rounded(np.max(sent, axis=0))
    return counted


def _at_odds(graph: TaskGraph, i: int, counted: FloatArray, sent: dict[str, FloatArray]) -> Iterator[_Misfit]:
    """Say where the two tables disagree on what a task sends: outputs weigh by the one, inputs by the other."""
    for to, rate in sent.items():
        if (worst := disagreement(counted, rate)) is not None:
            at, excess = worst
            text = (
                f"{_name(graph, i, at)} sends {rate[at]:.6g} records/s to {to} by the substreams of the statistics, "
                f"{counted[at]:.6g} by records_out of their tasks; inputs weigh by substreams, outputs by records_out"
            )
            yield _Misfit("RATES_DISAGREE", excess, text)


def _left_for_rules(i: int, received: FloatArray, weighed: _WeighedEdges) -> FloatArray | None:
    """Return what an operator's tasks receive on full and split edges without measured substreams, (parallelism,).

    None where there are no such edges, or nothing was received.
    """
    edges = [weighed.edges[k] for k in weighed.entering[i]]
    if not any(edge.partitioning in ("full", "split") and edge.substreams is None for edge in edges):
        return None
    brought = np.zeros(len(received))
    for k in weighed.entering[i]:
        stream = weighed.edges[k].substreams
        if weighed.measured[k] and stream is not None:
            brought += np.bincount(stream.to_index, stream.rate, minlength=len(received))
    left = np.maximum(received - brought, 0.0)
    if left.sum() <= RATE_TOLERANCE * received.sum():  # the rest is rounding, or records_in counts less than all
        left = received
    return left if left.sum() > 0.0 else None


def _name(graph: TaskGraph, i: int, index: int) -> str:
    return f"{graph.topology.operators[i].id}/{index}"


def _apart(stated: FloatArray | None, measured: FloatArray, subject: Callable[[int], str]) -> list[_Misfit]:
    """Say where measured rates differ most from what the topology states, if it does; *subject* names a place."""
    worst = None if stated is None else disagreement(stated, measured)
    if stated is None or worst is None:
        return []
    at, excess = worst
    share = abs(measured[at] - stated[at]) / max(measured[at], stated[at])
    rates = f"{stated[at]:.6g} records/s by the topology, {measured[at]:.6g} by the statistics"
    return [_Misfit("RATES_DISAGREE", excess, f"{subject(at)} {rates} ({share:.1%} apart): these weigh")]


def _warnings(misfits: Sequence[_Misfit]) -> Iterator[Warn]:
    """Yield one warning of each code: what concerns most records, then what comes first as text."""
    for code in sorted({misfit.code for misfit in misfits}):
        some = [misfit for misfit in misfits if misfit.code == code]
        text = min(some, key=lambda misfit: (-misfit.rate, misfit.text)).text
        yield Warn(code, f"{text} (and {len(some) - 1:,} more)" if len(some) > 1 else text)
