"""``ftplan verify``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.render import Answer, Table, check_output, emit_answer, say, warn


@options.command("verify")
@click.argument("plan", metavar="PLAN")
@options.inputs
@options.failure
@options.fail
@click.option("--strict", is_flag=True, help="Hold the plan to every rule, not only to those that it names.")
@click.option("--ignore-stale", is_flag=True, help="Do not mind inputs that changed since the plan was made.")
@click.option("--prove", is_flag=True, help="Plan again to judge the bound and what else cannot be recomputed.")
@click.option(
    "--time-limit",
    type=options.DURATION,
    default="60s",
    metavar="TIME",
    help="With --prove: how long each of up to two planners may search.",
)
@options.output
@options.verbosity
def command(plan: str, **given: Any) -> int:
    """Hold a plan to the rules that it names, to its inputs and to what it states.

    Everything that follows from plan and inputs is recomputed; the rest, such as the bound, is named as not recomputed.
    --prove plans again with the plan's options and algorithm, and where that does not reach its bound with the exact
    one: a bound that a plan beats is refuted, and one tighter than what planning again proves is not proven.

    Inputs that are not given are read from the paths that the plan names. Exit 1 when anything is violated.
    """
    from ftplan.api import verify
    from ftplan.cli.inputs import problem_of_plan

    check_output(given["output"], given["force"])
    loaded, problem = problem_of_plan(plan, given)
    verification = verify(
        loaded,
        problem,
        strict=given["strict"],
        ignore_stale=given["ignore_stale"],
        fail=given["fail"],
        prove=given["prove"],
        time_limit_s=given["time_limit"],
    )
    warn(verification.warnings, quiet=given["quiet"])
    rows = [(v.code, v.where, v.message) for v in verification.violations]
    tables = [Table(("code", "where", "what"), rows)] if rows else []
    verdict = "valid" if verification.valid else f"{len(rows)} violation(s)"
    notes = [f"{verdict}; held to: {', '.join(verification.rules) or 'no rule, since there is no plan'}"]
    if verification.not_recomputed:
        notes.append(f"not recomputed: {', '.join(verification.not_recomputed)}")
    emit_answer(Answer(verification.to_json(), tables, notes), given)
    if not verification.valid:
        say(f"{plan}: {rows[0][0]}: {rows[0][2]}" + (f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""))
    return 0 if verification.valid else 1
