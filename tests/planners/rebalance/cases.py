"""A small job with checkpoints, an overloaded node and a spare one, for rebalances."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import ftplan
from ftplan.model.plan import Objective, Plan
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import prepare
from tests.planners.rebalance.algorithms.cases import brute_force

MB = 2**20
AGG, JOIN, WINDOWS = 12, 6, 4
#: Load units per second and core: nodes are about half full, and one above its limit.
PER_CORE = 9.0
TOPOLOGY: Mapping[str, Any] = {
    "format": "ftplan/topology",
    "format_version": "1.0",
    "operators": [
        {"id": "source", "parallelism": 3, "rate_out": 100.0, "cpu": 0.1},
        {
            "id": "agg", "parallelism": 6, "key_groups": AGG, "cpu": 0.5, "state_bytes": 16 * MB,
            "record_time_s": 0.001, "checkpoint": {"interval_s": 20},
        },
        {
            "id": "join", "parallelism": 3, "key_groups": JOIN, "cpu": 0.5, "state_bytes": 8 * MB,
            "record_time_s": 0.002, "checkpoint": {"interval_s": 10, "kind": "full"},
        },
    ],
    "edges": [
        {"from": "source", "to": "agg", "partitioning": "full"},
        {"from": "agg", "to": "join", "partitioning": "full"},
    ],
}  # fmt: skip
AGG_COPIES = [["n2"], ["n5"], ["n5"], ["n6"], ["n4"], ["n6"], ["n1"], ["n6"], ["n3"], ["n2"], ["n1"], ["n4"]]
JOIN_COPIES = [["n3", "n5"], ["n4", "n6"], ["n1", "n5"], ["n2", "n6"], ["n1", "n3"], ["n2", "n4"]]
CLUSTER: Mapping[str, Any] = {
    "format": "ftplan/cluster",
    "format_version": "1.0",
    "network": {"bandwidth_mb_s": 20, "delay_s": 0.005},
    "nodes": [
        {"id": "n1", "cpu": 4, "zone": "a"},
        {"id": "n2", "cpu": 4, "zone": "a"},
        {"id": "n3", "cpu": 4, "zone": "b", "memory_mb": 64},
        {"id": "n4", "cpu": 4, "zone": "b"},
        {"id": "n5", "cpu": 4, "zone": "c", "used_cpu": 0.5},
        {"id": "n6", "cpu": 4, "zone": "c"},
        {"id": "n7", "cpu": 4, "zone": "c"},
        {"id": "n8", "cpu": 1, "zone": "b", "accepts": ["checkpoints"]},
    ],
    "placement": {
        "tasks": {
            "source": ["n1", "n3", "n5"],
            "agg": ["n1", "n2", "n3", "n4", "n5", "n6"],
            "join": ["n1", "n3", "n5"],
        },
        "checkpoints": {"agg": AGG_COPIES, "join": JOIN_COPIES},
    },
}


def statistics(factor: float = 1.0) -> dict[str, Any]:
    """Return loads of all key groups in a few windows: those of agg/0 to agg/2 are hot."""
    rng, start = np.random.default_rng(7), pd.Timestamp("2026-01-01T00:00:00Z")
    rows = []
    for operator, groups in (("agg", AGG), ("join", JOIN)):
        base = rng.integers(20, 60, groups) * 10.0
        if operator == "agg":
            base[:3] = [1400.0, 1300.0, 900.0]
        for group in range(groups):
            for window in range(WINDOWS):
                records = round(float(base[group] * rng.uniform(0.8, 1.2)) * factor)
                rows.append({
                    "operator": operator, "key_group": group, "window_start": start + pd.Timedelta(minutes=window),
                    "records": float(records), "bytes": 100.0 * records, "cpu_ms": 2.0 * records,
                    "state_bytes": float(1 + group % 5) * 4 * MB, "resolution": "key_group", "estimated": False,
                })  # fmt: skip
    manifest = {
        "format": "ftplan/stats", "format_version": "1.0", "window_s": 60, "windows": WINDOWS, "start": str(start),
        "end": str(start + pd.Timedelta(minutes=WINDOWS)), "measures": ["records", "bytes", "cpu_ms"],
        "operators": {"agg": {"key_groups": AGG}, "join": {"key_groups": JOIN}},
    }  # fmt: skip
    return {"manifest": manifest, "key_groups": pd.DataFrame(rows)}


JOB: Mapping[str, Any] = {"topology": TOPOLOGY, "cluster": CLUSTER, "stats": statistics()}


def few() -> Mapping[str, Any]:
    """Return the job with few key groups on few nodes: all of its rebalances can be tried."""
    agg = {**TOPOLOGY["operators"][1], "parallelism": 3, "key_groups": 5}
    topology = {**TOPOLOGY, "operators": [TOPOLOGY["operators"][0], agg], "edges": TOPOLOGY["edges"][:1]}
    placement = {
        "tasks": {"source": ["n1", "n2", "n3"], "agg": ["n1", "n2", "n3"]},
        "key_groups": {"agg": ["n1", "n1", "n1", "n2", "n3"]},
        "checkpoints": {"agg": [["n2"], ["n4"], ["n3"], ["n4"], ["n1"]]},
    }
    stats = statistics()
    rows = stats["key_groups"]
    rows = rows[(rows["operator"] == "agg") & (rows["key_group"] < 5)].copy()
    rows["records"] = [r * (1.0 if g > 2 else 0.9) for g, r in zip(rows["key_group"], rows["records"], strict=True)]
    manifest = {**stats["manifest"], "operators": {"agg": {"key_groups": 5}}}
    cluster = {**CLUSTER, "nodes": CLUSTER["nodes"][:4], "placement": placement}
    return {"topology": topology, "cluster": cluster, "stats": {"manifest": manifest, "key_groups": rows}}


FEW: Mapping[str, Any] = few()


def job(placement: Mapping[str, Any] | None = None, factor: float = 1.0, **changes: Any) -> ftplan.Problem:
    """Return the job with another placement, heavier or lighter, or with other parts of the cluster."""
    cluster = {**CLUSTER, "placement": {**CLUSTER["placement"], **(placement or {})}, **changes}
    return ftplan.load(topology=TOPOLOGY, cluster=cluster, stats=statistics(factor))


def planned(problem: ftplan.Problem, **options: Any) -> Plan:
    return ftplan.plan(
        "rebalance", problem, **{"iterations": 50, "time_limit_s": 3600.0, "capacity_per_core": PER_CORE, **options}
    )


def document(plan: Plan) -> dict[str, Any]:
    """Return a plan as its file holds it."""
    assert plan.plan is not None, plan.reason
    made: dict[str, Any] = json.loads(plan.to_json())
    return made


def best(documents: Mapping[str, Any], options: Mapping[str, Any]) -> Plan:
    """Return a plan whose objective is that of the best placement and protocols, by trying all."""
    problem = prepare(ftplan.load(**documents), RebalanceOptions.of("rebalance", options)).problem
    tried = brute_force(problem)
    assert tried is not None
    return Plan("rebalance", {"moves": []}, objective=Objective.of("latency", "min", tried[0], tried[0]))
