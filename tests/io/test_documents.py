"""Reading YAML and JSON: every way in which a file can be no document is one clear line."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from ftplan.io.documents import display_name, read_document
from ftplan.io.topology_file import load_topology
from tests.io.examples import said, write


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.yaml", "a: [1, 2\nb: 3\n",
         "t.yaml: line 2: did not find expected ',' or ']' while parsing a flow sequence"),
        ("t.yaml", "a: 1\nb: 2\na: 3\n", "t.yaml: line 3: duplicate key 'a'"),
        ("t.yaml", "a:\n\t- 1\n", "t.yaml: line 2: found character that cannot start any token while scanning for "
         "the next token; YAML indents with spaces, not tabs"),
        ("t.yaml", "no: 1\n", "t.yaml: line 1: the key false is not text: quote it"),
        ("t.yaml", "12: 1\n", "t.yaml: line 1: the key 12 is not text: quote it"),
        ("t.yaml", "? [a]\n: 1\n", "t.yaml: line 1: a key must be text, not a list or a mapping"),
        ("t.yaml", "a: 1\n---\nb: 2\n", "t.yaml: line 2: a second document begins; expected one"),
        ("t.yaml", "a: !!python/object:os.system {}\n", "t.yaml: line 1: the tag "
         "'tag:yaml.org,2002:python/object:os.system' is not allowed; write plain values"),
        ("t.yaml", "a: {<<: 1}\n", "t.yaml: line 1: the merge key << needs a mapping"),
        ("t.yaml", "a: !x [1]\n", "t.yaml: line 1: the tag '!x' is not allowed; write plain values"),
        ("t.yaml", "a: !x 1\n", "t.yaml: line 1: the tag '!x' is not allowed; write plain values"),
        ("t.yaml", "a: *b\n", "t.yaml: line 1: the alias *b has no anchor before it"),
        ("t.yaml", "a: &b [*b]\n", "t.yaml: line 1: the alias *b has no anchor before it"),
        ("t.yaml", "a:\n  b: [1, .nan]\n", "t.yaml: a.b[1]: must be a finite number, got NaN"),
        ("t.yaml", "a: -.inf\n", "t.yaml: a: must be a finite number, got -infinity"),
        ("t.yaml", "a: " + "[" * 101 + "]" * 101, "t.yaml: line 1: nested deeper than 100 levels"),
        ("t.yaml", "a: '\x01'\n", "t.yaml: line 1: a character that YAML does not allow (control characters are not "
         "allowed)"),
        ("t.json", '{"a": 1,\n "b" 2}', "t.json: line 2: not JSON: Expecting ':' delimiter (column 6)"),
        ("t.json", '{"a": 1,\n "a": 2}', "t.json: line 2: duplicate key 'a'"),
        ("t.json", '{"a": {"b": [NaN]}}', "t.json: a.b[0]: must be a finite number, got NaN"),
        ("t.json", '{"a": Infinity}', "t.json: a: must be a finite number, got infinity"),
        ("t.json", "[" * 101 + "]" * 101, "t.json: line 1: nested deeper than 100 levels"),
        ("t.json", '{"a": 1} x', "t.json: line 1: not JSON: Extra data (column 10)"),
        ("t.json", '{"a": ' + "1" * 5000 + "}", "t.json: a number with too many digits"),
        ("t.txt", '{"a": 1', "t.txt: line 1: not JSON: Expecting ',' delimiter (column 8)"),
        ("t.yaml", b"", "t.yaml: is empty"),
        ("t.json", b" \n", "t.json: is empty"),
        ("t.yaml", b"a: \x00\x01", "t.yaml: is a binary file; expected YAML or JSON"),
        ("t.json", b"\x1f\x8b\x08abc", "t.json: is a binary file; expected YAML or JSON"),
        ("t.yaml", b"a: 1\nb: \xff\n", "t.yaml: line 2: not UTF-8 (byte 0xff)"),
        ("t.yaml", "a: 1".encode("utf-16"), "t.yaml: is UTF-16 text; save it as UTF-8"),
    ],
)  # fmt: skip
def test_no_document(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    own = "format: ftplan/topology" if name == "t.yaml" else ', "format": "ftplan/topology"}'
    if (
        isinstance(content, str)
        and content.endswith(("\n", "}"))
        and "'\x01'" not in content
        and "[1, 2" not in content
    ):
        content = content.removesuffix("}") + own if name == "t.json" else f"{content}{own}\n"
    write(tmp_path, name, content)
    assert said(read_document, name, "topology") == message


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.yaml", "hunter2: 1\nhunter2: 3\n", "line 2: duplicate key"),
        ("t.yaml", "12: 1\n", "line 1: the key is not text: quote it"),
        ("t.yaml", "a: !hunter2 1\n", "line 1: the tag is not allowed; write plain values"),
        ("t.yaml", "a: !hunter2 [1]\n", "line 1: the tag is not allowed; write plain values"),
        ("t.yaml", "a: *hunter2\n", "line 1: the alias has no anchor before it"),
        ("t.yaml", "hunter2: [.nan]\n", "the document: must be a finite number, got NaN"),
        ("t.json", '{"hunter2": 1, "hunter2": 2}', "line 1: duplicate key"),
        ("t.json", '{"hunter2": [NaN]}', "the document: must be a finite number, got NaN"),
        ("t.yaml", "hunter2\n", "expected a mapping that begins with 'format: ftplan/topology', got text"),
        (
            "t.yaml",
            "root:hunter2:0\n",
            "expected a mapping that begins with 'format: ftplan/topology', got text",
        ),
        ("t.yaml", "format: hunter2\n", "format: is none of ftplan's formats; expected 'ftplan/topology'"),
        ("t.json", '{"format": 2}', "format: is none of ftplan's formats; expected 'ftplan/topology'"),
    ],
)
def test_nothing_of_another_file_is_repeated(tmp_path: Path, name: str, content: str, message: str) -> None:
    """A plan may name any file as its input, and what is said of it goes into the log of CI."""
    write(tmp_path, name, content)
    assert said(load_topology, name) == f"{name}: {message}"


@pytest.mark.parametrize("text", ['"\\ud800"', '"a\\udfff"'])
def test_half_of_a_surrogate_pair_is_refused(tmp_path: Path, text: str) -> None:
    write(tmp_path, "t.json", f'{{"format": "ftplan/topology", "operators": [{{"id": {text}}}]}}')
    assert "half of a surrogate pair" in said(read_document, "t.json", "topology")
    assert "half of a surrogate pair" in said(read_document, {"id": json.loads(text)}, "topology")
    write(tmp_path, "t.yaml", f"format: ftplan/topology\nid: {text}\n")
    assert said(read_document, "t.yaml", "topology").startswith("t.yaml: line 2: ")


def test_missing_file_suggests_a_near_name(tmp_path: Path) -> None:
    write(tmp_path, "topology.yaml", "a: 1")
    assert said(read_document, "topology.yml", "topology") == (
        "topology.yml: no such file (did you mean 'topology.yaml'?)"
    )
    assert said(read_document, "other/topology.yml", "topology") == (
        "other/topology.yml: no such file (nor a folder 'other')"
    )


def test_folder_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "stats").mkdir()
    assert said(read_document, "stats", "topology") == "stats: is a folder; expected a topology file"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(), "t.yaml: may not be read (permission denied)"),
        (OSError(errno.EIO, "Input/output error"), "t.yaml: cannot be read: Input/output error"),
    ],
)
def test_unreadable_file(monkeypatch: pytest.MonkeyPatch, error: OSError, message: str) -> None:
    def fail(_: Path) -> bytes:
        raise error

    monkeypatch.setattr(Path, "read_bytes", fail)
    assert said(read_document, "t.yaml", "topology") == message


def test_a_name_that_is_none() -> None:
    assert said(read_document, "a\0b", "topology") == r"a\x00b: cannot be read: embedded null byte"


def test_json_that_yaml_cannot_locate(tmp_path: Path) -> None:
    """Where YAML stumbles first, a duplicate key is told without its line; what is not nested is not counted."""
    write(tmp_path, "t.json", '{"format": "ftplan/plan", "b": "\\ud83d\\ude00", "a": 1, "a": 2}')
    assert said(read_document, "t.json", "topology") == "t.json: duplicate key 'a'"
    write(tmp_path, "u.json", '{"a": "{\\"[",\n"b": ' + "[" * 100)
    assert said(read_document, "u.json", "topology") == "u.json: line 2: nested deeper than 100 levels"


def test_aliases_are_bounded(tmp_path: Path) -> None:
    """The billion laughs: ten levels of ten references each."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    write(tmp_path, "t.yaml", "\n".join(lines))
    assert said(read_document, "t.yaml", "topology") == (
        "t.yaml: line 6: aliases stand for more than 1,000,000 values; write them out"
    )


