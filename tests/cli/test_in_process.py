"""Commands run within the tests' process: nothing that they print is lost, nothing that they change stays."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path

import pytest

from ftplan.io import schemas
from tests.cli.in_process import Run


def test_what_is_written_anywhere_is_caught(ftplan: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """By Python, by a library on the bare descriptor, and as a warning, which a user would see."""

    def loud(kind: str) -> dict[str, object]:
        os.write(2, b"from a library\n")
        warnings.warn("divide by zero", RuntimeWarning, stacklevel=1)
        return {"kind": kind, "columns": os.environ["COLUMNS"], "tty": sys.stdout.isatty(), "in": sys.stdin.read()}

    monkeypatch.setattr(schemas, "schema", loud)
    for _ in range(2):  # a warning is shown once in a process, and each command stands for one
        done = ftplan("schema", "plan", stdin="given")
        assert done.returncode == 0
        assert '"columns": "200"' in done.stdout
        assert '"tty": false' in done.stdout
        assert '"in": "given"' in done.stdout
        assert "from a library" in done.stderr
        assert "RuntimeWarning: divide by zero" in done.stderr


def test_nothing_stays_behind(ftplan: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def untidy(kind: str) -> dict[str, object]:
        os.environ["FTPLAN_SEED"] = "7"
        os.chdir("/")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        warnings.simplefilter("error")
        sys.exit(3)

    def seen() -> tuple[object, ...]:
        streams = (sys.stdin, sys.stdout, sys.stderr)
        return dict(os.environ), os.getcwd(), signal.getsignal(signal.SIGTERM), list(warnings.filters), streams

    before = seen()
    monkeypatch.setattr(schemas, "schema", untidy)
    assert ftplan("schema", "plan").returncode == 3
    assert seen() == before
