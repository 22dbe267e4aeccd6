"""Statistics folders: the manifest, the Parquet tables, and the placement that the log showed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ftplan.errors import FtplanError, made_by, suggestion
from ftplan.io.documents import (
    Document,
    Source,
    display_name,
    plain,
    read_document,
    recorded_path,
    sha256_of_data,
    sha256_of_file,
)
from ftplan.io.inputs_read import remember_input
from ftplan.io.manifest_file import ManifestModel, manifest_of
from ftplan.io.placement_checks import PlacementModel, placement_entry
from ftplan.io.sentences import first_line
from ftplan.io.stats_tables import checked_table
from ftplan.io.validation import FORMATS, Loaded, check_version, ignored_keys, validate
from ftplan.model.plan import InputFile
from ftplan.model.problem import StatsTables
from ftplan.model.statistics import TABLES, Manifest
from ftplan.model.units import MEASURES

MANIFEST = "manifest.json"
PLACEMENT = "placement.yaml"


def load_stats(source: Source) -> Loaded[StatsTables]:
    """Read and check statistics from a folder, or from a mapping.

    A mapping holds the ``manifest`` as a mapping and each table (``key_groups``, ``tasks``, ``substreams``) as an
    Arrow table, a pandas or polars frame or a list of rows; ``placement`` is optional. The fingerprint of a folder
    is that of its manifest, and the manifest holds those of the tables, which are checked.
    """
    if isinstance(source, Document):
        raise FtplanError(f"{source.name}: is a statistics manifest; give its folder instead")
    return _from_mapping(source) if isinstance(source, Mapping) else _from_folder(source)


def _from_folder(source: str | os.PathLike[str]) -> Loaded[StatsTables]:
    folder = Path(source)
    name = display_name(source)
    remember_input(folder)
    if not os.path.isdir(folder):  # which, unlike Path.is_dir, says no to a name that is too long
        if folder.name == MANIFEST and os.path.isfile(folder):
            raise FtplanError(f"{name}: is the manifest; give the folder {display_name(folder.parent)!r} instead")
        if os.path.exists(folder):
            raise FtplanError(f"{name}: is a file; expected a statistics folder (with {MANIFEST})")
        known = [entry.name for entry in folder.parent.iterdir()] if os.path.isdir(folder.parent) else []
        raise FtplanError(f"{name}: no such folder{suggestion(folder.name, known) or made_by('stats')}")
    if not (folder / MANIFEST).exists():
        raise FtplanError(f"{name}: is no statistics folder: {MANIFEST} is missing")
    document = read_document(folder / MANIFEST, "statistics manifest")
    manifest, named = manifest_of(document)
    there = [kind for kind in TABLES if (folder / f"{kind}.parquet").exists()]
    keyless = _keyless(manifest, there)
    tables = {
        kind: _table_file(folder / f"{kind}.parquet", kind, manifest)
        for kind in TABLES
        if kind in there or kind in manifest.tables or (kind == "key_groups" and not keyless)
    }
    if "key_groups" not in tables:
        tables["key_groups"] = checked_table(_empty("key_groups"), "key_groups", manifest, name)
    placement = None
    if (folder / PLACEMENT).exists():
        placement = placement_of(read_document(folder / PLACEMENT, "placement"))
    stats = StatsTables(manifest if named else _with_measures(manifest, tables), tables, placement)
    return _loaded(stats, document, InputFile("stats", recorded_path(source), document.sha256))


def _keyless(manifest: Manifest, there: Collection[str]) -> bool:
    """Return whether there are statistics of a job without keys, of which no table of key groups is needed."""
    keyed = any(operator.key_groups for operator in manifest.operators.values())
    return "tasks" in there and (not keyed or (bool(manifest.tables) and "key_groups" not in manifest.tables))


def _loaded(stats: StatsTables, document: Document, fingerprint: InputFile) -> Loaded[StatsTables]:
    return Loaded(stats, fingerprint, *ignored_keys(ManifestModel, document.value, document.name))


def _table_file(path: Path, kind: str, manifest: Manifest) -> Any:
    name = display_name(path)
    listed = manifest.tables.get(kind)
    if not path.is_file():
        raise FtplanError(f"{name}: is missing{', but manifest.json lists it' if listed else ''}")
    try:
        if listed is not None and listed.sha256 is not None and path.is_file():
            actual = sha256_of_file(path)
            if actual != listed.sha256.lower():
                raise FtplanError(
                    f"{name}: was changed or cut short: its sha256 is {actual[:12]}…, but manifest.json says "
                    f"{listed.sha256[:12]}…"
                )
        table = pq.read_table(path, partitioning=None)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise FtplanError(f"{name}: is no readable Parquet file (cut short?): {first_line(error)}") from None
    if listed is not None and table.num_rows != listed.rows:
        raise FtplanError(f"{name}: has {table.num_rows} rows, but manifest.json says {listed.rows}")
    try:
        return checked_table(table, kind, manifest, name)
    except (pa.ArrowException, UnicodeError) as error:  # Arrow looks into text only when it is used
        raise FtplanError(f"{name}: holds text that is not UTF-8: {str(error).splitlines()[0]}") from None


def _from_mapping(source: Mapping[str, Any]) -> Loaded[StatsTables]:
    if not isinstance(source.get("manifest"), Mapping):
        raise FtplanError("statistics: manifest: is missing; expected a mapping with 'manifest' and 'key_groups'")
    document = read_document(source["manifest"], "statistics manifest")
    manifest, named = manifest_of(document)
    if source.get("key_groups") is None and _keyless(
        manifest, [kind for kind in TABLES if source.get(kind) is not None]
    ):
        source = {**source, "key_groups": []}
    if source.get("key_groups") is None:
        raise FtplanError("statistics: key_groups: is missing; expected an Arrow table, a frame or a list of rows")
    tables = {
        kind: checked_table(_arrow(source[kind], kind), kind, manifest, f"statistics: {kind}")
        for kind in TABLES
        if source.get(kind) is not None
    }
    placement = None
    if source.get("placement") is not None:
        value = plain(source["placement"], "statistics: placement")
        placement = placement_of(Document(value, sha256_of_data(value), "statistics: placement", None))
    digest = hashlib.sha256(document.sha256.encode())
    for kind, table in tables.items():
        digest.update(f"\n{kind} {sha256_of_table(table)}".encode())
    stats = StatsTables(manifest if named else _with_measures(manifest, tables), tables, placement)
    return _loaded(stats, document, InputFile("stats", None, digest.hexdigest()))


def _arrow(table: Any, kind: str) -> Any:
    """Return a table given in Python as an Arrow table; an empty list is one without rows."""
    return _empty(kind) if isinstance(table, list) and not table else arrow_table(table, f"statistics: {kind}")


def arrow_table(table: Any, name: str) -> Any:
    """Return an Arrow table, a pandas or polars frame, or a list of rows as an Arrow table; *name* is for messages."""
    try:
        if isinstance(table, pa.Table):
            return table
        if isinstance(table, list):
            return pa.Table.from_pylist([dict(row) for row in table])
        if hasattr(table, "to_arrow"):
            return table.to_arrow()
        return pa.Table.from_pandas(table, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise FtplanError(f"{name}: cannot be made an Arrow table: {first_line(error)}") from None


def _empty(kind: str) -> Any:
    return pa.table({column.name: pa.nulls(0) for column in TABLES[kind]})


def sha256_of_table(table: Any) -> str:
    """Return a hash of a table's values, however they are stored."""
    digest = hashlib.sha256()
    for name in table.column_names:
        values = table[name]
        digest.update(f"\n{name} {values.type} {len(values)}".encode())
        digest.update(values.is_null().to_numpy().tobytes())
        if pa.types.is_string(values.type):
            encoded = values.dictionary_encode().combine_chunks()
            digest.update(json.dumps(encoded.dictionary.to_pylist()).encode())
            values = encoded.indices
        else:
            values = values.cast(pa.int64()) if pa.types.is_timestamp(values.type) else values
            values = values.fill_null(False if pa.types.is_boolean(values.type) else 0)
        digest.update(values.to_numpy(zero_copy_only=False).tobytes())
    return digest.hexdigest()


def _with_measures(manifest: Manifest, tables: Mapping[str, Any]) -> Manifest:
    """Return the manifest with the measures that the table of key groups has values of."""
    table = tables["key_groups"]
    measures = tuple(m for m in MEASURES if m == "records" or table[m].null_count < table.num_rows)
    return dataclasses.replace(manifest, measures=measures)


def placement_of(document: Document) -> Mapping[str, Any]:
    """Return the placement in ``placement.yaml``: ``tasks`` and ``key_groups`` with lists of node ids by operator.

    The envelope is optional, and so is the level ``placement`` as in a cluster file.

    Raises FtplanError if it is invalid, or a file of another kind.
    """
    value, name = document.value, document.name
    if not isinstance(value, Mapping):
        raise FtplanError(f"{name}: expected a mapping with 'tasks' or 'key_groups'")
    if "format" in value:
        if value["format"] not in ("ftplan/placement", "ftplan/cluster"):
            what = FORMATS.get(str(value["format"]), "unknown")
            raise FtplanError(f"{name}: format: this is a file of kind {what}; expected 'ftplan/placement'")
        check_version(value, name)
    inner = value.get("placement", value)
    model = validate(PlacementModel, inner, name)
    return placement_entry(model.build())