def test_yaml_values(tmp_path: Path) -> None:
    """Where YAML 1.1 and 1.2 differ, the scalar stays text; anchors, merge keys and quotes work; a BOM is dropped."""
    text = """\ufeffdefaults: &d {cpu: 1, zone: a}
node: {<<: *d, cpu: 2}
again: *d
words: [yes, No, on, off, true, null, ~, '', 'no', "1", n, y]
numbers: [1, -2, 1.5, 1e3, .5, 0x10, 1_000, +3]
texts: [017, 0o17, 1:30, 2011-01-01, 1.2.3, a b, "\\u00e9", 0.1.2, 00.5, '.']
tagged: [!!str 12, !!int "7"]
"""
    write(tmp_path, "t.yaml", text)
    value = read_document("t.yaml", "topology").value
    assert value["node"] == {"cpu": 2, "zone": "a"}
    assert value["again"] == value["defaults"]
    assert value["words"] == [True, False, True, False, True, None, None, "", "no", "1", "n", "y"]
    assert value["numbers"] == [1, -2, 1.5, 1000.0, 0.5, 16, 1000, 3]
    assert value["texts"] == ["017", "0o17", "1:30", "2011-01-01", "1.2.3", "a b", "é", "0.1.2", "00.5", "."]
    assert value["tagged"] == ["12", 7]


