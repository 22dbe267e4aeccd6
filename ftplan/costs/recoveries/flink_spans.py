"""Flink's ``JobInitialization`` spans in a JobManager's log: what a restart and a restore took.

Slf4jTraceReporter (``traces.reporter.NAME.factory.class: org.apache.flink.traces.slf4j.Slf4jTraceReporterFactory``,
Flink 1.19 and later) writes one line a span: ``Reported span: SimpleSpan{scope=..., name=JobInitialization,
startTsMillis=..., endTsMillis=..., attributes={k=v, ...}}``, since 2.0 with ``children=[...]``. Of the attributes
there are the largest (``max``) and the sum (``sum``) over all subtasks. The download has a time of its own with
RocksDB only; without one it is part of the restart. A restart begins when the log says that the job is restarting,
where it does, as delays and attempts in vain come before the span.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ftplan.costs.recoveries import Reading, ReadingOptions, joined
from ftplan.costs.recoveries.flink_rest import restarts
from ftplan.errors import FtplanError
from ftplan.io.collected.collection_file import head_of
from ftplan.io.documents import display_name, recorded_path
from ftplan.io.fingerprint import sha256_of_bytes, sha256_of_data, sha256_of_file
from ftplan.model import ranges
from ftplan.model.plan import InputFile, Warn
from ftplan.model.recovery_costs import Recovery

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


def read(paths: Sequence[Path], options: ReadingOptions) -> Reading:
    """Read the spans of JobManagers' logs, and the restarts in collected folders.

    Starts from nothing (without ``checkpointId``) and those that failed are left out and counted.

    Raises
    ------
    FtplanError
        If one cannot be read, or a log holds no span of this name.
    """
    return joined(_collected(path) if path.is_dir() else _log(path) for path in paths)


def _collected(folder: Path) -> Reading:
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
    return Reading(tuple(recoveries), warnings=tuple(warnings), inputs=(source,))


def _log(path: Path) -> Reading:
    name, data = display_name(path), _bytes(path)
    text = data.decode("utf-8", "replace")
    noticed = [(match.start(), match["job"], _time(match["time"])) for match in _NOTICED.finditer(text)]
    ended: dict[str, int] = {}  # where the last start of a job stands
    recoveries: list[Recovery] = []
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
    return Reading(tuple(recoveries), warnings=tuple(warnings), inputs=(source,))


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


def _recovery(where: str, took: float, attributes: dict[str, str]) -> Recovery:
    download = _number(attributes, "maxdownloadstatedurationms")
    transfer = None if not download else min(download / 1000.0, took)
    sizes = {place: _number(attributes, f"maxrestoredstatesizebytes.{place}") or 0.0 for place in (*_FETCHED, *_LOCAL)}
    fetched, local = sum(sizes[place] for place in _FETCHED), sum(sizes[place] for place in _LOCAL)
    if transfer is not None and not fetched:  # a file system that is mounted looks like the node's own disk
        fetched, local = local, 0.0
    return Recovery(
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
