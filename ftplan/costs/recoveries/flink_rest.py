"""Restarts of Flink jobs in collected REST answers: from when a failure was noticed until all tasks ran again.

The job's ``exceptions`` say when it was noticed, ``checkpoints`` when a checkpoint was restored, ``vertices`` how
long each subtask was deployed and initialised. Fetching state is part of it, as REST has no time of its own for that;
a JobManager's log with spans has (:mod:`ftplan.costs.recoveries.flink_spans`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from ftplan.io.collected.answers import answers
from ftplan.io.documents import display_name
from ftplan.model import ranges
from ftplan.model.recovery_costs import Recovery

_PATH = re.compile(r"/jobs/(?P<job>[0-9a-f]{32})/(?P<what>exceptions|checkpoints|vertices/(?P<vertex>[0-9a-f]{32}))")
#: Clocks and roundings of one process differ by less, in milliseconds.
_SLACK_MS = 1000
#: No time is later than this, in the year 2100.
_LATEST_MS = 4_102_444_800_000


@dataclass
class _Job:
    """What the answers say of a job, in milliseconds since 1970; subtasks by vertex, number and attempt."""

    noticed: set[int] = field(default_factory=set)
    restored: set[int] = field(default_factory=set)
    deployed: dict[tuple[str, int, int], int] = field(default_factory=dict)
    running: dict[tuple[str, int, int], int] = field(default_factory=dict)


def restarts(folder: Path) -> tuple[list[Recovery], int]:
    """Return the restarts of the jobs in a collected folder, and how many had not ended, or not been seen to.

    Raises
    ------
    FtplanError
        If the folder cannot be read.
    """
    jobs: defaultdict[str, _Job] = defaultdict(_Job)
    for answer in answers(folder):
        match = _PATH.fullmatch(answer.path.partition("?")[0])
        if match is not None and isinstance(answer.value, dict):
            try:
                _take(jobs[match["job"]], match["what"], match["vertex"], answer.value)
            except (KeyError, TypeError, ValueError, AttributeError):
                continue  # of a version with other fields
    recoveries: list[Recovery] = []
    unseen = 0
    for job in jobs.values():
        for one in _of_job(job, display_name(folder)):
            if one is None:
                unseen += 1
            else:
                recoveries.append(one)
    return recoveries, unseen


def _take(job: _Job, what: str, vertex: str | None, value: dict[str, Any]) -> None:
    if what == "exceptions":
        job.noticed.update(_time(entry["timestamp"]) for entry in value["exceptionHistory"]["entries"])
    elif what == "checkpoints":
        restored = value["latest"]["restored"]
        if restored is not None:
            job.restored.add(_time(restored["restore_timestamp"]))
    elif vertex is not None:
        for subtask in value["subtasks"]:
            key = (vertex, int(subtask["subtask"]), int(subtask["attempt"]))
            took = subtask["status-duration"]
            if int(subtask["start-time"]) <= 0:
                continue
            begin = job.deployed[key] = _time(subtask["start-time"])
            if int(took["RUNNING"]) >= 0:
                job.running[key] = begin + max(int(took["DEPLOYING"]), 0) + max(int(took["INITIALIZING"]), 0)


def _time(value: Any) -> int:
    """Return a time; ValueError if nobody lived then."""
    if not 0 < int(value) < _LATEST_MS:
        raise ValueError
    return int(value)


def _of_job(job: _Job, name: str) -> Iterator[Recovery | None]:
    """Yield the restarts of a job in the order of time, None for one without an end."""
    restored = sorted(job.restored)
    before = 0
    for restore, following in pairwise([*restored, _LATEST_MS]):
        begun = {key for key, at in job.deployed.items() if restore - _SLACK_MS <= at < following - _SLACK_MS}
        if not begun or not begun <= job.running.keys():
            yield None
            continue
        end = max(job.running[key] for key in begun)
        noticed = min((at for at in job.noticed if before < at <= restore + _SLACK_MS), default=restore)
        before = end
        took = (end - noticed) / 1000.0
        at = datetime.fromtimestamp(restore / 1000.0, UTC)
        yield Recovery(
            f"{name}: restored {at:%Y-%m-%dT%H:%M:%SZ}", restart_s=took if ranges.SECONDS.holds(took) else None
        )
