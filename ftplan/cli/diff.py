"""``ftplan diff``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.render import check_outputs, emit_answer
from ftplan.reports.answer import Answer


@options.command("diff")
@click.argument("before", metavar="PLAN")
@click.argument("after", metavar="PLAN")
@options.topology
@options.stats
@options.output
@click.option("--detailed-exitcode", is_flag=True, help="Exit 3 when anything changes.")
@options.verbosity
def command(before: str, after: str, **given: Any) -> int:
    """Show what changes from one plan to another of the same kind, and how much state that moves.

    State comes from the topology and the statistics that the second plan was made from, or from those given.
    """
    from ftplan.api import diff
    from ftplan.cli.inputs import state_of_plan
    from ftplan.io.plan_file import load_plan
    from ftplan.planners.views import view

    check_outputs(given)
    second = load_plan(after).value
    difference = diff(load_plan(before).value, second, state_of_plan(second, given))
    tables, notes = view(difference.kind).difference(difference)
    emit_answer(Answer(difference.to_json(), tables, notes), given)
    return 3 if given["detailed_exitcode"] and difference.changed else 0
