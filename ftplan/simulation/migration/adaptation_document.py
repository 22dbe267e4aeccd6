"""Adaptation over time as documents."""

from __future__ import annotations

from pydantic import Field

from ftplan.io.fields import FileModel, NonNegative, Positive, Rows
from ftplan.simulation.recovery.document import SimulatedFigureModel


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
