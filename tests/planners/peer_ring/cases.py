"""A small job and a cluster of three zones with a spare node and two that keep copies alone, for peer rings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ftplan
from tests.planners.rebalance.cases import TOPOLOGY, statistics

#: Members of the ring in zones a, b and c, in the order of names; n7 is spare, v1 and v2 take checkpoints alone.
MEMBERS = {"n1": "a", "n2": "a", "n3": "b", "n4": "b", "n5": "c", "n6": "c"}
SPARE = "n7"
CLUSTER: Mapping[str, Any] = {
    "format": "ftplan/cluster",
    "format_version": "1.0",
    "network": {"bandwidth_mb_s": 20, "delay_s": 0.005},
    "zones": [{"id": zone, "failure_probability": 0.001} for zone in ("a", "b", "c", "vault")],
    "nodes": [
        *({"id": node, "cpu": 4, "zone": zone, "failure_probability": 0.01} for node, zone in MEMBERS.items()),
        {"id": SPARE, "cpu": 2, "zone": "c", "failure_probability": 0.02},
        *(
            {"id": node, "cpu": 1, "zone": "vault", "failure_probability": 0.005, "accepts": ["checkpoints"]}
            for node in ("v1", "v2")
        ),
    ],
}
JOB: Mapping[str, Any] = {"topology": TOPOLOGY, "cluster": CLUSTER, "stats": statistics()}
#: Without statistics: every key group has its share of the rate.
BARE: Mapping[str, Any] = {"topology": TOPOLOGY, "cluster": CLUSTER}
#: What all are asked with: n7 is not on the ring, and no clock ends a search.
USUAL: Mapping[str, Any] = {"remove": [f"node:{SPARE}"], "iterations": 100, "time_limit_s": 3600.0}


def job(**documents: Any) -> ftplan.Problem:
    return ftplan.load(**{**JOB, **documents})


def planned(problem: ftplan.Problem, algorithm: str = "exact", **options: Any) -> ftplan.Plan:
    return ftplan.plan("peer-ring", problem, algorithm=algorithm, **{**USUAL, **options})


def by_hand(*tokens: tuple[str, float], **more: Any) -> dict[str, Any]:
    """Return a plan of nodes and tokens alone; *more* are fields of its body."""
    ring = [{"node": node, "token": token} for node, token in tokens]
    return {"format": "ftplan/plan", "format_version": "1.0", "kind": "peer-ring", "plan": {"ring": ring, **more}}


#: Six nodes whose neighbours are in different zones.
EVEN = by_hand(("n1", 0.0), ("n3", 0.166666666667), ("n5", 0.333333333333), ("n2", 0.5), ("n4", 0.666666666667),
               ("n6", 0.833333333333))  # fmt: skip
