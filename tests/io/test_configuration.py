"""ftplan.toml: where it is found, whose paths are whose, and exact messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from ftplan.io.configuration import find_configuration, read_configuration
from tests.io.examples import said, write

COMMANDS = ["allocate-checkpoints", "compute-stats", "check"]
OPTIONS = {"allocate-checkpoints": {"topology", "copies", "current", "time_limit", "anti_affinity"}}

TEXT = """\
[inputs]
topology = "topology.yaml"
stats = "/absolute/stats"
cluster = "-"

[allocate-checkpoints]
time-limit = "60s"
copies = 2
current = "plans/now.json"

[compute-stats]
whatever = 1
"""


def test_found_in_a_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are relative to the file, not to the working folder; tables of other commands are not read."""
    write(tmp_path, "ftplan.toml", TEXT)
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    found = find_configuration(OPTIONS, COMMANDS)
    assert found is not None
    assert found.inputs == {"topology": "topology.yaml", "stats": "/absolute/stats", "cluster": "-"}
    assert found.commands == {"allocate-checkpoints": {"time_limit": "60s", "copies": 2, "current": "plans/now.json"}}
    monkeypatch.chdir(tmp_path / "a" / "b")
    found = find_configuration(OPTIONS, COMMANDS)
    assert found is not None
    assert found.path == tmp_path / "ftplan.toml"
    assert Path(found.inputs["topology"]) == tmp_path / "topology.yaml"


def test_none_there(tmp_path: Path) -> None:
    assert find_configuration(OPTIONS, COMMANDS, folder=tmp_path) is None


def test_lists_of_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    path = Path(write(tmp_path, "ftplan.toml", '[compute-stats]\nlogs = ["x.csv", "-", "s3://bucket/x.csv"]\n'))
    read = read_configuration(path, {"compute-stats": ["logs"]}).commands["compute-stats"]
    assert read == {"logs": [str(tmp_path / "x.csv"), "-", "s3://bucket/x.csv"]}


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    assert said(read_configuration, tmp_path / "none.toml", {}).endswith(
        "none.toml: cannot be read: No such file or directory"
    )
    path = Path(write(tmp_path, "ftplan.toml", "a = " + "1" * 5000))
    assert ": not TOML: Exceeds the limit (4300 digits)" in said(read_configuration, path, {})


def test_spelling(tmp_path: Path) -> None:
    """A repeatable option may be spelled in the singular, and a mapping says what options are called."""
    path = Path(write(tmp_path, "ftplan.toml", '[compute-stats]\nkey = "a=b"\ntime-column = ["x"]\nload = "bytes"\n'))
    options = {"compute-stats": {"key": "keys", "time_columns": "time_columns", "load": "measure"}}
    assert read_configuration(path, options).commands["compute-stats"] == {
        "keys": "a=b",
        "time_columns": ["x"],
        "measure": "bytes",
    }
    assert read_configuration(path, {"compute-stats": ["keys", "time_columns", "load"]}).commands["compute-stats"] == {
        "keys": ["a=b"],
        "time_columns": ["x"],
        "load": "bytes",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[inputs\n", "line 1: Expected ']' at the end of a table declaration"),
        ("[inputs]\na = 1\na = 2\n", "line 3: Cannot overwrite a value"),
        ("[input]\n", "unknown table 'input' (did you mean 'inputs'?)"),
        ("[allocate-checkpoint]\n", "unknown table 'allocate-checkpoint' (did you mean 'allocate-checkpoints'?)"),
        ("copies = 1\n", "unknown key 'copies'"),
        ("inputs = 1\n", "inputs: expected a table [inputs]"),
        ("[inputs]\ntopolgy = 'x'\n", "[inputs] unknown key 'topolgy' (did you mean 'topology'?)"),
        ("[inputs]\ntopology = 1\n", "[inputs] topology: expected a path in quotes"),
        ("[allocate-checkpoints]\ntime-limits = 1\n",
         "[allocate-checkpoints] unknown key 'time-limits' (did you mean 'time-limit'?)"),
        ("[allocate-checkpoints]\ntime-limit = 1\ntime_limit = 2\n", "[allocate-checkpoints] time_limit: is given "
         "twice (dashes and underscores are the same)"),
        (b"a = '\xff'", "line 1: not UTF-8"),
        ("[inputs]\ntopology = 2024-01-01\n",
         "[inputs] topology: expected text, a number, true or false, or a list of these"),
    ],
)  # fmt: skip
def test_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "ftplan.toml", text)
    assert said(find_configuration, OPTIONS, COMMANDS) == f"ftplan.toml: {message}"


def test_a_folder_of_nobody_is_a_path_like_any(tmp_path: Path) -> None:
    path = write(tmp_path, "ftplan.toml", '[inputs]\ntopology = "~nobody-of-that-name/topology.yaml"\n')
    assert read_configuration(Path(path), OPTIONS).inputs["topology"].endswith("/~nobody-of-that-name/topology.yaml")
