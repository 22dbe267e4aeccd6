"""The formats of logs, by the names of ``--input-format``; the command line takes them from here, without numpy."""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name

#: Formats whose columns the user names; all others are engines' logs, whose columns ftplan knows.
NAMED_COLUMNS = ("auto", "parquet", "csv", "jsonl", "regex")
#: Where the engines' own are listed: above this room, so that they are found by name when one asks.
_ENGINES = "ftplan.engines.registry:log_formats"


@dataclass(frozen=True, slots=True)
class LogFormat:
    """An engine's own log as input of ``compute-stats``; functions are ``module:function``."""

    name: str
    read: str  # ``read(session, logs, files, mapping) -> (Log, LogMapping)``: see :mod:`ftplan.engines.log_rows`
    #: ``find(logs) -> [(path, remote), ...]`` in a module that does not import PySpark, where a folder does not hold
    #: one log file next to the other
    find: str | None = None
    #: Its files are lines of text, plain or .gz, checked and counted as those of CSV are; other files are only measured
    #: and hashed
    text: bool = False
    options: tuple[str, ...] = ()  # fields of the mapping that belong to this format


def engine_formats() -> dict[str, LogFormat]:
    """Return the formats of engines' own logs by their names."""
    found: dict[str, LogFormat] = resolve_name(_ENGINES)()
    return found


def input_formats() -> tuple[str, ...]:
    """Return the names of all formats."""
    return (*NAMED_COLUMNS, *engine_formats())
