"""The topology of a starter project, as a statistics folder shows it: operators, streams, and what was measured."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.io.parsers import plain_scalar
from ftplan.io.topology_checks import find_cycle
from ftplan.io.topology_file import load_topology
from ftplan.model.defaults import MAX_SUBSTREAMS
from ftplan.model.measures.measured_rates import rounded
from ftplan.model.measures.measured_topology import measured_topology
from ftplan.model.measures.task_costs import task_costs
from ftplan.model.measures.task_state import task_state
from ftplan.model.plan import Warn
from ftplan.model.problem import StatsTables
from ftplan.model.ranges import BYTES, SHARE
from ftplan.model.rates import sent_by
from ftplan.model.task_graph import TaskGraph
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import Edge, FloatArray, Operator, Topology

#: Substreams that stand in one line.
IN_A_LINE = 8


def topology_text(
    stats: StatsTables, parallelism: Mapping[str, int], max_substreams: int = MAX_SUBSTREAMS
) -> tuple[str, tuple[Warn, ...]]:
    """Return ``topology.yaml`` as statistics show the job, and what deserves a second look.

    An edge lists its measured substreams; ``rate_out``, ``cpu`` and ``state_bytes`` stand where they were measured. An
    edge of more than *max_substreams* is written as full, with ``input_share``, and a warning says so.

    Raises FtplanError if the statistics contradict themselves.
    """
    plain = load_topology(_plain(stats, parallelism)).value
    measured, unfit = measured_topology(plain, stats)
    shortened, long_lists = _shortened(measured, max_substreams)
    written = _without_derived(shortened)
    graph = TaskGraph(written)
    costs, state = task_costs(graph, stats), task_state(graph, stats).total
    lines = [
        "# The job, as the statistics show it. `ftplan schema topology` tells all fields.",
        "format: ftplan/topology",
        'format_version: "1.0"',
        "operators:",
    ]
    for i, operator in enumerate(written.operators):
        tasks = graph.slice_of(i)
        cpu = costs.cost[tasks] if costs.measured is not None and costs.measured[tasks].any() else None
        lines += _operator_lines(operator, cpu, state[tasks])
    if written.edges:
        lines.append("edges:" if all(edge.substreams is None for edge in written.edges) else _EDGES)
        lines += [line for edge in written.edges for line in _edge_lines(written, edge)]
    else:
        lines += [
            "# The statistics do not show the streams; for instance",
            "#   - {from: a, to: b, partitioning: full}",
            "edges: []",
        ]
    return "\n".join(lines) + "\n", (*unfit, *long_lists)


_EDGES = "edges:                      # [from index, to index, records/s]: tasks that exchanged no record do not meet"


def yaml_id(text: str) -> str:
    """Return an id as YAML text, in quotes where it might be read as something else."""
    safe = re.fullmatch(r"[A-Za-z_][A-Za-z0-9._-]*", text) and isinstance(plain_scalar(text), str)
    return text if safe else json.dumps(text)


def _plain(stats: StatsTables, parallelism: Mapping[str, int]) -> dict[str, Any]:
    """Return the topology's document without anything measured: all edges are full."""
    largest = stats.tables["key_groups"].group_by("operator").aggregate([("key_group", "max")])
    seen = dict(zip(largest["operator"].to_pylist(), largest["key_group_max"].to_pylist(), strict=True))
    operators = []
    for name, tasks in parallelism.items():
        facts = stats.manifest.operators.get(name)
        groups = facts.key_groups if facts is not None else None
        if groups is None and name in seen:
            groups = seen[name] + 1
        operators.append({"id": name, "parallelism": tasks} | ({} if groups is None else {"key_groups": groups}))
    edges = [{"from": a, "to": b} for a, b in _pairs(stats)]
    return {"format": "ftplan/topology", "format_version": "1.0", "operators": operators, "edges": edges}


def _pairs(stats: StatsTables) -> list[tuple[str, str]]:
    """Return the pairs of operators with streams between them, without those that close a cycle."""
    if "substreams" not in stats.tables:
        return []
    table = stats.tables["substreams"].group_by(["from_operator", "to_operator"]).aggregate([])
    pairs = sorted(zip(table["from_operator"].to_pylist(), table["to_operator"].to_pylist(), strict=True))
    kept: list[tuple[str, str]] = []
    nodes = sorted({name for pair in pairs for name in pair})
    for pair in pairs:
        if pair[0] != pair[1] and find_cycle(nodes, [*kept, pair]) is None:
            kept.append(pair)
    return kept


