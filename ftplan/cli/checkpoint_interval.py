"""``ftplan checkpoint-interval``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ftplan.cli import kind_options, options
from ftplan.cli.render import check_outputs, emit_answer, say, warn
from ftplan.costs.checkpoint_interval.options import FAILURES, CheckpointIntervalOptions
from ftplan.reports.answer import Answer, Table

if TYPE_CHECKING:
    from ftplan.costs.checkpoint_interval.result import CheckpointInterval


@options.command("checkpoint-interval", alternatives=(tuple(name.removesuffix("_s") for name in FAILURES),))
@options.topology
@kind_options.of_options(CheckpointIntervalOptions)
@click.option("--plot", metavar="FILE", help="Draw the time lost over the interval, as .svg or .png.")
@options.output
@options.verbosity
def command(topology: str | None, **given: Any) -> int:
    """Find the interval between checkpoints that loses least time.

    Each checkpoint takes some time, and the longer the interval, the more is processed again after a failure. Time is
    lost while the job stands for a checkpoint or has not caught up after a failure. Recoveries take what --costs says,
    at the job's rate; how often it fails is a number or that of the nodes in a log. The answer is exact; the intervals
    of Young's and Daly's formulas stand beside it, which know nothing of rate and capacity.

    \b
    $ ftplan checkpoint-interval --costs recovery.yaml --rate 60000 --checkpoint-cost 2s --mtbf 12h --max-recovery 5m
    """
    from ftplan import checkpoint_interval

    check_outputs(given)
    answer = checkpoint_interval(topology, **kind_options.asked(CheckpointIntervalOptions, given))
    warn(answer.warnings, quiet=given["quiet"])
    if given["plot"] is not None:
        from ftplan.costs.checkpoint_interval.result import interval_figure
        from ftplan.reports.plot_file import write_figure

        best_s = None if answer.best is None else answer.best["interval_s"]
        write_figure(interval_figure(answer.model, best_s, answer.longest_s), given["plot"], given["force"])
    emit_answer(Answer(answer.to_json(), _tables(answer)), given)
    if answer.best is None:
        say(str(answer.reason))
        return 1
    if answer.reason is not None:
        say(answer.reason, quiet=given["quiet"])
    return 0


def _tables(answer: CheckpointInterval) -> list[Table]:
    asked, best = answer.asked, answer.best or {}
    rows = [
        ("best interval, s", best.get("interval_s")),
        ("a recovery then takes, s", best.get("recovery_s")),
        ("lost in an hour, s", best.get("lost_s_per_hour")),
        ("failures a day", asked["failures_per_day"]),
        ("shortest interval, s", answer.shortest_s),
        ("smallest recovery, s", answer.smallest_recovery_s),
    ]
    if asked["max_recovery_s"] is not None:
        limit = f"longest with recoveries within {asked['max_recovery_s']:g} s"
        rows.append((f"{limit} ({'binds' if answer.limited else 'does not bind'})", answer.longest_s))
    tables = [Table(("checkpoint interval", ""), rows)]
    columns = ("", "interval, s", "recovery, s", "checkpoints, s/h", "recoveries, s/h", "lost, s/h")
    tables.append(Table(columns, [(row["name"] or "", *list(row.values())[1:]) for row in answer.table]))
    if answer.sensitivity:
        columns = ("parameter", "at its limit", "value", "best interval, s", "lost, s/h", "lost beyond that, s/h")
        tables.append(Table(columns, [tuple(row.values()) for row in answer.sensitivity]))
    return tables
