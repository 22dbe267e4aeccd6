"""The body of a plan of kind replicate-tasks: its model, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, NonNegative, Positive, Probability
from ftplan.planners.recovery_schedule.body import StepModel

if TYPE_CHECKING:
    from ftplan.planners.replicate_tasks.hosts import Current
    from ftplan.planners.replicate_tasks.prepare import PreparedReplication
    from ftplan.planners.replicate_tasks.problem import NodeByTask


class ReplicaModel(FileModel):
    """An active replica of a task."""

    operator: Id = Field(description="Operator id")
    index: Index = Field(description="Number of the task")
    node: Id | None = Field(None, description="Node that runs the replica; null without a cluster")


class UnplacedModel(FileModel):
    """What a budget buys where placement does not count."""

    value: Probability = Field(description="The metric with every replica on a node that holds it and never fails")
    bound: Probability | None = Field(None, description="Proven: no choice within this budget is better")


class CurvePointModel(FileModel):
    """What a budget buys."""

    budget: NonNegative = Field(description="In units of the plan's budget: tasks, cores, or 2^20 bytes")
    value: Probability = Field(description="The metric that the planner reaches with it")
    bound: Probability | None = Field(None, description="Proven: no choice within this budget is better")
    without_placement: UnplacedModel | None = Field(None, description="The same without regard to nodes")


class FollowingRecoveryModel(FileModel):
    """The recovery schedule after one of the failures that replicas were chosen for."""

    id: Id = Field(description="The scenario, failure or worst-case")
    probability: NonNegative | None = Field(None, description="Of the scenario, against the others")
    priority_time: NonNegative = Field(description="Sum of priority x seconds down")
    horizon_s: Positive | None = Field(None, description="What is not back by then counts until then")
    steps: list[StepModel] = Field(description="As in a recovery schedule")


class TaskReplicationBody(FileModel):
    """What a plan of kind replicate-tasks holds; one made by hand needs only the replicas."""

    replicas: list[ReplicaModel] = Field(description="Tasks that have an active replica")
    activate: list[ReplicaModel] | None = Field(None, description="To start, against the replicas now in place")
    deactivate: list[ReplicaModel] | None = Field(None, description="To stop, with the nodes that run them now")
    curve: list[CurvePointModel] | None = Field(None, description="Ascending by budget")
    recovery: list[FollowingRecoveryModel] | None = Field(
        None, description="With --then-recover: the schedules that the replicas were chosen by"
    )


BODY = TaskReplicationBody


def body(
    prepared: PreparedReplication,
    current: Current,
    node: NodeByTask,
    curve: Sequence[Mapping[str, Any]] | None,
) -> dict[str, Any]:
    """Return the body of a plan: the replicas, and what changes against those in place, null where these are unknown.

    A replica that moves is started on its new node and stopped on its old one.
    """
    both = [task for task in node if task in current.node and None not in (node[task], current.node[task])]
    moved = [task for task in both if node[task] != current.node[task]]
    started = sorted({t for t in node if t not in current.node} | set(moved))
    stopped = sorted({t for t in current.node if t not in node} | set(moved))
    return {
        "replicas": _entries(prepared, node, sorted(node)),
        "activate": _entries(prepared, node, started) if current.known else None,
        "deactivate": _entries(prepared, current.node, stopped) if current.known else None,
        "curve": None if curve is None else list(curve),
    }


def _entries(prepared: PreparedReplication, node: NodeByTask, tasks: Sequence[int]) -> list[dict[str, Any]]:
    names = ((task, *prepared.graph.name(task)) for task in tasks)
    return [{"operator": operator, "index": index, "node": node[task]} for task, operator, index in names]
