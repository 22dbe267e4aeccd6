"""A Prometheus that scrapes the job which stands at http://jobmanager:8081, under the load of examples/surge.

Both were recorded of one program: of its tasks over eight minutes, in which orders grow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from tests.docs.flink_rest import polls
from tests.engines.collecting.server import FakeEndpoint, Said
from tests.places import ROOT

_EXAMPLE = ROOT / "examples" / "surge"
#: When somebody asks: the end of what was measured.
MEASURED = datetime(2026, 11, 22, 17, 44, 50, tzinfo=UTC)
_WINDOW_S = 10.0
#: Metrics by what they end in: the column of the tasks, whether it is a running total, and how many of its units a
#: second are one of the metric.
_METRICS = {
    "task_numRecordsIn": ("records_in", True),
    "task_numRecordsOut": ("records_out", True),
    "task_busyTimeMsPerSecond": ("busy_ms", False),
}
#: What the names of the job's vertices hold, by the operators of the example.
_STARTS = {"orders": "Source: orders", "progress": "Sink: progress", "customers": "customers"}


class PrometheusApi(FakeEndpoint):
    """Answers range queries."""

    def __init__(self) -> None:
        super().__init__({"/api/v1/status/buildinfo": {"status": "success", "data": {"version": "2.42.0"}}})

    def said(self, path: str) -> Said:
        """Return the answer to a path."""
        asked = urlsplit(path)
        if asked.path != "/api/v1/query_range":
            return super().said(path)
        given = {name: values[0] for name, values in parse_qs(asked.query).items()}
        times = np.arange(float(given["start"]), float(given["end"]) + 1e-6, float(given["step"]))
        result = [
            {"metric": labels, "values": [[t, f"{v:.6g}"] for t, v in zip(times, values, strict=True) if v == v]}
            for labels, values in _series(given["query"], times)
        ]
        result = [series for series in result if series["values"]]
        return Said({"status": "success", "data": {"resultType": "matrix", "result": result}})


def _series(query: str, times: Any) -> Iterator[tuple[dict[str, str], Any]]:
    """Yield the series of a query: their labels, and their values at some times, NaN where there are none."""
    name = query.partition("{")[0]
    for ending, (column, total) in _METRICS.items():
        if not name.startswith("flink_taskmanager_job") or not name.endswith(ending):
            continue
        for (operator, task), rows in _tasks():
            begins = rows.window_start.to_numpy("datetime64[s]").astype(float)
            if total:
                known = np.cumsum([0.0, *rows[column].fillna(0.0)])
                values = np.interp(times, [*begins, begins[-1] + _WINDOW_S], known, left=np.nan, right=np.nan)
            else:
                place = np.searchsorted(begins, times, "right") - 1
                inside = (place >= 0) & (times < begins[-1] + _WINDOW_S)
                values = np.where(inside, rows[column].to_numpy()[place] / _WINDOW_S, np.nan)
            yield {"__name__": name, **_labels(operator, int(task))}, values


@cache
def _tasks() -> list[tuple[tuple[str, int], pd.DataFrame]]:
    """Return the rows of each task."""
    table = pq.read_table(_EXAMPLE / "measured" / "tasks.parquet").to_pandas()
    return [(key, rows.reset_index(drop=True)) for key, rows in table.groupby(["operator", "task"])]


@cache
def _labels(operator: str, task: int) -> dict[str, str]:
    """Return the labels that Flink's reporter gives a task; what Prometheus does not take is an underscore."""
    (job,) = (
        value
        for path, value in polls()[0].items()
        if path.count("/") == 2 and path.startswith("/jobs/") and "jid" in value
    )
    vertex = next(v for v in job["vertices"] if _STARTS[operator] in v["name"])
    return {
        "job_name": job["name"],
        "task_name": re.sub(r"[^A-Za-z0-9:_]", "_", vertex["name"]),
        "task_id": vertex["id"],
        "subtask_index": str(task),
        "host": "127_0_0_11",
    }
