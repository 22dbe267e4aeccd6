"""What a container allows: limits that Linux keeps for groups of processes, beside what the machine has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

#: Where Linux keeps what it allows groups of processes.
GROUPS = Path("/sys/fs/cgroup")
#: A limit of so many bytes is none: the first version of groups has no word for that.
NO_LIMIT = 2**60


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
