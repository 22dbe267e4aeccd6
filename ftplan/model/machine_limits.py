"""How many cores and how much memory there is, before anything large is made.

What Linux states of the machine, and the limits of a container, which Linux keeps for groups of processes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ftplan.errors import FtplanError

#: Where Linux keeps what it allows groups of processes.
GROUPS = Path("/sys/fs/cgroup")
#: A limit of so many bytes is none: the first version of groups has no word for that.
NO_LIMIT = 2**60

#: Environment variable that sets the limit in 2^30 bytes, in place of what the system says is available.
VARIABLE = "FTPLAN_MAX_MEMORY_GB"
GB = 2.0**30


def cores() -> float | None:
    """Return the cores that all processes of the container may use together; None without a limit."""
    found = []
    for folder in _groups("cpu"):
        quota, period = [*_text(folder / "cpu.max").split(), "", ""][:2]
        if not quota:
            quota, period = (_text(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period"))
        if quota.isdigit() and period.isdigit() and int(period):
            found.append(int(quota) / int(period))
    return min(found, default=None)


def memory_bytes() -> int | None:
    """Return the memory that all processes of the container may use together; None without a limit."""
    return min((limit for _, limit in _memory_limits()), default=None)


def memory_left_bytes() -> int | None:
    """Return what is left of that memory, caches of files that can be dropped included; None without a limit."""
    return min((max(0, limit - _used(folder)) for folder, limit in _memory_limits()), default=None)


def address_space_bytes() -> int | None:
    """Return how much this process may map (``ulimit -v``), whether used or not; None without a limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _memory_limits() -> Iterator[tuple[Path, int]]:
    for folder in _groups("memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            limit = _number(folder / name)
            if limit is not None and limit < NO_LIMIT:
                yield folder, limit


def _used(folder: Path) -> int:
    """Return the memory that a group holds, without files that were read and are kept in case."""
    used = next(
        (
            found
            for name in ("memory.current", "memory.usage_in_bytes")
            if (found := _number(folder / name)) is not None
        ),
        0,
    )
    words = [line.split() for line in _text(folder / "memory.stat").splitlines()]
    known = {line[0]: int(line[1]) for line in words if len(line) == 2 and line[1].isdigit()}
    return max(0, used - known.get("total_inactive_file", known.get("inactive_file", 0)))


def _groups(controller: str) -> Iterator[Path]:
    """Yield the folders of the groups that this process is in, its own first; a limit of any of them holds."""
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        _, names, place = [*line.split(":", 2), "", ""][:3]
        if names and controller not in names.split(","):
            continue
        top = GROUPS / controller if names else GROUPS
        own = top / place.lstrip("/")
        for folder in (own, *own.parents):
            if folder.is_relative_to(top):
                yield folder


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError):
        return ""


def available_bytes() -> float:
    """Return the limit: the environment variable's, else the least of what Linux and the container leave, else none.

    Raises
    ------
    FtplanError
        If the variable is not a positive number.
    """
    text = os.environ.get(VARIABLE)
    if text:
        try:
            limit = float(text)
        except ValueError:
            limit = 0.0
        if not limit > 0:
            raise FtplanError(f"{VARIABLE}: {text!r} is not a number of GiB above 0")
        return limit * GB
    left = memory_left_bytes()
    limits = (stated_bytes().get("MemAvailable"), left)
    return min((float(limit) for limit in limits if limit is not None), default=float("inf"))


def stated_bytes() -> dict[str, int]:
    """Return what Linux states of the machine's memory by its names, such as ``MemTotal``; nothing elsewhere."""
    try:
        lines = [line.split() for line in Path("/proc/meminfo").read_text().splitlines()]
    except OSError:
        return {}
    return {words[0].rstrip(":"): 1024 * int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
