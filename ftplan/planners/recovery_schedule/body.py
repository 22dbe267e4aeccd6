"""What a plan of kind recovery-schedule holds."""

from __future__ import annotations

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, KeyGroups, NonNegative, ObjectiveModel, Positive


class RecoveryModel(FileModel):
    """A task that starts in a step."""

    operator: Id = Field(description="Operator id")
    index: Index = Field(description="Number of the task")
    node: Id | None = Field(None, description="Node that it starts on; null without a cluster")
    cpu: NonNegative | None = Field(None, description="Cores that it takes")
    ready_s: NonNegative | None = Field(None, description="When its state is there and it runs")
    caught_up_s: NonNegative | None = Field(None, description="When it is up to date again")
    prefetch: bool | None = Field(None, description="Begun with capacity that completes no query")
    key_groups: KeyGroups | None = Field(
        None, description="[first, last] of a part of a task that is split over nodes; its parts are entries each"
    )


class RestoredModel(FileModel):
    """A query that is whole by a step."""

    operator: Id = Field(description="Operator id of its output task")
    index: Index = Field(description="Number of its output task")
    priority: Positive | None = Field(None, description="Its priority")
    at_s: NonNegative | None = Field(None, description="When the last of its tasks runs")


class PauseModel(FileModel):
    """A task that runs and gives way to queries of higher priority; ``recover`` brings it back."""

    operator: Id = Field(description="Operator id")
    index: Index = Field(description="Number of the task")
    node: Id | None = Field(None, description="Node that it runs on")
    cpu: NonNegative | None = Field(None, description="Cores that are free then")
    replica: bool | None = Field(None, description="Its replica that has not taken over gives way, for good")


class StepModel(FileModel):
    """What is decided at one time; steps at which nothing can be done are listed too."""

    step: Index | None = Field(None, description="From 0")
    at_s: NonNegative = Field(description="Seconds after the failure")
    trigger: str | None = Field(None, description="failure, failure:SELECTOR[,SELECTOR] or arrival:ID[,ID]")
    capacity: NonNegative | None = Field(None, description="Cores free just before the step")
    used: NonNegative | None = Field(None, description="Cores that the tasks of the step take")
    objective: ObjectiveModel | None = Field(None, description="How good the step's own choice is")
    global_rollback: bool | None = Field(None, description="Whether all live tasks go back to the last checkpoint")
    pause: list[PauseModel] | None = Field(None, description="Tasks that give way before others start")
    recover: list[RecoveryModel] = Field(description="Tasks that start, in this order")
    restored: list[RestoredModel] | None = Field(None, description="Queries that the step makes whole")


class QueryModel(FileModel):
    """A query that failed; one that fails twice is listed twice."""

    operator: Id = Field(description="Operator id of its output task")
    index: Index = Field(description="Number of its output task")
    priority: Positive | None = Field(None, description="Its priority")
    back_s: NonNegative | None = Field(None, description="When it is whole again; null: not within the schedule")
    reason: str | None = Field(None, description="In words")


class UnrecoveredModel(FileModel):
    """A task that is still down at the end."""

    operator: Id = Field(description="Operator id")
    index: Index = Field(description="Number of the task")
    reason: str | None = Field(None, description="In words")


class TimelineModel(FileModel):
    """How many of the failed queries are back."""

    at_s: NonNegative = Field(description="Seconds after the failure")
    queries: Index = Field(description="Failed queries that are back by then")
    priority: NonNegative = Field(description="Their summed priority")


class RecoveryScheduleBody(FileModel):
    """What a plan of kind recovery-schedule holds; one made by hand needs only the steps."""

    steps: list[StepModel] = Field(description="In order of time, one for each time at which something happens")
    queries: list[QueryModel] | None = Field(None, description="One entry for each outage of a query")
    unrecovered: list[UnrecoveredModel] | None = Field(None, description="Tasks that are down at the end")
    timeline: list[TimelineModel] | None = Field(None, description="Cumulative, where it changes")


BODY = RecoveryScheduleBody
