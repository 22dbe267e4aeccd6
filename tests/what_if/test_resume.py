"""A sweep that was killed at any moment and goes on ends as one that was never interrupted, byte by byte."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.what_if.journal import Journal
from ftplan.what_if.outcome import outcome_of
from ftplan.what_if.result import WhatIfResult
from ftplan.what_if.runner import Execution, answer_cases
from tests.cli.in_process import environment
from tests.places import ROOT
from tests.what_if.executed import Arithmetic
from tests.what_if.killed import CHILD, Command, children, wait_until_gone

SWEEP: Any = Arithmetic(24, failing=7)
WHOLE = WhatIfResult(SWEEP, answer_cases(SWEEP, Execution(jobs=1)))


def journal(path: Path, sweep: Any = SWEEP, **more: Any) -> Journal:
    return Journal(path, sweep.fingerprint, len(sweep), **more)


@given(cut=st.integers(0, 10_000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=60)
def test_a_journal_cut_anywhere_goes_on_to_the_same_rows(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "out.json.partial.jsonl"
    path.unlink(missing_ok=True)
    kept = journal(path)
    kept.add(outcome_of(SWEEP, number) for number in range(0, 24, 2))
    kept.close()
    data = path.read_bytes()
    path.write_bytes(data[: cut % (len(data) + 1)])
    again = journal(path)
    rows = answer_cases(SWEEP, Execution(jobs=1), journal=again)
    assert WhatIfResult(SWEEP, rows).to_json() == WHOLE.to_json()
    again.close()
    lines = path.read_text().splitlines()
    assert sorted(json.loads(line)["case"] for line in lines[1:]) == list(range(24))  # none lost, none doubled


def test_only_what_is_left_is_carried_out(tmp_path: Path) -> None:
    path = tmp_path / "j"
    kept = journal(path)
    kept.add([outcome_of(SWEEP, 3)])
    kept.close()
    asked: list[int] = []

    class Watched(Arithmetic):
        def row_and_answer(self, number: int, *, whole: bool = False) -> Any:
            asked.append(number)
            return super().row_and_answer(number, whole=whole)

    watched: Any = Watched(24, failing=7)
    answer_cases(watched, Execution(jobs=1), journal=journal(path))
    assert asked == [number for number in range(24) if number != 3]


def test_another_sweep_or_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j"
    kept = journal(path)
    kept.add([outcome_of(SWEEP, 3)])
    kept.close()
    with pytest.raises(FtplanError, match="with another what-if file or other inputs: begin anew with --restart"):
        journal(path, Arithmetic(24, fingerprint="another"))
    path.write_text(path.read_text().replace('tool_version": "', 'tool_version": "9'))
    with pytest.raises(FtplanError, match="was begun with ftplan 9"):
        journal(path)
    assert journal(path, restart=True).done == {}


@pytest.mark.parametrize("text", ["[]\n", "no JSON\n", '{"format": "ftplan/plan"}\n'])
def test_a_file_that_is_no_journal_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_text(text)
    with pytest.raises(FtplanError, match=r"is no row of a sweep|is not the journal of a sweep"):
        journal(path)


def test_a_damaged_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j"
    kept = journal(path)
    kept.add([outcome_of(SWEEP, 3)])
    kept.close()
    whole = path.read_text()
    for line in ("{}", "garbage", '{"case": 24, "row": {}}', '{"case": "3", "row": {}}'):
        path.write_text(f"{whole}{line}\n")
        with pytest.raises(FtplanError, match="line 3 is no row of a sweep"):
            journal(path)


def test_a_journal_of_nothing_is_not_kept(tmp_path: Path) -> None:
    journal(tmp_path / "j").close()
    assert list(tmp_path.iterdir()) == []


def test_one_process_at_a_time(tmp_path: Path) -> None:
    first = journal(tmp_path / "j")
    with pytest.raises(FtplanError, match="another process is at work on it"):
        journal(tmp_path / "j")
    first.close()
    journal(tmp_path / "j").close()


@pytest.mark.parametrize(
    ("jobs", "rows"),
    [pytest.param("1", 33, marks=pytest.mark.slow), pytest.param("2", 1, marks=pytest.mark.slow), ("2", 41)],
)
def test_killed_and_resumed(jobs: str, rows: int, tmp_path: Path) -> None:
    command = Command(tmp_path, 200, gated=120)
    process = command.start("--jobs", jobs)
    command.wait_for(rows, process)
    workers = children(process.pid)
    process.kill()
    process.communicate()
    wait_until_gone(workers)
    assert not command.output.exists()
    said = command.finish(jobs="2" if jobs == "1" else "1").splitlines()[0]
    assert said.startswith("ftplan: continuing: ")
    assert said.endswith(" of 200 cases are done (--restart begins anew)")
    assert int(said.split()[2]) >= rows


@pytest.mark.parametrize(
    ("jobs", "sent"), [pytest.param("1", signal.SIGINT, marks=pytest.mark.slow), ("2", signal.SIGTERM)]
)
def test_interrupted_and_resumed(jobs: str, sent: signal.Signals, tmp_path: Path) -> None:
    command = Command(tmp_path, 60, gated=30)
    process = command.start("--jobs", jobs)
    command.wait_for(2, process)
    workers = children(process.pid)
    assert len(workers) == (0 if jobs == "1" else 2)
    process.send_signal(sent)
    _, said = process.communicate()
    assert process.returncode == 130
    lines = said.splitlines()
    assert lines[-1] == "ftplan: interrupted"
    assert lines[-2].endswith("are done and kept in out.json.partial.jsonl: run the same command again to go on")
    wait_until_gone(workers)
    command.finish()


@pytest.mark.slow
def test_a_terminal_interrupts_the_whole_group(tmp_path: Path) -> None:
    """Ctrl-C reaches the workers too; they leave it to the command, which says one thing."""
    command = Command(tmp_path, 60, gated=30)
    args = [sys.executable, "-c", CHILD, "what-if", "sweep", "-o", "out.json", "-q", "--jobs", "2"]
    process = subprocess.Popen(
        args, cwd=tmp_path, env=environment(PYTHONPATH=str(ROOT)), stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    command.wait_for(2, process)
    workers = children(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert len(said.splitlines()) == 2
    wait_until_gone(workers)
    command.finish()
