"""``ftplan replicate-tasks``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.progress import progress
from ftplan.cli.render import check_output, emit, say, warn
from ftplan.model.defaults import MAX_CPU
from ftplan.planners.registry import rows


@options.command("replicate-tasks", alternatives=[("budget", "budget_cpu", "budget_mb", "target")])
@options.inputs
@options.failure
@options.fail
@click.option("--worst-case", is_flag=True, help="All tasks may fail, whatever the failure file says.")
@click.option("--budget", metavar="N|X%", help="How many replicas: a number, or a share of all tasks, rounded down.")
@click.option("--budget-cpu", type=options.Number(0.0), metavar="CORES", help="Cores that all replicas may take.")
@click.option(
    "--budget-mb",
    type=options.Number(0.0),
    metavar="MB",
    help="State, in units of 2^20 bytes, that all replicas may hold.",
)
@click.option("--target", type=options.Number(0.0, 1.0), metavar="X", help="The fewest replicas that reach this value.")
@click.option(
    "--algorithm",
    type=click.Choice([r.name for r in rows("replicate-tasks")]),
    help="The planner.  [default: structure-aware, safe at any size]",
)
@click.option(
    "--metric",
    type=click.Choice(["output-fidelity", "internal-completeness"]),
    default="output-fidelity",
    help="output-fidelity = how much of the output rests on all of its input; internal-completeness = how many records "
    "are still processed, wherever they go.",
)
@click.option(
    "--weight", type=click.Choice(["rate", "priority"]), default="rate", help="What an output task counts in fidelity."
)
@click.option(
    "--max-cpu", type=options.SHARE, default=MAX_CPU, metavar="SHARE", help="Share of a node's cores that may be used."
)
@click.option(
    "--current",
    metavar="PLAN",
    help="Replicas now in place: says what to activate and to deactivate; wins over placement.replicas of the cluster.",
)
@click.option(
    "--max-changes", type=click.IntRange(min=0), metavar="N", help="Start and stop at most so many replicas in all."
)
@click.option(
    "--threshold", type=options.SHARE, metavar="X", help="Keep the replicas in place where less would be gained."
)
@click.option("--curve", is_flag=True, help="Also what every budget buys, up to 100 of them, with a bound.")
@click.option("--plot", metavar="FILE", help="Draw that curve, as .svg or .png.")
@options.search
@options.output
@click.option("--detailed-exitcode", is_flag=True, help="Exit 3 when the plan starts or stops replicas.")
@options.verbosity
def command(**given: Any) -> int:
    """Plan which tasks get an active replica, and where.

    Under a budget, replicas go to the tasks that keep most output alive while a failure is repaired: to whole trees of
    tasks from sources to an output, since a gap in one makes the rest useless. Needs a topology and a budget or a
    target. Without --fail and --failure any task may fail, all at once; scenarios of a failure file count with their
    probabilities. With a cluster each replica gets a node outside its primary's zone.
    """
    import ftplan
    from ftplan.cli.inputs import problem_given
    from ftplan.cli.replication_tables import replication_answer

    check_output(given["output"], given["force"])
    if given["plot"] is not None:
        from ftplan.api.replication.plot import check_plot

        check_plot(given["plot"], given["force"])
    if given["topology"] is None:
        raise click.UsageError("--topology is missing: give it, or name it under [inputs] in ftplan.toml")
    problem = problem_given(given)
    with progress("planning", limit_s=given["time_limit"], hidden=given["no_progress"] or given["quiet"]):
        result = ftplan.plan(
            "replicate-tasks",
            problem,
            algorithm=given["algorithm"],
            fail=given["fail"],
            worst_case=given["worst_case"],
            budget=given["budget"],
            budget_cpu=given["budget_cpu"],
            budget_mb=given["budget_mb"],
            target=given["target"],
            metric=given["metric"],
            weight=given["weight"],
            max_cpu=given["max_cpu"],
            current=given["current"],
            max_changes=given["max_changes"],
            threshold=given["threshold"],
            curve=given["curve"] or given["plot"] is not None,
            seed=given["seed"],
            time_limit_s=given["time_limit"],
            iterations=given["iterations"],
        )
    if given["algorithm"] is None:
        say(f"algorithm: {result.algorithm} (the default; exact proves the optimum)", quiet=given["quiet"])
    warn(result.warnings, quiet=given["quiet"])
    if given["plot"] is not None and result.plan is not None:
        from ftplan.api.replication.plot import plot_curve

        plot_curve(result, given["plot"], given["force"])
    emit(
        replication_answer(result),
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
    started, stopped = result.plan["activate"], result.plan["deactivate"]
    changed = bool(started or stopped) if started is not None else bool(result.plan["replicas"])
    return 3 if given["detailed_exitcode"] and changed else 0
