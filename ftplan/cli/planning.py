"""What all commands that plan have in common: their options, how they plan, and how they answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ftplan.cli import kind_options, options
from ftplan.cli.progress import progress
from ftplan.cli.render import check_output, emit_answer, say, warn
from ftplan.model.kinds import KindRow
from ftplan.planners.kind import kind_of
from ftplan.planners.registry import rows

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def command(
    row: KindRow,
    *,
    default: str,
    changes: str,
    algorithm_after: str | None = None,
    picture: str = "the plan",
) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes the command of a kind of plan, its options from the kind's dataclass.

    Parameters
    ----------
    default
        What ``--help`` says of the default algorithm.
    changes
        What a plan changes, for ``--detailed-exitcode``.
    algorithm_after
        The option after which ``--algorithm`` stands; None puts it first.
    picture
        What ``--plot`` draws, for ``--help``.
    """
    kind = kind_of(row.name)
    algorithm = click.option(
        "--algorithm",
        type=click.Choice([planner.name for planner in rows(row.name)]),
        help=f"The planner.  [default: {default}]",
    )
    parts = options.together(
        options.inputs,
        *((options.failure, options.fail) if row.answers_failure else ()),
        kind_options.of_kind(kind.options, algorithm, algorithm_after),
        click.option("--plot", metavar="FILE", help=f"Draw {picture}, as .svg or .png."),
        kind_options.SEARCH,
        options.output,
        click.option("--detailed-exitcode", is_flag=True, help=f"Exit 3 when the plan {changes}."),
        options.verbosity,
    )
    made = options.command(row.command, alternatives=kind.options.alternatives)
    return lambda function: made(parts(function))


def planned(row: KindRow, given: dict[str, Any]) -> Plan:
    """Check the output, load the inputs and plan.

    Raises
    ------
    FtplanError
        If anything that was given is wrong.
    """
    import ftplan
    from ftplan.cli.inputs import problem_given

    check_output(given["output"], given["force"])
    if given["plot"] is not None:
        from ftplan.reports.plot_file import check_plot

        check_plot(given["plot"], given["force"])
    for name in row.needs:
        if given[name] is None:
            raise click.UsageError(f"--{name} is missing: give it, or name it under [inputs] in ftplan.toml")
    problem = problem_given(given)
    asked = kind_options.asked(kind_of(row.name).options, given)
    with progress("planning", limit_s=given["time_limit"], hidden=given["no_progress"] or given["quiet"]):
        plan = ftplan.plan(row.command, problem, algorithm=given["algorithm"], **asked)
    if given["algorithm"] is None:
        proven = plan.options.get("then_recover") or plan.algorithm == "exact"
        proof = "" if proven else "; exact proves the optimum"
        say(f"algorithm: {plan.algorithm} (the default{proof})", quiet=given["quiet"])
    warn(plan.warnings, quiet=given["quiet"])
    return plan


def answered(row: KindRow, plan: Plan, given: dict[str, Any]) -> int:
    """Write a plan and return the exit code: 1 without an answer, 3 if asked for and it changes anything, else 0."""
    from ftplan.planners.views import view

    if given["plot"] is not None and plan.plan is not None:
        from ftplan.reports.plot_file import plot

        plot(plan, given["plot"], given["force"])
    emit_answer(view(plan.kind).answer(plan), given)
    if plan.plan is None:
        say(f"no plan: {plan.reason}")
        if plan.infeasible:
            say(f"smallest fix: {plan.infeasible.smallest_fix}")
        return 1
    if "upkeep" in plan.summary:
        say(str(plan.reason), quiet=given["quiet"])
    return 3 if given["detailed_exitcode"] and kind_of(row.name).changes(plan) else 0
