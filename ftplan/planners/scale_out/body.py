"""What a plan of kind scale-out holds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, KeyGroups, NonNegative


class OperatorScalingModel(FileModel):
    """An operator: whether it is a bottleneck, and what it gets."""

    operator: Id = Field(description="Operator id")
    score: float | None = Field(None, description="Of its worst task in the last window, 0 to 100")
    state: Literal["normal", "prepared", "promoted", "scale-in"] = Field(description="By the scores of all windows")
    technique: str | None = Field(
        None, description="active-backup, checkpoint or assisted; null where no state has to go, or nothing changes"
    )
    parallelism_from: Index = Field(description="Tasks now")
    parallelism_to: Index = Field(description="Tasks afterwards")
    key_ranges: list[KeyGroups] | None = Field(
        None,
        description="First and last key group of each task afterwards; null without keyed state, and where tasks that "
        "stay outnumber key groups",
    )
    nodes: list[Id] | None = Field(None, description="Node of each task afterwards; null where unknown")
    state_bytes: list[NonNegative] | None = Field(None, description="State of each task afterwards")
    pause_s: NonNegative | None = Field(None, description="Seconds without output while it is split")
    extra_core_s: NonNegative | None = Field(
        None, description="Core-seconds of tasks that run beside those that are needed before and afterwards"
    )
    fairness: float | None = Field(
        None, description="Cores that it had over those that it needed, since it crossed the alarming threshold"
    )
    steps: list[str] | None = Field(None, description="What is done, in order")
    reason: str | None = Field(None, description="Why so many tasks, and why by this technique")
    utilisation_from: NonNegative | None = Field(None, description="Of its busiest task at the demand, as it runs now")
    utilisation_to: NonNegative | None = Field(None, description="Of its busiest task at the demand, afterwards")


class ScaleOutBody(FileModel):
    """What a plan of kind scale-out holds; one made by hand needs operator, state and the two parallelisms."""

    operators: list[OperatorScalingModel] = Field(
        description="Those that change in the order in which that is done, then the others"
    )


BODY = ScaleOutBody