def test_yaml_and_json_read_alike(tmp_path: Path) -> None:
    document = {"a": [1, 2.5, None, True, "x"], "b": {"c": []}}
    text = json.dumps(document)
    write(tmp_path, "t.json", text)
    write(tmp_path, "t.yaml", text)
    assert read_document("t.json", "x").value == read_document("t.yaml", "x").value == document


def test_brackets_in_strings_are_no_nesting(tmp_path: Path) -> None:
    document = {"a": "[" * 500 + '"\\' + "{" * 500}
    write(tmp_path, "t.json", json.dumps(document))
    assert read_document("t.json", "x").value == document


def test_standard_input_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a: 1\n")))
    document = read_document("-", "topology")
    assert (document.value, document.name, document.path) == ({"a": 1}, "standard input", "-")
    assert said(read_document, "-", "cluster") == (
        "standard input: '-' can stand for one input only; give the others as files"
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a": 2}')))
    assert read_document("-", "topology").value == {"a": 2}


def test_mapping_in_memory() -> None:
    """Numpy values and tuples become plain data; equal data has one fingerprint."""
    at = datetime(2024, 1, 1, tzinfo=UTC)
    assert read_document({"at": at}, "topology").value == {"at": "2024-01-01T00:00:00+00:00"}
    document = read_document({"a": np.arange(3), "b": (np.float64(1.5), {"c"})}, "topology")
    assert document.value == {"a": [0, 1, 2], "b": [1.5, ["c"]]}
    assert document.path is None
    assert document.sha256 == read_document({"b": [1.5, ["c"]], "a": [0, 1, 2]}, "topology").sha256
    assert said(read_document, {"a": {1: 2}}, "topology") == "topology: the key 1 is not text"
    assert said(read_document, {"a": object()}, "topology") == (
        "topology: a value of type object has no place in a document"
    )
    assert said(read_document, {"a": 10**5000}, "topology") == "topology: a number with too many digits"
    endless: dict[str, object] = {}
    endless["a"] = endless
    assert said(read_document, endless, "topology") == "topology: nested deeper than 100 levels"


def test_names_and_fingerprint(tmp_path: Path) -> None:
    """A plan records paths relative to the working folder, and the hash of the bytes as they lie there."""
    path = write(tmp_path, "t.yaml", "a: 1\n")
    document = read_document(path, "topology")
    assert (document.name, document.path) == ("t.yaml", "t.yaml")
    assert document.sha256 == hashlib.sha256(b"a: 1\n").hexdigest()
    assert display_name("/elsewhere/t.yaml") == "/elsewhere/t.yaml"
