"""What restarts and restores of Flink jobs took: spans in a JobManager's log, or collected REST answers.

**Spans** named ``JobInitialization``. Slf4jTraceReporter (``traces.reporter.NAME.factory.class:
org.apache.flink.traces.slf4j.Slf4jTraceReporterFactory``, Flink 1.19 and later) writes one line a span:
``Reported span: SimpleSpan{scope=..., name=JobInitialization, startTsMillis=..., endTsMillis=...,
attributes={k=v, ...}}``, since 2.0 with ``children=[...]``. Of the attributes there are the largest (``max``) and the
sum (``sum``) over all subtasks. The download has a time of its own with RocksDB only; without one it is part of the
restart. A restart begins when the log says that the job is restarting, where it does, as delays and attempts in vain
come before the span.

**REST.** From when a failure was noticed until all tasks ran again: the job's ``exceptions`` say when it was noticed,
``checkpoints`` when a checkpoint was restored, ``vertices`` how long each subtask was deployed and initialised.
Fetching state is part of it, as REST has no time of its own for that; a log with spans has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from ftplan.costs.recoveries.tables import ReadingOptions, RecoveryReading, joined
from ftplan.engines.collecting.collection import answers, head_of
from ftplan.errors import FtplanError
from ftplan.io.documents import display_name, recorded_path, sha256_of_bytes, sha256_of_data, sha256_of_file
from ftplan.model import ranges
from ftplan.model.plan import InputFile, Warn
from ftplan.model.recovery_costs import MeasuredRecovery

_PATH = re.compile(r"/jobs/(?P<job>[0-9a-f]{32})/(?P<what>exceptions|checkpoints|vertices/(?P<vertex>[0-9a-f]{32}))")
#: Clocks and roundings of one process differ by less, in milliseconds.
_SLACK_MS = 1000
#: No time is later than this, in the year 2100.
_LATEST_MS = 4_102_444_800_000

_SPAN = re.compile(
    r"name=JobInitialization, startTsMillis=(?P<start>\d{1,18}), endTsMillis=(?P<end>\d{1,18}), "
    r"attributes=\{(?P<attributes>.*?)\}(?:, children=|\}|$)",
    re.MULTILINE,
)
#: A job that stops running because something failed, with the time of the line and the id of the job.
_NOTICED = re.compile(
    r"^(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]\d{1,6})\b.*\((?P<job>[0-9a-f]{32})\) "
    r"switched from state RUNNING to (?:RESTARTING|FAILING)\b",
    re.MULTILINE,
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]\d{1,6}")
_ATTRIBUTE = re.compile(r"([A-Za-z][\w.]*)=([^,]*)")
#: Where the bytes of a restore lay: fetched from elsewhere, and on the node.
_FETCHED, _LOCAL = ("remote", "unknown"), ("local_disk",)


@dataclass
class _RestartedJob:
    """What the answers say of a job, in milliseconds since 1970; subtasks by vertex, number and attempt."""

    noticed: set[int] = field(default_factory=set)
    restored: set[int] = field(default_factory=set)
    deployed: dict[tuple[str, int, int], int] = field(default_factory=dict)
    running: dict[tuple[str, int, int], int] = field(default_factory=dict)


def restarts(folder: Path) -> tuple[list[MeasuredRecovery], int]:
    """Return the restarts of the jobs in a collected folder, and how many had not ended, or not been seen to.

    Raises
    ------
    FtplanError
        If the folder cannot be read.
    """
    jobs: defaultdict[str, _RestartedJob] = defaultdict(_RestartedJob)
    for answer in answers(folder):
        match = _PATH.fullmatch(answer.path.partition("?")[0])
        if match is not None and isinstance(answer.value, dict):
            try:
                _take(jobs[match["job"]], match["what"], match["vertex"], answer.value)
            except (KeyError, TypeError, ValueError, AttributeError):
                continue  # of a version with other fields
    recoveries: list[MeasuredRecovery] = []
    unseen = 0
    for job in jobs.values():
        for one in _of_job(job, display_name(folder)):
            if one is None:
                unseen += 1
            else:
                recoveries.append(one)
    return recoveries, unseen


def _take(job: _RestartedJob, what: str, vertex: str | None, value: dict[str, Any]) -> None:
    if what == "exceptions":
        job.noticed.update(_collected_ms(entry["timestamp"]) for entry in value["exceptionHistory"]["entries"])
    elif what == "checkpoints":
        restored = value["latest"]["restored"]
        if restored is not None:
            job.restored.add(_collected_ms(restored["restore_timestamp"]))
    elif vertex is not None:
        for subtask in value["subtasks"]:
            key = (vertex, int(subtask["subtask"]), int(subtask["attempt"]))
            took = subtask["status-duration"]
            if int(subtask["start-time"]) <= 0:
                continue
            begin = job.deployed[key] = _collected_ms(subtask["start-time"])
            if int(took["RUNNING"]) >= 0:
                job.running[key] = begin + max(int(took["DEPLOYING"]), 0) + max(int(took["INITIALIZING"]), 0)


def _collected_ms(value: Any) -> int:
    """Return a time; ValueError if nobody lived then."""
    if not 0 < int(value) < _LATEST_MS:
        raise ValueError
    return int(value)


def _of_job(job: _RestartedJob, name: str) -> Iterator[MeasuredRecovery | None]:
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
        yield MeasuredRecovery(
            f"{name}: restored {at:%Y-%m-%dT%H:%M:%SZ}", restart_s=took if ranges.SECONDS.holds(took) else None
        )


def read(paths: Sequence[Path], options: ReadingOptions) -> RecoveryReading:
    """Read the spans of JobManagers' logs, and the restarts in collected folders.

    Starts from nothing (without ``checkpointId``) and those that failed are left out and counted.

    Raises
    ------
    FtplanError
        If one cannot be read, or a log holds no span of this name.
    """
    return joined(_collected(path) if path.is_dir() else _log(path) for path in paths)


def _collected(folder: Path) -> RecoveryReading:
    name, engine = display_name(folder), head_of(folder).source
    if engine != "flink":
        raise FtplanError(f"{name}: holds answers of {engine}: restarts are read from those of flink")
    recoveries, unseen = restarts(folder)
    warnings = []
    if unseen or not recoveries:
        text = f"{unseen} restarts are left out: their end was not collected" if unseen else "no job was restarted"
        warnings.append(Warn("ROWS_LEFT_OUT", f"{name}: {text}"))
    digests = {str(file.relative_to(folder)): sha256_of_file(file) for file in sorted(folder.rglob("*.json*"))}
    source = InputFile("recoveries", recorded_path(folder), sha256_of_data(digests))
    return RecoveryReading(tuple(recoveries), warnings=tuple(warnings), inputs=(source,))


def _log(path: Path) -> RecoveryReading:
    name, data = display_name(path), _bytes(path)
    text = data.decode("utf-8", "replace")
    noticed = [(match.start(), match["job"], _time(match["time"])) for match in _NOTICED.finditer(text)]
    ended: dict[str, int] = {}  # where the last start of a job stands
    recoveries: list[MeasuredRecovery] = []
    fresh = failed = 0
    for match in _SPAN.finditer(text):
        attributes = {name.lower(): value.strip() for name, value in _ATTRIBUTE.findall(match["attributes"])}
        job = attributes.get("jobid", "")
        if attributes.get("initializationstatus", "COMPLETED") != "COMPLETED":
            failed += 1
            continue
        took = (int(match["end"]) - int(match["start"])) / 1000.0
        since = [time for at, one, time in noticed if one == job and ended.get(job, 0) < at < match.start()]
        if since and (reported := _line_time(text, match.start())) is not None:
            took = max(took, reported - since[0])
        ended[job] = match.start()
        if "checkpointid" in attributes:
            line = text.count("\n", 0, match.start()) + 1
            recoveries.append(_recovery(f"{name}: line {line}", max(took, 0.0), attributes))
        else:
            fresh += 1
    if not recoveries and not fresh and not failed:
        raise FtplanError(
            f"{name}: holds no JobInitialization span: Flink writes them where a trace reporter is configured "
            "(traces.reporter.NAME.factory.class: org.apache.flink.traces.slf4j.Slf4jTraceReporterFactory)"
        )
    warnings = [
        Warn("ROWS_LEFT_OUT", f"{name}: {count} {'start is' if count == 1 else 'starts are'} left out: {why}")
        for count, why in ((fresh, "from nothing, not from a checkpoint"), (failed, "failed"))
        if count
    ]
    source = InputFile("recoveries", recorded_path(path), sha256_of_bytes(data))
    return RecoveryReading(tuple(recoveries), warnings=tuple(warnings), inputs=(source,))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FtplanError(f"{display_name(path)}: cannot be read: {error.strerror or error}") from None


def _line_time(text: str, position: int) -> float | None:
    """Return the time at the begin of the line of a position, None where it begins otherwise."""
    match = _TIME.match(text, text.rfind("\n", 0, position) + 1)
    return None if match is None else _time(match[0])


def _time(text: str) -> float:
    """Return the time of a line in seconds; logs do not say their zone, and only differences count."""
    try:
        return datetime.fromisoformat(text.replace(",", ".").replace(" ", "T")).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


def _recovery(where: str, took: float, attributes: dict[str, str]) -> MeasuredRecovery:
    download = _number(attributes, "maxdownloadstatedurationms")
    transfer = None if not download else min(download / 1000.0, took)
    sizes = {place: _number(attributes, f"maxrestoredstatesizebytes.{place}") or 0.0 for place in (*_FETCHED, *_LOCAL)}
    fetched, local = sum(sizes[place] for place in _FETCHED), sum(sizes[place] for place in _LOCAL)
    if transfer is not None and not fetched:  # a file system that is mounted looks like the node's own disk
        fetched, local = local, 0.0
    return MeasuredRecovery(
        where,
        restart_s=_seconds(took - (transfer or 0.0)),
        transfer_s=None if transfer is None else _seconds(transfer),
        state_bytes=fetched if ranges.BYTES.holds(fetched) else None,
        local_bytes=local if ranges.BYTES.holds(local) else None,
    )


def _number(attributes: dict[str, str], name: str) -> float | None:
    text = attributes.get(name, "")
    return float(text) if re.fullmatch(r"\d{1,18}", text) else None


def _seconds(value: float) -> float | None:
    return value if ranges.SECONDS.holds(value) else None
