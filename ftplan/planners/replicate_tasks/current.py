"""The replicas that run already, as a plan or the cluster's placement tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ftplan.model.plan import InputFile
from ftplan.model.problem import Problem
from ftplan.model.task_graph import TaskGraph
from ftplan.planners.deployed import replicas
from ftplan.planners.replicate_tasks.problem import NodeByTask


@dataclass(frozen=True, eq=False)
class Current:
    """The nodes of the replicas in place, and the file that says so; ``known`` is False where nobody does."""

    node: NodeByTask
    known: bool
    file: InputFile | None = None


def current_of(given: Any, problem: Problem, graph: TaskGraph) -> Current:
    """Return the replicas of a plan, else of the cluster's placement.

    Raises
    ------
    FtplanError
        If the plan is of another kind, holds no answer, or names a task or node that is not there.
    """
    listed, file = replicas(given, graph, problem.cluster, "current")
    placed = problem.cluster.placement.replicas if problem.cluster is not None and problem.cluster.placement else {}
    return Current({item.task: item.node for item in listed}, given is not None or bool(placed), file)
