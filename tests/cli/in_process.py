"""The command line within this process: what ``python -m ftplan`` prints and its exit code, without its start.

Everything that one command could leave to the next is set before and put back afterwards: the working folder, the
environment, the three standard streams down to their descriptors, the filters of warnings, the handlers of signals.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ftplan.cli.main import run
from tests.places import ROOT

#: A folder with topology.yaml, cluster.yaml and stats/.
DATA = ROOT / "tests" / "data" / "small"

Run = Callable[..., subprocess.CompletedProcess[str]]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment without what would change the answers."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FTPLAN_") and k not in ("NO_COLOR", "FORCE_COLOR")}
    return {**kept, "COLUMNS": "200", **more}


def run_here(
    args: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one command line in *cwd*; standard input is empty unless it is given, standard output no terminal."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write((stdin or "").encode())
        files[0].seek(0)
        stack.enter_context(_environment(env))
        stack.enter_context(_folder(cwd))
        stack.enter_context(_signals())
        stack.enter_context(_streams([file.fileno() for file in files]))
        stack.enter_context(_warnings())
        try:
            code = run(args)
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        sys.stdout.flush()
        sys.stderr.flush()
        texts = []
        for file in files[1:]:
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(list(args), code, *texts)


@contextmanager
def _environment(env: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _folder(cwd: Path) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(cwd)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _signals() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextmanager
def _streams(descriptors: Sequence[int]) -> Iterator[None]:
    """Put *descriptors* in the place of 0, 1 and 2, and new streams over them in the place of ``sys.stdin`` etc."""
    names = ("stdin", "stdout", "stderr")
    before = [getattr(sys, name) for name in names]
    for stream in before[1:]:
        stream.flush()
    kept = [os.dup(number) for number in range(3)]
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    try:
        for number, name in enumerate(names):
            setattr(sys, name, _stream(number))
        yield
        sys.stdout.flush()
    finally:
        for number, (name, stream) in enumerate(zip(names, before, strict=True)):
            setattr(sys, name, stream)
            os.dup2(kept[number], number)
            os.close(kept[number])


def _stream(number: int) -> io.TextIOWrapper:
    binary: Any = open(number, "rb" if number == 0 else "wb", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(binary, encoding="utf-8", line_buffering=number == 2)


@contextmanager
def _warnings() -> Iterator[None]:
    """Show warnings on standard error, each once, as an interpreter that has just started does."""

    def show(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object) -> None:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))

    with warnings.catch_warnings():
        warnings.resetwarnings()
        for ignored in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", ignored)
        warnings.showwarning = show
        yield
