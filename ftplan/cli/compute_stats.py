"""``ftplan compute-stats``."""

from __future__ import annotations

from typing import Any

import click

from ftplan.cli import log_options, options
from ftplan.cli.progress import progress
from ftplan.cli.render import check_outputs, say
from ftplan.model.kinds import ALLOCATE_CHECKPOINTS
from ftplan.spark_stats.log_formats import input_formats, recognised


def _column(name: str, text: str) -> Any:
    return click.option(f"--{name}-column", metavar="COLUMN", help=text)


reading = options.together(
    click.option(
        "--input-format",
        type=click.Choice(input_formats()),
        default="auto",
        help="auto: by looking, then by the ending. Of an engine's own log, and of a folder that ftplan collect wrote, "
        "the columns are known: of the options below it takes --window, --from, --to, --key-groups and those about "
        "rejects.",
    ),
    log_options.pattern,
    click.option(
        "--snapshot-time",
        type=log_options.MOMENT,
        metavar="UTC",
        help="For kafka-log-dirs: when it ran.  [default: a line above, the file's name, or when it was last written]",
    ),
    click.option(
        "--application-id", metavar="ID", help="For kafka-log-dirs: the Kafka Streams application.  [default: all]"
    ),
    log_options.fields,
    click.option(
        "--max-kept-rejects", type=click.IntRange(min=0), default=10_000, help="Most rejected rows kept under rejects/."
    ),
)

times = options.together(
    log_options.moments,
    click.option("--window", type=options.DURATION, default="60s", metavar="TIME", help="Length of a window."),
    log_options.span,
)

keys = options.together(
    click.option("--operator", metavar="ID", help="The operator that processes the records."),
    _column("operator", "The column that names the operator."),
    click.option(
        "--key-column", "key_columns", multiple=True, metavar="COLUMN", help="The key; repeated, columns are joined."
    ),
    click.option(
        "--key",
        "keys",
        multiple=True,
        metavar="OPERATOR=COLUMN[,COLUMN]",
        help="A further operator that processes every record, keyed by these columns; repeatable.",
    ),
    click.option(
        "--key-groups",
        multiple=True,
        metavar="N | OPERATOR=N",
        help="Number of key groups, of all operators or of one; with a topology, its numbers count.",
    ),
    click.option(
        "--key-hash",
        type=click.Choice(["xxhash64", "murmur3", "java", "flink", "kafka", "crc32", "identity"]),
        default="xxhash64",
        help="How a key becomes a key group; identity: the key is the number.",
    ),
    click.option(
        "--key-type",
        type=click.Choice(["auto", "string", "long", "int"]),
        default="auto",
        help="What the job sees as key; auto: the column's own type, text in CSV.",
    ),
)

measures = options.together(
    _column("records", "Records that a row stands for.  [default: 1]"),
    _column("bytes", "Bytes of the record."),
    _column("cpu", "Cpu milliseconds spent on it."),
    _column("busy", "Milliseconds in which the task was busy."),
    _column("memory", "Memory of the task, bytes."),
    _column("queue", "Input queue of the task, records."),
    _column("state", "State of the key group, bytes."),
    _column("records-out", "Records that the task wrote."),
    _column("node", "The node that processed it: gives placement.yaml."),
    _column("task", "The task that processed it."),
    _column("upstream-task", "The task that sent it: gives substreams."),
    click.option("--upstream-operator", metavar="ID", help="The operator that sent the records."),
    _column("upstream-operator", "The column that names it."),
)


@options.command("compute-stats")
@click.argument("logs", nargs=-1, metavar="LOG...")
@click.option("-o", "--output", metavar="DIR", help="The statistics folder to write.  [required]")
@click.option("--force", is_flag=True, help="Replace an existing statistics folder.")
@options.topology
@reading
@times
@keys
@measures
@log_options.engine
@options.verbosity
def command(logs: tuple[str, ...], **given: Any) -> None:
    """Compute per-key-group statistics from logs: Parquet, CSV, JSON lines, engines' own; files, globs, folders.

    Writes a folder: manifest.json, key_groups.parquet, and what else the columns allow. Windows are aligned to UTC.
    """
    if not logs:
        raise click.UsageError("LOG is missing: name files, globs or folders, or logs = [...] in ftplan.toml")
    if given["output"] is None:
        raise click.UsageError("-o DIR is missing: the folder to write the statistics into")
    check_outputs(given)
    from ftplan.api.statistics import compute_stats
    from ftplan.spark_stats.mapping import LogMapping

    mapping = {name: given[name] for name in LogMapping.__dataclass_fields__ if name in given}
    mapping["window_s"] = given["window"]
    mapping["keys"] = tuple(_key(text) for text in given["keys"])
    mapping["key_groups"], mapping["operator_key_groups"] = _key_groups(given["key_groups"])
    for name in ("time_from", "time_to", "snapshot_time"):
        mapping[name] = log_options.utc(given[name])
    if given["input_format"] == "auto" and not given["time_columns"]:
        mapping["input_format"] = recognised(logs) or "auto"
        if mapping["input_format"] != "auto":
            say(f"input format: {mapping['input_format']}, by looking", quiet=given["quiet"])
    engines: list[str] = []
    with progress("computing statistics", hidden=given["no_progress"] or given["quiet"]) as report:
        manifest = compute_stats(
            logs,
            given["output"],
            engine=given["engine"],
            master=given["master"],
            topology=given["topology"],
            force=given["force"],
            progress=report,
            told=engines.append,
            **mapping,
        )
    rows = [
        (
            "windows",
            f"{manifest.windows} of {manifest.window_s:g} s, {manifest.start:%Y-%m-%d %H:%M} to "
            f"{manifest.end:%Y-%m-%d %H:%M} UTC",
        ),
        ("rows", f"{manifest.rows_read:,} read, {manifest.rows_rejected:,} rejected"),
        ("coverage", f"{manifest.coverage:.1%} of the windows have records"),
        ("operators", ", ".join(f"{n} ({o.key_groups or 'no'} key groups)" for n, o in manifest.operators.items())),
        *(("engine", text) for text in engines),
    ]
    if not given["quiet"]:
        # The folder is the answer; standard output stays empty.
        for name, value in rows:
            say(f"{name}: {value}")
        for warning in manifest.warnings:
            say(f"warning: {warning.message} [{warning.code}]")
        if not any(o.key_groups for o in manifest.operators.values()):
            needs = f"{ALLOCATE_CHECKPOINTS.name} needs --key-column or --key-groups"
            say(f"warning: no key groups: {needs}; tasks are there")
        say(f"wrote {given['output']}")


def _key(text: str) -> tuple[str, tuple[str, ...]]:
    operator, equals, columns = text.partition("=")
    if not equals or not columns:
        raise click.UsageError(f"--key {text!r}: expected OPERATOR=COLUMN or OPERATOR=COLUMN,COLUMN")
    return operator, tuple(columns.split(","))


def _key_groups(texts: tuple[str, ...]) -> tuple[int | None, tuple[tuple[str, int], ...]]:
    overall: int | None = None
    single: list[tuple[str, int]] = []
    for text in map(str, texts):
        operator, equals, number = text.rpartition("=")
        if not number.isascii() or not number.isdigit():
            raise click.UsageError(f"--key-groups {text!r}: expected a number or OPERATOR=NUMBER")
        if equals:
            single.append((operator, int(number)))
        elif overall is not None:
            raise click.UsageError(f"--key-groups: given twice, {overall} and {number}; OPERATOR=N sets one operator's")
        else:
            overall = int(number)
    return overall, tuple(single)
