"""Bent and cut files either load or end in one FtplanError, never in another exception."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.io.parsers import parse_yaml
from ftplan.io.stats_store import load_stats
from tests.io import examples
from tests.io.cases import CASES
from tests.io.examples import check_file

DOCUMENTS = {kind: document for kind, (document, _) in CASES.items() if kind != "stats"}
FILES = {f"{kind}.json": json.dumps(document).encode() for kind, document in DOCUMENTS.items()}
FILES |= {f"{kind}.yaml": yaml.safe_dump(document).encode() for kind, document in DOCUMENTS.items()}
FILES["ftplan.toml"] = b'[inputs]\ntopology = "a.yaml"\n[check]\nx = [1, 2.5, 2024-01-01]\n'

#: Pieces of syntax that make trouble more often than random bytes.
PIECES = st.sampled_from(
    [b"NaN", b"Infinity", b"-", b"{", b"}", b"[", b"]", b'"', b"'", b"&a ", b"*a", b"<<: ", b"!!", b"\xff", b"\0",
     b"\n", b"\t", b": ", b"1e999", b"9" * 400, b"null", b"no", b"~", b"---\n", b"\xef\xbb\xbf", b"%", b"#", b"|\n"]
)  # fmt: skip


@st.composite
def bent(draw: st.DrawFn, data: bytes) -> bytes:
    """Return the data after a few flips, insertions, deletions and cuts."""
    result = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(result)))
        step = draw(st.sampled_from(["flip", "insert", "delete", "cut"]))
        if step == "flip" and at < len(result):
            result[at] ^= 1 << draw(st.integers(0, 7))
        elif step == "insert":
            result[at:at] = draw(PIECES)
        elif step == "delete":
            del result[at : at + draw(st.integers(1, 20))]
        elif step == "cut":
            del result[at:]
    return bytes(result)


def complaint(function: Callable[..., Any], *args: Any) -> str | None:
    """Return the message of the FtplanError that a call raises, None if it raises none; others come through."""
    try:
        function(*args)
    except FtplanError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_bent_documents(tmp_path: Path, name: str, data: st.DataObject) -> None:
    path = tmp_path / name
    path.write_bytes(data.draw(bent(FILES[name])))
    message = complaint(check_file, path)
    assert message is None or path.name in message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("kind", CASES)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_value_at_any_place(kind: str, data: st.DataObject) -> None:
    document, load = CASES[kind]
    bent_document: Any = json.loads(json.dumps(document))
    inner = bent_document
    while True:
        keys = list(inner) if isinstance(inner, dict) else range(len(inner))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(inner[key], (dict, list)) or not inner[key] or data.draw(st.booleans()):
            break
        inner = inner[key]
    inner[key] = data.draw(json_values)
    assert complaint(load, bent_document) != ""


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40) | st.text("[]{}:,-&*a!|>'\"#\n \t<?%0.1e", max_size=40))
def test_any_text_as_yaml(text: str) -> None:
    message = complaint(parse_yaml, text, "t.yaml")
    assert message is None or message.startswith("t.yaml: line ")


@pytest.fixture(scope="module")
def stats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz") / "stats"
    folder.mkdir()
    rows = [examples.key_group_row(key_group=g) for g in range(3)]
    tables = load_stats({"manifest": examples.manifest(), "key_groups": rows}).value.tables
    pq.write_table(tables["key_groups"], folder / "key_groups.parquet")
    digest = hashlib.sha256((folder / "key_groups.parquet").read_bytes()).hexdigest()
    listed = {"key_groups": {"rows": 3, "sha256": digest}}
    (folder / "manifest.json").write_text(json.dumps(examples.manifest(tables=listed)))
    (folder / "placement.yaml").write_text("tasks: {join: [n1, n2]}\n")
    check_file(folder)
    return folder


@pytest.mark.parametrize("name", ["manifest.json", "key_groups.parquet", "placement.yaml"])
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_bent_statistics(stats: Path, name: str, data: st.DataObject) -> None:
    original = (stats / name).read_bytes()
    try:
        (stats / name).write_bytes(data.draw(bent(original)))
        assert complaint(check_file, stats) != ""
    finally:
        (stats / name).write_bytes(original)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_bent_parquet_without_a_hash(stats: Path, data: st.DataObject) -> None:
    manifest, table = (stats / "manifest.json").read_bytes(), (stats / "key_groups.parquet").read_bytes()
    try:
        (stats / "manifest.json").write_text(json.dumps(examples.manifest()))
        (stats / "key_groups.parquet").write_bytes(data.draw(bent(table)))
        assert complaint(check_file, stats) != ""
    finally:
        (stats / "manifest.json").write_bytes(manifest)
        (stats / "key_groups.parquet").write_bytes(table)
