"""What a plan of kind allocate-checkpoints holds."""

from __future__ import annotations

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, NonNegative


class AssignmentModel(FileModel):
    """Where the checkpoints of one key group go."""

    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    primary: Id | None = Field(None, description="Node that owns the key group")
    checkpoints: list[Id] = Field(description="One node for each copy")


class MoveModel(FileModel):
    """A checkpoint that is not where it should be."""

    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    source: Id | None = Field(None, alias="from", description="Node that has it now")
    to: Id | None = Field(None, description="Node that gets it")
    bytes: NonNegative | None = Field(None, description="State to copy; null if unknown")


class CheckpointAllocationBody(FileModel):
    """What a plan of kind allocate-checkpoints holds."""

    assignments: list[AssignmentModel] = Field(description="One entry for each key group")
    moves: list[MoveModel] | None = Field(None, description="Against the current checkpoints")


BODY = CheckpointAllocationBody
