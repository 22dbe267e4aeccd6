"""Simulated recoveries as documents."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ftplan.io.fields import FileModel, Finite, Id, Index, NonNegative, Positive, Rows
from ftplan.simulation.document import SimulatedFigureModel, SimulationModel

#: A value in each cell of ``time_s``.
Share = Annotated[float, Field(ge=0, le=1)]


class SimulatedQueryModel(FileModel):
    """A query in the runs of one recovery; lists have a value for each of ``time_s``, a mean over the runs."""

    operator: Id = Field(description="Operator of the output task")
    index: Index = Field(description="Index of the output task")
    priority: Positive = Field(description="As in the topology")
    down_s: NonNegative = Field(description="Seconds in which it was not available, mean over the runs")
    back_s: NonNegative | None = Field(
        description="When it was available again for good, mean over the runs in which it was; null: in none"
    )
    runs_down: Rows = Field(description="Runs in which it was not available at some time")
    runs_not_back: Rows = Field(description="Runs in which it was not back at the end")
    relative_latency: list[NonNegative | None] = Field(
        description="Latency over that before the failure; null where nothing came out"
    )
    available: list[Share] = Field(description="Share of time and runs in which it was available")
    queue_records: list[NonNegative] = Field(description="Records that wait for any of its tasks")
    buffered_bytes: list[NonNegative] = Field(description="Output that its tasks keep")
    duplicates: list[NonNegative] = Field(description="Records that its tasks dropped because they had come before")


class RecoveryFiguresModel(FileModel):
    """What can be said of a recovery in a few numbers; null where a figure is known in no run."""

    priority_down_s: SimulatedFigureModel | None = Field(description="Priority x seconds down, summed over the queries")
    first_back_s: SimulatedFigureModel | None = Field(description="When the first query that was down was back")
    last_back_s: SimulatedFigureModel | None = Field(description="When all were back")
    peak_lag_records: SimulatedFigureModel | None = Field(description="Most that waited in the sources' logs")
    lag_record_s: SimulatedFigureModel | None = Field(description="Area under the lag above its usual level")
    peak_queue_records: SimulatedFigureModel | None = Field(description="Most that waited in queues")
    peak_buffer_bytes: SimulatedFigureModel | None = Field(description="Most output that was kept at once")
    spilled_bytes: SimulatedFigureModel | None = Field(description="What of it the memory did not hold")
    duplicates: SimulatedFigureModel | None = Field(description="Records that were dropped since they had come before")


class CoordinatorEventModel(FileModel):
    """Something that the coordinator saw or ordered in the first run."""

    at_s: Finite = Field(description="Seconds from the failure")
    what: str = Field(description="failure, detected, rolled-back, started, ...")
    tasks: list[str] = Field(description="The tasks concerned, as operator/index")
    node: str | None = Field(description="The node concerned")


class SimulatedRecoveryModel(FileModel):
    """One way to recover, in all runs."""

    mode: str = Field(description="How the job recovered")
    plan: str | None = Field(description="The recovery schedule that was given; null: made as nodes arrived")
    algorithm: str | None = Field(description="What made the schedule; null: it was given")
    summary: RecoveryFiguresModel = Field(description="In a few numbers")
    queries: list[SimulatedQueryModel] = Field(description="Query by query")
    lag_records: list[NonNegative] = Field(description="Records that wait in the sources' logs, for each of time_s")
    events: list[CoordinatorEventModel] = Field(description="What the coordinator did in the first run")


class FigureDifferenceModel(FileModel):
    """By how much a figure is more than in the first recovery, run by run."""

    figure: str = Field(description="A key of the summary")
    mean: Finite = Field(description="Mean difference")
    low: Finite | None = Field(description="Lower confidence limit of the mean, 95 %; null in one run")
    high: Finite | None = Field(description="Upper confidence limit of the mean, 95 %; null in one run")
    less: Rows = Field(description="Runs in which it is less")
    equal: Rows = Field(description="Runs in which it is equal")
    more: Rows = Field(description="Runs in which it is more")


class RecoveryComparisonModel(FileModel):
    """Another way to recover against the first one, on the same random numbers."""

    mode: str = Field(description="Its mode")
    plan: str | None = Field(description="Its plan")
    differences: list[FigureDifferenceModel] = Field(description="Figure by figure")


class RecoverySimulationModel(SimulationModel):
    """A failure and the recovery from it, batch by batch."""

    kind: Literal["recovery"] = Field(description="What was simulated")
    runs: Rows = Field(description="Runs that were done")
    checkpoint_interval_s: Positive = Field(description="Seconds between checkpoints")
    until_s: Positive = Field(description="When a simulation ended, in seconds from the failure")
    time_s: list[Finite] = Field(description="When each cell of time ends, in seconds from the failure")
    recoveries: list[SimulatedRecoveryModel] = Field(min_length=1, description="One entry for each mode and plan")
    comparison: list[RecoveryComparisonModel] = Field(description="Each recovery but the first against that")


MODEL = RecoverySimulationModel
