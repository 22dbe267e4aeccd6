"""What the command at hand reads, which it never overwrites, also with ``--force``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ftplan.errors import FtplanError

#: Device and number of every file and folder that the command at hand reads; None where no command runs.
_inputs: set[tuple[int, int]] | None = None


@contextmanager
def inputs_kept() -> Iterator[None]:
    """Let nothing that is read in this block be overwritten in it, also by ``--force``: see :func:`remember_input`."""
    global _inputs
    before, _inputs = _inputs, set()
    try:
        yield
    finally:
        _inputs = before


def remember_input(path: str | os.PathLike[str], is_input: bool = True) -> None:
    """Keep a file or folder, if it is there, from being overwritten; or, if it *is_input* not, let it be."""
    if _inputs is None:
        return
    with suppress(OSError, ValueError):
        there = os.stat(path)
        (_inputs.add if is_input else _inputs.discard)((there.st_dev, there.st_ino))


def refuse_special(path: str | os.PathLike[str], name: str) -> None:
    """Refuse what a file names, not the user, and is no regular file: a pipe or device would be waited for for ever.

    Raises FtplanError.
    """
    regular = os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path)
    if _inputs is not None and not regular and not is_input(path):
        raise FtplanError(f"{name}: is no regular file, and was not given to this command: give it by its option")


def is_input(path: str | os.PathLike[str]) -> bool:
    """Return whether a file or folder was read by the command at hand."""
    try:
        there = os.stat(path)
    except (OSError, ValueError):
        return False
    return _inputs is not None and (there.st_dev, there.st_ino) in _inputs
