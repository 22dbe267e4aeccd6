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


@pytest.mark.parametrize("case", sorted(p.name for p in CASES.iterdir() if p.is_dir()))
def test_golden(case: str, ftplan: Run, project: Path) -> None:
    folder = CASES / case
    done: subprocess.CompletedProcess[str] | None = None
    for line in (folder / "command").read_text().splitlines():
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
    found = {
        "stdout": re.sub(r"\s+$", "", done.stdout, flags=re.MULTILINE) + "\n" * bool(done.stdout.strip()),
        "stderr": re.sub(r"\s+$", "", done.stderr, flags=re.MULTILINE) + "\n" * bool(done.stderr.strip()),
        "exit": f"{done.returncode}\n",
    }
    for name, text in found.items():
        path = folder / name
        if os.environ.get("FTPLAN_GOLDEN") == "write":
            path.write_text(text)
        assert text == path.read_text(), f"{case}: {name} differs"
