"""What stands in for the engines that pages name, and how long nobody waits for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.docs.blocks import Step
from tests.docs.places import NEEDED, Places
from tests.docs.reader import Reader


def typed(here: Path, *commands: str) -> list[str]:
    """Return what commands print."""
    with Places() as places:
        reader = Reader(here, places, here)
        return [reader._typed(Step(command, "", 0)) for command in commands]


def test_a_job_manager_is_polled_for_a_day_in_no_time(tmp_path: Path) -> None:
    """Answers follow the record: one task manager is gone in the middle of it."""
    printed = typed(tmp_path, "ftplan collect http://jobmanager:8081 --from flink --every 60s --for 24h -o collected")
    assert "ended       time" in printed[0]
    lines = (tmp_path / "collected" / "answers" / "2026-11-22T08.jsonl").read_text("utf-8").splitlines()
    answers = [json.loads(line) for line in lines]
    managers = [answer["answer"]["taskmanagers"] for answer in answers if answer["path"] == "/overview"]
    assert (len(managers), managers[0], min(managers), managers[-1]) == (11, 3, 2, 3)


@pytest.mark.parametrize(
    ("engine", "url", "tasks", "hosts"),
    [("flink", "http://jobmanager:8081", 9, 3), ("storm", "http://storm-ui:8080", 83, 12)],
)
def test_a_job_is_imported_from_where_it_runs(tmp_path: Path, engine: str, url: str, tasks: int, hosts: int) -> None:
    typed(tmp_path, f"ftplan import-topology {url} --from {engine} -o job.yaml --cluster-output hosts.yaml")
    job, cluster = (yaml.safe_load((tmp_path / f"{name}.yaml").read_text("utf-8")) for name in ("job", "hosts"))
    assert sum(operator["parallelism"] for operator in job["operators"]) == tasks
    assert len(cluster["nodes"]) == hosts


def test_a_prometheus_knows_eight_minutes(tmp_path: Path) -> None:
    url = "http://prometheus:9090"
    printed = typed(tmp_path, f"ftplan collect {url} --from prometheus --every 15s --for 24h -o measured")
    assert "series          27" in printed[0]
    assert "out of reach" not in printed[0]


def test_what_a_machine_lacks_is_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(NEEDED, "no-such-tool", lambda: False)
    assert typed(tmp_path, "no-such-tool --help") == [""]


def test_statistics_are_computed_where_that_begins_soonest() -> None:
    with Places() as places:
        assert places.reachable("ftplan compute-stats log -o x") == "ftplan compute-stats --engine sail log -o x"
        named = "ftplan compute-stats log --engine spark -o x"
        assert places.reachable(named) == named
        assert not places.known
