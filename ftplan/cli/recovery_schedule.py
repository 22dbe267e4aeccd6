"""``ftplan recovery-schedule``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.progress import progress
from ftplan.cli.render import check_output, emit, say, warn
from ftplan.model.defaults import MAX_CPU
from ftplan.planners.registry import rows

_CORES = options.Number(0.0)


@options.command("recovery-schedule")
@options.inputs
@options.failure
@options.fail
@click.option(
    "--complete-failure",
    is_flag=True,
    help="All nodes fail; the first new one hosts the coordinator, then recovery goes on step by step.",
)
@click.option(
    "--coordinator-cpu",
    type=_CORES,
    default=0.5,
    metavar="CORES",
    help="What the coordinator takes there, with --complete-failure.",
)
@click.option(
    "--algorithm",
    type=click.Choice([r.name for r in rows("recovery-schedule")]),
    help="The planner.  [default: auto, the best of what fits in the time limit]",
)
@click.option(
    "--objective",
    type=click.Choice(["priority", "priority-time", "fidelity-time"]),
    default="priority",
    help="priority = summed priority of the queries that each step makes whole, step by step; priority-time = "
    "priority x seconds down, over all steps, the less the better; fidelity-time = output fidelity x seconds up to "
    "the horizon, so that partly whole queries count.",
)
@click.option(
    "--capacity",
    type=_CORES,
    metavar="CORES",
    help="Cores at step 0: caps what the cluster has left; without a cluster it is all there is.",
)
@click.option(
    "--max-cpu", type=options.SHARE, default=MAX_CPU, metavar="SHARE", help="Share of a node's cores that may be used."
)
@click.option(
    "--horizon",
    type=options.DURATION,
    metavar="TIME",
    help="A query that is not back by then counts as down until then.  [default: twice the last arrival, or 10m]",
)
@click.option("--no-arrivals", is_flag=True, help="No node arrives, whatever the failure file says.")
@click.option("--prefetch/--no-prefetch", default=True, help="Begin the next query with capacity that completes none.")
@click.option(
    "--replicas",
    metavar="PLAN",
    help="Task replication whose active replicas run; wins over placement.replicas of the cluster.",
)
@click.option(
    "--checkpoints",
    metavar="PLAN",
    help="Checkpoint allocation in place: no transfer where a copy lies; wins over placement.checkpoints.",
)
@click.option(
    "--bandwidth",
    type=options.BANDWIDTH,
    metavar="SPEED",
    help="Of restores, per second: MB of 2^20 bytes, or a size such as 1GB.  [default: the cluster's network]",
)
@click.option("--parallel-recovery", is_flag=True, help="Split heavy failed tasks with key groups over nodes.")
@click.option(
    "--samples",
    type=click.IntRange(0, 10_000),
    default=100,
    metavar="N",
    help="Where arrival times are ranges, judge the plan on so many sampled ones.",
)
@click.option(
    "--incremental-from",
    type=click.IntRange(min=0),
    default=2,
    metavar="N",
    help="With fewer failed nodes, warn that the paper recovers blocking.",
)
@options.search
@options.output
@click.option("--detailed-exitcode", is_flag=True, help="Exit 3 when the plan recovers any task.")
@options.verbosity
def command(**given: Any) -> int:
    """Plan which failed tasks come back first, where and when.

    After a failure, room is scarce and nodes trickle in. Tasks come back in an order that makes the most valuable
    queries whole as early as possible; a query is an output task and all tasks upstream of it. Needs a topology, what
    failed (--fail, --failure), and a cluster with a placement or --capacity.
    """
    import ftplan
    from ftplan.cli.inputs import problem_given
    from ftplan.cli.recovery_tables import recovery_answer

    check_output(given["output"], given["force"])
    if given["topology"] is None:
        raise click.UsageError("--topology is missing: give it, or name it under [inputs] in ftplan.toml")
    problem = problem_given(given)
    with progress("planning", limit_s=given["time_limit"], hidden=given["no_progress"] or given["quiet"]):
        result = ftplan.plan(
            "recovery-schedule",
            problem,
            algorithm=given["algorithm"],
            fail=given["fail"],
            complete_failure=given["complete_failure"],
            coordinator_cpu=given["coordinator_cpu"],
            objective=given["objective"],
            capacity=given["capacity"],
            max_cpu=given["max_cpu"],
            horizon=given["horizon"],
            arrivals=not given["no_arrivals"],
            prefetch=given["prefetch"],
            replicas=given["replicas"],
            checkpoints=given["checkpoints"],
            bandwidth=given["bandwidth"],
            parallel_recovery=given["parallel_recovery"],
            samples=given["samples"],
            incremental_from=given["incremental_from"],
            seed=given["seed"],
            time_limit_s=given["time_limit"],
            iterations=given["iterations"],
        )
    if given["algorithm"] is None:
        say(f"algorithm: {result.algorithm} (the default; exact proves the optimum)", quiet=given["quiet"])
    warn(result.warnings, quiet=given["quiet"])
    emit(
        recovery_answer(result),
        output=given["output"],
        form=given["format"],
        force=given["force"],
        quiet=given["quiet"],
    )
    if result.plan is None:
        say(f"no plan: {result.reason}")
        if result.infeasible:
            say(f"smallest fix: {result.infeasible.smallest_fix}")
        return 1
    changed = any(step["recover"] for step in result.plan["steps"])
    return 3 if given["detailed_exitcode"] and changed else 0
