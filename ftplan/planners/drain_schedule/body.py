"""What a plan of kind drain-schedule holds: written by :func:`body`, described by :class:`DrainScheduleBody`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from ftplan.io.fields import FileModel, Id, Index, NonNegative, Probability
from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.names import natural_key
from ftplan.planners.drain_schedule.metrics import RoundEffect, Rounds, effect, figures, peers
from ftplan.planners.drain_schedule.problem import Drain, DrainProblem, Move


def body(problem: DrainProblem, drain: Drain, effects: Sequence[RoundEffect]) -> dict[str, Any]:
    """Return the body of a plan; *effects* are those of its rounds."""
    moves = drain.moves or ((),) * len(drain.rounds)
    return {
        "rounds": [
            {
                "round": number,
                "nodes": [problem.nodes[node] for node in nodes],
                **round_statement(problem, nodes, item),
                "moves": [_move(problem, move) for move in moved],
            }
            for number, (nodes, moved, item) in enumerate(zip(drain.rounds, moves, effects, strict=True))
        ],
        "unplaced": [{"node": problem.nodes[node], "reason": reason} for node, reason in drain.unplaced],
    }


def round_statement(problem: DrainProblem, nodes: Sequence[int], item: RoundEffect) -> dict[str, Any]:
    """Return what a plan states of a round beside its nodes and moves."""
    names = {problem.zone_names[node] for node in nodes}
    return {
        "zones": sorted((name for name in names if not name.startswith("node:")), key=natural_key),
        "duration_s": item.duration_s,
        "queries_down": [
            {"operator": operator, "index": index} for operator, index in problem.graph.names(item.queries)
        ],
        "fidelity": item.fidelity,
    }


def _move(problem: DrainProblem, move: Move) -> dict[str, Any]:
    operator, index = problem.graph.name(move.task)
    home = int(problem.task_node[move.task])
    return {
        "operator": operator,
        "index": index,
        "from": None if home == NOWHERE else problem.nodes[home],
        "to": problem.nodes[move.node],
    }


def summary(problem: DrainProblem, rounds: Rounds | None, moves: int = 0) -> dict[str, Any]:
    """Return the figures of a schedule, None for none, compared with restarts one by one and zone by zone.

    ``before`` is one by one, which is what is done without a plan.
    """
    compared = peers(problem)
    after = None
    if rounds is not None:
        effects = [effect(problem, nodes) for nodes in rounds]
        after = {**figures(problem, rounds, effects), "moves": moves}
    on = problem.task_node
    return {
        "nodes": len(problem.to_restart),
        "tasks": int(np.append(problem.chosen, False)[np.where(on == NOWHERE, len(problem.nodes), on)].sum()),
        "before": {name: value for name, value in compared["one_by_one"].items() if name != "breaks"},
        "after": after,
        "peers": compared,
    }


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
