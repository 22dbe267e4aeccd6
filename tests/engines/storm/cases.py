"""Pages of Storm's UI as its documentation has them, with the numbers of one word count on three hosts."""

from __future__ import annotations

from typing import Any

ID = "WordCount3-1-1402960825"
BASE = f"/api/v1/topology/{ID}"
_HOSTS = ("10.11.1.7", "10.11.1.8", "10.11.1.9")


def _executors(first: int, sizes: tuple[int, ...], emitted: int, executed: int | None) -> list[dict[str, Any]]:
    rows, task = [], first
    for k, size in enumerate(sizes):
        row: dict[str, Any] = {
            "id": f"[{task}-{task + size - 1}]",
            "host": _HOSTS[k % 3],
            "port": 6700 + k % 2,
            "emitted": emitted * (k + 1),
            "transferred": emitted * (k + 1),
            "uptimeSeconds": 2584,
        }
        if executed is not None:
            row |= {"executed": executed * (k + 1), "capacity": f"{0.1 * (k + 1):.3f}", "executeLatency": "0.024"}
        rows.append(row)
        task += size
    return rows[::-1]  # the UI names them in no order


def _component(name: str, kind: str, executors: list[dict[str, Any]], tasks: int, inputs: Any = ()) -> dict[str, Any]:
    page: dict[str, Any] = {
        "name": "WordCount3",
        "id": name,
        "topologyId": ID,
        "componentType": kind,
        "executors": len(executors),
        "tasks": tasks,
        "window": "600",
        "executorStats": executors,
    }
    if inputs:
        page["inputStats"] = [
            {"component": source, "stream": stream, "executed": executed} for source, stream, executed in inputs
        ]
    return page


def pages(visualization: bool = True) -> dict[str, Any]:
    """Return the pages by path: spout (2 executors) -> split (3) -> count (2, 5 tasks)."""
    topology = {
        "id": ID,
        "name": "WordCount3",
        "status": "ACTIVE",
        "window": ":all-time",
        "topologyStats": [],
        "workers": [{"host": host, "port": 6700} for host in _HOSTS],
        "spouts": [{"spoutId": "spout", "executors": 2, "tasks": 2, "emitted": 18000, "requestedCpu": 20.0}],
        "bolts": [
            {"boltId": "count", "executors": 2, "tasks": 5, "capacity": "0.150", "executeLatency": "0.048"},
            {"boltId": "split", "executors": 3, "tasks": 3, "capacity": "0.200", "executeLatency": "0.024"},
            {"boltId": "__acker", "executors": 3, "tasks": 3, "capacity": "0.000", "executeLatency": "0.001"},
        ],
    }
    answers = {
        "/api/v1/supervisor/summary": {
            "supervisors": [{"host": h, "totalCpu": 400.0, "totalMem": 4096.0} for h in (*_HOSTS, "10.11.1.10")]
        },
        BASE: topology,
        f"{BASE}/component/spout?window=600": _component("spout", "spout", _executors(4, (1, 1), 6000, None), 2),
        f"{BASE}/component/split?window=600": _component(
            "split", "bolt", _executors(6, (1, 1, 1), 12000, 3000), 3, [("spout", "default", 18000)]
        ),
        f"{BASE}/component/count?window=600": _component(
            "count",
            "bolt",
            _executors(9, (3, 2), 24000, 24000),
            5,
            [("split", "default", 72000), ("split", "__ack_ack", 9), ("spout", "errors", 600)],
        ),
    }
    if visualization:
        answers[f"{BASE}/visualization?window=600"] = {
            "spout": {":type": "spout", ":inputs": []},
            "split": {":type": "bolt", ":inputs": [_input("spout", "default", "shuffle")]},
            "count": {
                ":type": "bolt",
                ":inputs": [_input("split", "default", "fields"), _input("spout", "errors", "all")],
            },
        }
    return answers


def _input(component: str, stream: str, grouping: str) -> dict[str, str]:
    return {":component": component, ":stream": stream, ":sani-stream": stream, ":grouping": grouping}
