"""The objective of a plan, or of one of its steps."""

from __future__ import annotations

from pydantic import Field

from ftplan.io.fields import FileModel, Finite, Sense


class ObjectiveModel(FileModel):
    """Value and proven bound of the optimised quantity."""

    name: str = Field(description="What was optimised")
    sense: Sense = Field(description="Whether less or more is better")
    value: Finite | None = Field(None, description="Recomputed from the plan")
    bound: Finite | None = Field(None, description="Proven: no plan is better")
    scale: Finite | None = Field(None, description="What the gap is relative to")
    gap: Finite | None = Field(None, description="|bound - value| / scale")
