"""Flink's answers damaged and cut off: an import, or one clear line; and what an import gives is always accepted."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.errors import LONGEST_MESSAGE, FtplanError
from tests.engines.importing.cases import DATA, accepted
from tests.fuzz.mutations import mutated

ANSWERS = {path.name: json.loads(path.read_text()) for path in sorted((DATA / "flink" / "answers").glob("*.json"))}
PLANS = [DATA / "flink" / "plans" / f"{name}.json" for name in ("sql-info", "sql-rest", "streams-info", "streams-rest")]


def damaged(value: Any, random: Random) -> Any:
    """Return a damaged copy; of a document of which nothing is left, an empty one."""
    try:
        return mutated(value, random)[0]
    except IndexError:
        return {}


def judged(source: Path, **options: Any) -> bool:
    """Import, and return whether that was refused; the readers take what comes out."""
    said = ""
    try:
        accepted(ftplan.import_topology(source, "flink", **options))
    except FtplanError as error:
        said = str(error) or "\n"
    assert len(said) <= LONGEST_MESSAGE
    assert "\n" not in said
    return bool(said)


@settings(max_examples=40)  # each reads fifty files
@given(st.integers(0, 2**32))
def test_damaged_folders(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """One to four of the answers are damaged: those of vertices and of the job rather than others."""
    random = Random(seed)
    folder = tmp_path_factory.mktemp("answers")
    names = [
        "job.json",
        "taskmanagers.json",
        *(name for name in ANSWERS if "vertex" in name or "subtasks.json" in name),
    ]
    chosen = {*random.sample(names, random.randint(1, 3)), random.choice([*ANSWERS])}
    for name, value in ANSWERS.items():
        if not name.endswith("aggregated.json"):
            (folder / name).write_text(json.dumps(damaged(value, random) if name in chosen else value))
    judged(folder, node_by=random.choice(["host", "process"]))


@given(st.integers(0, 2**32))
def test_damaged_plans(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    random = Random(seed)
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    plan = {"jid": "j", "name": "job", **json.loads(random.choice(PLANS).read_text())}
    path.write_text(json.dumps(damaged(plan, random)))
    judged(path, break_cycles=random.random() < 0.5)


@given(st.integers(0, 2**32))
def test_cut_and_garbled_texts(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    random = Random(seed)
    text = bytearray((DATA / "flink" / "answers" / random.choice(["job.json", "job_plan.json"])).read_bytes())
    if random.random() < 0.7:
        del text[random.randrange(len(text)) :]
    for _ in range(random.choice((0, 1, 5))):
        if text:
            text[random.randrange(len(text))] = random.randrange(256)
    path = tmp_path_factory.mktemp("text") / "job.json"
    path.write_bytes(bytes(text))
    judged(path)


def test_a_collected_line_that_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "collection.json").write_text("{}")
    lines = tmp_path / "answers" / "2026-11-22T07.jsonl"
    lines.write_text('{"at": 3}\n')
    with pytest.raises(FtplanError, match="line 1 is no answer"):
        ftplan.import_topology(tmp_path, "flink")
    line = {"at": "2026-11-22T07:00:00Z", "path": "/jobs/j", "status": 200, "answer": [7]}
    lines.write_text(json.dumps(line) + "\n")
    assert judged(tmp_path)
