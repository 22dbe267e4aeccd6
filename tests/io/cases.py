"""A full document of every format, and the function that reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ftplan.io.cluster_file import load_cluster
from ftplan.io.evaluation_file import load_evaluation
from ftplan.io.failure_file import load_failure
from ftplan.io.plan_file import load_plan
from ftplan.io.recovery_costs_file import load_recovery_costs
from ftplan.io.stats_store import load_stats
from ftplan.io.topology_file import load_topology
from tests.io import examples

EVALUATION = {
    "format": "ftplan/evaluation",
    "format_version": "1.0",
    "kind": "checkpoint-allocation",
    "tool_version": "0.1.0",
    "inputs": [{"role": "plan", "path": "plan.json", "sha256": "00"}],
    "failures": ["zone:rack-a", "task:join/3"],
    "metrics": [{"name": "usable", "value": 0.5, "sense": "max", "unit": "share"}],
    "unmet": [],
    "warnings": [{"code": "A", "message": "b"}],
}

RECOVERY_COSTS = {
    "format": "ftplan/recovery-costs",
    "format_version": "1.0",
    "state": "remote",
    "parameters": {
        "detection_s": {"value": 50, "low": 45.5, "high": 60},
        "restart_s": {"value": 12.5},
        "bandwidth_mb_s": {"value": 80, "low": 60, "high": 95},
        "replay_share": {"value": 0.5, "low": 0.4, "high": 0.6},
        "capacity_records_s": {"value": 2e6, "low": 1e6, "high": None},
    },
    "fitted_on": {"recoveries": 12, "rates": [1e3, 5e5], "intervals_s": [10, 60]},
    "error": {"median": 0.1, "p90": 0.3, "held_out": 0.2},
}

FULL_TOPOLOGY = examples.topology()

FULL_TOPOLOGY["operators"][0].update(
    cpu=[1, 2.5, 0, 1], rate_out=3, input_share=[1, 1, 1, 0], labels={"a": "b"}, name="N", selectivity=0.5,
    state_bytes=7, record_time_s=0.1, checkpoint={"interval_s": 10, "kind": "full"}, deterministic=False, output=True,
    priority=[1, 2, 3, 4.5],
)  # fmt: skip

FULL_TOPOLOGY["edges"][0] = {"from": "flights", "to": "join", "substreams": [[0, 0, 1.5], [1, 2, 0]]}

FULL_CLUSTER = examples.cluster(
    zones=[{"id": "rack-a", "failure_probability": 0.1}],
    network={"bandwidth_mb_s": 100, "delay_s": 0},
    placement={"tasks": {"a": ["n1"]}, "checkpoints": {"a": [["n1", "n2"]]}, "replicas": {"a": [None, "n1"]}},
)

FULL_CLUSTER["nodes"][0].update(used_cpu=1, accepts=["tasks"], failure_probability=0.5, labels={"kernel": "6.1"})

FULL_PLAN = examples.plan(
    status="feasible", seed=3, options={"copies": 1}, rules=["R1"], reason=None,
    objective={"name": "correlation", "sense": "min", "value": 1, "bound": None},
    infeasible={"reason": "a", "limit": "b", "current": 3, "needed": 4, "smallest_fix": "c"},
)  # fmt: skip

FULL_PLAN["plan"]["moves"] = [{"operator": "join", "key_group": 0, "from": None, "to": "n2", "bytes": 1e6}]

FULL_MANIFEST = examples.manifest(
    inputs=[{"path": "a.csv", "bytes": 3, "sha256": None}], tables={"tasks": {"rows": 3}}, coverage=0.5, engine="spark"
)


def _stats(document: Any) -> None:
    load_stats({"manifest": document, "key_groups": []})


CASES: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    "topology": (FULL_TOPOLOGY, load_topology),
    "cluster": (FULL_CLUSTER, load_cluster),
    "failure": (examples.failure(), load_failure),
    "stats": (FULL_MANIFEST, _stats),
    "plan": (FULL_PLAN, load_plan),
    "evaluation": (EVALUATION, load_evaluation),
    "recovery-costs": (RECOVERY_COSTS, load_recovery_costs),
}
