"""Answers of Flink's REST endpoint, made up."""

from __future__ import annotations

from typing import Any


def job(sizes: dict[str, int], streams: list[tuple[str, str, str]]) -> dict[str, Any]:
    """What Flink answers of a job with vertices of these sizes and streams (from, to, shipped)."""
    nodes = [
        {"id": k, "parallelism": n, "description": f"{k}<br/>", "inputs": [
            {"id": a, "num": i, "ship_strategy": way} for i, (a, b, way) in enumerate(streams) if b == k
        ]} for k, n in sizes.items()
    ]  # fmt: skip
    vertices = [{"id": k, "name": k, "parallelism": n, "maxParallelism": 128} for k, n in sizes.items()]
    return {"jid": "j", "name": "job", "state": "RUNNING", "vertices": vertices, "plan": {"nodes": nodes}}


def vertex(key: str, now: int, counted: list[tuple[int, int]], **more: Any) -> dict[str, Any]:
    """A vertex's page: records read and written by each subtask, running since 0."""
    subtasks = [
        {"subtask": i, "attempt": more.get("attempt", 0), "start-time": more.get("since", 0), "endpoint": f"h{i}:1",
         "taskmanager-id": f"tm{i}", "status-duration": {"RUNNING": now - more.get("since", 0)},
         "metrics": {"read-records": read, "read-records-complete": more.get("complete", True),
                     "write-records": written, "write-records-complete": True, "accumulated-busy-time": now / 10}}
        for i, (read, written) in enumerate(counted)
    ]  # fmt: skip
    return {
        "id": key,
        "name": key,
        "parallelism": len(counted),
        "maxParallelism": 128,
        "now": now,
        "subtasks": subtasks,
    }
