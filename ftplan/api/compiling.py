"""Machine code for later commands: made after a command by a process of its own, which nobody waits for.

A search that the clock ends before compiling it would have been done runs as it is. What it was called with is noted
(``ftplan.compiled.WANTED``); once the command has answered, a process compiles it into the cache. It has its own
session, so that Ctrl-C in the terminal does not end it, and says nothing. Where several run, one compiles.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from ftplan import compiled

#: How much the processor is left to others.
NICENESS = 10
_CODE = "from ftplan.api.compiling import compile_kernels; compile_kernels()"


def compile_wanted() -> subprocess.Popen[bytes] | None:
    """Compile what was wanted, in a process that goes on when this one has ended; None where nothing was."""
    if not compiled.WANTED:
        return None
    from numba import typeof

    wanted = []
    for kernel, args in compiled.WANTED.items():
        with suppress(ValueError):  # an argument that has no type
            wanted.append((kernel.__module__, kernel.__name__, tuple(map(typeof, args))))
    compiled.WANTED.clear()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdin is not None
        with process.stdin as pipe:
            pickle.dump(wanted, pipe)
    except OSError:  # no more processes, or it ended at once
        return None
    return process


def compile_kernels() -> None:
    """Compile the kernels whose names and types of arguments standard input holds, and keep the machine code."""
    wanted = pickle.load(sys.stdin.buffer)
    with suppress(AttributeError, OSError):
        os.nice(NICENESS)
    for module, name, types in wanted:
        kernel = getattr(import_module(module), name, None)
        if isinstance(kernel, compiled.Kernel) and kernel.can_be_kept:
            with _alone(Path(kernel.fast.stats.cache_path)) as alone:
                if alone:
                    kernel.fast.compile(types)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Yield whether no other process compiles into a folder now; one that ends lets others in, however it ends."""
    try:
        import fcntl
    except ImportError:  # not everywhere; two that write the same machine code do no harm
        yield True
        return
    with (folder / "ftplan-compiling.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