def _without_derived(topology: Topology) -> Topology:
    """Drop ``rate_out`` where several lists of substreams imply it: lists that differ from it raise a warning."""
    operators = list(topology.operators)
    for i, operator in enumerate(operators):
        streams = [edge.substreams for edge in topology.edges if edge.source == i]
        lists = [sent_by(stream, operator.parallelism) for stream in streams if stream is not None]
        if operator.rate_out is not None and len(lists) == len(streams) > 1:
            most = np.max(lists, axis=0)
            if np.allclose(operator.rate_out, most, rtol=ROUNDING, atol=0.0):
                operators[i] = replace(operator, rate_out=None)
    return replace(topology, operators=tuple(operators))


def _shortened(topology: Topology, most: int) -> tuple[Topology, list[Warn]]:
    """Replace lists of more than *most* substreams by what senders emit and how receivers share it."""
    operators, edges, warnings = list(topology.operators), list(topology.edges), []
    received: dict[int, FloatArray] = {}
    for k, edge in enumerate(edges):
        stream = edge.substreams
        if stream is None or len(stream.rate) <= most:
            continue
        edges[k] = Edge(edge.source, edge.target, "full")
        into = received.setdefault(edge.target, np.zeros(operators[edge.target].parallelism))
        np.add.at(into, stream.to_index, stream.rate)
        text = (
            f"{operators[edge.source].id} -> {operators[edge.target].id}: {len(stream.rate):,} measured substreams are "
            f"more than --max-substreams {most:,}: the edge is full, divided by input_share"
        )
        warnings.append(Warn("SUBSTREAMS_NOT_LISTED", text))
    for i, brought in received.items():
        share = rounded(brought / brought.sum() * len(brought))
        operators[i] = replace(operators[i], input_share=np.where(share > 0.0, np.maximum(share, SHARE.low), 0.0))
    return replace(topology, operators=tuple(operators), edges=tuple(edges)), warnings


def _operator_lines(operator: Operator, cpu: FloatArray | None, state: FloatArray) -> list[str]:
    lines = [f"  - id: {yaml_id(operator.id)}", f"    parallelism: {operator.parallelism}"]
    if operator.key_groups is not None:
        lines.append(f"    key_groups: {operator.key_groups}")
    if cpu is not None:
        lines.append(f"    cpu: {_per_task(cpu)}")
    if operator.rate_out is not None:
        lines.append(f"    rate_out: {_per_task(operator.rate_out)}")
    if operator.input_share is not None:
        lines.append(f"    input_share: {_listed(operator.input_share)}")
    if state.any():
        lines.append(f"    state_bytes: {_per_task(np.where(state > 0.0, np.maximum(state, BYTES.low), 0.0))}")
    return lines


def _edge_lines(topology: Topology, edge: Edge) -> list[str]:
    ends = f"from: {yaml_id(topology.operators[edge.source].id)}, to: {yaml_id(topology.operators[edge.target].id)}"
    if edge.substreams is None:
        return [f"  - {{{ends}, partitioning: full}}"]
    columns = (edge.substreams.from_index.tolist(), edge.substreams.to_index.tolist(), edge.substreams.rate.tolist())
    pairs = [f"[{sender}, {receiver}, {rate:.12g}]" for sender, receiver, rate in zip(*columns, strict=True)]
    if len(pairs) <= IN_A_LINE:
        return [f"  - {{{ends}, substreams: [{', '.join(pairs)}]}}"]
    rows = [", ".join(pairs[k : k + IN_A_LINE]) for k in range(0, len(pairs), IN_A_LINE)]
    return [f"  - {{{ends}, substreams: [", *(f"      {row}," for row in rows[:-1]), f"      {rows[-1]}]}}"]


def _per_task(values: FloatArray) -> str:
    """Return one number where all tasks have the same, else the list."""
    return f"{values[0]:.12g}" if (values == values[0]).all() else _listed(values)


def _listed(values: Sequence[float] | FloatArray) -> str:
    return f"[{', '.join(f'{value:.12g}' for value in values)}]"
