"""Spark event logs of a Structured Streaming query that was killed and started again.

A query keeps its id over restarts, in the log of the next application; a run has an id of its own. The run before shows
rate and pace; it ends with its last sign of life. The query has caught up when a batch of the next run neither has more
rows than usual nor takes longer. Batches stand for checkpoints: what the last one had not committed is processed again.
Runs that were stopped on purpose are no failure, and are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ftplan.costs.recoveries.tables import ReadingOptions, RecoveryReading
from ftplan.engines.spark.log_files import SparkLog, event_lines, find_event_logs
from ftplan.errors import FtplanError
from ftplan.io.documents import display_name, recorded_path, sha256_of_data, sha256_of_file
from ftplan.model import ranges
from ftplan.model.plan import InputFile, Warn
from ftplan.model.recovery_costs import MeasuredRecovery

_QUERY = re.compile(rb'"Event":\s*"org\.apache\.spark\.sql\.streaming\.StreamingQueryListener\$Query(\w+)Event"')
_FINISHED = re.compile(rb'"Finish Time":\s*(\d{1,16})')
#: A batch is usual while its rows and its time are below this multiple of those before.
USUAL = 1.5
#: Batches that a run must have for its pace to be known.
LEAST_BATCHES = 3


class _Batch(NamedTuple):
    """A batch: when it began and ended, in seconds since 1970, and its rows."""

    begin_s: float
    end_s: float
    rows: float


class _Run(NamedTuple):
    """A run of a query: when it was started, its batches, whether it was stopped on purpose, its last sign of life."""

    place: str
    started_s: float
    batches: list[_Batch]
    stopped: list[bool]
    last_s: list[float]


def read(paths: Sequence[Path], options: ReadingOptions) -> RecoveryReading:
    """Read the restarts of queries in event logs; runs of one query may stand in different logs.

    Raises
    ------
    FtplanError
        If a log cannot be read.
    """
    queries: dict[str, dict[str, _Run]] = {}
    for log in find_event_logs([str(path) for path in paths]):
        _collect(log, queries)
    recoveries = []
    stopped = unclear = 0
    for runs in queries.values():
        listed = sorted(runs.values(), key=lambda run: run.started_s)
        for before, after in pairwise(listed):
            if any(before.stopped):
                stopped += 1
            elif (found := _recovery(before, after, options)) is None:
                unclear += 1
            else:
                recoveries.append(found)
    name = ", ".join(map(display_name, paths))
    warnings = [
        Warn("ROWS_LEFT_OUT", f"{name}: {count} {'restart is' if count == 1 else 'restarts are'} left out: {why}")
        for count, why in (
            (stopped, "the query was stopped on purpose"),
            (unclear, "too few batches before it, or the query had not caught up when the log ends"),
        )
        if count
    ]
    if not recoveries and not warnings:
        text = "no query was started again: give the logs of both applications, before the failure and after it"
        warnings.append(Warn("ROWS_LEFT_OUT", f"{name}: {text}"))
    return RecoveryReading(tuple(recoveries), warnings=tuple(warnings), inputs=tuple(map(_input, paths)))


def _collect(log: SparkLog, queries: dict[str, dict[str, _Run]]) -> None:
    """Add the runs in a log to those of each query."""
    finished = 0.0
    here: list[_Run] = []
    for line in event_lines(log):
        event = _QUERY.search(line[:200])
        if event is None:
            if (time := _FINISHED.search(line)) is not None:
                finished = max(finished, int(time[1]) / 1000.0)
            continue
        try:
            entry = json.loads(line)
            told = entry.get("progress", entry)
            query, run_id = str(told["id"]), str(told["runId"])
            kind = event[1].decode()
            if kind == "Started":
                run = _Run(log.name, _seconds(told["timestamp"]), [], [], [])
                queries.setdefault(query, {})[run_id] = run
                here.append(run)
                continue
            known = queries.get(query, {}).get(run_id)
            if known is None:
                continue
            if kind == "Terminated":
                known.stopped.append(told.get("exception") is None)
            elif kind == "Progress":
                begin = _seconds(told["timestamp"])
                took = told.get("batchDuration") or told["durationMs"]["triggerExecution"]
                rows = sum(float(source.get("numInputRows") or 0.0) for source in told.get("sources") or ())
                known.batches.append(_Batch(begin, begin + float(took) / 1000.0, rows))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue  # a line that was cut off, or of a version with other fields
    for run in here:
        ends = [batch.end_s for batch in run.batches]
        run.last_s.append(max([finished, *ends, run.started_s]))


def _seconds(text: Any) -> float:
    return datetime.fromisoformat(str(text)).timestamp()


def _recovery(before: _Run, after: _Run, options: ReadingOptions) -> MeasuredRecovery | None:
    """Return the recovery between two runs of a query, None where it cannot be told."""
    usual = [batch for batch in before.batches if batch.rows > 0][-20:]
    if len(usual) < LEAST_BATCHES:
        return None
    begins, took, rows = (
        np.array(x) for x in zip(*((b.begin_s, b.end_s - b.begin_s, b.rows) for b in usual), strict=True)
    )
    signs = [*before.last_s, *(batch.end_s for batch in before.batches)]
    failed = max([sign for sign in signs if sign <= after.started_s], default=after.started_s)
    caught_up = next(
        (
            batch.end_s
            for batch in sorted(after.batches)
            if 0 < batch.rows <= USUAL * np.median(rows) and batch.end_s - batch.begin_s <= USUAL * np.median(took)
        ),
        None,
    )
    if caught_up is None or not ranges.SECONDS.holds(caught_up - failed) or caught_up <= failed:
        return None
    pace = float(np.median(np.diff(begins)))
    rate = float(np.median(rows)) / pace if pace > 0.0 else None
    started = datetime.fromtimestamp(after.started_s, UTC)
    return MeasuredRecovery(
        f"{after.place}: run of {started:%Y-%m-%dT%H:%M:%SZ}",
        recovery_s=caught_up - failed,
        rate=rate if rate is not None and ranges.RATE.holds(rate) else None,
        interval_s=pace if ranges.INTERVAL_S.holds(pace) else options.interval_s,
    )


def _input(path: Path) -> InputFile:
    if path.is_file():
        return InputFile("recoveries", recorded_path(path), sha256_of_file(path))
    files = sorted(file for file in path.rglob("*") if file.is_file())
    try:
        sums = {str(file.relative_to(path)): sha256_of_file(file) for file in files}
    except OSError as error:
        raise FtplanError(f"{display_name(path)}: cannot be read: {error.strerror or error}") from None
    return InputFile("recoveries", recorded_path(path), sha256_of_data(sums))
