"""Rows of an engine's log, whatever the engine, as a log that the pipeline of ``compute-stats`` takes.

A log reader is ``read(session, logs, files, mapping)``, which returns the log and the mapping completed with the names
of its columns. ``logs`` are files and folders as the user gave them, ``files`` what was found there (size and SHA-256
are taken care of), ``mapping`` what else the user said. It makes a frame whose columns are some of :data:`COLUMNS` and
gives it to :func:`engine_log`; or makes an Arrow table of them on the driver and gives it to :func:`arrow_log`.
Windows, rejects, spreading, tables and the manifest are then as for any log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import functions as F

from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.mapping import LogMapping
from ftplan.spark_stats.readers import Field, FieldKind, Log
from ftplan.spark_stats.session import Session

#: Columns that an engine's rows may have: type in the frame, kind of field, and the field of LogMapping.
#:
#: ``time_us`` is microseconds since the epoch, ``operator`` the operator's id. ``cpu`` and ``busy`` are milliseconds
#: and, like ``records``, ``records_out`` and ``bytes``, increases since the row before of the same task, never
#: running totals. ``memory``, ``queue`` and ``state`` are what stands at that time; the largest in a window counts.
#: ``node`` is a host.
#:
#: A row with ``task`` and ``key_group`` counts for both; one with ``key_group`` alone for the key group only (state by
#: key group, say). A row with ``task`` alone of an operator that has key groups is spread over those of the task, and
#: a row with neither over all: these are marked ``estimated``. Leave ``state`` null in rows to be spread where other
#: rows give it by key group.
COLUMNS: Mapping[str, tuple[str, FieldKind, str]] = {
    "time_us": ("bigint", "long", "time_columns"),
    "operator": ("string", "text", "operator_column"),
    "task": ("int", "int", "task_column"),
    "key_group": ("int", "int", "key_columns"),
    "records": ("double", "real", "records_column"),
    "records_out": ("double", "real", "records_out_column"),
    "bytes": ("double", "real", "bytes_column"),
    "cpu": ("double", "real", "cpu_column"),
    "busy": ("double", "real", "busy_column"),
    "memory": ("double", "real", "memory_column"),
    "queue": ("double", "real", "queue_column"),
    "state": ("double", "real", "state_column"),
    "node": ("string", "text", "node_column"),
    "upstream_operator": ("string", "text", "upstream_operator_column"),
    "upstream_task": ("int", "int", "upstream_task_column"),
}


def engine_log(
    frame: Any,
    files: Sequence[LogFile],
    mapping: LogMapping,
    key_groups: Mapping[str, int],
    faults: Sequence[str] = (),
    warnings: Sequence[Warn] = (),
) -> tuple[Log, LogMapping]:
    """Return the log behind a frame of :data:`COLUMNS`, and the mapping that says so.

    Raises FtplanError if ``--key-groups`` says otherwise.

    *frame*: at least ``time_us``, ``operator``, ``records`` (0 where a row is about something else) and one of ``task``
    and ``key_group``; maybe ``file`` (int, position in *files*), ``broken`` (int, position in *faults*, null where the
    row is good) and ``raw`` (the line as text, for the rejects). *key_groups*: the number of key groups of each
    operator id where the engine tells; operators that are not in it have none, unless ``--key-groups`` or a topology
    says so. *warnings*: what deserves a second look; the manifest has them, and the command says them.
    """
    names = [c for c in COLUMNS if c in frame.columns]
    typed = [F.col(c).cast(COLUMNS[c][0]).alias(f"f{i}") for i, c in enumerate(names)]
    extra = {"file": F.lit(-1), "broken": F.lit(None).cast("int"), "raw": F.to_json(F.struct(*names))}
    own = [(F.coalesce(F.col(c), default) if c in frame.columns else default).alias(c) for c, default in extra.items()]
    fields = {c: Field(c, F.col(f"f{i}"), COLUMNS[c][1]) for i, c in enumerate(names)}
    named: dict[str, Any] = {COLUMNS[c][2]: (c,) if COLUMNS[c][2].endswith("s") else c for c in names}
    completed = replace(
        mapping,
        **named,
        time_format="epoch-us",
        key_hash="identity",
        operator_key_groups=_agreed(mapping, key_groups),
    )
    log = Log(frame.select(*typed, *own), F.col("raw"), fields, tuple(files), tuple(faults), warnings=tuple(warnings))
    return log, completed


def arrow_log(
    session: Session,
    table: Any,
    files: Sequence[LogFile],
    mapping: LogMapping,
    key_groups: Mapping[str, int],
    warnings: Sequence[Warn] = (),
) -> tuple[Log, LogMapping]:
    """Return the log behind an Arrow table of :data:`COLUMNS`, which a reader made on the driver."""
    return engine_log(arrow_frame(session, table), files, mapping, key_groups, warnings=warnings)


def arrow_frame(session: Session, table: Any) -> Any:
    """Return an Arrow table as a frame.

    In one chunk: Spark stops at the first empty one, such as that of an empty table among others put together.
    """
    return session.spark.createDataFrame(table.combine_chunks())


def rejected_rows(fault: int, texts: Sequence[str]) -> Any:
    """Return the rows of lines that are broken by the fault of a number, as an Arrow table."""
    import pyarrow as pa

    return pa.table({"broken": pa.array([fault] * len(texts), pa.int32()), "raw": pa.array(texts, pa.string())})


def _agreed(mapping: LogMapping, key_groups: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    given = dict(mapping.operator_key_groups)
    for operator, count in key_groups.items():
        said = given.get(operator, mapping.key_groups)
        if said is not None and said != count:
            raise FtplanError(
                f"--key-groups {said}: operator {operator!r} has {count} in the log; leave the option out"
            )
    return tuple(sorted({**given, **key_groups}.items()))
