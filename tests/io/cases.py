"""A full document of every format, and the function that reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ftplan.engines.collecting.collection import load_collection
from ftplan.engines.prometheus.mapping import load_mapping
from ftplan.io.checkpoint_interval_file import load_checkpoint_interval
from ftplan.io.cluster_file import load_cluster
from ftplan.io.evaluation_file import load_evaluation
from ftplan.io.failure_file import load_failure
from ftplan.io.plan_file import load_plan
from ftplan.io.recovery_costs_file import load_recovery_costs
from ftplan.io.stats_store import load_stats
from ftplan.io.topology_file import load_topology
from ftplan.io.what_if_file import load_what_if
from ftplan.io.what_if_result import load_what_if_result
from ftplan.planners.scale_out.bottlenecks.rules_file import load_bottleneck_rules
from ftplan.simulation.document import load_simulation
from tests.io import examples

EVALUATION = {
    "format": "ftplan/evaluation",
    "format_version": "1.0",
    "kind": "allocate-checkpoints",
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
        "replay_share": {"value": 0.5, "low": 0.4, "high": 0.6, "basis": "fitted to 12 recoveries"},
        "capacity_records_s": {"value": 2e6, "low": 1e6, "high": None},
    },
    "fitted_on": {
        "recoveries": 12,
        "restores": 3,
        "rates": [1e3, 5e5],
        "intervals_s": [10, 60],
        "state_bytes": [1e6, 2e9],
    },
    "error": {"median": 0.1, "p90": 0.3, "held_out": 0.2, "held_out_p90": 0.4, "held_out_by": "rate"},
    "model": "recovery = stopped + replay + catching up",
    "tool_version": "0.1.0",
    "inputs": [{"role": "recoveries", "path": "recoveries.csv", "sha256": "00"}],
    "warnings": [{"code": "STATE_ASSUMED", "message": "b"}],
    "predictions": [
        {
            "rate": 1e3,
            "interval_s": 60,
            "state_bytes": 1e9,
            "recovery_s": 75.5,
            "low": 70,
            "high": 80,
            "parts": {"detection_s": 50},
            "warnings": [{"code": "OUTSIDE_FITTED_RANGE", "message": "b"}],
        }
    ],
}

BOTTLENECK_RULES = {
    "format": "ftplan/bottleneck-rules",
    "format_version": "1.0",
    "inputs": {
        "cpu": {"low": [0, 0, 30, 50], "medium": [30, 50, 70], "high": [50, 70, 100, 100]},
        "memory": {"low": [0, 0, 60, 80], "high": [60, 80.5, 100, 100]},
        "data": {"low": [0, 0, 60], "high": [40, 100, 100]},
    },
    "score": {"under": [0, 0, 30, 50], "normal": [30, 50, 70], "over": [50, 70, 100, 100]},
    "rules": [
        "if two or more high then over",
        "if data is high and cpu is not low then over",
        "otherwise normal",
        "if cpu is low and (memory is low or data is low) then under",
    ],
}

COLLECTION = {
    "format": "ftplan/collection",
    "format_version": "1.0",
    "tool_version": "0.1.0",
    "from": "flink",
    "url": "http://jobmanager:8081",
    "every_s": 60,
    "begun": "2026-11-22T07:40:00.123Z",
    "options": {"jobs": ["orders"]},
}

_INTERVAL = {
    "name": "best",
    "interval_s": 140.0,
    "recovery_s": 300.0,
    "checkpoint_s_per_hour": 13.0,
    "recovery_s_per_hour": 25.0,
    "lost_s_per_hour": 38.0,
}
CHECKPOINT_INTERVAL = {
    "format": "ftplan/checkpoint-interval",
    "format_version": "1.0",
    "tool_version": "0.1.0",
    "inputs": [{"role": "costs", "path": "recovery.yaml", "sha256": "00"}],
    "status": "optimal",
    "reason": "recoveries bind",
    "asked": {
        "checkpoint_cost_s": 1.0,
        "failures_per_day": 2.0,
        "records_s": 100.0,
        "state_bytes": 0.0,
        "max_recovery_s": 300.0,
    },
    "best": _INTERVAL,
    "unlimited": _INTERVAL,
    "limited": True,
    "longest_s": 140.0,
    "shortest_s": 2.0,
    "smallest_recovery_s": 100.0,
    "table": [_INTERVAL],
    "sensitivity": [
        {
            "parameter": "detection_s",
            "limit": "low",
            "value": 30.0,
            "interval_s": 150.0,
            "lost_s_per_hour": 37.0,
            "regret_s_per_hour": 0.5,
        }
    ],
    "warnings": [{"code": "OUTSIDE_FITTED_RANGE", "message": "a guess"}],
}

PROMETHEUS_MAPPING = {
    "format": "ftplan/prometheus-mapping",
    "format_version": "1.0",
    "base": "shipped",
    "sections": {
        "flink": {
            "labels": {"job": "job_name", "host": {"label": "instance", "pattern": "(.+):[0-9]+", "prefix": "h-"}},
            "queries": {
                "cpu": {
                    "promql": "flink_taskmanager_cpu{$match}",
                    "kind": "counter",
                    "measure": "cpu_ms",
                    "factor": 1000,
                    "combine": "max",
                    "unit": "s",
                    "labels": {"operator": "task_name", "task": "subtask_index", "parts": ["cpu"]},
                },
                "restarts": None,
            },
        },
    },
}

WHAT_IF_RESULT = {
    "format": "ftplan/what-if-result",
    "format_version": "1.0",
    "tool_version": "0.1.0",
    "name": "spares",
    "command": "recovery-schedule",
    "kind": "recovery-schedule",
    "fingerprint": "00",
    "base": "base",
    "measures": ["cost"],
    "swept": ["x"],
    "columns": [{"name": "cost", "type": "number", "sense": "min", "unit": "s"}],
    "rows": [{"case": "base", "x": None, "cost": 1.5}],
    "missing": ["x=3"],
    "summary": {
        "cases": 2,
        "statuses": {"optimal": 1},
        "failed": 0,
        "measure": "cost",
        "best": {"case": "base", "value": 1.5},
        "worst": None,
        "quantiles": [
            {
                "measure": "cost", "values": 1, "min": 1.5, "p10": 1.5, "p25": 1.5, "median": 1.5, "p75": 1.5,
                "p90": 1.5, "max": 1.5, "mean": None,
            }
        ],
        "pareto": {"measures": ["cost", "gap"], "cases": [{"case": "base", "values": [1.5, 0.5]}]},
    },
    "unmet": ["cost of case base is 1.5, above the limit 1"],
    "warnings": [{"code": "A", "message": "b"}],
}  # fmt: skip

_FIGURE = {"mean": 2.5, "low": 2.0, "high": None, "p5": 1.0, "p50": 2.5, "p95": 4.0, "runs": 2}
_SIMULATED_QUERY = {
    "operator": "sink",
    "index": 0,
    "priority": 2.0,
    "down_s": 40.0,
    "back_s": 41.0,
    "runs_down": 2,
    "runs_not_back": 1,
    "relative_latency": [1.0, None],
    "available": [1.0, 0.5],
    "queue_records": [0.0, 12.5],
    "buffered_bytes": [0.0, 1e6],
    "duplicates": [0.0, 3.0],
}
SIMULATION = {
    "format": "ftplan/simulation",
    "format_version": "1.0",
    "kind": "recovery",
    "tool_version": "0.1.0",
    "inputs": [{"role": "topology", "path": "topology.yaml", "sha256": "00"}],
    "options": {"runs": 2},
    "seed": 0,
    "runs": 2,
    "checkpoint_interval_s": 10.0,
    "until_s": 600.0,
    "time_s": [-5.0, 0.0],
    "recoveries": [
        {
            "mode": "incremental",
            "plan": "plan.json",
            "algorithm": None,
            "summary": {
                "priority_down_s": _FIGURE, "first_back_s": _FIGURE, "last_back_s": None, "peak_lag_records": _FIGURE,
                "lag_record_s": _FIGURE, "peak_queue_records": _FIGURE, "peak_buffer_bytes": _FIGURE,
                "spilled_bytes": _FIGURE, "duplicates": _FIGURE,
            },
            "queries": [_SIMULATED_QUERY],
            "lag_records": [0.0, 10.0],
            "events": [{"at_s": 0.0, "what": "failure", "tasks": ["join/3"], "node": "n1"}],
        }
    ],
    "comparison": [
        {
            "mode": "blocking",
            "plan": None,
            "differences": [
                {"figure": "duplicates", "mean": -2.0, "low": -3.0, "high": -1.0, "less": 2, "equal": 0, "more": 0}
            ],
        }
    ],
    "warnings": [{"code": "A", "message": "b"}],
}  # fmt: skip

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

_MOVED = {"phase": 0, "operator": "join", "key_group": 0, "from": "n1", "to": "n2", "protocol": "cpa"}
_PRICED = {**_MOVED, "latency_s": 0.5, "completion_s": 1.5, "bytes": 100.0, "pause_s": 0.5, "reason": "a checkpoint"}
FULL_REBALANCE = examples.plan(
    kind="rebalance",
    status="feasible",
    objective={"name": "latency", "sense": "min", "value": 1, "bound": 0.5},
    plan={
        "moves": [_PRICED],
        "phases": [
            {
                "phase": 0, "moves": 1, "bytes": 100.0, "duration_s": 1.5, "longest_pause_s": 0.5,
                "highest_utilisation": None,
            }
        ],
        "checkpoints": [{"operator": "join", "key_group": 0, "nodes": ["n1", "n3"]}],
        "new_copies": [{"operator": "join", "key_group": 0, "from": "n2", "to": "n3", "bytes": None}],
        "add_nodes": ["n2"],
        "remove_nodes": [],
        "rollback": [{**_MOVED, "from": "n2", "to": "n1"}],
    },
)  # fmt: skip

_TOKEN = {
    "node": "n1", "zone": "rack-a", "token": 0.5, "load": 1.5, "key_groups": 3, "state_bytes": 1e6, "backups": ["n2"],
}  # fmt: skip
FULL_PEER_RING = examples.plan(
    kind="peer-ring",
    status="feasible",
    objective={"name": "largest-load", "sense": "min", "value": 1.2, "bound": 1.1},
    plan={
        "ring": [_TOKEN, {**_TOKEN, "node": "n2", "zone": None, "token": 0.75}],
        "steps": [
            {"step": 0, "event": "re-plan", "tokens": [{"node": "n1", "from": 0.25, "to": 0.5, "tier": "n3"}]},
            {"step": 1, "event": "scale-out", "tokens": [{"node": "n2", "from": None, "to": 0.75, "tier": None}]},
        ],
        "moves": [
            {
                "event": "scale-out", "step": 1, "from": "n1", "to": "n2", "range": [0.75, 1.0], "takeover_bytes": 0.0,
                "transfer_bytes": 1e6, "rereplicate_bytes": 2e6, "replayed_records": 10.0, "lost": False,
            }
        ],
        "copies": [
            {"event": "scale-out", "step": 1, "from": "n1", "to": "n2", "range": [0.75, 1.0], "bytes": 1e6}
        ],
        "tolerance": {"nodes": 2},
        "takeovers": [{"taker": "n2"}],
        "after_failure": [_TOKEN],
        "lost": [{"operator": "join"}],
        "estimates": {"interval_s": 10.0},
    },
)  # fmt: skip

FULL_SCALE_OUT = examples.plan(
    kind="scale-out",
    status="feasible",
    objective={"name": "sustained-load", "sense": "max", "value": 0.5, "bound": 1},
    plan={
        "operators": [
            {
                "operator": "join", "score": 71.5, "state": "promoted", "technique": "assisted", "parallelism_from": 1,
                "parallelism_to": 2, "key_ranges": [[0, 3], [4, 7]], "nodes": ["n1", "n2"], "state_bytes": [1e6, 2e6],
                "pause_s": 0.5, "extra_core_s": 60.0, "fairness": 0.75, "steps": ["start 2 tasks"], "reason": "busy",
                "utilisation_from": 1.5, "utilisation_to": 0.7,
            }
        ]
    },
)  # fmt: skip

FULL_MANIFEST = examples.manifest(
    inputs=[{"path": "a.csv", "bytes": 3, "sha256": None}], tables={"tasks": {"rows": 3}}, coverage=0.5, engine="spark"
)

WHAT_IF = {
    "format": "ftplan/what-if",
    "format_version": "1.0",
    "name": "spare nodes",
    "inputs": {"topology": "topology.yaml", "cluster": {"format": "ftplan/cluster"}, "spread": True},
    "run": {
        "command": "evaluate",
        "algorithm": "exact",
        "plan": "plan.json",
        "fail": ["zone:rack-a"],
        "options": {"load": "bytes"},
    },
    "measures": ["objective", {"name": "summary.after.priority_time", "sense": "min", "unit": "s"}],
    "cases": [
        {
            "id": "a",
            "inputs": {"stats": "stats"},
            "plan": "other.json",
            "remove": "node:n1",
            "add": [{"count": 2, "node": {"cpu": 4}, "zones": ["rack-a"], "id": "spare"}],
            "set": {"operator:join": {"checkpoint.interval_s": 30}},
            "scale": {"node:*": {"cpu": 0.5}},
            "traffic": {"factor": 1.1, "cpu": False},
            "failures": {"from": "log.csv", "columns": {"time": "t", "node": "n", "zone": "z"}, "draw": 3, "seed": 1},
            "fail": ["node:n1", "task:join/3"],
            "algorithm": "auto",
            "options": {"copies": 2},
            "seed": 7,
        }
    ],
    "grid": [
        {"name": "rack", "fail": ["each zone", ["node:n1", "node:n2"]]},
        {"remove": "each node"},
        {"add": {"count": [0, 1], "node": {"cpu": 4}, "zones": "all"}, "traffic": [1.0, {"factor": 2.0}]},
        {"set": {"operator:join": {"cpu": [1, 2]}}, "scale": {"node:*": {"cpu": [0.5, 2]}}},
        {"failures": {"from": "probabilities", "draws": 10, "may_be_none": True, "timing": "together"}},
        {"options": {"copies": [1, 2]}, "algorithm": ["exact", "auto"], "plan": ["a.json", "b.json"]},
        {"seed": {"count": 5, "first": 1}},
        {"seed": [1, 2]},
        {"name": "failure", "cases": [{"id": "b", "fail": "zone:rack-a"}], "inputs": {"failure": ["f.yaml"]}},
    ],
}


def _stats(document: Any) -> None:
    load_stats({"manifest": document, "key_groups": []})


CASES: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    "topology": (FULL_TOPOLOGY, load_topology),
    "cluster": (FULL_CLUSTER, load_cluster),
    "failure": (examples.failure(), load_failure),
    "stats": (FULL_MANIFEST, _stats),
    "plan": (FULL_PLAN, load_plan),
    "rebalance": (FULL_REBALANCE, load_plan),
    "peer-ring": (FULL_PEER_RING, load_plan),
    "scale-out": (FULL_SCALE_OUT, load_plan),
    "evaluation": (EVALUATION, load_evaluation),
    "what-if": (WHAT_IF, load_what_if),
    "recovery-costs": (RECOVERY_COSTS, load_recovery_costs),
    "checkpoint-interval": (CHECKPOINT_INTERVAL, load_checkpoint_interval),
    "collection": (COLLECTION, load_collection),
    "bottleneck-rules": (BOTTLENECK_RULES, load_bottleneck_rules),
    "prometheus-mapping": (PROMETHEUS_MAPPING, load_mapping),
    "what-if-result": (WHAT_IF_RESULT, load_what_if_result),
    "simulation": (SIMULATION, load_simulation),
}
