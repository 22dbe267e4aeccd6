"""Sail gives the rows that processes give; a cluster is asked in tests/spark_stats/test_clusters.py."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.what_if.killed import Command
from tests.what_if.on_engines import rows, write_sweep

pytestmark = [pytest.mark.slow, pytest.mark.spark]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sweep")
    write_sweep(made)
    return made


@pytest.fixture(scope="module")
def by_process(folder: Path) -> str:
    text = rows(folder, "--jobs", "1")
    statuses = [row["status"] for row in json.loads(text)["rows"]]
    assert statuses == ["optimal"] * 10 + ["error"]
    return text


def test_sail(folder: Path, by_process: str) -> None:
    pytest.importorskip("pysail")
    assert rows(folder, "--engine", "sail") == by_process


def test_interrupted_on_sail_and_resumed_in_processes(tmp_path: Path) -> None:
    pytest.importorskip("pysail")
    command = Command(tmp_path, 60, gated=30)
    process = command.start("--engine", "sail")
    command.wait_for(2, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert [line.split(": ", 1)[1] for line in said.splitlines()][-1] == "interrupted"
    assert len(said.splitlines()) == 2
    command.finish()
