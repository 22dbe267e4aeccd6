"""The commands that plan, one for each kind of plan: made from what ``kind.py`` of its question says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import click

from ftplan.cli import kind_options, options
from ftplan.cli.progress import Report, progress
from ftplan.cli.render import check_outputs, emit_answer, say, warn
from ftplan.errors import made_by
from ftplan.planners.kind import PlanKind, Printed, kind_of

if TYPE_CHECKING:
    from ftplan.model.plan import Plan


def command_of(name: str) -> click.Command:
    """Return the command of a kind of plan: its options are the fields of the kind's dataclass, and those of all."""
    kind = kind_of(name)
    about = kind.command
    algorithm = click.option(
        "--algorithm",
        type=click.Choice([planner.name for planner in kind.planners]),
        help=f"The planner.  [default: {about.default}]",
    )
    parts = options.together(
        options.inputs,
        *((options.failure, options.fail) if kind.answers_failure else ()),
        kind_options.of_kind(kind.options, algorithm, about.algorithm_after),
        click.option("--plot", metavar="FILE", help=f"Draw {about.picture}, as .svg or .png."),
        kind_options.SEARCH,
        click.option("--trace", metavar="FILE", help="Write value and bound over time, as JSON lines."),
        options.output,
        options.rows,
        click.option("--detailed-exitcode", is_flag=True, help=f"Exit 3 when the plan {about.changes}."),
        options.verbosity,
        *map(_printing, about.printed),
    )

    def run(**given: Any) -> int:
        given.update((name, True) for name in about.for_picture if given["plot"] is not None)
        return _answered(kind, _planned(kind, given), given)

    run.__doc__ = about.text
    return options.command(name, alternatives=kind.options.alternatives)(parts(run))


def _printing(printed: Printed) -> Callable[..., Any]:
    """Return a flag that prints a text which comes with ftplan, and ends."""

    def show(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
        if asked and not ctx.resilient_parsing:
            click.echo(resolve_name(printed.path).read_text("utf-8"), nl=False)
            ctx.exit()

    return click.option(printed.flag, is_flag=True, is_eager=True, expose_value=False, callback=show, help=printed.help)


def _planned(kind: PlanKind, given: dict[str, Any]) -> Plan:
    """Check the output, load the inputs and plan.

    Raises FtplanError if anything that was given is wrong.
    """
    import ftplan
    from ftplan.cli.inputs import problem_given

    check_outputs(given)
    for role in kind.needs:
        if given[role] is None:
            text = f"--{role} is missing: give it, or name it under [inputs] in ftplan.toml"
            raise click.UsageError(f"{text}{made_by(role)}")
    problem = problem_given(given)
    asked = kind_options.asked(kind.options, given)
    with (
        progress("planning", limit_s=given["time_limit"], hidden=given["no_progress"] or given["quiet"]) as report,
        _traced(given["trace"], given["force"], report) as finished,
    ):
        plan = finished(ftplan.plan(kind.name, problem, algorithm=given["algorithm"], **asked))
    if given["algorithm"] is None:
        unproven = plan.objective is not None and plan.objective.bound is None and not plan.options.get("then_recover")
        proof = "; exact proves the optimum" if unproven and plan.algorithm != "exact" else ""
        say(f"algorithm: {plan.algorithm} (the default{proof})", quiet=given["quiet"])
    warn(plan.warnings, quiet=given["quiet"])
    for item in plan.assumptions or ():
        if item.code not in {warning.code for warning in plan.warnings}:
            say(f"assumed: {item.message} [{item.code}]", quiet=given["quiet"])
    return plan


@contextmanager
def _traced(path: str | None, force: bool, report: Report) -> Iterator[Callable[[Plan], Plan]]:
    """Show what the search knows in the progress bar, and write it all to a file, also where it is interrupted.

    Yields a function that ends the trace with what a plan states.
    """
    from ftplan.io.trace_file import write_trace
    from ftplan.model.trace import TraceLine
    from ftplan.planners.incumbents import traced

    lines: list[TraceLine] = []
    began = time.monotonic()

    def hear(line: TraceLine) -> None:
        lines.append(line)
        value = f"{line.value:.6g}" if line.value is not None else "no plan yet"
        report(f"{line.search}: {value}" + (f", bound {line.bound:.6g}" if line.bound is not None else ""), None)

    def finished(plan: Plan) -> Plan:
        if (stated := plan.objective) is not None:
            by = plan.algorithm or "hand"
            seconds = round(time.monotonic() - began, 3)
            lines.append(TraceLine(seconds, stated.value, stated.bound, by, stated.name))
        return plan

    try:
        with traced(hear):
            yield finished
    finally:
        if path is not None:
            write_trace(path, lines, force)


def _answered(kind: PlanKind, plan: Plan, given: dict[str, Any]) -> int:
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
    return 3 if given["detailed_exitcode"] and kind.changes(plan) else 0
