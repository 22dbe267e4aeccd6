"""What to ask a Flink cluster: all its jobs that are not over, what runs where, and how it runs.

A poll begins with ``/overview``. What a job says of its shape (plan, configuration) is asked again only when the job
or its tasks started anew; metrics of subtasks are those whose names match :data:`METRICS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ftplan.engines.collecting.asking import Asking, Chosen, listed
from ftplan.engines.flink.pages import entries

#: Names of metrics that are kept: records, bytes, time busy, idle and held back, checkpoints, lag, state.
METRICS = (
    r"(.+\.)?num(Records|Bytes)(In|Out)(PerSecond)?|(busy|idle|backPressured)TimeMsPerSecond|accumulate\w+TimeMs"
    r"|checkpoint\w+|initializationTime|(.+\.)?(pendingRecords|currentFetchEventTimeLag|watermarkLag|currentInputWatermark)"
    r"|.+\.rocksdb_(total-sst-files-size|live-sst-files-size|estimate-num-keys|cur-size-all-mem-tables)"
)
_JOB_METRICS = "uptime|downtime|numRestarts|fullRestarts|lastCheckpoint.+|numberOf.+Checkpoints|.+Time(Total)?"
_HOST_METRICS = r"Status\.JVM\.(CPU\.(Load|Time)|Memory\.(Heap|NonHeap)\.Used)|System\.CPU\..+"

#: States of jobs that are over.
OVER = ("FINISHED", "CANCELED", "FAILED", "SUSPENDED")
#: Characters of one request's list of metrics: what servers and proxies take for sure.
_LONGEST_LIST = 4000


class FlinkPoll:
    """Asks a JobManager; options are ``jobs`` (ids or names; none are all) and ``metrics`` (a pattern of names)."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._chosen = Chosen(options.get("jobs") or (), "job")
        self._metrics = re.compile(options.get("metrics") or METRICS)
        self._shapes: dict[str, Any] = {}
        self._detailed: dict[str, set[int]] = {}
        self._missing: set[str] = set()

    def __call__(self, ask: Asking) -> None:
        """Ask for everything once."""
        ask.first("flink")
        jobs = [job for job in listed(ask("/jobs/overview"), "jobs") if isinstance(job.get("jid"), str)]
        chosen = self._chosen.of(jobs, "jid")
        self._taskmanagers(ask)
        for job in chosen:
            if job.get("state") not in OVER:
                self._job(ask, job["jid"])

    def _taskmanagers(self, ask: Asking) -> None:
        for taskmanager in listed(ask("/taskmanagers"), "taskmanagers"):
            self._measured(ask, f"/taskmanagers/{quote(str(taskmanager.get('id')), safe=':')}/metrics", _HOST_METRICS)

    def _job(self, ask: Asking, jid: str) -> None:
        base = f"/jobs/{jid}"
        job = ask(base)
        if not isinstance(job, dict):
            return
        vertices = [vertex for vertex in listed(job, "vertices") if isinstance(vertex.get("id"), str)]
        shape = (job.get("timestamps"), [(v["id"], v.get("parallelism"), v.get("start-time")) for v in vertices])
        if self._shapes.get(jid) != shape:
            answers = [ask(f"{base}/{part}") for part in ("plan", "config", "checkpoints/config")]
            if None not in answers:
                self._shapes[jid] = shape
        self._measured(ask, f"{base}/metrics", _JOB_METRICS)
        self._checkpoints(ask, base, [vertex["id"] for vertex in vertices])
        ask(f"{base}/exceptions")
        self._rescales(ask, base)
        for vertex in vertices:
            self._vertex(ask, f"{base}/vertices/{vertex['id']}")

    def _checkpoints(self, ask: Asking, base: str, vertices: Sequence[str]) -> None:
        """Ask for the newest complete checkpoint's size per subtask, once."""
        answer = ask(f"{base}/checkpoints")
        latest = answer.get("latest") if isinstance(answer, dict) else None
        newest = latest.get("completed") if isinstance(latest, dict) else None
        number = newest.get("id") if isinstance(newest, dict) else None
        if not isinstance(number, int) or number in self._detailed.setdefault(base, set()):
            return
        details = f"{base}/checkpoints/details/{number}"
        if ask(details, optional=True) is not None:
            for vertex in vertices:
                ask(f"{details}/subtasks/{vertex}", optional=True)
            self._detailed[base] = {number}

    def _rescales(self, ask: Asking, base: str) -> None:
        """Ask what the adaptive scheduler did; what answers 404 once is not asked again."""
        for part in ("config", "overview", "history", "summary"):
            path = f"{base}/rescales/{part}"
            if path not in self._missing:
                ask(path, optional=True)
                if ask.status == 404:
                    self._missing.add(path)

    def _vertex(self, ask: Asking, base: str) -> None:
        vertex = ask(base)
        ask(f"{base}/taskmanagers")
        ask(f"{base}/backpressure")
        names = self._measured(ask, f"{base}/subtasks/metrics", self._metrics)
        for index, _ in enumerate(listed(vertex, "subtasks")):
            for part in _lists(names):
                ask(f"{base}/subtasks/{index}/metrics?get={part}")

    def _measured(self, ask: Asking, path: str, wanted: str | re.Pattern[str]) -> list[str]:
        """Ask which metrics there are, then for those that are wanted; return their names."""
        there = (item.get("id") for item in entries(ask(path)))
        names = sorted(name for name in there if isinstance(name, str) and re.fullmatch(wanted, name))
        for part in _lists(names):
            ask(f"{path}?get={part}")
        return names


def _lists(names: Sequence[str]) -> Iterator[str]:
    """Yield the names, quoted and with commas between, in as few texts as URLs have room for."""
    part = ""
    for name in names:
        quoted = quote(name, safe=":")
        if part and len(part) + len(quoted) >= _LONGEST_LIST:
            yield part
            part = ""
        part += f",{quoted}" if part else quoted
    if part:
        yield part
