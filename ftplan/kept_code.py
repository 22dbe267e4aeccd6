"""The machine code that numba keeps: which is there, and going on where it can be neither kept nor read."""

from __future__ import annotations

import glob
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

_log = logging.getLogger(__name__)


def indexes(dispatcher: Any) -> Iterator[Path]:
    """Yield the files that say which machine code of a dispatcher is kept."""
    folder = Path(dispatcher.stats.cache_path or os.devnull)
    if folder.is_dir():
        yield from folder.glob(f"*.{glob.escape(dispatcher.py_func.__qualname__)}-*.nbi")


def spared(dispatcher: Any) -> Any:
    """Let a dispatcher go on where its cache fails: the machine code is there, or can be made.

    What is damaged raises anything as it is read. What says that machine code is kept is removed: it may not be.
    """
    kept = getattr(dispatcher, "_cache", None)

    def going_on(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            try:
                return method(*args)
            except Exception as error:
                _note_failure(error)
                with suppress(OSError):
                    for index in indexes(dispatcher):
                        index.unlink()
                return None

        return call

    for name in ("load_overload", "save_overload"):
        if hasattr(kept, name):
            setattr(kept, name, going_on(getattr(kept, name)))
    return dispatcher


_failed = False


def _note_failure(error: Exception) -> None:
    """Say once what failed."""
    global _failed
    if not _failed:
        _log.info("compiled functions cannot be kept, or what was kept be read: %s: %s", type(error).__name__, error)
    _failed = True
