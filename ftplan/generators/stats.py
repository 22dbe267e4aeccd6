"""Statistics as a log of a topology would give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.generators.loads import drawn, expected, grid, joined, phases, rows_of, sizes
from ftplan.generators.options import StatsKnobs
from ftplan.model.rates import FullStream, PairStream, Rates, rates
from ftplan.model.statistics import EPOCH, Manifest, OperatorStatistics
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray, Operator, Topology
from ftplan.model.units import MS_PER_CORE_SECOND

#: The longest time range, in seconds.
LONGEST_S = 1e10
#: Mean records of a window beyond which sums lose digits.
MOST_RECORDS = 1e15


class Statistics(NamedTuple):
    """A manifest without the tables' files, and the tables by name, as Arrow tables."""

    manifest: Manifest
    tables: Mapping[str, Any]


def statistics(knobs: StatsKnobs, topology: Topology) -> Statistics:
    """Return loads of the key groups of a topology, and of its tasks and substreams where asked.

    Without ``records`` the key groups of a task share the records that it receives by the topology's rates, as a mean
    over all windows; so do tasks and substreams. Where a number of records is given it is the size of a typical key
    group in a window: the median one (lognormal), or the heaviest (Zipf). Cpu and state of a task are divided by
    records among its key groups. Cost O(rows).

    Raises
    ------
    FtplanError
        If no operator has key groups and no other table is asked for, or a table would have more than ``max_rows``
        rows.
    """
    if not topology.keyed_operators and not (knobs.tasks or knobs.substreams):
        raise FtplanError("no operator of the topology has key_groups: there is nothing to count by key group")
    if knobs.windows * knobs.window_s > LONGEST_S:
        raise FtplanError(f"{knobs.windows:,} windows of {knobs.window_s:g} s are more than {LONGEST_S:g} s")
    graph = TaskGraph(topology)
    flows = rates(graph)
    _check_rows(knobs, graph)
    loads = _key_group_loads(knobs, graph, flows)
    made = {"key_groups": _key_groups(knobs, graph, loads)}
    if knobs.tasks or knobs.substreams:
        profile = _profiles(knobs, graph, loads)
        if knobs.tasks:
            made["tasks"] = _tasks(knobs, graph, flows, profile)
        if knobs.substreams:
            made["substreams"] = _substreams(knobs, graph, flows, profile)
    return Statistics(_manifest(knobs, topology, made["key_groups"]), made)


def _check_rows(knobs: StatsKnobs, graph: TaskGraph) -> None:
    rows = {"key_groups": sum(o.key_groups or 0 for o in graph.topology.operators)}
    if knobs.tasks:
        rows["tasks"] = graph.tasks
    if knobs.substreams:
        size = [o.parallelism for o in graph.topology.operators]
        rows["substreams"] = sum(
            size[e.source] * size[e.target] if (pairs := graph.pairs(e)) is None else len(pairs[0])
            for e in graph.topology.edges
        )
    for name, count in rows.items():
        if count * knobs.windows > knobs.max_rows:
            raise FtplanError(
                f"{name}: {count:,} series in {knobs.windows:,} windows are {count * knobs.windows:,} rows, more than "
                f"--max-rows {knobs.max_rows:,}"
            )


def _key_group_loads(knobs: StatsKnobs, graph: TaskGraph, flows: Rates) -> dict[str, FloatArray]:
    """Return the loads of each keyed operator, shape (windows, key groups)."""
    random = np.random.default_rng(knobs.seed)
    loads = {}
    for place, operator in enumerate(graph.topology.operators):
        if not operator.key_groups:
            continue
        size = sizes(knobs, operator.key_groups, random)
        phase = phases(knobs, operator.key_groups, place, random)
        if knobs.records is not None:
            mean = expected(knobs, knobs.records * size, phase, random)
        else:
            mean = expected(knobs, size, phase, random)
            received = flows.into[graph.slice_of(place)] * knobs.window_s
            mean = mean * (_shares(operator, mean.mean(axis=0)) * received[operator.task_of_key_groups()]) / _mean(mean)
        if mean.max(initial=0.0) > MOST_RECORDS:
            what = f"{operator.id}: a key group of {mean.max():g} records in a window is more than {MOST_RECORDS:g}"
            raise FtplanError(f"{what}: lower --records, --skew or --level, or shorten --window")
        loads[operator.id] = drawn(knobs, mean, random)
    return loads


def _shares(operator: Operator, size: FloatArray) -> FloatArray:
    """Return each key group's share of what its task has, shape (key groups,)."""
    task = operator.task_of_key_groups()
    total = np.bincount(task, size, minlength=operator.parallelism)[task]
    owned = np.bincount(task, minlength=operator.parallelism)[task]
    return np.divide(size, total, out=1.0 / owned, where=total > 0.0)


def _mean(series: FloatArray) -> FloatArray:
    """Return the mean over windows, 1 where it is 0."""
    mean = series.mean(axis=0)
    return np.where(mean > 0.0, mean, 1.0)


