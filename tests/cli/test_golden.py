"""Golden cases: a folder a case, with the command, its standard output and error, and its exit code.

``FTPLAN_GOLDEN=write python -m pytest tests/cli/test_golden.py`` writes what comes out now; read the difference.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.documents import check_output, check_written, texts

CASES = Path(__file__).resolve().parent / "golden"


#: Cases that also run as processes of their own: an answer, JSON, a table, "no", and a mistake.
AS_PROCESSES = ("allocate-none-json", "check-several", "diff-recovery", "evaluate-unknown-metric", "verify-stale")


def outcome(case: str, ftplan: Run, project: Path) -> dict[str, str]:
    """Run the lines of a case, and return what its last ftplan command printed and its exit code, by file."""
    done: subprocess.CompletedProcess[str] | None = None
    for line in (CASES / case / "command").read_text().splitlines():
        if not line.startswith("ftplan"):
            subprocess.run(["bash", "-c", line], cwd=project, check=True)
            continue
        args = shlex.split(line)[1:]
        before = texts(project)
        done = ftplan(*args)
        check_written(before, texts(project), done.stdout)
        if args[0] == "evaluate" and done.returncode < 2:  # shown as a table: the document says the same
            assert check_output(ftplan(*args, "--format", "json").stdout) == 1
    assert done is not None
    return {
        "stdout": re.sub(r"\s+$", "", done.stdout, flags=re.MULTILINE) + "\n" * bool(done.stdout.strip()),
        "stderr": re.sub(r"\s+$", "", done.stderr, flags=re.MULTILINE) + "\n" * bool(done.stderr.strip()),
        "exit": f"{done.returncode}\n",
    }


@pytest.mark.parametrize("case", sorted(p.name for p in CASES.iterdir() if p.is_dir()))
def test_golden(case: str, ftplan: Run, project: Path) -> None:
    for name, text in outcome(case, ftplan, project).items():
        path = CASES / case / name
        if os.environ.get("FTPLAN_GOLDEN") == "write":
            path.write_text(text)
        assert text == path.read_text(), f"{case}: {name} differs"


@pytest.mark.parametrize("case", AS_PROCESSES)
def test_a_process_answers_the_same(case: str, ftplan_process: Run, project: Path) -> None:
    """What runs within the tests' process says nothing else as a process of its own."""
    for name, text in outcome(case, ftplan_process, project).items():
        assert text == (CASES / case / name).read_text(), f"{case}: {name} differs"
