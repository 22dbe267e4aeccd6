"""The format of a log is seen in what it holds; tables of the user's own go by their ending."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ftplan.engines.registry import collectors, log_formats
from ftplan.errors import FtplanError
from ftplan.spark_stats.log_formats import recognised
from tests.places import ROOT

EXAMPLES, DATA = ROOT / "examples", ROOT / "tests" / "data"
EVENTS = EXAMPLES / "spark" / "eventlog"


def collection(folder: Path, engine: str) -> Path:
    folder.mkdir()
    (folder / "collection.json").write_text(json.dumps({"format": "ftplan/collection", "from": engine}))
    return folder


@pytest.mark.parametrize(
    ("log", "name"),
    [
        (EXAMPLES / "flink" / "collected", "flink-rest"),
        (DATA / "flink" / "answers", "flink-rest"),
        (DATA / "flink" / "slf4jreporter_tm0.log", "flink-slf4j"),
        (EVENTS, "spark-eventlog"),
        (EXAMPLES / "kafka-streams" / "log-dirs.txt", "kafka-log-dirs"),
        (DATA / "small" / "topology.yaml", None),
        (DATA / "small" / "stats", None),
        (DATA / "flink_keygroups.csv", None),
        (Path("nowhere"), None),
        (Path("s3a://bucket/eventlog"), None),
    ],
)
def test_a_log_is_recognised(log: Path, name: str | None) -> None:
    assert recognised([str(log)]) == name


def test_every_format_of_an_engine_can_be_recognised() -> None:
    assert all(row.looks or row.collected for row in log_formats().values())


def test_folders_that_collect_wrote(tmp_path: Path) -> None:
    readable = {row.collected: row.name for row in log_formats().values() if row.collected}
    for engine in collectors():
        folder = collection(tmp_path / engine, engine)
        if engine in readable:
            assert recognised([str(folder)]) == readable[engine]
        else:
            with pytest.raises(FtplanError, match=f"was collected from {engine}; .* of flink and prometheus"):
                recognised([str(folder)])


def test_several_logs_are_of_one_format_or_none(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        shutil.copy(DATA / "flink" / "slf4jreporter_tm0.log", tmp_path / name)
    assert recognised([str(tmp_path)]) == recognised([str(tmp_path / "*.log")]) == "flink-slf4j"
    assert recognised([str(tmp_path / "a.log"), str(EVENTS)]) is None


def test_files_that_only_look_alike(tmp_path: Path) -> None:
    for name, data in (
        ("a.csv.gz", b"\x1f\x8bno gzip"),
        ("c.bin", b"\x82SNAPPY"),
        ("d", b""),
    ):
        (tmp_path / name).write_bytes(data)
        assert recognised([str(tmp_path / name)]) is None
