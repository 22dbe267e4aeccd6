"""``manifest.json`` of a statistics folder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from ftplan.errors import FtplanError
from ftplan.io.documents import Document
from ftplan.io.fields import Count, FileModel, Id, Interval, Probability, Rows, Version
from ftplan.io.plan_file import WarnModel
from ftplan.io.validation import check_envelope, validate
from ftplan.model.plan import Warn
from ftplan.model.statistics import EPOCH, LogInput, Manifest, OperatorStatistics, Resolution, TableFile
from ftplan.model.units import Measure

FORMAT = "ftplan/stats"


def _instant(value: Any) -> Any:
    """Parse an ISO 8601 time that says its offset from UTC."""
    if not isinstance(value, str):
        raise ValueError("expected a time such as '2011-01-01T00:00:00Z'")
    try:
        instant = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{value[:40]!r} is no time; expected one such as '2011-01-01T00:00:00Z'") from None
    if instant.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone; expected UTC, such as '2011-01-01T00:00:00Z'")
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{value!r} is out of range") from None


Instant = Annotated[
    datetime,
    BeforeValidator(_instant),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2011-01-01T00:00:00Z"]}),
]


class LogInputModel(FileModel):
    """A log file that was read."""

    path: str = Field(description="Where the file lay")
    bytes: Rows | None = Field(None, description="Its size")
    sha256: str | None = Field(None, description="Its hash; null for a file on a remote store")


class OperatorStatisticsModel(FileModel):
    """What the statistics say of one operator as a whole."""

    key_groups: Count | None = Field(None, description="Number of key groups")
    key_hash: str | None = Field(None, description="How keys became key groups")
    resolution: Resolution = Field("key_group", description="What was measured")
    estimated: bool = Field(False, description="true: values were spread over key groups")
    coverage: Probability | None = Field(None, description="Share of the windows with records")


class TableFileModel(FileModel):
    """A Parquet file of the folder."""

    rows: Rows = Field(description="Number of rows")
    sha256: str | None = Field(None, description="Hash of the file")


class ManifestModel(FileModel):
    """One window length and one time range for all tables of a statistics folder."""

    format: Literal["ftplan/stats"]
    format_version: Version
    tool_version: str | None = Field(None, description="Version of ftplan that wrote the folder")
    window_s: Interval = Field(description="Length of a window in seconds; windows are aligned to the epoch")
    start: Instant = Field(description="Start of the first window, UTC")
    end: Instant = Field(description="End of the last window, UTC")
    windows: Rows | None = Field(None, description="(end - start) / window_s")
    rows_read: Rows = Field(0, description="Rows of the log that were read")
    rows_rejected: Rows = Field(0, description="Rows of the log that could not be used")
    coverage: Probability = Field(1.0, description="Share of the windows with records")
    engine: str | None = Field(None, description="What computed the statistics")
    measures: list[Measure] | None = Field(None, description="What the log measures")
    inputs: list[LogInputModel] = Field(default=[], description="The log files")
    warnings: list[WarnModel] = Field(default=[], description="What deserves a second look")
    operators: dict[Id, OperatorStatisticsModel] = Field(description="The operators, by id")
    tables: dict[str, TableFileModel] = Field(default={}, description="The tables, by name without .parquet")


def manifest_of(document: Document) -> tuple[Manifest, bool]:
    """Return the manifest in a document, and whether it names its measures.

    Raises FtplanError if it is invalid, the range ends before it begins, or windows do not divide it.
    """
    name = document.name
    model = validate(ManifestModel, check_envelope(document, FORMAT), name)
    window_us = round(model.window_s * 1e6)
    if model.end <= model.start:
        raise FtplanError(f"{name}: end: must be after start {model.start:%Y-%m-%dT%H:%M:%SZ}")
    for place, instant in (("start", model.start), ("end", model.end)):
        if ((instant - EPOCH) // timedelta(microseconds=1)) % window_us:
            raise FtplanError(f"{name}: {place}: is not on the grid of {model.window_s:g} s windows since 1970-01-01")
    envelope = {"format", "format_version", "tool_version", "windows"}
    built = {
        "operators": {operator: OperatorStatistics(**dict(item)) for operator, item in model.operators.items()},
        "tables": {table: TableFile(**dict(item)) for table, item in model.tables.items()},
        "measures": tuple(model.measures or ("records",)),
        "warnings": tuple(Warn(**dict(item)) for item in model.warnings),
        "inputs": tuple(LogInput(**dict(item)) for item in model.inputs),
    }
    manifest = Manifest(**{**{key: value for key, value in model if key not in envelope}, **built})
    if model.windows is not None and model.windows != manifest.windows:
        raise FtplanError(
            f"{name}: windows: got {model.windows}, expected {manifest.windows} = (end - start) / window_s"
        )
    return manifest, model.measures is not None