def _key_groups(knobs: StatsKnobs, graph: TaskGraph, loads: Mapping[str, FloatArray]) -> Any:
    parts = []
    for operator in graph.topology.keyed_operators:
        load = loads[operator.id]
        task = operator.task_of_key_groups()
        mean = load.mean(axis=0)
        share = _shares(operator, mean)
        columns: dict[str, Any] = {}
        if knobs.record_bytes is not None:
            columns["bytes"] = load * knobs.record_bytes
        if knobs.cpu:
            ms = share * operator.cpu[task] * knobs.window_s * MS_PER_CORE_SECOND
            columns["cpu_ms"] = load / _mean(load) * ms
        if knobs.state and operator.state_bytes.any():
            columns["state_bytes"] = np.broadcast_to(share * operator.state_bytes[task], load.shape)
        names, numbers = {"operator": operator.id}, {"key_group": np.arange(len(task))}
        parts.append(rows_of(knobs, "key_groups", names, numbers, {"records": load, **columns}))
    return joined("key_groups", parts)


def _profiles(knobs: StatsKnobs, graph: TaskGraph, loads: Mapping[str, FloatArray]) -> FloatArray:
    """Return how each task's load varies around its mean, which is 1; shape (windows, tasks).

    A task with key groups varies as their sum does, any other as a key group of its own would.
    """
    random = np.random.default_rng([knobs.seed, 1])
    profile = np.ones((knobs.windows, graph.tasks))
    for place, operator in enumerate(graph.topology.operators):
        if operator.id in loads:
            ends = np.flatnonzero(np.diff(operator.task_of_key_groups(), prepend=-1))
            owners = np.unique(operator.task_of_key_groups())
            here = np.ones((knobs.windows, operator.parallelism))
            here[:, owners] = np.add.reduceat(loads[operator.id], ends, axis=1)
        else:
            alike = replace(knobs, poisson=False)
            phase = phases(alike, operator.parallelism, place, random)
            here = expected(alike, np.ones(operator.parallelism), phase, random)
        mean = here.mean(axis=0)
        profile[:, graph.slice_of(place)] = np.divide(here, mean, out=np.ones_like(here), where=mean > 0.0)
    return profile


def _tasks(knobs: StatsKnobs, graph: TaskGraph, flows: Rates, profile: FloatArray) -> Any:
    parts = []
    cpu = graph.per_task("cpu")
    for place in graph.by_id:
        tasks, operator = graph.slice_of(place), graph.topology.operators[place]
        columns = {
            "records_in": profile[:, tasks] * flows.into[tasks] * knobs.window_s,
            "records_out": profile[:, tasks] * flows.out[tasks] * knobs.window_s,
        }
        if knobs.cpu:
            columns["cpu_ms"] = profile[:, tasks] * cpu[tasks] * knobs.window_s * MS_PER_CORE_SECOND
        numbers = {"task": np.arange(operator.parallelism)}
        parts.append(rows_of(knobs, "tasks", {"operator": operator.id}, numbers, columns))
    return joined("tasks", parts)


def _substreams(knobs: StatsKnobs, graph: TaskGraph, flows: Rates, profile: FloatArray) -> Any:
    parts = []
    by_name = sorted(flows.streams, key=lambda s: tuple(graph.topology.operators[i].id for i in (s.source, s.target)))
    for stream in by_name:
        sender, receiver, rate = _pairs(stream)
        names = {
            "from_operator": graph.topology.operators[stream.source].id,
            "to_operator": graph.topology.operators[stream.target].id,
        }
        order = np.lexsort((receiver, sender))
        sender, receiver, rate = sender[order], receiver[order], rate[order]
        records = profile[:, graph.slice_of(stream.source)][:, sender] * rate * knobs.window_s
        parts.append(
            rows_of(knobs, "substreams", names, {"from_task": sender, "to_task": receiver}, {"records": records})
        )
    return joined("substreams", parts)


def _pairs(stream: FullStream | PairStream) -> tuple[IntArray, IntArray, FloatArray]:
    """Return sender, receiver and rate of each pair of tasks that meets."""
    if isinstance(stream, PairStream):
        return stream.sender, stream.receiver, stream.rate
    senders, receivers = len(stream.sent), len(stream.share)
    rate = np.outer(stream.sent, stream.share).ravel()
    return np.repeat(np.arange(senders), receivers), np.tile(np.arange(receivers), senders), rate


def _manifest(knobs: StatsKnobs, topology: Topology, key_groups: Any) -> Manifest:
    window_us, start_us = grid(knobs)
    measured = [("bytes", knobs.record_bytes is not None), ("cpu_ms", knobs.cpu)]
    coverage = dict(_coverage(knobs, key_groups))
    return Manifest(
        window_us / 1e6,
        EPOCH + timedelta(microseconds=start_us),
        EPOCH + timedelta(microseconds=start_us + window_us * knobs.windows),
        {
            o.id: OperatorStatistics(o.key_groups, coverage=coverage.get(o.id))
            for o in sorted(topology.operators, key=lambda o: o.id)
        },
        measures=("records", *(name for name, has in measured if has)),  # type: ignore[arg-type]  # of Measure
        coverage=max(coverage.values(), default=1.0),
        engine="ftplan generate",
    )


def _coverage(knobs: StatsKnobs, key_groups: Any) -> Iterator[tuple[str, float]]:
    """Yield each operator with the share of the windows in which it has records."""
    counted = key_groups.group_by("operator").aggregate([("window_start", "count_distinct")])
    for name, count in zip(
        counted["operator"].to_pylist(), counted["window_start_count_distinct"].to_pylist(), strict=True
    ):
        yield name, count / knobs.windows
