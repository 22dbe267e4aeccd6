"""Random repairs as documents, with all that counts in time: lanes, replay, rollbacks, later failures, copies."""

from __future__ import annotations

from typing import Any

import numpy as np

import ftplan

HEAD = {"format_version": "1.0"}


def random_case(seed: int, *, deterministic: bool | None = None) -> dict[str, Any]:
    """Return topology, cluster and failure: a small job on five nodes of which some fail, some later, some arrive."""
    rng = np.random.default_rng(seed)
    sure = bool(rng.random() < 0.5) if deterministic is None else deterministic

    def operator(name: str, parallelism: int, **more: Any) -> dict[str, Any]:
        item: dict[str, Any] = {
            "id": name,
            "parallelism": parallelism,
            "cpu": [float(c) for c in rng.choice([0.25, 0.5, 1.0], parallelism)],
            "state_bytes": [int(b) * 2**20 for b in rng.choice([0, 10, 30, 80], parallelism)],
            **more,
        }
        if rng.random() < 0.6:
            item["checkpoint"] = {"interval_s": float(rng.choice([5.0, 20.0]))}
        return item

    outputs = int(rng.integers(2, 5))
    operators = [
        operator("in", 2, rate_out=float(rng.choice([1.0, 50.0]))),
        operator("mid", outputs, deterministic=sure, key_groups=2 * outputs),
        operator("out", outputs, priority=[int(p) for p in rng.integers(1, 9, outputs)]),
    ]
    edges = [
        {
            "from": "in",
            "to": "mid",
            "partitioning": str(rng.choice(["full", "full", "split"])) if outputs > 2 else "full",
        },
        {"from": "mid", "to": "out", "partitioning": "one-to-one"},
    ]
    nodes = [{"id": f"n{k}", "cpu": float(rng.choice([1.5, 2.0, 3.0]))} for k in range(5)]
    placed = {item["id"]: [f"n{rng.integers(5)}" for _ in range(item["parallelism"])] for item in operators}
    cluster: dict[str, Any] = {
        "format": "ftplan/cluster",
        **HEAD,
        "nodes": nodes,
        "network": {"bandwidth_mb_s": 5.0, "delay_s": 0.5, "restores_at_once": int(rng.choice([1, 1, 2, 3]))},
        "placement": {"tasks": placed},
    }
    if rng.random() < 0.4:
        copies = [[f"n{rng.integers(5)}"] for _ in range(2 * outputs)]
        cluster["placement"]["checkpoints"] = {"mid": copies}
    if rng.random() < 0.3:
        cluster["placement"]["replicas"] = {
            "out": [None if rng.random() < 0.6 else f"n{rng.integers(5)}" for _ in range(outputs)]
        }
    fail: list[Any] = ["node:n0", "node:n1"]
    fail += [{"at_s": at_s, "select": f"node:n{k}"} for k, at_s in ((2, 12.0), (3, 70.0)) if rng.random() < 0.4]
    arrivals = [
        {"at_s": at_s, "node": {"id": f"r{k}", "cpu": float(rng.choice([1.0, 2.0, 4.0]))}}
        for k, at_s in enumerate((5.0, 12.0, 40.0))
        if rng.random() < 0.8
    ]
    return {
        "topology": {"format": "ftplan/topology", **HEAD, "operators": operators, "edges": edges},
        "cluster": cluster,
        "failure": {"format": "ftplan/failure", **HEAD, "fail": fail, "arrivals": arrivals},
    }


def loaded(case: dict[str, Any]) -> ftplan.Problem:
    """Return the inputs of a case."""
    return ftplan.load(**case)
