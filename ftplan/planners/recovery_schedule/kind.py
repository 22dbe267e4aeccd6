"""Recovery schedules as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import ALLOCATE_CHECKPOINTS, REPLICATE_TASKS, Metric
from ftplan.planners.kind import Command, PlanKind
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.registry import Row

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _recovers(plan: Plan) -> bool:
    return any(step["recover"] for step in (plan.plan or {})["steps"])


_TEXT = """Plan which failed tasks come back first, where and when.

After a failure, room is scarce and nodes trickle in. Tasks come back in an order that makes the most valuable
queries whole as early as possible; a query is an output task and all tasks upstream of it. Needs a topology, what
failed (--fail, --failure), and a cluster with a placement or --capacity.
"""

KIND = PlanKind(
    name="recovery-schedule",
    options=RecoveryScheduleOptions,
    table="steps",
    changes=_recovers,
    plans=(
        ("replicas", REPLICATE_TASKS.name),
        ("checkpoints", ALLOCATE_CHECKPOINTS.name),
    ),
    files=("costs",),
    answers_failure=True,
    summary_of_question=("before", "random"),
    command=Command(
        text=_TEXT,
        default="auto, the best of what fits in the time limit",
        changes="recovers any task",
        algorithm_after="coordinator_cpu",
        picture="what is back over time",
    ),
    planners=(
        Row(
            name="operator-centric",
            function="ftplan.planners.recovery_schedule.algorithms.operator_centric:operator_centric",
            exact=False,
            guarantee="none: the cheapest task whose upstream lives, without a look at queries",
            source="Su & Zhou, technical report, section 7 (OC)",
        ),
        Row(
            name="best-density",
            function="ftplan.planners.recovery_schedule.algorithms.best_density:best_density",
            exact=False,
            guarantee="(1 - e^(-1/d)) of each step's optimum where no failed task is in more than d failed queries",
            source="Su & Zhou, technical report, Algorithm 3, mended",
        ),
        Row(
            name="dynamic-programming",
            function="ftplan.planners.recovery_schedule.algorithms.dynamic_programming:dynamic_programming",
            exact=True,
            guarantee="each step optimal, over time only where tasks are few; refuses more queries than it can take",
            source="Su & Zhou, technical report, Algorithm 4 (appendix B), mended",
        ),
        Row(
            name="local-search",
            function="ftplan.planners.recovery_schedule.algorithms.local_search:local_search",
            exact=False,
            guarantee="none; reaches the best published values of set-union knapsacks",
            source="tabu search with strategic oscillation, after Glover & Kochenberger",
        ),
        Row(
            name="exact",
            function="ftplan.planners.recovery_schedule.algorithms.exact:exact",
            exact=True,
            guarantee="each step, or over time the whole repair, optimal, or the proven gap at the time limit",
            source="closure bounds by minimum cuts, reduction, branch and bound; over time an interval model (CP-SAT)",
        ),
        Row(
            name="auto",
            function="ftplan.planners.recovery_schedule.algorithms.auto:auto",
            exact=True,
            guarantee="each step, or over time the whole repair, as well as time allows, with the best bound of any",
            source="best-density, exact, local-search, exact",
            default=True,
        ),
    ),
    metrics=(
        Metric("queries-back-share", "max", "share", "of the queries that failed, those that are whole at the horizon"),
        Metric("priority-back-share", "max", "share", "the same, weighted by priority"),
        Metric("first-back-s", "min", "s", "when the first query is back; undefined where none is"),
        Metric("last-back-s", "min", "s", "when the last query is back; undefined where one is not, or none failed"),
        Metric("mean-back-s", "min", "s", "mean time that a failed query is down; until the horizon if it stays down"),
        Metric("priority-time", "min", "s", "sum of priority times seconds down; what stays down counts the horizon"),
        Metric("fidelity-time", "max", "s", "output fidelity integrated over the repair, until the horizon"),
        Metric("prefetched-share", "min", "share", "of the recovered tasks, those begun with left-over capacity"),
        Metric("restore-s", "min", "s", "from the decision until the task runs, summed over all tasks"),
        Metric("unrecovered-tasks", "min", "tasks", "failed tasks that are still down at the end"),
    ),
    renamed_metrics={"queries-back": "queries-back-share"},
)
