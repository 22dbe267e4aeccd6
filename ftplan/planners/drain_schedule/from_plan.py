"""A drain schedule as a question and an answer again, so that others can judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ftplan.errors import FtplanError, suggestion
from ftplan.model.cluster import Cluster
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.drain_schedule.options import DrainScheduleOptions
from ftplan.planners.drain_schedule.prepare import PreparedDrain, prepare
from ftplan.planners.drain_schedule.problem import DrainProblem, Move


def question_of(plan: Plan, problem: Problem, strict: bool = False) -> PreparedDrain:
    """Return the question that a plan answers on some inputs.

    A plan made by hand, without options, restarts the nodes that it lists, and moves tasks if any round does; what
    limits rounds by default does not limit it.

    *strict*: no two copies of a key group may go together, whatever the options say, and defaults limit any plan.

    Raises FtplanError if an input is missing, or the plan's options are not what they should be.
    """
    options = DrainScheduleOptions.of_plan(plan)
    if strict:
        options = replace(options, keep_copies="all")
    if plan.options:
        return prepare(problem, options)
    by_hand = rounds_of(plan)
    options = replace(options, move=any(item.get("moves") for item in by_hand), no_limits=not strict)
    return prepare(problem, options, [node for item in by_hand for node in item["nodes"]])


def rounds_of(plan: Plan) -> Sequence[Mapping[str, Any]]:
    """Return the rounds that a plan lists."""
    return list((plan.plan or {}).get("rounds", ()))


def numbered_rounds(plan: Plan, cluster: Cluster) -> list[list[int]]:
    """Return the nodes of each round by number.

    Raises FtplanError if the plan names a node that the cluster does not have.
    """
    return [[_number(node, cluster) for node in item["nodes"]] for item in rounds_of(plan)]


def numbered_moves(plan: Plan, problem: DrainProblem, cluster: Cluster) -> list[list[Move]]:
    """Return the moves of each round by number.

    Raises FtplanError if the plan names a task or node that is not there.
    """
    return [
        [
            Move(problem.graph.number(move["operator"], move["index"]), _number(move["to"], cluster))
            for move in item.get("moves") or ()
        ]
        for item in rounds_of(plan)
    ]


def _number(node: str, cluster: Cluster) -> int:
    if node not in cluster.position:
        near = suggestion(node, cluster.position)
        raise FtplanError(f"plan: the cluster has no node {node!r}{near}: verify names everything that is wrong")
    return cluster.position[node]
