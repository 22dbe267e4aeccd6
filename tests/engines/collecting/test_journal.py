"""The folder of collected answers: what is written survives, and is read back in order."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ftplan.engines.collecting.collection import Answer, CollectionHead, answers, head_of, is_collection
from ftplan.engines.collecting.journal import AnswerJournal
from ftplan.errors import FtplanError

AT = datetime(2026, 11, 22, 7, 40, 0, 123456, UTC)
HEAD = CollectionHead("flink", "http://jobmanager:8081", 60.0, AT, {})


def journal(folder: Path, **other: Any) -> AnswerJournal:
    return AnswerJournal(folder, HEAD._replace(**other), "0.1.0")


def write(folder: Path, *paths: str, at: datetime = AT) -> None:
    opened = journal(folder)
    for path in paths:
        opened.add(at, path, 200, {"answer": path})
    opened.close()


def read(folder: Path) -> list[str]:
    return [answer.value for answer in answers(folder)]


def test_lines_are_as_documented(tmp_path: Path) -> None:
    opened = journal(tmp_path / "new")
    opened.add(AT, "/a?get=b", 200, {"metric": "records", "answer": {"é": 1.5}})
    opened.add(AT, "/b", None, {"error": "connection refused"})
    opened.close()
    assert is_collection(tmp_path / "new")
    assert (tmp_path / "new" / "answers" / "2026-11-22T07.jsonl").read_text("utf-8").splitlines() == [
        '{"at":"2026-11-22T07:40:00.123Z","path":"/a?get=b","status":200,"metric":"records","answer":{"é":1.5}}',
        '{"at":"2026-11-22T07:40:00.123Z","path":"/b","status":null,"error":"connection refused"}',
    ]
    at = AT.replace(microsecond=123000)
    assert list(answers(tmp_path / "new")) == [Answer(at, "/a?get=b", {"é": 1.5}, "records")]
    assert head_of(tmp_path / "new") == HEAD._replace(begun=at)


def test_going_on_keeps_answers_and_the_begin(tmp_path: Path) -> None:
    write(tmp_path, "a")
    opened = journal(tmp_path, every_s=5.0, begun=AT + timedelta(days=1), options={"jobs": ["orders"]})
    assert opened.continued
    opened.add(AT, "b", 200, {"answer": "b"})
    opened.close()
    assert read(tmp_path) == ["a", "b"]
    head = head_of(tmp_path)
    assert (head.begun, head.every_s, head.options) == (AT.replace(microsecond=123000), 5.0, {"jobs": ["orders"]})


def test_a_torn_line_is_dropped(tmp_path: Path) -> None:
    write(tmp_path, "a", "b")
    file = tmp_path / "answers" / "2026-11-22T07.jsonl"
    file.write_bytes(file.read_bytes()[:-5])
    assert read(tmp_path) == ["a"]
    write(tmp_path, "c")
    assert read(tmp_path) == ["a", "c"]


def test_hours_that_are_over_are_packed(tmp_path: Path) -> None:
    opened = journal(tmp_path)
    for hour in range(3):
        opened.add(AT + timedelta(hours=hour), str(hour), 200, {"answer": str(hour)})
    opened.add(AT, "late", 200, {"answer": "late"})  # the clock was set back
    opened.close()
    names = sorted(file.name for file in (tmp_path / "answers").iterdir())
    assert names == ["2026-11-22T07.jsonl.gz", "2026-11-22T08.jsonl.gz", "2026-11-22T09.jsonl"]
    assert read(tmp_path) == ["0", "1", "2", "late"]


def test_packing_that_was_killed_is_done_again(tmp_path: Path) -> None:
    write(tmp_path, "a")
    file = tmp_path / "answers" / "2026-11-22T07.jsonl"
    data = file.read_bytes()
    packed = file.with_name(f"{file.name}.gz")
    packed.write_bytes(gzip.compress(data))  # packed, and not yet removed
    write(tmp_path, "b", at=AT + timedelta(hours=1))
    assert read(tmp_path) == ["a", "b"]
    file.write_bytes(data.replace(b'"a"', b'"c"'))  # more of an hour that is packed
    write(tmp_path, "d", at=AT + timedelta(hours=2))
    assert read(tmp_path) == ["a", "c", "b", "d"]


def test_a_file_of_any_size_is_packed_and_gone_on_with_in_parts(tmp_path: Path) -> None:
    """A year of Prometheus comes within an hour: neither packing it nor looking for a torn line holds it at once."""
    file = tmp_path / "answers" / "2026-11-22T07.jsonl"
    write(tmp_path, "a")
    line = {"at": "2026-11-22T07:40:00.123Z", "path": "b", "status": 200, "answer": "b" * 10_000}
    data = file.read_bytes() + f"{json.dumps(line)}\n".encode() * 2_000
    file.write_bytes(data + b"x" * 3_000_000)
    size = len(data)
    del data
    tracemalloc.start()
    try:
        write(tmp_path, "c", at=AT + timedelta(hours=1))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < size / 3
    assert len(read(tmp_path)) == 2_002


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"url": "http://other:8081"}, "not of flink at http://other:8081: give another folder"),
        ({"source": "storm"}, "holds answers of flink at http://jobmanager:8081, not of storm"),
    ],
)
def test_another_endpoint_is_refused(tmp_path: Path, other: dict[str, Any], said: str) -> None:
    write(tmp_path, "a")
    with pytest.raises(FtplanError, match=said):
        journal(tmp_path, **other)


def test_what_stands_there_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FtplanError, match="holds something else; give a new folder"):
        journal(tmp_path)
    with pytest.raises(FtplanError, match="is a file; give a new folder"):
        journal(tmp_path / "mine.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
    (tmp_path / "collection.json").write_text("{}")
    with pytest.raises(FtplanError, match="format: is missing"):
        journal(tmp_path)


def test_one_process_at_a_time(tmp_path: Path) -> None:
    first = journal(tmp_path)
    with pytest.raises(FtplanError, match="another process is collecting into it"):
        journal(tmp_path)
    first.close()
    journal(tmp_path).close()


@pytest.mark.parametrize(
    "line", ["{", "[]", "null", '{"at": 5}', '{"at": "2026-11-22T07:40:00Z"}', "[" * 10_000, '{"at": "x", "path": "a"}']
)
def test_damaged_lines_are_named(tmp_path: Path, line: str) -> None:
    write(tmp_path, "a")
    file = tmp_path / "answers" / "2026-11-22T07.jsonl"
    file.write_text(f"{line}\n{file.read_text()}")
    with pytest.raises(FtplanError, match="line 1 is no answer"):
        read(tmp_path)


def test_a_damaged_pack_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a")
    (tmp_path / "answers" / "2026-11-22T06.jsonl.gz").write_bytes(gzip.compress(json.dumps({}).encode())[:-9])
    with pytest.raises(FtplanError, match=r"2026-11-22T06\.jsonl\.gz: cannot be read"):
        read(tmp_path)
