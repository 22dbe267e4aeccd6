"""Topology files: operators, their tasks, and the edges between them."""

from __future__ import annotations

import numpy as np

from ftplan.io.documents import Source, collection_paused, read_document
from ftplan.io.topology_checks import check_edges, check_operators, check_rates, rate_warnings
from ftplan.io.topology_model import EdgeModel, OperatorModel, TopologyModel
from ftplan.io.validation import Complaints, Loaded, check_envelope, ignored_keys, validate
from ftplan.model.plan import InputFile
from ftplan.model.topology import Checkpointing, Edge, FloatArray, Operator, Substreams, Topology

FORMAT = "ftplan/topology"

_PER_TASK = ("cpu", "rate_out", "input_share", "state_bytes", "priority")


def load_topology(source: Source) -> Loaded[Topology]:
    """Read and check a topology from a path, standard input (``-``) or a mapping."""
    document = read_document(source, "topology")
    value = check_envelope(document, FORMAT)
    with collection_paused():
        model = validate(TopologyModel, value, document.name)
        complaints = Complaints(document.name)
        check_operators(model, complaints)
        check_edges(model, complaints)
        complaints.finish()
        topology = _built(model)
        check_rates(topology, complaints)
        complaints.finish()
        warnings, ignored = ignored_keys(TopologyModel, value, document.name)
        warnings += tuple(rate_warnings(topology, model, document.name))
    return Loaded(topology, InputFile("topology", document.path, document.sha256), warnings, ignored)


def per_task(value: float | list[float], parallelism: int) -> FloatArray:
    """Return a read-only array of shape (parallelism,) from a number or a list."""
    if isinstance(value, list):
        array = np.array(value, dtype=np.float64)
        array.flags.writeable = False
        return array
    return np.broadcast_to(np.float64(value), (parallelism,))


def _built(model: TopologyModel) -> Topology:
    position = {operator.id: i for i, operator in enumerate(model.operators)}
    edges = tuple(_edge(edge, position) for edge in model.edges)
    senders = {edge.source for edge in edges}
    operators = tuple(_operator(item, i not in senders) for i, item in enumerate(model.operators))
    return Topology(operators, edges, model.name)


def _operator(item: OperatorModel, is_sink: bool) -> Operator:
    arrays = {key: per_task(value, item.parallelism) for key in _PER_TASK if (value := getattr(item, key)) is not None}
    changed = {
        "labels": item.labels or {},
        "checkpoint": Checkpointing(**dict(item.checkpoint)) if item.checkpoint else Checkpointing(),
        "output": is_sink if item.output is None else item.output,
    }
    return Operator(**{**dict(item), **arrays, **changed})


def _edge(item: EdgeModel, position: dict[str, int]) -> Edge:
    source, target = position[item.source], position[item.to]
    if item.substreams is None:
        return Edge(source, target, item.partitioning or "full")
    columns = list(zip(*item.substreams, strict=True)) if item.substreams else [(), (), ()]
    streams = Substreams(
        np.array(columns[0], dtype=np.int64),
        np.array(columns[1], dtype=np.int64),
        np.array(columns[2], dtype=np.float64),
    )
    return Edge(source, target, None, streams)
