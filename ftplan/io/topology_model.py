"""What a topology file holds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

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
