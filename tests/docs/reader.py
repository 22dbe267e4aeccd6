"""Somebody who types all that a page shows, from top to bottom, in a copy of the project's examples."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.conftest import environment
from tests.cli.in_process import run_here
from tests.docs.blocks import ROOT, Block, Step, agrees, prints, steps
from tests.docs.elsewhere import runs_elsewhere
from tests.docs.places import Places
from tests.logs import thin

#: Engines start in processes of their own; in those of the tests their sessions would stay.
OWN_PROCESS = ("compute-stats", "--master", "what-if")
#: The width of the terminal on which the pages were written.
COLUMNS = "100"


def copied(target: Path) -> Path:
    """Copy the examples to *target*, without what somebody's own runs wrote; the long log is thinned."""

    def written(folder: str, names: list[str]) -> set[str]:
        tracked = _tracked(Path(folder))
        return {name for name in names if name not in tracked}

    shutil.copytree(ROOT / "examples", target / "examples", ignore=written)
    return target


def _tracked(folder: Path) -> set[str]:
    """Return the names in a folder of the project that belong to it."""
    git = shutil.which("git")
    words = (git or "true", "ls-files", "--", ".")
    listed = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False).stdout.split("\n")
    if not any(listed):  # no checkout, or no git: an unpacked sdist
        return {path.name for path in folder.iterdir()}
    return {line.partition("/")[0] for line in listed if line}


@dataclass
class Reader:
    """Where the reader is, and what the reader's Python knows."""

    here: Path
    places: Places
    names: dict[str, object] = field(default_factory=dict)

    def follow(self, block: Block) -> list[str]:
        """Do what a block shows; return what the page has to show instead, a text for each command."""
        if block.language == "console":
            return [self._typed(step) for step in steps(block.text)]
        if block.title is not None:
            (self.here / block.title).parent.mkdir(parents=True, exist_ok=True)
            (self.here / block.title).write_text(block.text, "utf-8")
        elif block.language == "python":
            self._python(block)
        return []

    def _typed(self, step: Step) -> str:
        if step.command.startswith("cd "):
            self.here = (self.here / step.command[3:]).resolve()
            assert self.here.is_dir(), step.command
            return ""
        if runs_elsewhere(step.command):
            return ""
        if self.places.lacking(step.command):
            return step.printed or ""
        done = self._run(self.places.reachable(step.command), seen=step.printed is not None)
        printed = self.places.as_written(done.stdout)
        assert done.returncode == step.code, f"$ {step.command}\n[{done.returncode}]\n{printed}"
        return printed

    def _run(self, command: str, seen: bool) -> subprocess.CompletedProcess[str]:
        """Run a line as a shell would, with both streams as one text: a terminal shows them so."""
        env = environment(COLUMNS=COLUMNS, **({"FTPLAN_FORMAT": "table"} if seen and "|" not in command else {}))
        plain = re.fullmatch(r"ftplan [^|<>;&$]*", command) and not any(word in command for word in OWN_PROCESS)
        if plain:
            with self.places.clock():
                done = run_here(shlex.split(command)[1:], cwd=self.here, env=env)
            return subprocess.CompletedProcess(command, done.returncode, done.stderr + done.stdout)
        env["PATH"] = f"{Path(__file__).parent / 'bin'}{os.pathsep}{env['PATH']}"
        env["PYTHON_OF_TESTS"], env["PYTHONPATH"] = sys.executable, str(ROOT)
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.here, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False,
        )  # fmt: skip

    def _python(self, block: Block) -> None:
        before = os.getcwd()
        os.chdir(self.here)
        try:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, f"<line {block.line}>", "exec"), self.names)
        finally:
            os.chdir(before)
        shown, printed = prints(block.text), out.getvalue().rstrip("\n")
        assert not (shown or printed) or agrees(shown, printed), (
            f"line {block.line}: shown\n{shown}\nprinted\n{printed}"
        )


def thinned(root: Path) -> Path:
    """Take one record of eight from the longest log: tests of the statistics read all of it."""
    log = root / "examples" / "flights" / "hflights.csv.gz"
    thin(log, log, 8)
    return root
