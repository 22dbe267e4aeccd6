"""``ftplan scale-out``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import planning
from ftplan.model.kinds import SCALE_OUT


def _print_rules(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the rules that come with ftplan, with their remarks, and end."""
    if asked and not ctx.resilient_parsing:
        from ftplan.planners.scale_out.bottlenecks.rules_file import SHIPPED

        click.echo(SHIPPED.read_text("utf-8"), nl=False)
        ctx.exit()


@planning.command(
    SCALE_OUT,
    default="exact",
    changes="changes the number of tasks of any operator",
    picture="the scores of operators over time",
)
@click.option(
    "--print-rules", is_flag=True, is_eager=True, expose_value=False, callback=_print_rules,
    help="Print the rules that come with ftplan, to change a copy for --rules, and exit.",
)  # fmt: skip
def command(**given: Any) -> int:
    """Plan which operators get how many tasks: find bottlenecks early, and split them at the right cost.

    Scores operators by cpu, memory and data size of their worst task (0 to 100, --rules), window by window: from
    --alarming on an operator is prepared, above --promote it is a bottleneck, below --scale-in it has too many tasks.
    How many it needs follows from the time that its tasks take for a record, not from back pressure, which blames the
    wrong one. The plan gives every operator that changes tasks, key ranges and, with a cluster, nodes, a --technique
    that carries its state over, what that pauses and costs, and the steps. Needs a topology and statistics over time.
    """
    return planning.answered(SCALE_OUT, planning.planned(SCALE_OUT, given), given)
