"""Drain schedules as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import ALLOCATE_CHECKPOINTS, REPLICATE_TASKS, Metric
from ftplan.planners.drain_schedule.options import DrainScheduleOptions
from ftplan.planners.kind import Command, PlanKind
from ftplan.planners.registry import Row

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _restarts(plan: Plan) -> bool:
    return any(item["nodes"] for item in (plan.plan or {})["rounds"])


_TEXT = """Plan which nodes restart together, in how few rounds.

A round restarts its nodes together, and all are back before the next one begins. Tasks on them stand still meanwhile,
unless their active replica runs on another node or --move moves them. The fewest rounds are planned in which output
fidelity, important queries, the copies of each key group, and primaries and their replicas are kept as asked; by
default a zone at a time, never all nodes, and never without any output where that can be. Needs a topology and a
cluster with a placement.
"""

KIND = PlanKind(
    name="drain-schedule",
    options=DrainScheduleOptions,
    table="rounds",
    changes=_restarts,
    needs=("topology", "cluster"),
    plans=(
        ("replicas", REPLICATE_TASKS.name),
        ("checkpoints", ALLOCATE_CHECKPOINTS.name),
    ),
    files=("costs",),
    summary_of_question=("random",),
    command=Command(
        text=_TEXT,
        default="exact, the best rounds that the time allows, with a proven bound",
        changes="restarts any node",
        algorithm_after="partial",
        picture="the nodes of each round",
    ),
    planners=(
        Row(
            name="greedy",
            function="ftplan.planners.drain_schedule.algorithms.greedy:greedy",
            exact=False,
            guarantee="never more rounds than one by one or zone by zone; a proven bound from cliques, zones and "
            "numbers",
            source="DSATUR (Brelaz 1979), iterated greedy colouring, tabu search on partial colourings",
        ),
        Row(
            name="exact",
            function="ftplan.planners.drain_schedule.algorithms.exact:exact",
            exact=True,
            guarantee="the fewest rounds, or the proven gap at the time limit",
            source="heaviest allowed sets (Mehrotra & Trick 1996, Held, Cook & Sewell 2012), integer program (CP-SAT)",
            default=True,
        ),
    ),
    metrics=(
        Metric("rounds", "min", "rounds", "the objective: rounds of restarts"),
        Metric("duration-s", "min", "s", "all rounds, one after another"),
        Metric("lowest-fidelity", "max", "share", "output fidelity in the worst round"),
        Metric(
            "lost-output-s",
            "min",
            "s",
            "1 - output fidelity, integrated over all rounds: seconds of full output that are lost",
        ),
        Metric("queries-down", "min", "queries", "queries that are down in the worst round"),
        Metric("priority-down", "min", "priority", "summed priority of the queries that are down, in the worst round"),
        Metric("nodes-at-once", "min", "nodes", "most nodes that restart together"),
        Metric("moved-tasks", "min", "moves", "tasks that move away for a round, over all rounds"),
        Metric("unplaced-nodes", "min", "nodes", "nodes that should restart and are in no round"),
    ),
)
