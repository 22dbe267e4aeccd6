"""Names of half-made files and folders, by which those of processes that were killed are found and removed."""

from __future__ import annotations

import os
import platform
import re
import secrets
import shutil
import time
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

#: Seconds after which what another machine began is taken for left over.
OLD_S = 7 * 86_400.0
_MARK = re.compile(r"\.([0-9a-f]{8})-([0-9]+)-[0-9a-f]{8}$")


@cache
def _machine() -> str:
    """Return what is the same for processes whose numbers can be compared: machine, its start, space of processes."""
    parts = [platform.node()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        with suppress(OSError):
            parts.append(os.readlink(path) if path.endswith("pid") else Path(path).read_text("ascii"))
    return f"{zlib.crc32(' '.join(parts).encode()):08x}"


def mark() -> str:
    """Return the end of a name: what begins with it ends with this process."""
    return f".{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"


def is_left(path: Path, suffix: str = "") -> bool:
    """Return whether who began a file or folder is gone: a dead process of here, or any of a week ago."""
    found = _MARK.search(path.name.removesuffix(suffix))
    if found is None or not path.name.endswith(suffix):
        return False
    if found[1] == _machine():
        return not _runs(int(found[2]))
    try:
        return time.time() - path.stat().st_mtime > OLD_S
    except OSError:
        return False


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def remove_left(folder: Path, pattern: str, suffix: str = "") -> None:
    """Remove what processes that are gone left in a folder; what cannot be removed stays."""
    with suppress(OSError):
        for path in folder.glob(pattern):
            if is_left(path, suffix):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    with suppress(OSError):
                        path.unlink()
