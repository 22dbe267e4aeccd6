"""``ftplan check`` in a repository of several projects: which files are ftplan's, and which belong together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ftplan.api.checking import READABLE, Checked, check_files
from ftplan.errors import FtplanError
from ftplan.io.configuration import FILE_NAME, read_configuration, stated_format
from ftplan.io.validation import FORMATS

Outcome = tuple[list[Checked], list[FtplanError]]


def ours(paths: Sequence[str]) -> list[str]:
    """Return those of many files that can be checked, each once; the manifest of statistics stands for its folder."""
    found = []
    for path in paths:
        if os.path.exists(path) and not os.path.isdir(path):
            kind = stated_format(path)
            if kind == "ftplan/stats":
                path = os.path.dirname(path) or "."
            elif kind is None or (kind in FORMATS and kind not in READABLE):
                continue
        found.append(path)
    return list(dict.fromkeys(found))


def check_projects(paths: Sequence[str]) -> Outcome:
    """Check files, each against the topology and the cluster of its own project.

    A project is a folder with an ``ftplan.toml`` and what lies below it, else the folder of the file. The inputs that
    an ``ftplan.toml`` names are checked too: what was valid may not be so any more beside what has changed.
    """
    projects: dict[Path, list[str]] = {}
    for path in paths:
        projects.setdefault(_project(path), []).append(path)
    checked: list[Checked] = []
    errors: list[FtplanError] = []
    for folder, members in projects.items():
        inputs, mistake = _inputs(folder, members)
        valid, wrong = check_files([*members, *(path for path in inputs if not _among(path, members))], inputs)
        checked += valid
        errors += [*mistake, *wrong]
    return checked, errors


def _project(path: str) -> Path:
    """Return the folder of a file's project."""
    folder = Path(path).absolute()
    own = folder if folder.is_dir() else folder.parent
    return next((above for above in (own, *own.parents) if (above / FILE_NAME).is_file()), own)


def _inputs(folder: Path, members: Sequence[str]) -> tuple[list[str], list[FtplanError]]:
    """Return the inputs that a project names and that are there, or what is wrong with its ``ftplan.toml``."""
    file = folder / FILE_NAME
    if not file.is_file():
        return [], []
    try:
        named = read_configuration(file, {}, None).inputs
    except FtplanError as error:
        return [], [] if _among(str(file), members) else [error]
    whole = any(_among(path, members) for path in (str(file), named.get("topology", "")))
    roles = [role for role in named if role != "stats" or whole]  # tables take time, and only the topology binds them
    return [named[role] for role in roles if os.path.exists(named[role])], []


def _among(path: str, members: Sequence[str]) -> bool:
    return os.path.realpath(path) in map(os.path.realpath, members)
