"""``ftplan collect``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from ftplan.cli import log_options, options
from ftplan.cli.progress import progress
from ftplan.cli.render import emit, say
from ftplan.engines.registry import collectors
from ftplan.reports.answer import Answer, Table

asking = options.together(
    click.option(
        "--from",
        "source",
        type=click.Choice(list(collectors())),
        help="What answers at URL.  [default: found by asking]",
    ),
    click.option("-o", "--output", metavar="DIR", help="The folder: a new one, or one to go on in.  [required]"),
    click.option(
        "--every", type=options.DURATION, default="60s", metavar="TIME", help="From one poll, or value, to the next."
    ),
    click.option(
        "--for",
        "duration",
        type=options.DURATION,
        metavar="TIME",
        help="How long from now on (0: one poll), and with prometheus how long before now.  [default: until Ctrl-C]",
    ),
    click.option("--job", multiple=True, metavar="ID", help="Only this job, by id or name; repeatable."),
    click.option(
        "--metrics",
        metavar="PATTERN",
        help="Flink: subtasks' metrics whose names match this expression.  [default: records, bytes, time, state, lag]",
    ),
)

connecting = options.together(
    click.option(
        "--timeout",
        type=options.DURATION,
        default="10s",
        metavar="TIME",
        help="Wait this long for an answer as a whole, --retries included.",
    ),
    click.option("--retries", type=click.IntRange(0, 20), default=2, metavar="N", help="Ask again where none came."),
    click.option("--ca-file", metavar="FILE", help="Certificates (PEM) that signed the endpoint's own."),
    click.option(
        "--max-answer", type=options.SIZE, default="64MB", metavar="SIZE", help="Leave out answers larger than this."
    ),
)

ranges = options.together(
    click.option("--from-time", type=log_options.MOMENT, metavar="UTC", help="Prometheus: where the range begins."),
    click.option(
        "--to-time", type=log_options.MOMENT, metavar="UTC", help="Prometheus: where it ends.  [default: now]"
    ),
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
_OF_POLLS, _OF_RANGES = ("job", "metrics"), ("from_time", "to_time", "mapping", "section", "match")


@options.command("collect")
@click.argument("url", metavar="URL", required=False)
@asking
@ranges
@connecting
@options.form
@options.verbosity
def command(url: str | None, **given: Any) -> int:
    """Save what an engine's REST endpoint answers over time, for import-topology, compute-stats and calibrate.

    It finds the jobs and asks for all that they say: plan, configuration, what runs where, metrics of each task,
    checkpoints, exceptions. Each answer is a line of DIR/answers/HOUR.jsonl. Ctrl-C, the end of --for and even kill -9
    leave what is there; the same command goes on in the same folder. Outages are noted and waited for.

    With --from prometheus it asks for what was measured already, in the range of time that --for or --from-time and
    --to-time give; --print-mapping shows the queries. The same command asks only for what is not there yet.

    Credentials come from FTPLAN_COLLECT_TOKEN, or FTPLAN_COLLECT_USER and FTPLAN_COLLECT_PASSWORD, of the environment;
    they are never shown or stored. What the engine answers is stored as it is: look what it says of your job before you
    hand the folder on.

    \b
    $ ftplan collect http://jobmanager:8081 --from flink --every 60s --for 24h -o collected
    $ ftplan import-topology collected --from flink -o topology.yaml --cluster-output cluster.yaml
    $ ftplan collect http://prometheus:9090 --from prometheus --every 15s --for 24h -o measured
    $ ftplan compute-stats measured --input-format prometheus --key-groups 128 -o stats
    """
    if given.pop("print_mapping"):
        _print_mapping(given["mapping"])
        return 0
    if url is None or given["output"] is None:
        raise click.UsageError(f"{'URL' if url is None else '-o DIR'} is missing: ftplan collect URL -o DIR")
    from ftplan.api.collecting import source_at

    connection = _connection(given)
    given["source"] = given["source"] or source_at(url, given["output"], connection)
    ranges = given["source"] == "prometheus"
    for name in _OF_POLLS if ranges else _OF_RANGES:
        if given[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} is not for --from {given['source']}")
    return _collect_ranges(url, connection, given) if ranges else _collect_polls(url, connection, given)


def _connection(given: dict[str, Any]) -> Any:
    """Return how to ask, from options that are checked."""
    from ftplan.engines.collecting.endpoint import Connection

    for name in ("every", "timeout"):
        if given[name] <= 0:
            raise click.UsageError(f"--{name}: must be more than 0")
    if given["max_answer"] < 1:
        raise click.UsageError("--max-answer: must be at least a byte")
    return Connection(given["timeout"], given["retries"], given["ca_file"], int(given["max_answer"]))


def _collect_polls(url: str, connection: Any, given: dict[str, Any]) -> int:
    """Poll an engine, and say what came of it."""
    from ftplan.api.collecting import collect
    from ftplan.engines.collecting.polling import Pace

    quiet = given["quiet"]
    with progress("collecting", limit_s=given["duration"], hidden=given["no_progress"] or quiet):
        summary = collect(
            url,
            given["output"],
            given["source"],
            Pace(given["every"], given["duration"]),
            connection,
            {"jobs": list(given["job"]), "metrics": given["metrics"]},
            say=lambda text: say(text, quiet=quiet),
        )
    _emit(asdict(summary), given)
    if not summary.answers:
        say("nothing answered", quiet=quiet)
    if summary.ended == "interrupt":
        return 130
    return 0 if summary.answers else 1


def _emit(figures: dict[str, Any], given: dict[str, Any]) -> None:
    """Write what came of a collection."""
    from ftplan.model.plan import canonical_json

    rows = [(name, ", ".join(value) if isinstance(value, list) else value) for name, value in figures.items()]
    table = Table(("", "value"), rows, f"{given['output']}: answers of {given['source']}")
    emit(Answer(canonical_json({"output": given["output"], **figures}), [table]), form=given["format"])


def _print_mapping(mapping: str | None) -> None:
    """Print the queries of a mapping file, or those that come with ftplan."""
    from ftplan.engines.prometheus.mapping import mapping_text

    click.echo(mapping_text(mapping), nl=False)


def _collect_ranges(url: str, connection: Any, given: dict[str, Any]) -> int:
    """Collect ranges of time, and say what came of it."""
    from ftplan.api.collecting import RangeRequest, collect_ranges

    quiet = given["quiet"]
    request = RangeRequest(
        log_options.utc(given["from_time"]), log_options.utc(given["to_time"]), given["duration"], given["every"],
        given["mapping"], given["section"], given["match"],
    )  # fmt: skip
    with progress("asking Prometheus", hidden=given["no_progress"] or quiet) as report:
        summary = collect_ranges(
            url, given["output"], request, connection, say=lambda text: say(text, quiet=quiet), tell=report
        )
    _emit(asdict(summary), given)
    if not summary.series:
        say("no query has a series in that time: see --print-mapping for the names, and --match", quiet=quiet)
    if summary.ended == "interrupt":
        return 130
    return 0 if summary.series and summary.ended == "complete" else 1
