"""``ftplan what-if`` as a process that is killed or interrupted while its cases wait."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from pathlib import Path

from ftplan.what_if.result import WhatIfResult
from ftplan.what_if.runner import Execution, answer_cases
from tests.cli.in_process import environment
from tests.places import ROOT
from tests.what_if.executed import Arithmetic

#: The command line over a pickled sweep in the place of a what-if file.
CHILD = """
import pickle
from ftplan.what_if import case_file
from pathlib import Path
from ftplan.cli import main
case_file.load_cases = lambda source, **_: pickle.loads(Path(source).read_bytes())
main.main()
"""


class Command:
    """``ftplan what-if`` over a sweep whose cases from *gated* on wait for a gate, in a folder of its own."""

    def __init__(self, folder: Path, cases: int, gated: int) -> None:
        self.folder, self.gate = folder, folder / "gate"
        self.output, self.journal = folder / "out.json", folder / "out.json.partial.jsonl"
        sweep = Arithmetic(cases, failing=7, gate=self.gate, gated=gated)
        (folder / "sweep").write_bytes(pickle.dumps(sweep))
        self.expected = WhatIfResult(sweep, answer_cases(Arithmetic(cases, failing=7), Execution(jobs=1))).to_json()  # type: ignore[arg-type]

    def start(self, *more: str) -> subprocess.Popen[str]:
        args = [sys.executable, "-c", CHILD, "what-if", "sweep", "-o", "out.json", "-q", *more]
        return subprocess.Popen(
            args, cwd=self.folder, env=environment(PYTHONPATH=str(ROOT)), stderr=subprocess.PIPE, text=True
        )

    def wait_for(self, rows: int, process: subprocess.Popen[str]) -> None:
        """Wait until the journal has so many rows."""
        while not self.journal.exists() or self.journal.read_bytes().count(b"\n") <= rows:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.005)

    def finish(self, jobs: str = "1") -> str:
        """Open the gate and go on to the end; return what is said."""
        self.gate.touch()
        args = [sys.executable, "-c", CHILD, "what-if", "sweep", "-o", "out.json", "--jobs", jobs]
        done = subprocess.run(
            args, cwd=self.folder, env=environment(PYTHONPATH=str(ROOT)), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert self.output.read_text() == self.expected
        assert not self.journal.exists()
        return done.stderr


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until_gone(pids: list[int]) -> None:
    """Wait until no process of these lives; one that is dead and not waited for yet counts as gone."""
    while any(Path(f"/proc/{pid}").exists() and "State:\tZ" not in _status(pid) for pid in pids):
        time.sleep(0.01)


def _status(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return "State:\tZ"
