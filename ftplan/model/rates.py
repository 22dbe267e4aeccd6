"""Rates of every task and stream: measured where the topology says so, derived elsewhere; full edges stay rank one.

How fast tasks can work beside how fast they usually do is :func:`pace_used`, with :func:`record_time_s`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.task_graph import TaskGraph
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, Edge, FloatArray, IntArray, Operator, Substreams

#: Relative difference from which on two rates of one stream, or of one task, disagree.
RATE_TOLERANCE = 0.01


def record_time_s(graph: TaskGraph, cost: FloatArray, processed: FloatArray) -> FloatArray:
    """Return the core-seconds that each task takes for a record: stated, else cores over input rate, shape (tasks,)."""
    operators = graph.topology.operators
    stated = np.array([np.nan if item.record_time_s is None else item.record_time_s for item in operators])
    derived = np.divide(cost, processed, out=np.zeros(graph.tasks), where=processed > 0.0)
    return np.where(np.isnan(stated[graph.operator_of]), derived, stated[graph.operator_of])


def most_cores(usual: FloatArray, cost: FloatArray, headroom: float) -> FloatArray:
    """Return the cores of each task at its fastest pace, (tasks,).

    One core, or *headroom* times what it usually takes: of what its input needs only as much as its ``cpu`` says.
    """
    return np.maximum(1.0, headroom * np.minimum(usual, cost))


def pace_used(graph: TaskGraph, cost: FloatArray, headroom: float) -> FloatArray:
    """Return which share of its fastest pace each task takes for its usual input, rho, shape (tasks,): :func:`paces`.

    0 for tasks that neither get nor emit records. At 1 or more a task that was down never catches up.

    Parameters
    ----------
    cost
        Cores of each task at its usual rate, shape (tasks,).
    headroom
        How many times its usual cores a task can use at least.
    """
    usual, most = paces(graph, cost, headroom)
    return np.asarray(usual / most)


def paces(graph: TaskGraph, cost: FloatArray, headroom: float) -> tuple[FloatArray, FloatArray]:
    """Return the cores that each task needs for its usual input, and those of its fastest pace, both (tasks,)."""
    flow = rates(graph)
    processed = np.where(_fed(graph), flow.into, flow.out)
    usual = record_time_s(graph, cost, processed) * processed
    return usual, most_cores(usual, cost, headroom)


def _fed(graph: TaskGraph) -> BoolArray:
    """Return which tasks any stream leads to, shape (tasks,)."""
    fed = np.zeros(graph.tasks, dtype=np.bool_)
    for i, edges in enumerate(graph.in_edges):
        here = fed[graph.slice_of(i)]
        for edge in edges:
            pairs = graph.pairs(edge)
            here[slice(None) if pairs is None else pairs[1]] = True
    return fed


@dataclass(frozen=True, slots=True, eq=False)
class FullStream:
    """A full edge: sender i gives receiver j ``sent[i] * share[j]`` records per second; the shares sum to 1."""

    source: int
    target: int
    sent: FloatArray  # (senders,)
    share: FloatArray  # (receivers,)

    def received(self) -> FloatArray:
        """Return records per second into each receiver, shape (receivers,)."""
        return np.asarray(self.sent.sum() * self.share, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class PairStream:
    """Any other edge: substream k carries ``rate[k]`` from task ``sender[k]`` to ``receiver[k]``, by index."""

    source: int
    target: int
    sender: IntArray
    receiver: IntArray
    rate: FloatArray
    receivers: int

    def received(self) -> FloatArray:
        """Return records per second into each receiver, shape (receivers,)."""
        return np.bincount(self.receiver, self.rate, minlength=self.receivers).astype(np.float64, copy=False)


Stream = FullStream | PairStream


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Records per second without failure; ``streams`` stand in the order of the topology's edges.

    A full edge with measured substreams that leave a receiver without records is two streams: what they carry, and one
    at rate 0 from all tasks to such receivers, which makes these depend on all senders alike as on any full edge.

    ``out`` is what each task emits on *every* outgoing edge; ``into`` is the sum over its substreams.
    """

    out: FloatArray  # (tasks,)
    into: FloatArray  # (tasks,)
    streams: tuple[Stream, ...]


