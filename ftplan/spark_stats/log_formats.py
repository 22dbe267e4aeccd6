"""The formats of logs, by the names of ``--input-format``; the command line takes them from here, without numpy."""

from __future__ import annotations

import glob
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name

from ftplan.errors import FtplanError
from ftplan.spark_stats.packed import ending, unpacked

#: Formats whose columns the user names; all others are engines' logs, whose columns ftplan knows.
NAMED_COLUMNS = ("auto", "parquet", "csv", "jsonl", "regex")
#: Bytes of a file, and files of a folder, that are looked at to recognise a format.
BEGINNING, LOOKED_AT = 1 << 16, 200
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
    #: Its files are lines of text, plain or packed, checked and counted as those of CSV are; other files are only
    #: measured and hashed
    text: bool = False
    options: tuple[str, ...] = ()  # fields of the mapping that belong to this format
    collected: str | None = None  # the engine whose answers, as ``ftplan collect`` saves them, it reads
    #: ``is_one(path) -> bool`` of a file or folder here, in a module that does not import PySpark; by its beginning
    looks: str | None = None


def engine_formats() -> dict[str, LogFormat]:
    """Return the formats of engines' own logs by their names."""
    found: dict[str, LogFormat] = resolve_name(_ENGINES)()
    return found


def recognised(logs: Sequence[str]) -> str | None:
    """Return the engine's format that all logs are of, by what they hold; None where it is none, or they are remote.

    Raises FtplanError if a folder was collected from an engine whose answers no format reads.
    """
    paths = [path for log in logs for path in (sorted(glob.glob(log)) or [log.removeprefix("file://")])]
    formats = engine_formats().values()
    found: set[str | None] = set()
    for path in paths:
        engine = _collected_from(path)
        row = next(
            (r for r in formats if (r.collected == engine if engine else r.looks and resolve_name(r.looks)(path))), None
        )
        if engine and row is None:
            readable = " and ".join(sorted(r.collected for r in formats if r.collected))
            raise FtplanError(f"{path}: was collected from {engine}; statistics are computed of answers of {readable}")
        found.add(row.name if row is not None else None)
    return found.pop() if len(found) == 1 else None


def _collected_from(path: str) -> str | None:
    """Return the engine that ``ftplan collect`` asked to write a folder, None of any other path."""
    try:
        head = json.loads((Path(path) / "collection.json").read_bytes())
    except (OSError, ValueError):
        return None
    engine = head.get("from") if isinstance(head, dict) else None
    return engine if isinstance(engine, str) else None


def beginning(path: str, most: int = BEGINNING) -> bytes:
    """Return the first bytes of a local file, of a folder those of its first files; nothing where it has none."""
    place = Path(path)
    try:
        files = [place] if place.is_file() else sorted(p for p in place.iterdir() if p.is_file())[:LOOKED_AT]
        texts = []
        for file in files:
            with file.open("rb") as stream:
                texts.append(unpacked(stream, ending(file.name)).read(most))
        return b"\n".join(texts)
    except (OSError, EOFError, zlib.error):
        return b""


def input_formats() -> tuple[str, ...]:
    """Return the names of all formats."""
    return (*NAMED_COLUMNS, *engine_formats())
