"""``ftplan collect --from prometheus``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from ftplan.cli import options
from ftplan.cli.progress import progress
from ftplan.cli.render import emit, say
from ftplan.reports.answer import Answer, Table

_MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"])


def print_mapping(mapping: str | None) -> None:
    """Print the queries of a mapping file, or those that come with ftplan."""
    from ftplan.engines.prometheus.mapping import mapping_text

    click.echo(mapping_text(mapping), nl=False)


ranges = options.together(
    click.option("--from-time", type=_MOMENT, metavar="UTC", help="Prometheus: where the range begins."),
    click.option("--to-time", type=_MOMENT, metavar="UTC", help="Prometheus: where it ends.  [default: now]"),
    click.option(
        "--mapping",
        metavar="FILE",
        help="Prometheus: queries and what they mean, beside those that come with ftplan (see --print-mapping).",
    ),
    click.option("--section", multiple=True, metavar="NAME", help="Prometheus: only this section; repeatable."),
    click.option(
        "--match", multiple=True, metavar="MATCHER", help='Prometheus: label matcher, job_name="orders"; repeatable.'
    ),
    click.option("--print-mapping", is_flag=True, help="Print the queries to Prometheus, and what they mean."),
)

#: Options that only polls take, and those that only ranges take.
OF_POLLS, OF_RANGES = ("job", "metrics"), ("from_time", "to_time", "mapping", "section", "match")


def answer(url: str, connection: Any, given: dict[str, Any]) -> int:
    """Collect ranges of time, and say what came of it."""
    from ftplan.api.collecting_ranges import RangeRequest, collect_ranges
    from ftplan.model.plan import canonical_json

    quiet = given["quiet"]
    request = RangeRequest(
        _utc(given["from_time"]), _utc(given["to_time"]), given["duration"], given["every"], given["mapping"],
        given["section"], given["match"],
    )  # fmt: skip
    with progress("asking Prometheus", hidden=given["no_progress"] or quiet) as report:
        summary = collect_ranges(
            url, given["output"], request, connection, say=lambda text: say(text, quiet=quiet), tell=report
        )
    figures = summary.to_dict()
    rows = [(name, ", ".join(value) if isinstance(value, list) else value) for name, value in figures.items()]
    table = Table(("", "value"), rows, f"{given['output']}: answers of prometheus")
    emit(Answer(canonical_json({"output": given["output"], **figures}), [table]), form=given["format"])
    if not summary.series:
        say("no query has a series in that time: see --print-mapping for the names, and --match", quiet=quiet)
    if summary.ended == "interrupt":
        return 130
    return 0 if summary.series and summary.ended == "complete" else 1


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=UTC)
