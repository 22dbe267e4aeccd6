"""A folder of collected answers: what its ``collection.json`` says of itself, and the answers read back."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from ftplan.errors import FtplanError
from ftplan.io.documents import Source, display_name, read_document
from ftplan.io.fields import FileModel, Interval, Version
from ftplan.io.manifest_file import Instant
from ftplan.io.validation import Loaded, check_envelope, ignored_keys, validate
from ftplan.model.plan import InputFile


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


FORMAT = "ftplan/collection"
NAME = "collection.json"


class CollectionModel(FileModel):
    """What was asked, where and how often."""

    format: Literal["ftplan/collection"]
    format_version: Version
    tool_version: str | None = Field(None, description="Version of ftplan that asked last")
    source: Annotated[str, Field(min_length=1)] = Field(alias="from", description="What answers: flink, storm, ...")
    url: Annotated[str, Field(min_length=1)] = Field(description="The endpoint, without credentials")
    every_s: Interval = Field(description="Seconds from one poll to the next, as last asked")
    begun: Instant = Field(description="When the first answer was asked for, ISO 8601 in UTC")
    options: dict[str, Any] = Field(default_factory=dict, description="What else was asked, as last asked")


class CollectionHead(NamedTuple):
    """What a folder of collected answers says of itself; times in UTC."""

    source: str
    url: str
    every_s: float
    begun: datetime
    options: dict[str, Any]

    def document(self, tool_version: str) -> dict[str, Any]:
        """Return the document that ``collection.json`` holds."""
        return {
            "format": FORMAT,
            "format_version": "1.0",
            "tool_version": tool_version,
            "from": self.source,
            "url": self.url,
            "every_s": self.every_s,
            "begun": written_time(self.begun),
            "options": self.options,
        }


def written_time(instant: datetime) -> str:
    """Return a time as lines hold it: ISO 8601 in UTC, to the millisecond."""
    return f"{instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def head_of(folder: Path) -> CollectionHead:
    """Read and check ``collection.json`` of a folder."""
    return load_collection(folder / NAME).value


def load_collection(source: Source) -> Loaded[CollectionHead]:
    """Read and check the head of a collected folder.

    Raises FtplanError if it cannot be read, or is none.
    """
    document = read_document(source, "collection")
    value = check_envelope(document, FORMAT)
    model = validate(CollectionModel, value, document.name)
    warnings, ignored = ignored_keys(CollectionModel, value, document.name)
    head = CollectionHead(model.source, model.url, model.every_s, model.begun, dict(model.options))
    return Loaded(head, InputFile("collection", document.path, document.sha256), warnings, ignored)
