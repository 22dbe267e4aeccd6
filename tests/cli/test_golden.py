"""Golden cases: transcripts of commands, by command, written as cram's are (docs/contributing/tests.md adds one).

``  $ `` begins a command and ``  > `` continues it; below stand its standard output, its standard error after ``2> ``,
and its exit code in brackets unless that is 0. What is not indented is a remark.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ftplan.reports.answer import Answer
from tests.cli.documents import check_output, check_written, texts
from tests.cli.in_process import Run
from tests.cli.narrow import assert_narrow
from tests.places import ROOT

GOLDEN = ROOT / "tests" / "cli" / "golden"
TRANSCRIPTS = sorted(str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*.t"))
#: Transcripts that also run as processes: an answer, JSON, a table, "no", and a mistake.
AS_PROCESSES = ("allocate-checkpoints/json.t", "check/valid.t", "verify/strict.t")
#: A command with the lines that continue it, or a remark; what else there is has been printed.
GIVEN = re.compile(r"^  \$ (?P<command>.*(?:\n  > .*)*)$|^(?!  ).*$", re.MULTILINE)


def answered(command: str, ftplan: Run, project: Path) -> subprocess.CompletedProcess[str]:
    """Run one command in the project folder; what ftplan writes is held to its schema."""
    if not command.startswith("ftplan "):
        return subprocess.run(["bash", "-c", command], cwd=project, capture_output=True, text=True, check=False)
    args = shlex.split(command)[1:]
    before = texts(project)
    done = ftplan(*args)
    check_written(before, texts(project), done.stdout)
    if args[0] == "evaluate" and done.returncode < 2:  # shown as a table: the document says the same
        assert check_output(ftplan(*args, "--format", "json").stdout) == 1
    return done


def printed(text: str, mark: str = "  ") -> list[str]:
    return [mark + line.rstrip() for line in text.split("\n") if line.strip()]


def played(text: str, ftplan: Run, project: Path) -> str:
    """Run the commands of a transcript, and return it with what they print."""
    lines = []
    for given in GIVEN.finditer(text.rstrip()):
        lines.append(given[0])
        if given["command"]:
            done = answered(given["command"].replace("\n  > ", "\n"), ftplan, project)
            lines += [*printed(done.stdout), *printed(done.stderr, "  2> ")]
            lines += [f"  [{done.returncode}]"] * (done.returncode != 0)
    return "\n".join(lines) + "\n"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Answer]:
    """What the commands of a test answer, in whatever form they print it."""
    made: list[Answer] = []
    begin = Answer.__init__

    def noted(self: Answer, *args: Any, **given: Any) -> None:
        begin(self, *args, **given)
        made.append(self)

    monkeypatch.setattr(Answer, "__init__", noted)
    return made


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_golden(name: str, ftplan: Run, project: Path, answers: list[Answer]) -> None:
    path = GOLDEN / name
    now = played(path.read_text("utf-8"), ftplan, project)
    for answer in answers:
        assert_narrow(answer)
    if os.environ.get("FTPLAN_GOLDEN") == "write":
        path.write_text(now, "utf-8")
    assert now == path.read_text("utf-8")


@pytest.mark.parametrize("name", AS_PROCESSES)
def test_a_process_answers_the_same(name: str, ftplan_process: Run, project: Path) -> None:
    """What runs within the tests' process says nothing else as a process of its own."""
    text = (GOLDEN / name).read_text("utf-8")
    assert played(text, ftplan_process, project) == text
