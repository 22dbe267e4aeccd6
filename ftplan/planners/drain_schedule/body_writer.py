"""A drain schedule as the plan file holds it, and its summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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
                **stated(problem, nodes, item),
                "moves": [_move(problem, move) for move in moved],
            }
            for number, (nodes, moved, item) in enumerate(zip(drain.rounds, moves, effects, strict=True))
        ],
        "unplaced": [{"node": problem.nodes[node], "reason": reason} for node, reason in drain.unplaced],
    }


def stated(problem: DrainProblem, nodes: Sequence[int], item: RoundEffect) -> dict[str, Any]:
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
    """Return the figures of a schedule, None for none, beside those of restarts one by one and zone by zone.

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
