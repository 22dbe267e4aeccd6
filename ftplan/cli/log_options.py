"""The options that say how a log is read and on which engine, for every command that reads one."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from ftplan.cli import options

MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"])

pattern = click.option(
    "--pattern",
    metavar="REGEX",
    help="For regex: what a line holds, as Python's re.search finds it; (?P<name>…) is a column. Lines without it "
    "are rejected. Lookaround, references and \\b are refused: RE2 reads the lines.",
)

fields = options.together(
    click.option("--delimiter", default=",", metavar="CHARACTER", help="What parts the fields of a CSV line."),
    click.option(
        "--csv-column",
        "csv_columns",
        multiple=True,
        metavar="COLUMN",
        help="Names of the columns of a CSV without header.",
    ),
    click.option("--max-rejects", type=options.SHARE, default=0.01, help="Most rows that may be rejected, as a share."),
)

moments = options.together(
    click.option(
        "--time-column",
        "time_columns",
        multiple=True,
        metavar="COLUMN",
        help="When the record was; repeated, columns are joined: year, month, day, HHMM.",
    ),
    click.option(
        "--time-format",
        metavar="FORMAT",
        help="epoch-s, epoch-ms, epoch-us, iso, a strptime format (it has a %) or a Spark datetime pattern. Names of "
        "weekdays are passed over, also wrong ones.  [default: by looking: numbers, ISO, the common log format, "
        "asctime, HTTP's, Log4j's, syslog's]",
    ),
    click.option(
        "--year",
        type=click.IntRange(1, 9999),
        metavar="YEAR",
        help="Of times without a year.  [default: the twelve months until the log was last written]",
    ),
)
span = options.together(
    click.option("--from", "time_from", type=MOMENT, metavar="UTC", help="Reject records before this."),
    click.option("--to", "time_to", type=MOMENT, metavar="UTC", help="Reject records at or after this."),
)
engine = options.together(
    click.option(
        "--engine",
        type=click.Choice(["auto", "spark", "sail"]),
        default="auto",
        help="auto: Sail, within this process and without Java; Apache Spark where --master, SPARK_REMOTE or "
        "spark-submit ask for it, or a log that is too large for this machine.",
    ),
    click.option(
        "--master",
        metavar="URL",
        help="local[*], spark://…, yarn, k8s://…, sc://… (Spark Connect).  [default: local[*]]",
    ),
)


def utc(moment: datetime | None) -> datetime | None:
    """Return a moment that was given without a zone as one of UTC."""
    return None if moment is None else moment.replace(tzinfo=UTC)
