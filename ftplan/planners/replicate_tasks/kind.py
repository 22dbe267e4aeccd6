"""Task replications as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import Metric
from ftplan.planners.kind import Command, PlanKind
from ftplan.planners.registry import Row
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _starts_or_stops(plan: Plan) -> bool:
    body = plan.plan or {}
    if body["activate"] is None:  # nobody knows what runs now
        return bool(body["replicas"])
    return bool(body["activate"] or body["deactivate"])


_TEXT = """Plan which tasks get an active replica, and where.

Under a budget, replicas go to the tasks that keep most output alive while a failure is repaired: to whole trees of
tasks from sources to an output, since a gap in one makes the rest useless. Needs a topology and a budget or a
target. Without --fail and --failure any task may fail, all at once; scenarios of a failure file count with their
probabilities. With a cluster each replica gets a node outside its primary's zone.
"""

KIND = PlanKind(
    name="replicate-tasks",
    options=TaskReplicationOptions,
    table="replicas",
    changes=_starts_or_stops,
    plans=(("current", "replicate-tasks"),),
    files=("costs",),
    answers_failure=True,
    fail_replaces_scenarios=True,
    command=Command(
        text=_TEXT,
        default="auto, safe at any size: structure-aware, then what exact proves in the time limit",
        changes="starts or stops replicas",
        algorithm_after="target",
        picture="that curve",
        for_picture=("curve",),
    ),
    planners=(
        Row(
            name="auto",
            function="ftplan.planners.replicate_tasks.algorithms.auto:auto",
            exact=False,
            guarantee="no worse than structure-aware; optimal, or the proven gap at the time limit",
            source="structure-aware, then exact",
            default=True,
        ),
        Row(
            name="greedy",
            function="ftplan.planners.replicate_tasks.algorithms.greedy:greedy",
            exact=False,
            guarantee="none: the tasks whose single failure costs most, no look at MC-trees; improved with a cluster",
            source="Su & Zhou, ICDE 2016, Algorithm 2",
        ),
        Row(
            name="dynamic-programming",
            function="ftplan.planners.replicate_tasks.algorithms.dynamic_programming:dynamic_programming",
            exact=True,
            guarantee="optimal; refuses more MC-trees than it can take",
            source="Su & Zhou, ICDE 2016, Algorithm 1, mended",
        ),
        Row(
            name="structure-aware",
            function="ftplan.planners.replicate_tasks.algorithms.structure_aware:structure_aware",
            exact=False,
            guarantee="none but that more budget is no worse on nodes; completes MC-trees whose replicas find nodes",
            source="Su & Zhou, ICDE 2016, Algorithms 3, 4 and 5, mended",
        ),
        Row(
            name="exact",
            function="ftplan.planners.replicate_tasks.algorithms.exact:exact",
            exact=True,
            guarantee="optimal, or the proven gap at the time limit",
            source="tables of the best value at each cost, integer program over tasks and nodes, branch and bound",
        ),
    ),
    metrics=(
        Metric(
            "output-fidelity",
            "max",
            "share",
            "how much of the output rests on all of its input, expected over the scenarios of a failure",
        ),
        Metric(
            "key-aligned-fidelity",
            "max",
            "share",
            "the same, a loss upstream of several streams of one join counting once",
        ),
        Metric(
            "internal-completeness",
            "max",
            "share",
            "of the records that tasks process without failure, those that live tasks still process",
        ),
        Metric("replicas", "min", "replicas", "tasks with an active replica"),
        Metric(
            "priority-time",
            "min",
            "s",
            "sum of priority times seconds down in the recovery afterwards, for plans made with --then-recover",
        ),
    ),
)
