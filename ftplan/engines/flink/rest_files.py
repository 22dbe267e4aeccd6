"""The files of Flink's REST answers for ``compute-stats``; nothing here needs PySpark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ftplan.engines.flink.metadata import MAGIC
from ftplan.errors import FtplanError
from ftplan.model.names import natural_key

#: Endings of the files of a collected folder: a line an answer.
LINES = (".jsonl", ".jsonl.gz")
#: Name of the file that Flink writes a checkpoint's metadata into.
METADATA = "_metadata"


def find(logs: Sequence[str]) -> list[tuple[str, bool]]:
    """Return ``(path, remote)`` of each file: the answers of collected folders, JSON files of others, and single files.

    Raises FtplanError if a path does not exist, lies on a remote store, or a folder holds no answers.
    """
    paths: list[str] = []
    for log in (log.removeprefix("file://") for log in logs):
        path = Path(log)
        if "://" in log:
            raise FtplanError(f"{log}: collected answers on a remote store are not read; copy them here first")
        if not path.exists():
            raise FtplanError(f"{log}: there is no such file or folder")
        if not path.is_dir():
            paths.append(log)
            continue
        collected = (path / "collection.json").is_file()
        inside = (path / "answers").glob("*.jsonl*") if collected else path.iterdir()
        known = [str(p) for p in inside if p.is_file() and (p.name.endswith((*LINES, ".json")) or p.name == METADATA)]
        if not known:
            raise FtplanError(f"{log}: the folder holds no answers of Flink's REST endpoint (*.json, *.jsonl)")
        paths += sorted(known, key=natural_key)
    return [(path, False) for path in dict.fromkeys(paths)]


def is_metadata(path: str) -> bool:
    """Return whether a file is the metadata of a checkpoint."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == MAGIC.to_bytes(4, "big")
    except OSError as error:
        raise FtplanError(f"{path}: cannot be read ({error.strerror})") from None


def saved(path: str) -> Any:
    """Return the value in a JSON file.

    Raises FtplanError if it cannot be read or is no JSON.
    """
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise FtplanError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise FtplanError(f"{path}: not JSON ({error})") from None
