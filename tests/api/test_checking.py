"""`check`: kinds, summaries, and files held against each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ftplan.api.checking import check_files
from ftplan.io.schemas import KINDS
from ftplan.io.stats_store import load_stats
from tests.io import examples
from tests.io.examples import check_file, key_group_row, manifest, said, write


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def save(name: str, document: dict[str, Any]) -> str:
    Path(name).write_text(json.dumps(document))
    return name


def stats() -> str:
    document = manifest(operators={"join": {"key_groups": 8}})
    tables = load_stats({"manifest": document, "key_groups": [key_group_row()]}).value.tables
    Path("stats").mkdir()
    save("stats/manifest.json", document)
    pq.write_table(tables["key_groups"], "stats/key_groups.parquet")
    return "stats"


def test_every_kind() -> None:
    placed = examples.cluster(placement={"tasks": {"join": ["n1"] * 4}})
    files = [
        save("p.json", examples.plan()),
        save("f.json", examples.failure()),
        save("c.json", placed),
        save("t.json", examples.topology()),
        stats(),
    ]
    checked, errors = check_files(files)
    assert errors == []
    assert [(item.kind, item.name, item.summary) for item in checked] == [
        ("plan", "p.json", {"assignments": 1}),
        ("failure", "f.json", {"failures": 2, "arrivals": 1, "scenarios": 1}),
        ("cluster", "c.json", {"nodes": 3, "zones": 2, "placed tasks": 4}),
        ("topology", "t.json", {"operators": 4, "tasks": 12, "edges": 3, "key groups": 8, "outputs": 1}),
        ("stats", "stats", {"operators": 1, "key groups": 8, "windows": 4, "tables": 1}),
    ]


def test_held_against_the_topology() -> None:
    job = save("t.json", examples.topology())
    wrong = save("c.json", examples.cluster(placement={"tasks": {"joins": ["n1"]}}))
    failing = save("f.json", examples.failure(fail=["task:join/9"]))
    checked, errors = check_files([wrong, failing, job])
    assert [item.name for item in checked] == ["t.json"]
    assert [str(error) for error in errors] == [
        "c.json: placement.tasks.joins: unknown operator 'joins' (did you mean 'join'?)",
        "f.json: fail[0]: task:join/9: 'join' has 4 tasks (0 to 3)",
    ]
    other = save("u.json", examples.topology())
    assert check_files([wrong, job, other])[1] == []
    _, errors = check_files(["none.json", job])
    assert [str(error) for error in errors] == ["none.json: no such file (did you mean 'u.json'?)"]


def test_statistics_held_against_the_topology() -> None:
    job = save("t.json", examples.with_operator(2, key_groups=9))
    _, errors = check_files([job, stats()])
    assert [str(error) for error in errors] == [
        "operator 'join' has 9 key groups in the topology, but 8 in the statistics: make them equal, or compute the "
        "statistics again with the topology"
    ]


def test_ignored_keys_are_listed() -> None:
    document = examples.topology(colour="red")
    for operator in document["operators"]:
        operator.update(weight=1, paralelism=2)
    checked = check_file(save("t.json", document))
    assert [warning.message for warning in checked.warnings] == [
        "t.json: operators[0].paralelism: unknown key is ignored (did you mean 'parallelism'?) (and 3 more)",
        "t.json: colour: unknown key is ignored",
        "t.json: operators[0].weight: unknown key is ignored (and 3 more)",
    ]


def test_every_kind_of_file_can_be_checked() -> None:
    """One that holds nothing else is told what it lacks, by the reader of its own kind."""
    for kind in set(KINDS) - {"stats", "failure"}:
        message = said(check_file, save("a.json", {"format": f"ftplan/{kind}", "format_version": "1.0"}))
        assert "is missing" in message, message


def test_messages(tmp_path: Path) -> None:
    assert said(check_file, "none.json") == "none.json: no such file"
    assert said(check_file, save("a.json", {"a": 1})) == (
        "a.json: format: is missing; expected 'format: ftplan/topology'"
    )
    assert said(check_file, save("a.json", {"format": "ftplan/placement"})) == (
        "a.json: format: ftplan/placement files are checked with the folder that they are in"
    )
    assert said(check_file, save("stats.json", manifest())) == (
        "stats.json: is a statistics manifest; give its folder instead"
    )
    write(tmp_path, "ftplan.toml", "[inputs]\nx = 1")
    assert said(check_file, "ftplan.toml") == "ftplan.toml: [inputs] unknown key 'x'"
