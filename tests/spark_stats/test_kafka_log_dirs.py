"""Output of kafka-log-dirs: state of key groups over time."""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from ftplan.engines.kafka.log_dirs import Snapshot, _snapshots
from ftplan.errors import FtplanError
from ftplan.model.topology import Operator, Topology
from ftplan.spark_stats.inputs import LogFile
from ftplan.spark_stats.mapping import LogMapping, micros
from tests.fuzz.mutations import mutated
from tests.spark_stats.conftest import Run

pytestmark = pytest.mark.spark
HEAD = "Querying brokers for log directories information\nReceived log directory information from brokers 1,2\n"
OPTIONS: dict[str, Any] = {"input_format": "kafka-log-dirs"}


def document(*brokers: dict[str, int], **more: Any) -> dict[str, Any]:
    """Return what brokers say that their partitions take."""
    return {
        "version": 1,
        "brokers": [
            {
                "broker": number,
                "logDirs": [
                    {
                        "logDir": "/data",
                        "error": None,
                        "partitions": [
                            {"partition": p, "size": size, "offsetLag": 0, "isFuture": False, **more}
                            for p, size in sizes.items()
                        ],
                    }
                ],
            }
            for number, sizes in enumerate(brokers, 1)
        ],
    }


def test_the_largest_copy_counts_and_moves_do_not(run: Run, tmp_path: Path) -> None:
    now = document(
        {"app-counts-changelog-0": 70, "app-counts-changelog-2": 30, "orders-0": 9}, {"app-counts-changelog-0": 64}
    )
    now["brokers"] += document({"app-counts-changelog-0": 999}, isFuture=True)["brokers"]
    now["brokers"][0]["logDirs"].append({"logDir": "/bad", "error": "KAFKA_STORAGE_ERROR", "partitions": []})
    log = tmp_path / "log-dirs.txt"
    log.write_text(HEAD + json.dumps(now) + "\n")
    moment = datetime(2026, 1, 2, 3, 4, 30, tzinfo=UTC)
    stats = run(log, **OPTIONS, snapshot_time=moment)
    rows = stats.rows(
        "key_groups", "operator", "key_group", "window_start", "records", "state_bytes", "resolution", "estimated"
    )
    at = moment.replace(second=0)
    assert rows == [
        ("app-counts", 0, at, 0.0, 70.0, "key_group", False),
        ("app-counts", 2, at, 0.0, 30.0, "key_group", False),
    ]
    manifest = stats.manifest["operators"]["app-counts"]
    assert (manifest["key_groups"], manifest["resolution"], manifest["estimated"]) == (3, "key_group", False)
    codes = [warning["code"] for warning in stats.manifest["warnings"]]
    assert codes == ["RECORDS_UNKNOWN", "STATE_ON_DISK", "LOG_DIR_FAILED", "TOPICS_LEFT_OUT"]


def test_snapshots_over_time_of_an_application_with_a_topology(run: Run, tmp_path: Path) -> None:
    """Times stand in names and in lines above; stores of one operator are added up."""
    for hour, size in ((1, 10), (2, 30)):
        text = HEAD + json.dumps(document({f"shop-{store}-changelog-{p}": size + p for store in "ab" for p in (0, 1)}))
        (tmp_path / f"log-dirs-2026-01-02T0{hour}00.txt.gz").write_bytes(gzip.compress(text.encode()))
    later = [document({"shop-a-changelog-1": 50, "other-a-changelog-0": 7}), document({"shop-b-changelog-1": 60})]
    stamps = ("Fri Jan  2 03:00:00 UTC 2026", "2026-01-02T05:00:00+01:00")
    lines = [line for stamp, value in zip(stamps, later, strict=True) for line in (stamp, json.dumps(value, indent=1))]
    (tmp_path / "more.txt").write_text("\n".join(lines))
    one = np.ones((3, 1))
    topology = Topology((Operator("join", 1, *one, key_groups=2, labels={"stores": "a, b"}),), ())
    stats = run(tmp_path, **OPTIONS, window_s=3600.0, application_id="shop", topology=topology)
    rows = stats.rows("key_groups", "operator", "key_group", "window_start", "state_bytes")
    assert [(operator, group, at.hour, state) for operator, group, at, state in rows] == [
        ("join", 0, 1, 20.0), ("join", 0, 2, 60.0), ("join", 1, 1, 22.0), ("join", 1, 2, 62.0), ("join", 1, 3, 50.0),
        ("join", 1, 4, 60.0),
    ]  # fmt: skip
    assert "TIME_ASSUMED" not in {warning["code"] for warning in stats.manifest["warnings"]}


def read(path: Path, text: str, name: str = "log-dirs.txt") -> list[Snapshot]:
    (path / name).write_text(text)
    os.utime(path / name, (1_700_000_000, 1_700_000_000))
    file = LogFile(str(path / name), "kafka-log-dirs", modified_us=1_700_000_000_000_000)
    return list(_snapshots(file, LogMapping(input_format="kafka-log-dirs"), []))


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("log-dirs-20260102T030405Z.txt", datetime(2026, 1, 2, 3, 4, 5)),
        ("2026-01-02_03-04-05.json", datetime(2026, 1, 2, 3, 4, 5)),
        ("dirs.2026.01.02.txt", datetime(2026, 1, 2)),
        ("dirs-1767322800.txt", datetime(2026, 1, 2, 3)),
        ("dirs-1767322800500", datetime(2026, 1, 2, 3, 0, 0, 500_000)),
        ("dirs-20261345.txt", datetime(2023, 11, 14, 22, 13, 20)),
        ("kafka-3.7.txt", datetime(2023, 11, 14, 22, 13, 20)),
    ],
)
def test_times_in_names(tmp_path: Path, name: str, moment: datetime) -> None:
    (snapshot,) = read(tmp_path, HEAD + json.dumps(document({"a-changelog-0": 1})), name)
    assert snapshot == (micros(moment.replace(tzinfo=UTC)), {("a-changelog", 0): 1.0}, 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it holds no JSON"),
        (HEAD, "it holds no JSON"),
        (HEAD + json.dumps(document({"a-0": 1}))[:-9], "line 3: no JSON"),
        (HEAD + "{}", "not as kafka-log-dirs"),
        (HEAD + json.dumps(document({"a": 1})), "'a' is no partition such as orders-0"),
        (HEAD + json.dumps(document({"a-0": -1})), "no number of bytes"),
        (HEAD + '{"brokers": 3}', "not as kafka-log-dirs"),
        (HEAD + "{" * 100_000, "no JSON"),
    ],
)
def test_what_is_no_such_output_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(FtplanError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)


def test_damaged_output_is_read_or_refused(tmp_path: Path) -> None:
    random = Random(3)
    good = document({"app-a-changelog-0": 5, "app-a-changelog-1": 6}, {"app-a-changelog-0": 5})
    for number in range(150):
        text = HEAD + json.dumps(mutated(good, Random(number))[0])
        for bent in (text, text[: random.randrange(len(text))]):
            try:
                snapshots = read(tmp_path, bent)
            except FtplanError:
                continue
            assert all(size >= 0 for snapshot in snapshots for size in snapshot.sizes.values())
