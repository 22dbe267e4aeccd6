"""Simulated migrations as documents: the moves of a plan, message by message, or adaptation over time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, NonNegative, Positive, Rows
from ftplan.simulation.document import SimulatedFigureModel, SimulationModel


class AdaptationFiguresModel(FileModel):
    """An adaptation in a few numbers, sums over all periods; a share is null where there is nothing to share."""

    moves: SimulatedFigureModel = Field(description="Key groups that moved")
    assisted: SimulatedFigureModel = Field(description="Of these by a checkpoint on the target, all but direct ones")
    assisted_share: SimulatedFigureModel | None = Field(description="Share of these")
    usable_share: SimulatedFigureModel | None = Field(
        description="Of the copies of key groups on overloaded nodes, those whose host could take the key group"
    )
    latency_s: SimulatedFigureModel = Field(description="Seconds that key groups were paused, each moved alone")
    completion_s: SimulatedFigureModel = Field(description="Seconds until they were moved, each alone")
    bytes: SimulatedFigureModel = Field(description="That moves transferred")
    copies_moved: SimulatedFigureModel = Field(description="Copies that upkeep moved, or that were made anew")
    copy_bytes: SimulatedFigureModel = Field(description="Their state")
    overloaded_before: SimulatedFigureModel = Field(description="Overloaded nodes, before the moves of each period")
    overloaded_after: SimulatedFigureModel = Field(description="After them")
    excess_before: SimulatedFigureModel = Field(description="Load units a window above the ceilings, before the moves")
    excess_after: SimulatedFigureModel = Field(description="After them")


class AdaptationOverTimeModel(FileModel):
    """Means over the runs in each period."""

    moves: list[NonNegative] = Field(description="Key groups that moved")
    assisted: list[NonNegative] = Field(description="Of these by a checkpoint on the target")
    latency_s: list[NonNegative] = Field(description="Seconds that they were paused, each moved alone")
    bytes: list[NonNegative] = Field(description="That moves transferred")
    copies_moved: list[NonNegative] = Field(description="Copies that upkeep moved, or that were made anew")
    overloaded_before: list[NonNegative] = Field(description="Overloaded nodes before the moves")
    overloaded_after: list[NonNegative] = Field(description="Overloaded nodes after the moves")
    wanted: list[NonNegative] = Field(description="Copies of key groups on overloaded nodes, before the moves")
    usable: list[NonNegative] = Field(description="Of these, those whose host could take the key group")


class AdaptationModel(FileModel):
    """Adaptation with one allocation of checkpoints, in all runs."""

    allocation: str = Field(description="How the checkpoints were allocated")
    preferred: bool = Field(description="Whether hosts of checkpoints were preferred as targets")
    runs: Rows = Field(description="Allocations that were drawn; 1 where nothing is random")
    summary: AdaptationFiguresModel = Field(description="In a few numbers")
    by_protocol: dict[str, NonNegative] = Field(description="Moves by protocol, means over the runs")
    over_time: AdaptationOverTimeModel = Field(description="Period by period")


class WithoutAdaptationModel(FileModel):
    """What is overloaded where nothing moves."""

    overloaded_nodes: NonNegative = Field(description="Overloaded nodes, summed over the periods")
    excess_load: NonNegative = Field(description="Load units a window above the ceilings, summed over the periods")


class AdaptationTraceModel(FileModel):
    """Adaptation over the load of the statistics."""

    periods: Rows = Field(description="Periods that were simulated")
    period_s: Positive = Field(description="Seconds of a period")
    planned_on_s: Positive = Field(description="Seconds before them, on which checkpoints were planned")
    without_adaptation: WithoutAdaptationModel = Field(description="What is overloaded where nothing moves")
    adaptations: list[AdaptationModel] = Field(min_length=1, description="One for each allocation and preference")


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


class MigrationSimulationModel(SimulationModel):
    """Migrations: a plan's moves message by message, or adaptation over time."""

    kind: Literal["migration"] = Field(description="What was simulated")
    level: Literal["messages", "trace"] = Field(description="How: which of the two that follow is there")
    messages: MigrationMessagesModel | None = Field(None, description="The moves of a plan")
    trace: AdaptationTraceModel | None = Field(None, description="Adaptation over time")


MODEL = MigrationSimulationModel
