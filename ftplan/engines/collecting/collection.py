"""``collection.json``: what a folder of collected answers says of itself."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from ftplan.io.documents import Source, read_document
from ftplan.io.fields import FileModel, Interval, Version
from ftplan.io.manifest_file import Instant
from ftplan.io.validation import Loaded, check_envelope, ignored_keys, validate
from ftplan.model.plan import InputFile

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

    Raises
    ------
    FtplanError
        If it cannot be read, or is none.
    """
    document = read_document(source, "collection")
    value = check_envelope(document, FORMAT)
    model = validate(CollectionModel, value, document.name)
    warnings, ignored = ignored_keys(CollectionModel, value, document.name)
    head = CollectionHead(model.source, model.url, model.every_s, model.begun, dict(model.options))
    return Loaded(head, InputFile("collection", document.path, document.sha256), warnings, ignored)
