"""Scale-outs as a kind of plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftplan.model.kinds import ALLOCATE_CHECKPOINTS, Metric
from ftplan.planners.kind import Command, PlanKind, Printed
from ftplan.planners.registry import Row
from ftplan.planners.scale_out.options import ScaleOutOptions

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def _changes(plan: Plan) -> bool:
    return any(
        item["parallelism_to"] != item["parallelism_from"] or item.get("steps")
        for item in (plan.plan or {})["operators"]
    )


_TEXT = """Plan which operators get how many tasks: find bottlenecks early, and split them at the right cost.

Scores operators by cpu, memory and data size of their worst task (0 to 100, --rules), window by window: from
--alarming on an operator is prepared, above --promote it is a bottleneck, below --scale-in it has too many tasks.
How many it needs follows from the time that its tasks take for a record, not from back pressure, which blames the
wrong one. The plan gives every operator that changes tasks, key ranges and, with a cluster, nodes, a --technique
that carries its state over, what that pauses and costs, and the steps. Needs a topology and statistics over time.
"""

KIND = PlanKind(
    name="scale-out",
    options=ScaleOutOptions,
    table="operators",
    changes=_changes,
    needs=("topology", "stats"),
    plans=(("checkpoints", ALLOCATE_CHECKPOINTS.name),),
    files=("costs", "rules"),
    tables=("key_log",),
    summary_of_question=("alarming", "churn", "max_parallelism", "baselines", "least_extra_cpu"),
    command=Command(
        text=_TEXT,
        default="exact",
        changes="changes the number of tasks of any operator",
        picture="the scores of operators over time",
        printed=(
            Printed(
                "--print-rules",
                "Print the rules that come with ftplan, to change a copy for --rules, and exit.",
                "ftplan.planners.scale_out.bottlenecks.rules_file:SHIPPED",
            ),
        ),
    ),
    planners=(
        Row(
            name="exact",
            function="ftplan.planners.scale_out.algorithms.exact:exact",
            exact=True,
            guarantee="most sustained load, then fewest cores, or the proven gap at the time limit",
            source="every parallelism with the best ranges; integer program over levels, tasks and nodes (CP-SAT)",
            default=True,
        ),
        Row(
            name="ds2",
            function="ftplan.planners.scale_out.algorithms.baselines:ds2",
            exact=False,
            guarantee="none: demand over the true rate of a task, even key ranges, no look at skew",
            source="Kalavri et al., OSDI 2018 (DS2)",
        ),
        Row(
            name="doubling",
            function="ftplan.planners.scale_out.algorithms.baselines:doubling",
            exact=False,
            guarantee="none: twice the tasks of a bottleneck, even key ranges",
            source="Mudassar et al. 2019, Algorithms 1 to 3",
        ),
    ),
    metrics=(
        Metric(
            "sustained-load",
            "max",
            "share",
            "the objective: share of the demand that jobs sustain with no task above the target, weighted by output",
        ),
        Metric("extra-cpu", "min", "cores", "cores that tasks reserve more than now, when old ones are gone"),
        Metric("cpu", "min", "cores", "cores that all tasks reserve afterwards"),
        Metric("highest-utilisation", "min", "share", "use of the busiest task at the demand, afterwards"),
        Metric("operators-above-target", "min", "operators", "operators with a task above the target then"),
        Metric(
            "fairness",
            "max",
            "share",
            "cores had over cores needed since the alarming threshold was crossed, with the new tasks; mean "
            "over the operators that are bottlenecks, undefined without one",
        ),
        Metric("pause-s", "min", "s", "longest pause of an operator that is split"),
        Metric("extra-core-seconds", "min", "core-s", "what runs beside the tasks that are needed, over all"),
        Metric("state-bytes", "min", "bytes", "state that new tasks take over"),
        Metric("operators-changed", "min", "operators", "operators whose tasks are replaced"),
        Metric("tasks-lost", "min", "tasks", "new tasks on failed nodes"),
    ),
)
