"""What key groups weigh on the ring, load, records and bytes, from statistics or spread evenly, and what waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.model.measures.key_group_demand import demand, record_bytes
from ftplan.model.measures.stats_summary import unmeasured_warnings
from ftplan.model.plan import Assumption, Warn
from ftplan.model.rates import rates
from ftplan.model.statistics import KeyGroupSeries, window_numbers
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray, Operator, Topology
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.ring import position_of
from ftplan.planners.situation import Situation


@dataclass(frozen=True, eq=False)
class RingLoads:
    """Key groups of the operators on the ring, K of them at M positions; loads and rates are per second."""

    operators: tuple[Operator, ...]  # the operators on the ring, by id
    #: ``operator``, ``key_group``, ``atom``: (K,) operator, its key group, and the position by number
    operator: IntArray
    key_group: IntArray
    atom: IntArray
    position: FloatArray  # (M,) ascending
    #: ``load``, ``rate``, ``state``: (K,) load units and records per second, bytes, NaN where unknown
    load: FloatArray
    rate: FloatArray
    state: FloatArray
    record_bytes: FloatArray  # (K,) mean size of a record, NaN where unknown
    #: ``series``, ``records``: load and records in each window, of the same key groups; None without statistics
    series: KeyGroupSeries | None
    records: KeyGroupSeries | None
    warnings: tuple[Warn, ...]

    @property
    def measures_capacity(self) -> bool:
        """Whether a core's capacity follows from the measure: a second of cpu time a second."""
        return self.series is not None and self.series.measure == "cpu_ms"

    def at(self, worth: FloatArray) -> FloatArray:
        """Return sums over the key groups at each position, (..., M) from (..., K)."""
        order = np.argsort(self.atom, kind="stable")
        starts = np.searchsorted(self.atom[order], np.arange(len(self.position)))
        return np.asarray(np.add.reduceat(worth[..., order], starts, axis=-1))


def ring_loads(situation: Situation, options: PeerRingOptions) -> RingLoads:
    """Return what the key groups on the ring weigh; those that statistics do not know have no load.

    Without statistics each key group has an equal share of its operator's derived input, or 1 where nothing comes in.
    The state of a key group is the largest that was measured, else its equal share of the topology's.

    Raises FtplanError if an operator is not there or has no key groups, or the statistics do not fit.
    """
    operators, stats = _on_ring(situation.topology, options.operator), situation.stats
    many = np.array([operator.key_groups or 0 for operator in operators], dtype=np.int64)
    operator = np.repeat(np.arange(len(operators), dtype=np.int64), many)
    key_group = np.arange(int(many.sum()), dtype=np.int64) - np.repeat(np.cumsum(many) - many, many)
    position, atom = np.unique(position_of(key_group, many[operator]), return_inverse=True)
    sizes, series, records = np.full(len(operators), np.nan), None, None
    stated = np.array([item.state_bytes.sum() for item in operators], dtype=np.float64)
    state = np.where(stated > 0.0, stated / many, np.nan)[operator]
    if stats is None:
        load, rate, said = _even(situation.stated_graph, operators, operator, many, options)
    else:
        series = situation.series(options.load, operators)
        records = series if options.load == "records" else situation.series("records", operators)
        load = demand(series, options.demand) / series.window_s
        rate = demand(records, options.demand) / records.window_s
        state = np.where(np.isnan(series.state_bytes), state, series.state_bytes)
        sizes = record_bytes(stats, [item.id for item in operators])
        said = tuple(unmeasured_warnings(stats, series, "which of them are heavy"))
    return RingLoads(
        operators=operators,
        operator=operator,
        key_group=key_group,
        atom=np.asarray(atom, dtype=np.int64),
        position=position,
        load=load,
        rate=rate,
        state=state,
        record_bytes=sizes[operator],
        series=series,
        records=records,
        warnings=(*said, *_unknown_state(state, operator, operators)),
    )


def _on_ring(topology: Topology, asked: Sequence[str]) -> tuple[Operator, ...]:
    """Return the operators whose key groups are on the ring, by id."""
    keyed = topology.keyed_operators
    if not keyed:
        raise FtplanError("no operator of the topology has key_groups: there is nothing to place on a ring")
    for name in asked:
        if name not in topology.position:
            raise FtplanError(f"--operator: unknown operator {name!r}{suggestion(name, topology.position)}")
        if not topology.operator(name).key_groups:
            raise FtplanError(f"--operator: {name!r} has no key groups in the topology")
    return tuple(operator for operator in keyed if not asked or operator.id in asked)


def _even(
    graph: TaskGraph,
    operators: Sequence[Operator],
    operator: IntArray,
    many: IntArray,
    options: PeerRingOptions,
) -> tuple[FloatArray, FloatArray, tuple[Warn, ...]]:
    """Return load and rate of each key group, (K,), of an input that is spread evenly."""
    if options.load != "records" or options.demand != "mean":
        asked = f"--load {options.load}" if options.load != "records" else f"--demand {options.demand}"
        raise FtplanError(f"{asked} is measured: give --stats")
    derived = rates(graph)
    into = np.zeros(len(operators))
    for k, item in enumerate(operators):
        number = graph.topology.position[item.id]
        flow = derived.into if graph.in_edges[number] else derived.out
        into[k] = flow[graph.slice_of(number)].sum()
    rate = (into / many)[operator]
    said = Warn(
        "NO_STATISTICS",
        "without statistics each key group of an operator counts an equal share of its derived input; --stats tells "
        "which are heavy",
    )
    return (rate if rate.any() else np.ones(len(rate))), rate, (said,)


def _unknown_state(state: FloatArray, operator: IntArray, operators: Sequence[Operator]) -> Iterator[Warn]:
    unknown = np.isnan(state)
    if not unknown.any():
        return
    names = ", ".join(operators[k].id for k in np.unique(operator[unknown]).tolist())
    some = f"the state of key groups of {names} is unknown ({int(unknown.sum()):,} in all)"
    then = "their number counts instead of bytes" if unknown.all() else "and counts 0 bytes"
    remedy = "give state_bytes in the topology, or statistics with state"
    yield Assumption("STATE_UNKNOWN", f"{some}{': ' if unknown.all() else ' '}{then}: {remedy}")


def measured_queues(situation: Situation, loads: RingLoads, capacity: FloatArray) -> FloatArray | None:
    """Return what waited at each node in the first window, in seconds of its whole capacity, (N,).

    That is the longest input queue of its tasks of the operators on the ring, by the cluster's ``placement.tasks``.
    None where statistics have no queues, or nobody says on which nodes tasks run.

    *capacity*: (N,) load per second.
    """
    stats, placed, cluster = situation.stats, situation.placed, situation.required_cluster
    here = {operator.id: placed[operator.id] for operator in loads.operators if operator.id in placed}
    table = None if stats is None else stats.tables.get("tasks")
    if stats is None or table is None or not here or table.num_rows == 0:
        return None
    numbers, _ = window_numbers(table["window_start"], stats.manifest)
    first = table.filter((numbers == 0) & table["queue_length"].is_valid().to_numpy())
    waiting = np.zeros(len(cluster.nodes))
    rows = (first[name].to_pylist() for name in ("operator", "task", "queue_length"))
    known = False
    for operator, task, length in zip(*rows, strict=True):
        if operator in here and task < len(here[operator]):
            waiting[cluster.position[here[operator][task]]] += length
            known = True
    records = float(loads.rate.sum())
    if not known or records == 0.0:
        return None
    work = waiting * (float(loads.load.sum()) / records)
    return np.asarray(np.divide(work, capacity, out=np.zeros(len(work)), where=capacity > 0.0))
