"""``ftplan stats-summary``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.render import Answer, Table, check_output, emit, warn


@options.command("stats-summary")
@click.argument("stats", metavar="DIR")
@options.topology
@click.option("--load", "measure", type=click.Choice(["records", "bytes", "cpu_ms"]), default="records")
@click.option("--top", type=click.IntRange(min=1), default=10, help="Rows of each list.")
@options.output
@options.verbosity
def command(stats: str, topology: str | None, measure: str, top: int, **given: Any) -> None:
    """Show what a statistics folder says: windows, coverage, heavy key groups, skew, strongest correlations."""
    from ftplan.api.statistics import summarise_stats
    from ftplan.model.plan import canonical_json

    check_output(given["output"], given["force"])
    found = summarise_stats(stats, topology=topology, load=measure, top=top)
    warn(found.warnings, quiet=given["quiet"])
    tables = [Table(("statistics", ""), list(found.overall.items()))]
    for title, rows in (
        ("operators", found.operators),
        ("heaviest key groups", found.heaviest),
        ("strongest negative correlations", found.negative),
        ("strongest positive correlations", found.positive),
    ):
        if rows:
            tables.append(Table(tuple(rows[0]), [tuple(row.values()) for row in rows], title))
    emit(
        Answer(canonical_json(found.to_dict()), tables),
        output=given["output"],
        form=given["format"],
        force=given["force"],
        quiet=given["quiet"],
    )
