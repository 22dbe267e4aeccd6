"""Logs of engines as input of ``compute-stats``: one module a format.

To add a format:

1. Its name in :data:`ftplan.spark_stats.log_formats.InputFormat`, and a row in :data:`ENGINE_FORMATS`.
2. A module beside this one with ``read(session, logs, files, mapping)``, which returns the log and the mapping
   completed with the names of its columns. ``logs`` are files and folders as the user gave them, ``files`` what was
   found there (size and SHA-256 are taken care of), ``mapping`` what else the user said. Make a frame whose columns are
   some of ``rows.COLUMNS`` and give it to ``rows.engine_log``; or make an Arrow table of them on the driver and give it
   to ``rows.arrow_log``.
3. Where a folder does not hold one log file beside the other: ``find(logs) -> [(path, remote), ...]`` in a module that
   does not import PySpark.

Windows, rejects, spreading, tables and the manifest are then as for any log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any, NamedTuple

from ftplan.errors import FtplanError
from ftplan.spark_stats.mapping import FREE_WITH_ENGINES, LogMapping


class EngineFormat(NamedTuple):
    """Where a format is read, and how its files are found: functions as ``module:function``.

    ``text``: its files are lines of text, plain or .gz, checked and counted as those of CSV are; other files are only
    measured and hashed.
    """

    read: str
    find: str | None = None
    text: bool = False


#: Each format's owner adds its row.
ENGINE_FORMATS: Mapping[str, EngineFormat] = {
    "spark-eventlog": EngineFormat(
        read="ftplan.engines.spark.event_log:read",
        find="ftplan.engines.spark.readable_files:find",
    ),
    "flink-rest": EngineFormat(
        read="ftplan.engines.flink.rest_log:read",
        find="ftplan.engines.flink.rest_files:find",
    ),
    "flink-slf4j": EngineFormat(read="ftplan.engines.flink.slf4j_log:read", text=True),
    "kafka-log-dirs": EngineFormat("ftplan.engines.kafka.log_dirs:read"),
    "prometheus": EngineFormat(
        "ftplan.engines.prometheus.log:read",
        "ftplan.engines.prometheus.folder:find",
        text=True,
    ),
}


def function(name: str) -> Callable[..., Any]:
    """Return the function behind ``module:function``."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)  # type: ignore[no-any-return]


def refuse_columns(mapping: LogMapping) -> None:
    """Raise FtplanError if options name columns of a format that knows its columns."""
    if not mapping.from_engine:
        return
    for field in fields(mapping):
        if field.name not in FREE_WITH_ENGINES and getattr(mapping, field.name) != field.default:
            option = field.name.replace("_", "-").removesuffix("s" if field.name.endswith("_columns") else "")
            option = {"keys": "key"}.get(option, option)
            raise FtplanError(f"--{option}: {mapping.input_format} knows its columns; leave the option out")
