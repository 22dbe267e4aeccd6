"""Small random jobs for rebalances, as documents, and what is asked of each."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

MB = 2**20
START = pd.Timestamp("2026-01-01T00:00:00Z")


def random_job(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return inputs and options: full nodes, zones, memory, idle groups, nodes that come and go, limits, costs."""
    rng = np.random.default_rng([17, seed])
    ids = [f"n{k + 1}" for k in range(int(rng.integers(2, 5)))]
    nodes = [_node(rng, name, zones=seed % 2 == 0, memory=seed % 3 == 0) for name in ids]
    nodes[0].pop("accepts", None)
    takes = [node["id"] for node in nodes if "tasks" in node.get("accepts", ["tasks"])]
    groups = int(rng.integers(2, 7))
    two = rng.random() < 0.3 and groups > 3
    counts = {"agg": groups - 2, "join": 2} if two else {"agg": groups}
    parallelism = {name: int(rng.integers(1, min(3, count) + 1)) for name, count in counts.items()}
    homes = takes[: max(1, len(takes) // 2)] if rng.random() < 0.5 else takes
    placed = {name: [str(n) for n in rng.choice(homes, count)] for name, count in counts.items()}
    held = {
        name: [
            [str(n) for n in rng.choice([i for i in ids if i != home], int(rng.integers(0, min(3, len(ids)))), False)]
            for home in homes
        ]
        for name, homes in placed.items()
    }
    tasks = {name: [str(n) for n in rng.choice(takes, count)] for name, count in {"source": 2, **parallelism}.items()}
    windows = int(rng.integers(1, 4))
    rows = [row for name, count in counts.items() for g in range(count) for row in _rows(rng, name, g, windows)]
    rows = rows or _rows(rng, "agg", 0, windows, idle=0.0)
    network = {"bandwidth_mb_s": float(rng.choice([1, 5, 20])), "delay_s": 0.005}
    placement = {"tasks": tasks, "key_groups": placed, "checkpoints": held}
    documents = {
        "topology": _file("topology", **_topology(rng, counts, parallelism)),
        "cluster": _file("cluster", nodes=nodes, network=network, placement=placement),
        "stats": {"manifest": _manifest(counts, windows), "key_groups": pd.DataFrame(rows)},
    }
    cores = sum(node["cpu"] for node in nodes if node["id"] in takes)
    per_core = sum(row["records"] for row in rows) / windows / cores / 60.0 / rng.uniform(0.2, 0.6)
    return documents, {"capacity_per_core": float(f"{per_core:.6g}"), **_options(rng, ids, takes)}


def _file(kind: str, **body: Any) -> dict[str, Any]:
    return {"format": f"ftplan/{kind}", "format_version": "1.0", **body}


def _node(rng: np.random.Generator, name: str, zones: bool, memory: bool) -> dict[str, Any]:
    node: dict[str, Any] = {"id": name, "cpu": float(rng.choice([1, 2, 2, 4]))}
    node |= {"zone": f"z{int(rng.integers(0, 3))}"} if zones else {}
    node |= {"memory_mb": int(rng.integers(8, 60))} if memory else {}
    node |= {"used_cpu": round(float(rng.uniform(0, 0.6) * node["cpu"]), 2)} if rng.random() < 0.2 else {}
    node |= {"accepts": [str(rng.choice(["tasks", "checkpoints"]))]} if rng.random() < 0.15 else {}
    return node


def _rows(rng: np.random.Generator, operator: str, group: int, windows: int, idle: float = 0.1) -> list[dict[str, Any]]:
    base, size = float(rng.integers(2, 30)) * 100.0, float(rng.integers(0, 6)) * 2 * MB
    if rng.random() < idle:
        return []
    records = [float(round(base * rng.uniform(0.7, 1.3))) for _ in range(windows)]
    return [
        {
            "operator": operator, "key_group": group, "window_start": START + pd.Timedelta(minutes=window),
            "records": count, "bytes": 100.0 * (1 + group % 2) * count, "cpu_ms": 2.0 * count, "state_bytes": size,
            "resolution": "key_group", "estimated": False,
        }
        for window, count in enumerate(records)
    ]  # fmt: skip


def _manifest(counts: dict[str, int], windows: int) -> dict[str, Any]:
    end = START + pd.Timedelta(minutes=windows)
    operators = {name: {"key_groups": count} for name, count in counts.items()}
    return _file("stats", window_s=60, windows=windows, start=str(START), end=str(end), operators=operators,
                 measures=["records", "bytes", "cpu_ms"])  # fmt: skip


def _topology(rng: np.random.Generator, counts: dict[str, int], parallelism: dict[str, int]) -> dict[str, Any]:
    operators: list[dict[str, Any]] = [{"id": "source", "parallelism": 2, "rate_out": 50.0, "cpu": 0.1}]
    for name, count in counts.items():
        checkpoint = {"interval_s": int(rng.integers(1, 40)), "kind": str(rng.choice(["full", "incremental"]))}
        operators.append({
            "id": name, "parallelism": parallelism[name], "key_groups": count, "cpu": 0.5, "record_time_s": 0.001,
            "state_bytes": float(rng.integers(0, 30)) * MB, "checkpoint": checkpoint,
        })  # fmt: skip
    edges = []
    for above, below in pairwise(operators):
        pairs = [(a, b) for a in range(above["parallelism"]) for b in range(below["parallelism"])]
        streams = [[a, b, float(rng.integers(1, 2000))] for a, b in pairs]
        edges.append({"from": above["id"], "to": below["id"], "substreams": streams})
    return {"operators": operators, "edges": edges}


def _options(rng: np.random.Generator, ids: list[str], takes: list[str]) -> dict[str, Any]:
    asked: dict[str, Any] = {"objective": str(rng.choice(["latency", "completion", "bytes"]))}

    def maybe(share: float, **more: Any) -> None:
        if rng.random() < share:
            asked.update(more)

    gone = str(rng.choice(ids))
    left = [name for name in takes if name != gone]
    if left and rng.random() < 0.35:
        asked["remove"] = [gone]
        maybe(0.5, within_s=round(float(10 ** rng.uniform(-2, 2)), 3))
    maybe(0.25, add=[str(rng.choice(left or takes))]) if left else None
    maybe(0.3, protocol=str(rng.choice(["cpa", "cpal", "direct"])))
    maybe(0.3, tolerance=rng.choice(np.array([0.1, 0.3, 0.5, "none"], dtype=object)))
    maybe(0.15, max_moves=int(rng.integers(0, 4)))
    maybe(0.12, max_bytes=float(rng.integers(0, 30)) * MB)
    maybe(0.15, max_pause_s=round(float(10 ** rng.uniform(-2, 2)), 3))
    maybe(0.12, phase_bytes=float(rng.integers(0, 20)) * MB)
    maybe(0.15, phase_overhead_s=float(rng.integers(0, 5)))
    maybe(0.3, anti_affinity="zone")
    maybe(0.2, cross_zone_cost=round(float(10 ** rng.uniform(-2, 2)), 3))
    maybe(0.2, serialisation=5.0)
    maybe(0.2, queue_s=0.05)
    parts = {"detection_s": 2.0, "restart_s": 1.5, "capacity_records_s": 200.0, "replay_share": 0.5}
    state = "remote" if rng.random() < 0.5 and asked.get("protocol") != "direct" else "local"
    maybe(0.25, costs=_file("recovery-costs", state=state, parameters={k: {"value": v} for k, v in parts.items()}))
    return asked
