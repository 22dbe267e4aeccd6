"""How a process ends: on a signal, whatever became of the exception that it raised, and without waiting for others."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import NoReturn

#: The signals that came; an exception that is raised after one is taken for what the interrupt led to.
came: list[int] = []


def interrupted(number: int, frame: FrameType | None) -> NoReturn:
    """Note the signal, and unwind the stack."""
    came.append(number)
    raise KeyboardInterrupt


def listen() -> None:
    """Note SIGINT and SIGTERM from now on, unless who began the process lets them be ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupted)
    sys.unraisablehook = unraisable
    sys.excepthook = _printed


def unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Interrupt again, a little later, where a destructor or a callback met an interrupt, and cannot let it through."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt | SystemExit):
        threading.Timer(0.01, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(unraisable)


def _printed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print what nobody caught, but no interrupt: native code that called back into Python prints it and goes on."""
    if not issubclass(kind, KeyboardInterrupt | SystemExit):
        sys.__excepthook__(kind, error, trace)


def leave(code: int, tidy: bool = True) -> NoReturn:
    """End the process at once, having flushed its streams, and *tidy* having called what shall run at its end.

    Tidying up beneath a solver that does not stop would wait for it, or crash; and after an interrupt within ``exec``
    the interpreter would end itself by a signal, not with a code.
    """
    with contextlib.suppress(KeyboardInterrupt):
        if tidy:
            atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
