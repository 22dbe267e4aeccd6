"""Write the statistics folder: a Parquet file a table, the manifest, the placement. Same input, same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

from ftplan.errors import OutputError
from ftplan.model.statistics import Manifest, TableFile
from ftplan.spark_stats.mapping import iso
from ftplan.spark_stats.rejects import Rejects, write_rejects


def write_tables(tables: Mapping[str, Any], folder: Path) -> dict[str, TableFile]:
    """Write each table as ``NAME.parquet`` and return its rows and hash; OutputError if the disk fails."""
    written = {}
    with _disk_errors(folder):
        for name, table in tables.items():
            path = folder / f"{name}.parquet"
            pq.write_table(table, path, compression="zstd")
            written[name] = TableFile(table.num_rows, hashlib.sha256(path.read_bytes()).hexdigest())
    return written


def write_documents(
    manifest: Manifest, placement: Mapping[str, Any], rejects: Rejects, folder: Path, tool_version: str
) -> None:
    """Write ``rejects/`` and ``placement.yaml`` where there are any, last ``manifest.json``; OutputError as above."""
    with _disk_errors(folder):
        write_rejects(rejects, folder)
        if placement:
            text = yaml.safe_dump({"placement": dict(placement)}, sort_keys=True, allow_unicode=True, width=120)
            (folder / "placement.yaml").write_text(text, encoding="utf-8")
        document = manifest_document(manifest, tool_version)
        text = json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False)
        (folder / "manifest.json").write_text(text + "\n", encoding="utf-8")


def manifest_document(manifest: Manifest, tool_version: str) -> dict[str, Any]:
    """Return ``manifest.json`` as a mapping."""
    document = asdict(manifest)
    if not manifest.warnings:
        del document["warnings"]
    return {
        **document,
        "format": "ftplan/stats",
        "format_version": "1.0",
        "tool_version": tool_version,
        "start": iso(manifest.start),
        "end": iso(manifest.end),
        "windows": manifest.windows,
    }


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror or error})") from error
