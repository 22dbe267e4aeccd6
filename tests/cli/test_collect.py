"""``ftplan collect`` against a server on loopback."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ftplan.api.collecting import source_at
from ftplan.engines.collecting.endpoint import Connection
from tests.cli.in_process import Run, environment
from tests.engines.collecting.server import Said, served

FLINK: dict[str, Any] = {
    "/overview": {"taskmanagers": 2},
    "/jobs/overview": {"jobs": []},
    "/taskmanagers": {"taskmanagers": []},
}


def collected(ftplan: Run, url: str, *more: str, **env: str) -> subprocess.CompletedProcess[str]:
    return ftplan("collect", url, "--from", "flink", "-o", "new", "--for", "0", *more, **env)


def test_a_poll_and_its_summary(ftplan: Run, project: Path) -> None:
    with served(FLINK) as endpoint:
        done = collected(ftplan, endpoint.url)
        assert (done.returncode, done.stderr) == (0, "")
        again = collected(ftplan, endpoint.url, "--format", "table")
    summary = json.loads(done.stdout)
    assert {name: summary[name] for name in ("polls", "failed", "incomplete", "skipped", "answers", "ended")} == {
        "polls": 1, "failed": 0, "incomplete": 0, "skipped": 0, "answers": 3, "ended": "time",
    }  # fmt: skip
    assert "answers" in again.stdout
    lines = [line for file in (project / "new" / "answers").iterdir() for line in file.read_text().splitlines()]
    assert len(lines) == 6


def test_what_answers_is_found_by_asking(ftplan: Run) -> None:
    """Also where a folder is gone on in whose endpoint is out of reach."""
    with served(FLINK) as endpoint:
        done = ftplan("collect", endpoint.url, "-o", "new", "--for", "0")
        other = served({"/": {}})
    assert (done.returncode, json.loads(done.stdout)["answers"]) == (0, 3)
    away = ftplan("collect", endpoint.url, "-o", "new", "--for", "0", "--retries", "0")
    assert (away.returncode, json.loads(away.stdout)["failed"]) == (1, 1)
    unknown = ftplan("collect", endpoint.url, "-o", "newer", "--for", "0", "--retries", "0")
    assert unknown.returncode == 2
    assert unknown.stderr == (
        f"ftplan: {endpoint.url}: connection refused; --from says what should answer: flink, storm, prometheus\n"
    )
    with other as endpoint:
        strange = ftplan("collect", endpoint.url, "-o", "newer", "--for", "0")
    assert strange.returncode == 2
    assert "it answers as none of them" in strange.stderr
    with served({"/api/v1/cluster/summary": {"supervisors": 1}, "/api/v1/topology/summary": {}}) as endpoint:
        storm = ftplan("collect", endpoint.url, "-o", "newest", "--for", "0")
    with served({"/api/v1/status/buildinfo": {"status": "success", "data": {}}}) as endpoint:
        assert source_at(endpoint.url, "none", Connection()) == "prometheus"
    assert json.loads(storm.stdout)["answers"] == 2


def test_nothing_that_answers(ftplan: Run) -> None:
    with served({}) as endpoint:
        url = endpoint.url
    done = collected(ftplan, url, "--retries", "0")
    assert done.returncode == 1
    assert done.stderr == "ftplan: out of reach: connection refused; going on\nftplan: nothing answered\n"


def test_credentials_are_neither_shown_nor_stored(ftplan: Run, project: Path) -> None:
    with served(FLINK | {"/taskmanagers": Said(status=401)}) as endpoint:
        done = collected(ftplan, endpoint.url, "--verbose", "--debug", FTPLAN_COLLECT_TOKEN="s3cret")
        assert endpoint.asked[0][1]["Authorization"] == "Bearer s3cret"
    assert done.returncode == 0
    stored = "".join(file.read_text() for file in (project / "new").rglob("*") if file.is_file())
    assert "401 Unauthorized" in stored
    assert "s3cret" not in done.stdout + done.stderr + stored


def test_an_interrupt_ends_it_with_a_summary(project: Path) -> None:
    with served(FLINK) as endpoint:
        command = ["collect", endpoint.url, "--from", "flink", "-o", "new", "--every", "10ms"]
        process = subprocess.Popen(
            [sys.executable, "-m", "ftplan", *command],
            cwd=project, env=environment(), stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        while len(endpoint.asked) < 10 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate()
    assert process.returncode == 130
    summary = json.loads(said)
    assert summary["ended"] == "interrupt"
    assert summary["polls"] >= 3
