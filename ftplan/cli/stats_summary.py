"""``ftplan stats-summary``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.render import check_outputs, emit_answer, warn
from ftplan.reports.answer import Answer, Table


@options.command("stats-summary")
@click.argument("stats", metavar="DIR")
@options.topology
@click.option("--load", "measure", type=click.Choice(["records", "bytes", "cpu_ms"]), default="records")
@click.option("--top", type=click.IntRange(min=1), default=10, help="Rows of each list.")
@click.option(
    "--sweep-key-groups",
    metavar="N,N,...",
    help="Advice on the number of key groups: what the loads would be with N, each a divisor of the measured number.",
)
@click.option("-c", "--cluster", metavar="FILE", help="For the sweep: a cluster with placement.tasks.")
@options.output
@options.verbosity
def command(stats: str, topology: str | None, measure: str, top: int, **given: Any) -> None:
    """Show what a statistics folder says: windows, coverage, heavy key groups, skew, strongest correlations.

    --sweep-key-groups merges key group g into g mod N, which is exact for engines that take a hash modulo the number
    of key groups: Flink, Spark, Kafka. With a topology and a cluster it plans checkpoints on the first 70 % of the
    trace and tells which share is usable on the rest, beside even. More key groups mean less skew and more choice,
    and more checkpoint files and overhead in every task.
    """
    from ftplan.api.statistics import summarise_stats, sweep_stats
    from ftplan.model.plan import canonical_json

    check_outputs(given)
    summary = summarise_stats(stats, topology=topology, load=measure, top=top)
    warn(summary.warnings, quiet=given["quiet"])
    tables = [Table(("statistics", ""), list(summary.overall.items()))]
    for title, rows in (
        ("operators", summary.operators),
        ("heaviest key groups", summary.heaviest),
        ("strongest negative correlations", summary.negative),
        ("strongest positive correlations", summary.positive),
    ):
        if rows:
            tables.append(Table(tuple(rows[0]), [tuple(row.values()) for row in rows], title))
    document = summary.to_dict()
    if given["sweep_key_groups"] is not None:
        sweep = sweep_stats(
            stats, _numbers(given["sweep_key_groups"]), topology=topology, cluster=given["cluster"], load=measure
        )
        document["key_group_sweep"] = sweep
        tables.append(Table(tuple(sweep[0]), [tuple(row.values()) for row in sweep], "number of key groups"))
    emit_answer(Answer(canonical_json(document), tables), given)


def _numbers(text: str) -> list[int]:
    """Return the numbers of a list such as 32,64,128."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise click.UsageError(f"--sweep-key-groups: {text!r} is no list of whole numbers such as 32,64,128")
    return [int(part) for part in parts]
