"""Somebody who types all that a page shows, from top to bottom, in a copy of the project's examples."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.in_process import environment, run_here
from tests.docs.blocks import Block, Step, agrees, prints, steps
from tests.docs.elsewhere import runs_elsewhere
from tests.docs.places import Places
from tests.logs import thin
from tests.places import ROOT

#: What starts Spark does so in a process of its own; in those of the tests its session would stay.
OWN_PROCESS = ("--master", "--engine spark")
#: The width of the terminal on which the pages were written.
COLUMNS = "100"


#: Folders that live as long as this process.
_KEPT: list[tempfile.TemporaryDirectory[str]] = []


@functools.cache
def pristine(whole_log: bool) -> Path:
    """Return a folder with the examples, without what somebody's own runs wrote; the long log is thinned, or whole."""

    def written(folder: str, names: list[str]) -> set[str]:
        tracked = _tracked(Path(folder))
        return {name for name in names if name not in tracked}

    _KEPT.append(tempfile.TemporaryDirectory())
    root = Path(_KEPT[-1].name)
    if whole_log:
        shutil.copytree(ROOT / "examples", root / "examples", ignore=written)
        return root
    shutil.copytree(pristine(True) / "examples", root / "examples")
    log = root / "examples" / "flights" / "hflights.csv.gz"
    thin(log, log, 8)  # tests of the statistics read all of it
    return root


def _tracked(folder: Path) -> set[str]:
    """Return the names in a folder of the project that belong to it."""
    git = shutil.which("git")
    words = (git or "true", "ls-files", "--", ".")
    listed = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False).stdout.split("\n")
    if not any(listed):  # no checkout, or no git: an unpacked sdist
        return {path.name for path in folder.iterdir()}
    return {line.partition("/")[0] for line in listed if line}


#: Allocations on pages are bounded by work, so that they show the same on each machine.
LIMITS = {
    f"FTPLAN_{command}_{option}": value
    for command, work in (("ALLOCATE_CHECKPOINTS", "1"), ("RECOVERY_SCHEDULE", "2"))
    for option, value in (("ITERATIONS", work), ("TIME_LIMIT", "60s"))
}
#: A command of a page: its folder below the root, the line, and whether the page shows what it prints.
Typed = tuple[str, str, bool]
#: What pages that begin with the same commands share: what the last of them answers, and the files that it writes.
_ANSWERED: dict[tuple[Typed, ...], tuple[subprocess.CompletedProcess[str], dict[Path, bytes]]] = {}


@dataclass
class Reader:
    """Where the reader is, and what the reader's Python knows.

    *begun* is what was typed since *root* was as ``pristine`` gives it; None once something else happened there.
    """

    here: Path
    places: Places
    root: Path
    begun: tuple[Typed, ...] | None = None
    names: dict[str, object] = field(default_factory=dict)

    def follow(self, block: Block) -> list[str]:
        """Do what a block shows; return what the page has to show instead, a text for each command."""
        if block.language == "console":
            return [self._typed(step) for step in steps(block.text)]
        if block.title is not None:
            self.begun = None
            (self.here / block.title).parent.mkdir(parents=True, exist_ok=True)
            (self.here / block.title).write_text(block.text, "utf-8")
        elif block.language == "python":
            self.begun = None
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
        env = environment(COLUMNS=COLUMNS, **LIMITS)
        if seen and "|" not in command:
            env["FTPLAN_FORMAT"] = "table"
        if re.fullmatch(r"ftplan [^|<>;&$]*", command) and not any(word in command for word in OWN_PROCESS):
            return self._plain(command, env, seen)
        self.begun = None
        env["PATH"] = f"{ROOT / 'tests' / 'docs' / 'bin'}{os.pathsep}{env['PATH']}"
        env["PYTHON_OF_TESTS"], env["PYTHONPATH"] = sys.executable, str(ROOT)
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.here, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False,
        )  # fmt: skip

    def _plain(self, command: str, env: dict[str, str], seen: bool) -> subprocess.CompletedProcess[str]:
        """Run ftplan alone, or take what another page was answered that began alike."""
        if self.begun is not None:
            self.begun = (*self.begun, (str(self.here.relative_to(self.root)), command, seen))
            if self.begun in _ANSWERED:
                done, written = _ANSWERED[self.begun]
                for path, content in written.items():
                    (self.root / path).parent.mkdir(parents=True, exist_ok=True)
                    (self.root / path).write_bytes(content)
                return done
        before = self._files()
        with self.places.clock():
            ran = run_here(shlex.split(command)[1:], cwd=self.here, env=env)
        done = subprocess.CompletedProcess(command, ran.returncode, ran.stderr + ran.stdout)
        if self.begun is not None:
            changed = [path for path, state in self._files().items() if before.get(path) != state]
            _ANSWERED[self.begun] = (done, {path: (self.root / path).read_bytes() for path in changed})
        return done

    def _files(self) -> dict[Path, tuple[int, int]]:
        """Return the files below the root that could be shared, with what changes when they do."""
        found = {} if self.begun is None else {path: path.stat() for path in self.root.rglob("*") if path.is_file()}
        return {path.relative_to(self.root): (stat.st_mtime_ns, stat.st_size) for path, stat in found.items()}

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
