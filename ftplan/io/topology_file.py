"""Topology files: operators, their tasks, and the edges between them."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from ftplan.io.documents import Source, collection_paused, read_document
from ftplan.io.fields import (
    Bytes,
    Cores,
    Count,
    FileModel,
    Id,
    Interval,
    PerTask,
    Priority,
    Rate,
    Seconds,
    Selectivity,
    Share,
    Substream,
    Version,
)
from ftplan.io.topology_checks import check_edges, check_operators, check_rates, rate_warnings
from ftplan.io.validation import Complaints, Loaded, check_envelope, ignored_keys, validate
from ftplan.model.plan import InputFile
from ftplan.model.topology import Checkpointing, Edge, FloatArray, Operator, Substreams, Topology


class CheckpointModel(FileModel):
    """How an operator checkpoints."""

    interval_s: Interval | None = Field(None, description="Seconds between two checkpoints")
    kind: Literal["incremental", "full"] = Field("incremental", description="Changes only, or the whole state")


class OperatorModel(FileModel):
    """An operator, which runs as ``parallelism`` tasks."""

    id: Id = Field(description="Unique name")
    parallelism: Count = Field(1, description="Number of tasks")
    name: str | None = Field(None, description="What the engine calls the operator")
    labels: dict[str, str] | None = Field(None, description="Free-form labels")
    inputs: Literal["independent", "correlated"] = Field(
        "independent", description="correlated: a join, which needs all of its input streams"
    )
    key_groups: Count | None = Field(None, description="Number of key groups; left out: no keyed state")
    selectivity: Selectivity = Field(1.0, description="Output records per input record")
    cpu: PerTask[Cores] = Field(1.0, description="Cores per task; a number, or a list with one number per task")
    rate_out: PerTask[Rate] | None = Field(None, description="Records per second leaving each task; default: derived")
    input_share: list[Share] | None = Field(
        None, description="How full and split edges divide among the tasks of this operator; default: equally"
    )
    state_bytes: PerTask[Bytes] = Field(0.0, description="Bytes of state per task; a number, or a list")
    record_time_s: Seconds | None = Field(None, description="Cpu seconds per record; default: cpu / input rate")
    checkpoint: CheckpointModel | None = Field(None, description="How the operator checkpoints")
    deterministic: bool = Field(True, description="false: every new failure needs a global rollback")
    output: bool | None = Field(None, description="Default: an operator without outgoing edges is an output")
    priority: PerTask[Priority] = Field(1.0, description="Of each query that ends here; a number, or a list")


class EdgeModel(FileModel):
    """A stream from one operator to another."""

    source: Id = Field(alias="from", description="Id of the sending operator")
    to: Id = Field(description="Id of the receiving operator")
    partitioning: Literal["full", "one-to-one", "split", "merge"] | None = Field(
        None, description="Which tasks meet: full (default) all; task i of the larger side meets i * smaller / larger"
    )
    substreams: list[Substream] | None = Field(
        None, description="Measured streams, each [from index, to index, records/s]; they win over partitioning"
    )


class TopologyModel(FileModel):
    """A streaming job as an acyclic graph of operators."""

    format: Literal["ftplan/topology"]
    format_version: Version
    name: str | None = Field(None, description="Name of the job")
    operators: list[OperatorModel] = Field(min_length=1, description="The operators")
    edges: list[EdgeModel] = Field(default=[], description="The streams between them; the graph is acyclic")


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
