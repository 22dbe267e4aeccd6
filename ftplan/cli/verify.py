"""``ftplan verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ftplan.cli import options
from ftplan.cli.render import check_outputs, emit_answer, say, warn
from ftplan.errors import FtplanError, and_more
from ftplan.reports.answer import Answer, Table

if TYPE_CHECKING:
    from ftplan.planners.assessments import Verification


@options.command("verify")
@click.argument("plan", nargs=-1, metavar="PLAN...")
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
@click.option("--skip-others", is_flag=True, help="Pass over files that are no plans.")
@options.output
@options.verbosity
def command(plan: tuple[str, ...], **given: Any) -> int:
    """Hold plans to the rules that they name, to their inputs and to what they state.

    Everything that follows from plan and inputs is recomputed; the rest, such as the bound, is named as not recomputed.
    --prove plans again with the plan's options and algorithm, and where that does not reach its bound with the exact
    one: a bound that a plan beats is refuted, and one tighter than what planning again proves is not proven.

    Inputs that are not given are read from the paths that the plan names. Exit 1 when anything is violated.
    """
    check_outputs(given)
    if given["skip_others"]:
        from ftplan.io.configuration import stated_format

        plans = [path for path in plan if stated_format(path) == "ftplan/plan"]
        if not plans:
            say(f"none of {len(plan)} files is a plan", quiet=given["quiet"])
    elif plan:
        plans = list(plan)
    else:
        raise click.UsageError("Missing argument 'PLAN...'.")
    return _one(plans[0], given) if len(plan) == 1 and plans else _several(plans, given)


def _one(plan: str, given: dict[str, Any]) -> int:
    verification = _verified(plan, given)
    rows = _rows(verification)
    tables = [Table(("code", "where", "what"), rows)] if rows else []
    emit_answer(Answer(verification.to_json(), tables, _notes(verification)), given)
    _say_first(plan, verification)
    return 0 if verification.valid else 1


def _several(plans: list[str], given: dict[str, Any]) -> int:
    """Verify one plan after the other; what is wrong with one keeps no other from being looked at."""
    from ftplan.model.plan import canonical_json

    verified: dict[str, Verification] = {}
    errors: list[str] = []
    for path in plans:
        try:
            verified[path] = _verified(path, given)
        except FtplanError as mistake:
            errors.append(str(mistake))
    rows = [(path, *row) for path, verification in verified.items() for row in _rows(verification)]
    notes = [f"{path}: {note}" for path, one in verified.items() for note in _notes(one) if _counts(note)]
    documents = [{"plan": path, **verification.to_dict()} for path, verification in verified.items()]
    tables = [Table(("plan", "code", "where", "what"), rows)] if rows else []
    emit_answer(Answer(canonical_json({"errors": errors, "plans": documents}), tables, notes), given)
    for path, verification in verified.items():
        _say_first(path, verification)
    for error in errors:
        say(error)
    return FtplanError.exit_code if errors else 1 if rows else 0


def _verified(plan: str, given: dict[str, Any]) -> Verification:
    """Verify one plan, and say on standard error what deserves a second look."""
    from ftplan.api import verify
    from ftplan.cli.inputs import problem_of_plan

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
    return verification


def _say_first(plan: str, verification: Verification) -> None:
    """Say on standard error what is violated first."""
    rows = _rows(verification)
    if rows:
        say(f"{plan}: {rows[0][0]}: {rows[0][2]}{and_more(len(rows))}")


def _rows(verification: Verification) -> list[tuple[str, str | None, str]]:
    return [(v.code, v.where, v.message) for v in verification.violations]


def _counts(note: str) -> bool:
    """Return whether a note is the verdict, or takes something away from it."""
    return not note.startswith(("not recomputed", "taken as stated", "not stated")) or "any value passes" in note


def _notes(verification: Verification) -> list[str]:
    verdict = "valid" if verification.valid else f"{len(verification.violations)} violation(s)"
    none = "no rule" if verification.unchecked or verification.not_stated else "no rule, since there is no plan"
    notes = [f"{verdict}; held to: {', '.join(verification.rules) or none}"]
    if verification.unchecked:
        notes.append("not checked: " + ", ".join(f"{rule} (without {what})" for rule, what in verification.unchecked))
    if verification.not_recomputed:
        named = [f"{n} (any value passes)" if n == "objective" else n for n in verification.not_recomputed]
        notes.append(f"not recomputed: {', '.join(named)}")
    if verification.taken_as_stated:
        notes.append(f"taken as stated: {', '.join(verification.taken_as_stated)}")
    if verification.not_stated:
        notes.append(f"not stated: {', '.join(verification.not_stated)}")
    return notes
