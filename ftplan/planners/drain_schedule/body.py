"""What a plan of kind drain-schedule holds."""

from __future__ import annotations

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, NonNegative, Probability


class QueryDownModel(FileModel):
    """A query that is down during a round."""

    operator: Id = Field(description="Operator id of its output task")
    index: Index = Field(description="Number of its output task")


class TaskMoveModel(FileModel):
    """A task that runs on another node during a round, and goes back after it."""

    operator: Id = Field(description="Operator id")
    index: Index = Field(description="Number of the task")
    source: Id | None = Field(None, alias="from", description="Node that it runs on, which restarts")
    to: Id = Field(description="Node that runs it for the round")


class RoundModel(FileModel):
    """Nodes that restart together; all are back before the next round begins."""

    round: Index | None = Field(None, description="From 0, in the order of the list")
    nodes: list[Id] = Field(description="Nodes that restart together")
    zones: list[Id] | None = Field(None, description="Zones of these nodes; one without a zone is not among them")
    duration_s: NonNegative | None = Field(None, description="Seconds from its start until the last task runs again")
    queries_down: list[QueryDownModel] | None = Field(None, description="Queries of which a task is down meanwhile")
    fidelity: Probability | None = Field(None, description="Output fidelity meanwhile")
    moves: list[TaskMoveModel] | None = Field(None, description="Tasks that run elsewhere meanwhile, and where")


class UnplacedNodeModel(FileModel):
    """A node that is in no round."""

    node: Id = Field(description="Node id")
    reason: str | None = Field(None, description="In words")


class DrainScheduleBody(FileModel):
    """What a plan of kind drain-schedule holds; one made by hand needs only the rounds with their nodes."""

    rounds: list[RoundModel] = Field(description="In the order in which they are carried out")
    unplaced: list[UnplacedNodeModel] | None = Field(
        None, description="Nodes that should restart and cannot, even alone"
    )


BODY = DrainScheduleBody
