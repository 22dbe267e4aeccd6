"""Which files are ftplan's, among all the others of a repository: what they state, not how they are called."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from ftplan.io.configuration import FILE_NAME

#: The format that a file states, in JSON anywhere, in YAML at the beginning of a line.
_IN_JSON = re.compile(rb'"format"\s*:\s*"(ftplan/[^"]*)"')
_IN_YAML = re.compile(rb"""^["']?format["']?[ \t]*:[ \t]*["']?(ftplan/[\w.-]*)""", re.MULTILINE)


def stated_format(path: str | os.PathLike[str]) -> str | None:
    """Return the format that a file states, such as ``ftplan/plan``; None where it is not one of ftplan's.

    An ``ftplan.toml`` is a ``configuration``. A file that states a format and is broken is ftplan's too: whoever reads
    it says what is wrong with it.
    """
    file = Path(path)
    if file.name == FILE_NAME:
        return "configuration"
    suffix = file.suffix.lower()
    if suffix not in (".json", ".yaml", ".yml"):
        return None
    try:
        data = file.read_bytes()
    except OSError:
        return None
    if b"ftplan/" not in data:
        return None
    if suffix != ".json" and not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        found = _IN_YAML.search(data)
        return found[1].decode() if found else None
    found = _IN_JSON.search(data)
    return _outermost(data, found[1].decode("utf-8", "replace")) if found else None


def _outermost(data: bytes, found: str) -> str | None:
    """Return the format of a JSON document itself: a format may stand within a document of somebody else."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return found
    stated = document.get("format") if isinstance(document, Mapping) else None
    return stated if isinstance(stated, str) and stated.startswith("ftplan/") else None
