"""Measured recoveries, in the forms in which people have them: one file a form.

A reader of logs is ``read(paths, options) -> RecoveryReading``, all files of its form at once: a query that was
restarted stands in two logs. One of tables is ``read(path, options)``. To add one, write it beside the others and give
it a row in :data:`READERS`; :func:`form_of` says which file is whose.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name

from ftplan.costs.recoveries.tables import ReadingOptions, RecoveryReading, joined
from ftplan.errors import FtplanError, suggestion
from ftplan.io.documents import display_name

#: Form, and its reader as "module:function".
READERS: Mapping[str, str] = {
    "recoveries": "ftplan.costs.recoveries.recovery_table:read",
    "curves": "ftplan.costs.recoveries.curve_table:read",
    "flink": "ftplan.costs.recoveries.flink:read",
    "spark": "ftplan.costs.recoveries.spark_event_log:read",
}
#: Forms whose files are read one by one.
TABLES = ("recoveries", "curves")


def read_recoveries(paths: Sequence[str | os.PathLike[str]], form: str, options: ReadingOptions) -> RecoveryReading:
    """Read files and folders; *form* is one of :data:`READERS` or ``auto``.

    Raises
    ------
    FtplanError
        If one cannot be read, its form cannot be told, or those of a form hold neither recoveries nor curves.
    """
    by_form: dict[str, list[Path]] = {}
    for path in map(Path, paths):
        if not path.exists():
            try:
                near = suggestion(path.name, [entry.name for entry in path.parent.iterdir()])
            except OSError:
                near = ""
            raise FtplanError(f"{display_name(path)}: no such file or folder{near}")
        by_form.setdefault(form_of(path, options) if form == "auto" else form, []).append(path)
    readings = []
    for name, some in by_form.items():
        read = resolve_name(READERS[name])
        reading = joined(read(path, options) for path in some) if name in TABLES else read(some, options)
        if not reading.recoveries and not reading.curves:
            why = f": {reading.warnings[0].message}" if reading.warnings else ""
            raise FtplanError(f"{', '.join(map(display_name, some))}: no recovery that can be used{why}")
        readings.append(reading)
    return joined(readings)


def form_of(path: Path, options: ReadingOptions) -> str:
    """Return the form of a source, by its ending, its columns and how its text begins.

    Raises
    ------
    FtplanError
        If it cannot be read.
    """
    from ftplan.costs.recoveries import recovery_table
    from ftplan.costs.recoveries.tables import header, is_table
    from ftplan.engines.collecting.collection import is_collection
    from ftplan.engines.spark.log_files import is_event_log

    if path.is_dir():
        return "flink" if is_collection(path) else "spark"
    if is_table(path):
        return "recoveries" if recovery_table.fits(header(path), options) else "curves"
    return "spark" if is_event_log(str(path)) else "flink"
