"""The files of Spark event logs for ``compute-stats``; nothing here needs PySpark."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from ftplan.engines.spark.log_files import find_event_logs, is_compressed, open_event_log
from ftplan.errors import FtplanError

#: The events that are read, and how far into a line its name must begin.
EVENTS = ("SparkListenerTaskEnd", "SparkListenerJobStart")
NAME_WITHIN = 60
_REMOTE = "://"


def find(logs: Sequence[str]) -> list[tuple[str, bool]]:
    """Return ``(path, remote)`` of each file, in the order of applications and within them of writing.

    Raises FtplanError as :func:`ftplan.engines.spark.log_files.find_event_logs` does.
    """
    return [(file, remote) for files, remote in applications(logs) for file in files]


def applications(logs: Sequence[str]) -> list[tuple[tuple[str, ...], bool]]:
    """Return ``(files, remote)`` of each application; a remote path stands for itself."""
    logs = [log.removeprefix("file://") for log in logs]
    remote = list(dict.fromkeys(log for log in logs if _REMOTE in log))
    for log in remote:
        if log.endswith((".zstd", ".lz4")):
            raise FtplanError(f"{log}: a compressed event log on a remote store is not read; copy it here first")
    local = find_event_logs([log for log in logs if _REMOTE not in log])
    found = [*((log.files, False) for log in local), *(((log,), True) for log in remote)]
    if not found:
        raise FtplanError("no log file is given")
    return found


def readable(path: str, folder: Path) -> tuple[str, str | None]:
    """Return a plain file behind *path*, in *folder* where it is compressed, and its last line if that was cut off.

    Of a compressed file only the lines of :data:`EVENTS` are written, and a line that was cut off is left out.
    """
    if not is_compressed(path):
        return path, _cut(_last_line(path))
    names = [name.encode() for name in EVENTS]
    plain = folder / f"{len(os.listdir(folder))}-{os.path.basename(path)}.txt"
    with open_event_log(path) as lines, plain.open("xb") as out:
        for line in lines:
            start = line[: NAME_WITHIN + len(EVENTS[1])]
            if any(name in start for name in names) and (line.endswith(b"\n") or _cut(line) is None):
                out.write(line)
    return str(plain), None


def _last_line(path: str) -> bytes:
    """Return what follows the last line end of a file."""
    line = b""
    with open(path, "rb") as file:
        at = file.seek(0, os.SEEK_END)
        while at > 0 and b"\n" not in line:
            size = min(at, 1 << 16)
            at = file.seek(at - size)
            line = file.read(size) + line
    return line.rpartition(b"\n")[2]


def _cut(line: bytes) -> str | None:
    """Return a line without line end if it is no JSON."""
    try:
        json.loads(line)
    except ValueError:
        return line.decode("utf-8", "replace") or None
    return None
