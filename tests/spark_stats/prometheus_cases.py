"""Collected answers of Prometheus, made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ftplan.engines.prometheus.mapping import load_mapping, shipped_mapping

#: A round moment: the start of an hour.
BEGIN = 1_700_000_000 // 3600 * 3600

Sample = tuple[float, Any]


def series(labels: Mapping[str, str], samples: Sequence[Sample]) -> dict[str, Any]:
    """Return a series as Prometheus answers it; times are seconds after :data:`BEGIN`."""
    return {"metric": dict(labels), "values": [[BEGIN + time, str(value)] for time, value in samples]}


def flink(task: int, samples: Sequence[Sample], **labels: str) -> dict[str, Any]:
    """Return a series of a Flink subtask."""
    own = {
        "__name__": "flink", "job_name": "orders", "task_name": "Window", "task_id": "cbc3", "host": "h1",
        "tm_id": "tm1", "subtask_index": str(task),
    }  # fmt: skip
    return series({**own, **labels}, samples)


def line(metric: str, result: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    """Return a line of a collected folder."""
    answer = {"status": "success", "data": {"resultType": "matrix", "result": list(result)}, **more}
    path = "/api/v1/query_range?query=x&start=0&end=0&step=15"
    return {"at": "2023-11-14T22:00:00.000Z", "path": path, "status": 200, "metric": metric, "answer": answer}


def folder(place: Path, lines: Sequence[Any], every_s: float = 15.0, mapping: Any = None) -> Path:
    """Write a collected folder; a line that is text is written as it is."""
    (place / "answers").mkdir(parents=True)
    known = shipped_mapping() if mapping is None else load_mapping(mapping).value
    queries = [query.to_dict() for query in known.chosen(())]
    head = {
        "format": "ftplan/collection", "format_version": "1.0", "from": "prometheus", "url": "http://127.0.0.1:1",
        "every_s": every_s, "begun": "2023-11-14T22:00:00Z", "options": {"match": [], "queries": queries},
    }  # fmt: skip
    (place / "collection.json").write_text(json.dumps(head))
    texts = [item if isinstance(item, str) else json.dumps(item) + "\n" for item in lines]
    (place / "answers" / "2023-11-14T22.jsonl").write_text("".join(texts))
    return place
