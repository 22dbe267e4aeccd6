"""What a drain schedule does to a job, on other inputs and where something fails besides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.replica_hosts import ANYWHERE, NOWHERE
from ftplan.model.plan import Plan, Warn
from ftplan.model.problem import Problem
from ftplan.model.topology import BoolArray
from ftplan.planners.assessments import Asked, Scores
from ftplan.planners.drain_schedule.from_plan import numbered_moves, numbered_rounds, question_of
from ftplan.planners.drain_schedule.metrics import effect, figures
from ftplan.planners.drain_schedule.prepare import PreparedDrain
from ftplan.planners.drain_schedule.problem import DrainProblem, Move
from ftplan.planners.failures import what_fails
from ftplan.planners.scenarios import with_scenario_fails


def score(plan: Plan, problem: Problem, asked: Asked) -> Scores:
    """Return the metrics of a drain schedule; what fails is down in every round.

    Raises FtplanError if an input is missing, or the plan names a task or node that is not there.
    """
    prepared = question_of(plan, problem)
    drain = prepared.problem
    rounds, moves = numbered_rounds(plan, prepared.cluster), numbered_moves(plan, drain, prepared.cluster)
    failure = with_scenario_fails(problem).failure
    listed = [str(entry.select) for entry in failure.fail] if failure is not None else []
    failures = tuple(dict.fromkeys((*listed, *asked.fail)))
    failed, warnings = _failed(prepared, failures)
    effects = [
        effect(drain, nodes, _down(drain, nodes, moved, failed) if failures else None)
        for nodes, moved in zip(rounds, moves, strict=True)
    ]
    worth = figures(drain, rounds, effects)
    return Scores(
        {
            "rounds": float(worth["rounds"]),
            "duration-s": worth["duration_s"],
            "lowest-fidelity": worth["lowest_fidelity"],
            "lost-output-s": worth["lost_output_s"],
            "queries-down": float(worth["queries_down"]),
            "priority-down": worth["priority_down"],
            "nodes-at-once": float(worth["nodes_at_once"]),
            "moved-tasks": float(sum(map(len, moves))),
            "unplaced-nodes": float(len((plan.plan or {}).get("unplaced") or ())),
        },
        failures,
        warnings,
    )


class _Failed(NamedTuple):
    """What fails besides: nodes by number, and tasks by themselves, (T,)."""

    nodes: tuple[int, ...]
    tasks: BoolArray


def _failed(prepared: PreparedDrain, failures: Sequence[str]) -> tuple[_Failed, tuple[Warn, ...]]:
    """Return what selectors name, and what the problem and they deserve to be warned of."""
    graph, cluster, warnings = prepared.problem.graph, prepared.cluster, prepared.problem.warnings
    nodes: frozenset[str] = frozenset()
    tasks = np.zeros(graph.tasks, dtype=np.bool_)
    of_nodes = [text for text in failures if text.startswith(("node:", "zone:"))]
    others = [text for text in failures if text not in of_nodes]
    if of_nodes:
        down = what_fails(graph, cluster, None, of_nodes, complete=False)
        nodes, warnings = down.nodes, (*warnings, *down.warnings)
    if others:
        tasks = what_fails(graph, cluster, None, others, complete=False).tasks
    return _Failed(tuple(cluster.position[name] for name in nodes), tasks), tuple(dict.fromkeys(warnings))


def _down(problem: DrainProblem, nodes: Sequence[int], moves: Sequence[Move], failed: _Failed) -> BoolArray:
    """Return which tasks are down in a round where something fails besides, (T,).

    A task lives where it runs, moved or not, or by its replica, on nodes that are up; one that failed by itself lives
    by its replica alone.
    """
    gone = np.append(problem.mask([*nodes, *failed.nodes]), False)  # the last for no node at all
    host, replica, nowhere = problem.task_node.copy(), problem.replica_node, len(problem.nodes)
    for move in moves:
        host[move.task] = move.node
    down = failed.tasks | gone[np.where(host == NOWHERE, nowhere, host)]
    stands = (replica == ANYWHERE) | ((replica >= 0) & ~gone[np.where(replica < 0, nowhere, replica)])
    return np.asarray(down & ~stands, dtype=np.bool_)
