"""The machine: cores and memory, also what a container allows, and the folders that are written to."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ftplan import version
from ftplan.model import machine_limits
from ftplan.model.machine_limits import stated_bytes
from ftplan.processes import cores
from ftplan.version import __version__


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is written to: where it is, None where there is none, and whether it can be."""

    what: str
    path: str | None
    writable: bool
    free_bytes: int | None


def python() -> dict[str, Any]:
    """Return what runs ftplan."""
    return {
        "ftplan": __version__,
        "installed_in": str(Path(version.__file__).resolve().parent),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "platform": platform.platform(),
    }


def machine() -> dict[str, Any]:
    """Return cores and memory: of the machine, and what this process may use of them."""
    memory = stated_bytes()
    return {
        "cores": os.cpu_count(),
        "cores_usable": cores(),
        "cores_of_cgroup": machine_limits.cores(),
        "memory_bytes": memory.get("MemTotal"),
        "memory_available_bytes": memory.get("MemAvailable"),
        "memory_of_cgroup_bytes": machine_limits.memory_bytes(),
    }


def folder(what: str, path: str | os.PathLike[str] | None) -> Folder:
    """Return whether a file can be written into a folder, by writing one."""
    if path is None:
        return Folder(what, None, False, None)
    try:
        with tempfile.TemporaryFile(dir=path) as file:
            file.write(b"ftplan")
    except OSError:
        writable = False
    else:
        writable = True
    try:
        free = shutil.disk_usage(path).free
    except OSError:
        free = None
    return Folder(what, str(path), writable, free)


def temporary() -> Folder:
    """Return the folder of temporary files."""
    try:
        return folder("temporary files", tempfile.gettempdir())
    except OSError:  # Python tried all that there could be
        return Folder("temporary files", None, False, None)
