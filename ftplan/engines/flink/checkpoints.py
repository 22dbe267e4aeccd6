"""Checkpoints: how often, of what kind, and how many bytes of state each subtask has."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import Any, Literal, NamedTuple

from ftplan.engines.flink.pages import entries, number, part, text, whole
from ftplan.engines.flink.records import JobRecord

#: Flink writes the largest long where there is no periodic checkpoint; no interval is longer than a year.
_LONGEST_MS = 366 * 86_400_000


class Checkpoints(NamedTuple):
    """``measured`` tells an interval that follows from when checkpoints were triggered from one that is configured."""

    interval_s: float | None
    kind: Literal["incremental", "full"] | None
    measured: bool


def checkpoints(record: JobRecord) -> Checkpoints:
    """Return what a job's pages say of its checkpoints."""
    history = [
        entry
        for entry in entries(part(record.page("checkpoints"), "history"))
        if entry.get("is_savepoint") is not True and entry.get("status") != "FAILED"
    ]
    configured = number(part(record.page("checkpoint config"), "interval"))
    if configured is not None and 0 < configured <= _LONGEST_MS:
        return Checkpoints(configured / 1000, _kind(history), False)
    triggers = {}
    for entry in history:
        key, at = whole(entry.get("id")), number(entry.get("trigger_timestamp"))
        if key is not None and at is not None:
            triggers[key] = at
    steps = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(sorted(triggers.items()))]
    interval = median(steps) / 1000 if steps else 0.0
    # Triggers are some milliseconds off: 9.999 s is 10 s.
    return Checkpoints(round(interval, 1) or None, _kind(history), True)


def _kind(history: list[dict[str, Any]]) -> Literal["incremental", "full"] | None:
    """Return whether checkpoints write all state each time: told by two or more with state."""
    sizes = [
        (number(entry.get("checkpointed_size")), number(entry.get("state_size")))
        for entry in history
        if entry.get("status") == "COMPLETED"
    ]
    known = [(written, state) for written, state in sizes if written is not None and state]
    if any(written < state for written, state in known):
        return "incremental"
    return "full" if len(known) > 1 else None


def state_bytes(record: JobRecord, vertex: str, parallelism: int) -> tuple[list[float] | None, bool]:
    """Return bytes of state of each subtask in the newest complete checkpoint, and whether each was measured."""
    page = record.page("checkpoint subtasks", vertex)
    sizes: dict[int, float] = {}
    for position, entry in enumerate(entries(part(page, "subtasks"))):
        index, size = whole(entry.get("index")), number(entry.get("state_size"))
        if size is not None and text(entry.get("status")) in ("completed", "COMPLETED", None):
            sizes[position if index is None else index] = size
    if sorted(sizes) == list(range(parallelism)):
        return [sizes[i] for i in range(parallelism)], True
    total = number(part(record.page("checkpoint"), "tasks", vertex, "state_size"))
    if total is None:
        total = number(part(page, "state_size"))
    return (None, False) if total is None or not parallelism else ([total / parallelism] * parallelism, False)
