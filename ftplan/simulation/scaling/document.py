"""Simulated scaling as documents."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ftplan.io.fields import FileModel, Finite, Id, Index, NonNegative, Positive, Rows
from ftplan.simulation.document import SimulatedFigureModel, SimulationModel


class ScalingFiguresModel(FileModel):
    """A mode in a few numbers; null where there is nothing to tell."""

    mean_latency_s: SimulatedFigureModel = Field(description="From when input is there until its last output, mean")
    longest_latency_s: SimulatedFigureModel = Field(description="The longest")
    throughput: SimulatedFigureModel = Field(description="Records per second of the input that were done by the end")
    peak_queue_records: SimulatedFigureModel = Field(description="Most that waited before operators, or in logs")
    longest_pause_s: SimulatedFigureModel | None = Field(description="Longest pause of an operator that was split")
    core_s: SimulatedFigureModel = Field(description="Core-seconds of all tasks")
    most_executors: SimulatedFigureModel = Field(description="Most tasks at one time")
    late_starts: SimulatedFigureModel = Field(description="Splits that were to happen before they were set up")
    replayed: SimulatedFigureModel = Field(description="Records that new tasks, or the sources, got or sent again")


class ScalingFaultModel(FileModel):
    """Batches that did not count exactly once, or not in order."""

    operator: Id = Field(description="Operator id")
    run: Index = Field(description="In which run, from 0")
    what: str = Field(description="What is wrong with them")
    batches: Rows = Field(description="How many")
    first: Index = Field(description="Number of the first one")


class ForetoldSplitModel(FileModel):
    """What formulas say of a split."""

    pause_s: NonNegative = Field(description="Seconds without output")
    extra_core_s: NonNegative = Field(description="Core-seconds beside those of the tasks that are needed")


class SimulatedSplitModel(FileModel):
    """An operator that was split, or prepared for it; null for what did not happen."""

    operator: Id = Field(description="Operator id")
    technique: str | None = Field(description="How; restart: with the whole topology; null without keyed state")
    tasks_from: Index = Field(description="Tasks before")
    tasks_to: Index = Field(description="Tasks afterwards")
    prepared_s: NonNegative | None = Field(description="When it was prepared")
    promoted_s: NonNegative | None = Field(description="When new tasks were to take over")
    ended_s: NonNegative | None = Field(description="When they had")
    pause_s: NonNegative | None = Field(
        description="Longest time around that with input and without output, beyond the usual"
    )
    level_s: NonNegative | None = Field(
        description="Seconds from the promotion until output was as little late as the new tasks allow"
    )
    late: bool = Field(description="Whether it was to happen before it was set up")
    replayed: NonNegative = Field(description="Records that new tasks, or the sources, got or sent again")
    predicted: ForetoldSplitModel | None = Field(description="What formulas say; null without a plan")


class ScalingOverTimeModel(FileModel):
    """The job in each cell of time, means over the runs."""

    latency_s: list[NonNegative | None] = Field(description="Of what came out; null where nothing did")
    throughput: list[NonNegative] = Field(description="Records per second of the input that were done")
    queue_records: list[NonNegative] = Field(description="Records that waited at its end")
    executors: list[NonNegative] = Field(description="Most tasks that ran at one time")


class OperatorStateChangeModel(FileModel):
    """A change of state in the first run."""

    at_s: NonNegative = Field(description="When")
    state: Literal["normal", "prepared", "promoted", "scale-in"] = Field(description="The state from then on")


class ScaledOperatorModel(FileModel):
    """An operator in each cell of time, and as the detection saw it."""

    operator: Id = Field(description="Operator id")
    queue_records: list[NonNegative] = Field(description="Records that waited at the end of each cell")
    executors: list[NonNegative] = Field(description="Most tasks that ran at one time")
    scores: list[Finite | None] = Field(description="Of its worst task in each window of the first run; null: unknown")
    states: list[OperatorStateChangeModel] = Field(description="Changes of its state in the first run")


class ScalingModeModel(FileModel):
    """What was done about bottlenecks, and what came of it."""

    mode: str = Field(description="What was done")
    summary: ScalingFiguresModel = Field(description="In a few numbers")
    exactly_once: bool = Field(description="Whether every record counted once and in order, in all runs")
    faults: list[ScalingFaultModel] = Field(description="What went wrong")
    splits: list[SimulatedSplitModel] = Field(description="Splits of the first run")
    over_time: ScalingOverTimeModel = Field(description="The job over time")
    operators: list[ScaledOperatorModel] = Field(description="Operator by operator, in topological order")


class SimulationThresholdsModel(FileModel):
    """Scores at which states change."""

    scale_in: Finite = Field(description="Below it an operator has too many tasks")
    alarming: Finite = Field(description="From it on an operator is prepared")
    promote: Finite = Field(description="Above it an operator is split")


class ScalingSimulationModel(SimulationModel):
    """A job under a load that changes, and operators that are split."""

    kind: Literal["scaling"] = Field(description="What was simulated")
    runs: Rows = Field(description="Runs that were done")
    until_s: Positive = Field(description="Seconds that were simulated")
    time_s: list[Positive] = Field(description="When each cell of time ends")
    rate: list[NonNegative] = Field(description="Records per second that sources got in each cell")
    window_s: Positive = Field(description="Seconds of a window of the detection")
    thresholds: SimulationThresholdsModel = Field(description="Of the detection")
    modes: list[ScalingModeModel] = Field(min_length=1, description="One entry for each mode")


MODEL = ScalingSimulationModel
