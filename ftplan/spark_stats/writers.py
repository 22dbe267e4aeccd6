"""Write the statistics folder: a Parquet file a table, the manifest, the placement. Same input, same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from ftplan.errors import OutputError
from ftplan.model.statistics import Manifest, TableFile
from ftplan.spark_stats.mapping import iso
from ftplan.spark_stats.rejects import Rejects, write_rejects

FORMAT = "ftplan/stats"
FORMAT_VERSION = "1.0"


def write_tables(tables: Mapping[str, Any], folder: Path) -> dict[str, TableFile]:
    """Write each table as ``NAME.parquet`` and return its rows and hash.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    import pyarrow.parquet as pq

    written = {}
    try:
        for name, table in tables.items():
            path = folder / f"{name}.parquet"
            pq.write_table(table, path, compression="zstd")
            written[name] = TableFile(table.num_rows, hashlib.sha256(path.read_bytes()).hexdigest())
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror or error})") from error
    return written


def manifest_document(manifest: Manifest, tool_version: str) -> dict[str, Any]:
    """Return the manifest as plain data, as ``manifest.json`` holds it."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "tool_version": tool_version,
        "window_s": manifest.window_s,
        "start": iso(manifest.start),
        "end": iso(manifest.end),
        "windows": manifest.windows,
        "rows_read": manifest.rows_read,
        "rows_rejected": manifest.rows_rejected,
        "coverage": manifest.coverage,
        "engine": manifest.engine,
        "measures": list(manifest.measures),
        "inputs": [asdict(i) for i in manifest.inputs],
        "operators": {name: asdict(o) for name, o in manifest.operators.items()},
        "tables": {name: asdict(t) for name, t in manifest.tables.items()},
    }


def write_documents(
    manifest: Manifest, placement: Mapping[str, Any], rejects: Rejects, folder: Path, tool_version: str
) -> None:
    """Write ``rejects/``, ``placement.yaml`` (if there is a placement) and, last, ``manifest.json``.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    try:
        write_rejects(rejects, folder)
        if placement:
            text = yaml.safe_dump({"placement": dict(placement)}, sort_keys=True, allow_unicode=True, width=120)
            (folder / "placement.yaml").write_text(text, encoding="utf-8")
        document = json.dumps(manifest_document(manifest, tool_version), sort_keys=True, indent=2, ensure_ascii=False)
        (folder / "manifest.json").write_text(document + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror or error})") from error
