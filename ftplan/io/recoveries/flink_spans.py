"""Flink's ``JobInitialization`` spans in a JobManager's log: what a restart and a restore took.

Slf4jTraceReporter (``traces.reporter.NAME.factory.class: org.apache.flink.traces.slf4j.Slf4jTraceReporterFactory``,
Flink 1.19 and later) writes one line a span: ``Reported span: SimpleSpan{scope=..., name=JobInitialization,
startTsMillis=..., endTsMillis=..., attributes={k=v, ...}}``, since 2.0 with ``children=[...]``. Of the attributes
there are the largest (``max``) and the sum (``sum``) over all subtasks. The download has a time of its own with
RocksDB only; without one it is part of the restart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ftplan.errors import FtplanError
from ftplan.io.documents import display_name, recorded_path
from ftplan.io.fingerprint import sha256_of_bytes
from ftplan.io.recoveries import Reading, ReadingOptions, joined
from ftplan.model import ranges
from ftplan.model.plan import InputFile, Warn
from ftplan.model.recoveries import Recovery

_SPAN = re.compile(
    r"name=JobInitialization, startTsMillis=(?P<start>\d{1,18}), endTsMillis=(?P<end>\d{1,18}), "
    r"attributes=\{(?P<attributes>[^{}]*)\}"
)
_ATTRIBUTE = re.compile(r"([A-Za-z][\w.]*)=([^,]*)")
#: Where the bytes of a restore lay: fetched from elsewhere, and on the node.
_FETCHED, _LOCAL = ("remote", "unknown"), ("local_disk",)


class _Log(NamedTuple):
    """The text of a log, and what messages call it."""

    name: str
    text: str


def read(paths: Sequence[Path], options: ReadingOptions) -> Reading:
    """Read the spans of JobManagers' logs, and of the logs that collected folders hold.

    Starts from nothing (without ``checkpointId``) and those that failed are left out and counted.

    Raises
    ------
    FtplanError
        If one cannot be read, or holds no span of this name.
    """
    return joined(map(_spans, paths))


def _spans(path: Path) -> Reading:
    logs = list(_collected(path)) if path.is_dir() else [_Log(display_name(path), _text(path))]
    recoveries: dict[tuple[str, str, str], Recovery] = {}
    fresh = failed = 0
    for log in logs:
        for match in _SPAN.finditer(log.text):
            key = (match["start"], match["end"], match["attributes"])
            if key in recoveries:
                continue  # a log that was collected twice
            attributes = {name.lower(): value.strip() for name, value in _ATTRIBUTE.findall(match["attributes"])}
            if attributes.get("initializationstatus", "COMPLETED") != "COMPLETED":
                failed += 1
            elif "checkpointid" not in attributes:
                fresh += 1
            else:
                line = log.text.count("\n", 0, match.start()) + 1
                place = f"{log.name}: line {line}"
                recoveries[key] = _recovery(place, int(match["start"]), int(match["end"]), attributes)
    if not recoveries and not fresh and not failed:
        raise FtplanError(
            f"{display_name(path)}: holds no JobInitialization span: Flink writes them where a trace reporter is "
            "configured (traces.reporter.NAME.factory.class: org.apache.flink.traces.slf4j.Slf4jTraceReporterFactory)"
        )
    warnings = [
        Warn("ROWS_LEFT_OUT", f"{display_name(path)}: {count} {'span' if count == 1 else 'spans'} left out: {why}")
        for count, why in ((fresh, "started from nothing, not from a checkpoint"), (failed, "the start failed"))
        if count
    ]
    digest = sha256_of_bytes("".join(log.text for log in logs).encode("utf-8", "replace"))
    source = InputFile("recoveries", recorded_path(path), digest)
    return Reading(tuple(recoveries.values()), warnings=tuple(warnings), inputs=(source,))


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise FtplanError(f"{display_name(path)}: cannot be read: {error.strerror or error}") from None


def _collected(folder: Path) -> Iterator[_Log]:
    """Yield the logs among the answers of a collected folder."""
    from ftplan.io.collected.answers import answers

    for answer in answers(folder):
        if answer.path.startswith("/jobmanager/log") and isinstance(answer.value, str):
            yield _Log(f"{display_name(folder)}: {answer.path}", answer.value)


def _recovery(where: str, start_ms: int, end_ms: int, attributes: dict[str, str]) -> Recovery:
    download = _number(attributes, "maxdownloadstatedurationms")
    took = max(end_ms - start_ms, 0) / 1000.0
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
