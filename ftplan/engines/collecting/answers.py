"""Read a folder of collected answers back, or answers that somebody saved by hand."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from ftplan.errors import FtplanError
from ftplan.io.documents import display_name


class Answer(NamedTuple):
    """What an endpoint answered: when (UTC; None where nobody noted it), to which path, and the answer itself."""

    at: datetime | None
    path: str
    value: Any
    metric: str | None = None


def is_collection(folder: Path) -> bool:
    """Return whether a folder was written by ``ftplan collect``."""
    return (folder / "collection.json").is_file()


def answers(folder: Path) -> Iterator[Answer]:
    """Return the answers of a collected folder in the order in which they came; failures are left out.

    Raises FtplanError if a line but the last is no answer.
    """
    for file in sorted((folder / "answers").glob("*.jsonl*"), key=_hour):
        with _lines(file) as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    entry = json.loads(line)
                    at = datetime.fromisoformat(entry["at"])
                    path, answer, metric = entry["path"], entry.get("answer"), entry.get("metric")
                except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                    raise FtplanError(f"{display_name(file)}: line {number} is no answer ({error})") from error
                if entry.get("status") == 200:
                    yield Answer(at, path, answer, metric)


def _hour(file: Path) -> tuple[str, bool]:
    """Return the hour of a file, and whether lines of the same hour may stand in a packed file before it."""
    return file.name.partition(".")[0], file.suffix != ".gz"


@contextmanager
def _lines(file: Path) -> Iterator[Iterator[bytes]]:
    """Open a file of lines, packed or not.

    Raises FtplanError if it cannot be read, or a packed one is damaged.
    """
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as lines:
            yield iter(lines)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise FtplanError(f"{display_name(file)}: cannot be read: {reason}") from None