def sent_by(substreams: Substreams, senders: int) -> FloatArray:
    """Return records per second that each sender puts on an edge by its substreams, shape (senders,)."""
    return np.bincount(substreams.from_index, substreams.rate, minlength=senders).astype(np.float64, copy=False)


def disagreement(stated: FloatArray, measured: FloatArray) -> tuple[int, float] | None:
    """Return (place, records/s beyond :data:`RATE_TOLERANCE`) where two arrays differ most; None where they agree."""
    excess = np.abs(measured - stated) - RATE_TOLERANCE * np.maximum(np.abs(measured), np.abs(stated))
    place = int(np.argmax(excess)) if len(excess) else -1
    return (place, float(excess[place])) if place >= 0 and excess[place] > NOISE else None


def rates(graph: TaskGraph) -> Rates:
    """Derive all rates, operator by operator in topological order.

    A source emits ``rate_out`` (default 1), any other task ``selectivity`` times its inputs. An explicit ``rate_out``
    wins over that, and so do measured substreams: a task without ``rate_out`` emits what its substreams carry, the
    most of them where several measured edges leave it. Cost O(tasks + substreams); full edges are never written out.
    """
    out = np.zeros(graph.tasks)
    into = np.zeros(graph.tasks)
    edges = graph.topology.edges
    leaving: list[list[int]] = [[] for _ in graph.topology.operators]
    for k, edge in enumerate(edges):
        leaving[edge.source].append(k)
    streams: dict[int, tuple[Stream, ...]] = {}
    for i in graph.order:
        tasks = graph.slice_of(i)
        out[tasks] = _emitted(graph, i, into[tasks])
        for k in leaving[i]:
            streams[k] = _streams(graph, edges[k], out[tasks])
            into[graph.slice_of(edges[k].target)] += streams[k][0].received()
    return Rates(out, into, tuple(stream for k in range(len(edges)) for stream in streams[k]))


def _emitted(graph: TaskGraph, i: int, received: FloatArray) -> FloatArray:
    """Return what the tasks of the operator at a position emit, shape (parallelism,)."""
    operator = graph.topology.operators[i]
    if operator.rate_out is not None:
        return operator.rate_out
    measured = [sent_by(e.substreams, operator.parallelism) for e in graph.out_edges[i] if e.substreams is not None]
    if measured:
        return np.asarray(np.max(measured, axis=0), dtype=np.float64)
    return operator.selectivity * received if graph.in_edges[i] else np.ones(operator.parallelism)


def _streams(graph: TaskGraph, edge: Edge, sent: FloatArray) -> tuple[Stream, ...]:
    """Return the rates of one edge whose senders emit *sent*: one stream, or two as :class:`Rates` says."""
    target = graph.topology.operators[edge.target]
    if edge.substreams is not None:
        carried = _carried(edge, edge.substreams, target.parallelism)
        idle = carried.received() == 0.0
        if edge.partitioning != "full" or not idle.any():
            return (carried,)
        return carried, FullStream(edge.source, edge.target, np.zeros(len(sent)), idle / idle.sum())
    share = _share(target)
    pairs = graph.pairs(edge)
    if pairs is None:
        total = share.sum()
        even = np.full(target.parallelism, 1.0 / target.parallelism)
        return (FullStream(edge.source, edge.target, sent.copy(), share / total if total > 0.0 else even),)
    sender, receiver = pairs
    weight = share[receiver]
    total = np.bincount(sender, weight, minlength=len(sent))[sender]
    # where all reached tasks have share 0 the sender still emits its whole output: it divides equally
    reached = np.bincount(sender, minlength=len(sent))[sender]
    part = np.divide(weight, total, out=1.0 / reached, where=total > 0.0)
    return (PairStream(edge.source, edge.target, sender, receiver, sent[sender] * part, target.parallelism),)


def _carried(edge: Edge, measured: Substreams, receivers: int) -> PairStream:
    """Return what measured substreams carry; those of a full edge at rate 0 say nothing that the rule does not."""
    some = measured.rate > 0.0 if edge.partitioning == "full" else slice(None)
    ends = measured.from_index[some], measured.to_index[some]
    return PairStream(edge.source, edge.target, *ends, measured.rate[some], receivers)


def _share(operator: Operator) -> FloatArray:
    """Return how edges divide among an operator's tasks, not normalised, shape (parallelism,)."""
    return np.ones(operator.parallelism) if operator.input_share is None else operator.input_share
