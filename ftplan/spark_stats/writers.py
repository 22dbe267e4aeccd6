"""Write the statistics folder: a Parquet file a table, the manifest, the placement. Same input, same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from ftplan.errors import OutputError
from ftplan.model.statistics import Manifest, OperatorStatistics, TableFile
from ftplan.spark_stats.mapping import LogMapping, iso
from ftplan.spark_stats.operators import Operators
from ftplan.spark_stats.rejects import Rejects, write_rejects


def operator_statistics(
    mapping: LogMapping, tables: Mapping[str, Any], operators: Operators, windows: int
) -> dict[str, OperatorStatistics]:
    """Return resolution, hash and coverage of each operator in the tables.

    An operator without loads of key groups, such as one that only sends, has none, whatever ``--key-groups`` says of
    all operators: only its own number or the topology's counts.
    """
    groups = tables["key_groups"]
    keyed = set(groups["operator"].unique().to_pylist())
    spread = groups.filter(groups["estimated"]).group_by(["operator", "resolution"]).aggregate([])
    resolution_of = dict(zip(spread["operator"].to_pylist(), spread["resolution"].to_pylist(), strict=True))
    loads = [tables[name].select(["operator", "window_start"]) for name in ("key_groups", "tasks") if name in tables]
    counted = pa.concat_tables(loads).group_by("operator").aggregate([("window_start", "count_distinct")])
    counts = dict(zip(counted["operator"].to_pylist(), counted["window_start_count_distinct"].to_pylist(), strict=True))
    result = {}
    for operator in sorted(counts):
        estimated = operator in resolution_of
        result[operator] = OperatorStatistics(
            key_groups=operators.count(operator) if operator in keyed else operators.counts.get(operator),
            key_hash=mapping.key_hash if operator in keyed and not estimated else None,
            resolution=resolution_of.get(operator, "key_group" if operator in keyed else "task"),
            estimated=estimated,
            coverage=round(counts[operator] / windows, 12),
        )
    return result


def write_tables(tables: Mapping[str, Any], folder: Path) -> dict[str, TableFile]:
    """Write each table as ``NAME.parquet`` and return its rows and hash; OutputError if the disk fails.

    A job without keys has no table of key groups.
    """
    written = {}
    with _disk_errors(folder):
        for name, table in tables.items():
            if name == "key_groups" and not table.num_rows:
                continue
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
