"""A small job in two lines, of which two nodes fail and come back as others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ftplan
from ftplan.simulation.recovery.options import RecoverySimulationOptions
from ftplan.simulation.recovery.scene import RecoveryScene, scene_of

TOPOLOGY: dict[str, Any] = {
    "format": "ftplan/topology",
    "format_version": "1.0",
    "operators": [
        {"id": "source", "parallelism": 2, "rate_out": 50, "cpu": 0.3, "checkpoint": {"interval_s": 10}},
        {"id": "middle", "parallelism": 2, "cpu": 0.4, "key_groups": 4, "state_bytes": 10_000_000},
        {"id": "sink", "parallelism": 2, "cpu": 0.2, "priority": [1, 3]},
    ],
    "edges": [
        {"from": "source", "to": "middle", "partitioning": "one-to-one"},
        {"from": "middle", "to": "sink", "partitioning": "one-to-one"},
    ],
}
CLUSTER: dict[str, Any] = {
    "format": "ftplan/cluster",
    "format_version": "1.0",
    "nodes": [{"id": f"n{i}", "cpu": 1} for i in range(1, 4)],
    "network": {"bandwidth_mb_s": 10, "delay_s": 0.001},
    "placement": {"tasks": {"source": ["n1", "n2"], "middle": ["n1", "n2"], "sink": ["n3", "n3"]}},
}
FAILURE: dict[str, Any] = {
    "format": "ftplan/failure",
    "format_version": "1.0",
    "fail": ["node:n1", "node:n2"],
    "arrivals": [{"at_s": [20, 40], "node": {"id": f"r{i}", "cpu": 1}} for i in (1, 2)],
}
COSTS: dict[str, Any] = {
    "format": "ftplan/recovery-costs",
    "format_version": "1.0",
    "state": "remote",
    "parameters": {
        "detection_s": {"value": 3},
        "restart_s": {"value": 2},
        "bandwidth_mb_s": {"value": 5},
        "capacity_records_s": {"value": 150},
    },
    "fitted_on": {"recoveries": 9},
}
#: Coarse batches and a short time: what a simulation takes.
QUICK: dict[str, Any] = {"batch_s": 1.0, "until_s": 90.0, "warm_up_s": 15.0, "headroom": 2.0}


def problem(**changed: Any) -> ftplan.Problem:
    """Return the problem, with other documents where some are named."""
    return ftplan.load(**{"topology": TOPOLOGY, "cluster": CLUSTER, "failure": FAILURE, **changed})


def options(**asked: Any) -> RecoverySimulationOptions:
    return RecoverySimulationOptions.of("simulate recovery", {**QUICK, **asked})


def scene(plan: ftplan.Plan | None = None, given: ftplan.Problem | None = None, **asked: Any) -> RecoveryScene:
    return scene_of(given or problem(), plan, options(**asked))


def schedule(*steps: tuple[float, str | None, Mapping[str, str | None]]) -> dict[str, Any]:
    """Return a plan made by hand: steps of a time, a trigger, and the node of each task that starts."""
    made = []
    for at_s, trigger, tasks in steps:
        named = [(name.split("/"), node) for name, node in tasks.items()]
        entries = [{"operator": operator, "index": int(index), "node": node} for (operator, index), node in named]
        made.append({"at_s": at_s, "recover": entries} | ({} if trigger is None else {"trigger": trigger}))
    body = {"steps": made}
    return {"format": "ftplan/plan", "format_version": "1.0", "kind": "recovery-schedule", "plan": body}


LINE_0, LINE_1 = ({f"{operator}/{i}": f"r{i + 1}" for operator in ("source", "middle")} for i in (0, 1))
#: Both lines come back with their nodes, the other way round in the second plan.
IN_ORDER = schedule((0.0, "failure", {}), (80 / 3, "arrival:r1", LINE_0), (100 / 3, "arrival:r2", LINE_1))
