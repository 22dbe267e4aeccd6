"""The moves of a plan, message by message, as documents."""

from __future__ import annotations

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, NonNegative, Positive, Rows
from ftplan.simulation.recovery.document import SimulatedFigureModel


class ForetoldMoveModel(FileModel):
    """What formulas say of a move in its phase."""

    pause_s: NonNegative = Field(description="Seconds for which the key group is paused, waiting in the phase included")
    completion_s: NonNegative = Field(description="Seconds from the begin of the phase until it is moved")


class SimulatedMoveModel(FileModel):
    """What came out; null: it had not ended in any run."""

    pause_s: SimulatedFigureModel | None = Field(
        description="Seconds from when the key group is not processed where it was until its records are as late as "
        "without the move"
    )
    completion_s: SimulatedFigureModel | None = Field(
        description="Seconds from the begin of the phase until the end of the pause, and until the old node's state is "
        "a checkpoint"
    )
    longest_delay_s: SimulatedFigureModel | None = Field(
        description="By how much any record came out later than without the move"
    )


class MoveMessagesModel(FileModel):
    """A key group that moved."""

    phase: Index = Field(description="From 0")
    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    source: Id = Field(alias="from", description="Node that had it")
    to: Id = Field(description="Node that got it")
    protocol: str = Field(description="How it moved")
    upstream_instances: Positive = Field(description="That fed it, at most so many as are simulated")
    records_a_message: Positive = Field(description="Records that went as one message")
    predicted: ForetoldMoveModel = Field(description="What formulas say")
    simulated: SimulatedMoveModel = Field(description="What came out")
    replayed: NonNegative = Field(description="Records that upstream buffers held, mean over the runs")
    duplicates: NonNegative = Field(description="Records, and outputs, that were dropped since they had come before")
    withheld: NonNegative = Field(description="Outputs that the new node kept back")
    exactly_once: bool = Field(description="Whether every record counted once and in order, in all runs")


class ForetoldPhaseModel(FileModel):
    """What formulas say of a phase."""

    duration_s: NonNegative = Field(description="Seconds until all are moved")
    pause_s: NonNegative = Field(description="Longest pause of a key group")


class SimulatedPhaseModel(FileModel):
    """What came out of a phase."""

    duration_s: SimulatedFigureModel | None = Field(description="Seconds until all were moved")
    pause_s: SimulatedFigureModel | None = Field(description="Longest pause of a key group")


class PhaseMessagesModel(FileModel):
    """Moves that began together."""

    phase: Index = Field(description="From 0")
    moves: Index = Field(description="Key groups that moved")
    predicted: ForetoldPhaseModel = Field(description="What formulas say")
    simulated: SimulatedPhaseModel = Field(description="What came out")


class MigrationFaultModel(FileModel):
    """Records of a key group that did not count exactly once, or not in order."""

    operator: Id = Field(description="Operator id")
    key_group: Index = Field(description="Number of the key group")
    run: Index = Field(description="In which run, from 0")
    what: str = Field(description="What is wrong with them")
    records: Rows = Field(description="How many")
    upstream: Index = Field(description="Upstream instance of the first one")
    number: Index = Field(description="Its number there")


class MigrationMessagesModel(FileModel):
    """The moves of a plan, phase by phase."""

    runs: Rows = Field(description="Runs that were done")
    exactly_once: bool = Field(description="Whether every record counted once and in order, in all moves and runs")
    phases: list[PhaseMessagesModel] = Field(description="Phase by phase")
    moves: list[MoveMessagesModel] = Field(description="Move by move")
    faults: list[MigrationFaultModel] = Field(description="What went wrong")
