"""Measured recoveries, in the forms in which people have them: one file a form.

A reader is ``read(path, options) -> Reading``. To add one, write it beside the others and give it a row in
:data:`READERS`; :func:`form_of` says which file is whose.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import NamedTuple

from ftplan.errors import FtplanError, suggestion
from ftplan.io.documents import display_name
from ftplan.model.plan import InputFile, Warn
from ftplan.model.recoveries import Curve, Recovery

#: Form, and its reader as "module:function".
READERS: Mapping[str, str] = {
    "recoveries": "ftplan.io.recoveries.recovery_table:read",
    "curves": "ftplan.io.recoveries.curve_table:read",
    "flink": "ftplan.io.recoveries.flink_spans:read",
    "spark": "ftplan.io.recoveries.spark_event_log:read",
}
#: What is looked at to tell the form of a text.
_BEGINNING = 1 << 16


class ReadingOptions(NamedTuple):
    """How recoveries are read.

    Attributes
    ----------
    columns
        Role of a column, such as ``recovery`` or ``lag``, and what it is called.
    interval_s
        Seconds between checkpoints where a source does not say.
    """

    columns: Mapping[str, str] = {}
    interval_s: float | None = None


class Reading(NamedTuple):
    """What a source holds: recoveries, or curves in which they are to be found; and what was left out."""

    recoveries: tuple[Recovery, ...] = ()
    curves: tuple[Curve, ...] = ()
    warnings: tuple[Warn, ...] = ()
    inputs: tuple[InputFile, ...] = ()


def read_recoveries(path: str | os.PathLike[str], form: str, options: ReadingOptions) -> Reading:
    """Read a file or folder; *form* is one of :data:`READERS` or ``auto``.

    Raises
    ------
    FtplanError
        If it cannot be read, its form cannot be told, or it holds neither recoveries nor curves.
    """
    name = display_name(path)
    if not Path(path).exists():
        try:
            near = suggestion(Path(path).name, [entry.name for entry in Path(path).parent.iterdir()])
        except OSError:
            near = ""
        raise FtplanError(f"{name}: no such file or folder{near}")
    reader = resolve_name(READERS[form_of(Path(path), options) if form == "auto" else form])
    reading: Reading = reader(Path(path), options)
    if not reading.recoveries and not reading.curves:
        why = f": {reading.warnings[0].message}" if reading.warnings else ""
        raise FtplanError(f"{name}: holds no recovery that can be used{why}")
    return reading


def form_of(path: Path, options: ReadingOptions) -> str:
    """Return the form of a source, by its ending, its columns and how its text begins.

    Raises
    ------
    FtplanError
        If it looks like none.
    """
    from ftplan.io.recoveries import recovery_table
    from ftplan.io.recoveries.tables import header, is_table

    if path.is_dir():
        return "flink" if (path / "collection.json").is_file() else "spark"
    if is_table(path):
        return "recoveries" if recovery_table.fits(header(path), options) else "curves"
    try:
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    except OSError as error:
        raise FtplanError(f"{display_name(path)}: cannot be read: {error.strerror or error}") from None
    if b'"SparkListener' in beginning or path.suffix in (".zstd", ".lz4", ".zst"):
        return "spark"
    return "flink"
