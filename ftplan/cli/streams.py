"""The three standard streams of a process: one that is closed breaks no other file, and messages fail nothing."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress


class _Forgiving(io.FileIO):
    """Standard error that says what it can: a closed or full one is no reason to fail."""

    def write(self, data: object, /) -> int:
        """Write, or leave it."""
        with suppress(OSError):
            return super().write(data)  # type: ignore[arg-type]
        return memoryview(data).nbytes  # type: ignore[arg-type]


def open_streams() -> None:
    """Put something in the place of standard streams that are closed, so that no file takes their numbers.

    What reads a closed standard input, or writes to a closed standard output, fails then as with any bad descriptor.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, mode)  # the lowest free number, which is this one
            os.set_inheritable(opened, True)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "r+", closefd=False)), encoding="utf-8")
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    quiet = io.BufferedWriter(_Forgiving(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(quiet, encoding, "backslashreplace", line_buffering=True)


def keep_stdout() -> None:
    """Keep standard output for the answer: what a solver's own code prints goes to standard error."""
    answer = os.dup(sys.stdout.fileno())
    os.dup2(2, 1)
    own = sys.stdout
    buffered = -1 if not os.isatty(answer) else 1
    sys.stdout = os.fdopen(answer, "w", buffered, own.encoding, own.errors)
    sys.__stdout__ = sys.stdout  # type: ignore[misc]  # asked for the width of the terminal


def silence_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter's own flush at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
