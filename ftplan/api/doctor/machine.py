"""The machine: cores and memory, also what a container allows, the folders that are written to, and the packages.

Packages are those that ftplan needs, and those that its extras bring, with the versions that are here.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from ftplan import version
from ftplan.model import machine_limits
from ftplan.model.machine_limits import stated_bytes
from ftplan.processes import cores
from ftplan.version import __version__

#: Packages that ftplan cannot do without: the name of their module where it is another.
NEEDED: Mapping[str, str] = {
    "click": "click", "networkx": "networkx", "numba": "numba", "numpy": "numpy", "ortools": "ortools",
    "pandas": "pandas", "pyarrow": "pyarrow", "pydantic": "pydantic", "pyyaml": "yaml", "rich": "rich",
    "scipy": "scipy", "simpy": "simpy", "urllib3": "urllib3",
}  # fmt: skip
#: Packages of extras: those of ``sail`` that ``spark`` brings too stand there.
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "spark": {"pyspark": "pyspark", "lz4": "lz4", "zstandard": "zstandard"},
    "sail": {"pysail": "pysail"},
    "report": {"jinja2": "jinja2", "matplotlib": "matplotlib"},
    "forecast": {"statsmodels": "statsmodels"},
}


@dataclass(frozen=True, slots=True)
class Package:
    """A package: its version, None where it is missing; the extra that brings it, None where ftplan needs it."""

    name: str
    version: str | None
    extra: str | None

    @property
    def remedy(self) -> str | None:
        """What installs it, None where it is there."""
        return None if self.version is not None else remedy(self.extra)


def remedy(extra: str | None) -> str:
    """Return the line that installs an extra, or what ftplan itself needs."""
    return f"pip install 'ftplan[{extra}]'" if extra else "pip install --force-reinstall ftplan"


def installed() -> list[Package]:
    """Return all packages, those that are needed first."""
    rows: list[tuple[str, str | None]] = [(name, None) for name in NEEDED]
    rows += [(name, extra) for extra, names in EXTRAS.items() for name in names]
    return [Package(name, _version(name), extra) for name, extra in rows]


def _version(name: str) -> str | None:
    try:
        return metadata.version(name) or None
    except Exception:  # whatever is wrong with what an installer wrote
        return None


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
