"""The answer of checkpoint-interval as a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from ftplan.io.documents import Source
from ftplan.io.fields import FileModel, NonNegative, Positive, Version
from ftplan.io.plan_file import InputFileModel, WarnModel
from ftplan.io.validation import Loaded, load_document

FORMAT = "ftplan/checkpoint-interval"


class AskedModel(FileModel):
    """What the answer rests on."""

    checkpoint_cost_s: Positive = Field(description="Seconds in which nothing is processed, for each checkpoint")
    failures_per_day: Positive = Field(description="Failures of the job")
    records_s: NonNegative = Field(description="Records per second into the job")
    state_bytes: NonNegative = Field(description="What a task fetches in a recovery")
    max_recovery_s: Positive | None = Field(None, description="Recoveries may take no longer")


class IntervalModel(FileModel):
    """What an interval between checkpoints loses."""

    name: str | None = Field(None, description="best, unlimited, limit, present, Young or Daly; null for a round one")
    interval_s: Positive = Field(description="Seconds from the begin of a checkpoint to that of the next one")
    recovery_s: NonNegative = Field(description="Seconds from a failure until the job has caught up")
    checkpoint_s_per_hour: NonNegative = Field(description="Seconds of an hour that checkpoints take")
    recovery_s_per_hour: NonNegative = Field(description="Seconds of an hour that recoveries take")
    lost_s_per_hour: NonNegative = Field(description="Their sum")


class SensitivityModel(FileModel):
    """The best interval where one parameter is at a limit of its confidence."""

    parameter: str = Field(description="A part of a recovery, or failures_per_day")
    limit: Literal["low", "high"] = Field(description="Which limit")
    value: NonNegative = Field(description="The parameter there")
    interval_s: Positive | None = Field(description="The best interval; null where there is none")
    lost_s_per_hour: NonNegative | None = Field(description="What it loses")
    regret_s_per_hour: NonNegative | None = Field(
        description="What the chosen interval loses beyond that; null where it does not keep the limit there"
    )


class CheckpointIntervalModel(FileModel):
    """The interval between checkpoints that loses least."""

    format: Literal["ftplan/checkpoint-interval"]
    format_version: Version
    tool_version: str | None = Field(None, description="Version of ftplan that wrote this")
    inputs: list[InputFileModel] | None = Field(None, description="Costs, topology and failure log")
    status: Literal["optimal", "infeasible"] = Field(description="infeasible: no interval keeps the limit")
    reason: str | None = Field(None, description="Why there is none, or what the limit costs")
    asked: AskedModel = Field(description="What the answer rests on")
    best: IntervalModel | None = Field(description="The interval that loses least within the limit; null without one")
    unlimited: IntervalModel = Field(description="The one that loses least whatever recoveries take")
    limited: bool = Field(description="Whether the limit on recoveries binds")
    longest_s: Positive | None = Field(None, description="The longest interval within the limit; null without one")
    shortest_s: Positive = Field(description="The shortest interval at which the job keeps up")
    smallest_recovery_s: NonNegative = Field(description="What a recovery takes then")
    table: list[IntervalModel] = Field(description="Intervals from short to long")
    sensitivity: list[SensitivityModel] = Field(description="What the uncertainty of the parameters means")
    warnings: list[WarnModel] | None = Field(None, description="What deserves a second look")


def load_checkpoint_interval(source: Source) -> Loaded[Mapping[str, Any]]:
    """Read and check an answer of checkpoint-interval; the value is the document."""
    return load_document(source, "checkpoint interval", FORMAT, CheckpointIntervalModel)
