"""Plans of every kind with their inputs, for tests that judge plans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ftplan
from tests.places import ROOT
from tests.planners.drain_schedule import cases as drain_cases
from tests.planners.peer_ring import cases as ring_cases
from tests.planners.rebalance import cases as rebalance_cases
from tests.planners.scale_out import cases as scale_out_cases

SMALL, FIGURE = ROOT / "tests" / "data" / "small", ROOT / "examples" / "figure-2"


def small(**more: Any) -> ftplan.Problem:
    return ftplan.load(topology=SMALL / "topology.yaml", cluster=SMALL / "cluster.yaml", **more)


def figure(**more: Any) -> ftplan.Problem:
    return ftplan.load(**{name: FIGURE / f"{name}.yaml" for name in ("topology", "cluster", "failure")}, **more)


FAILURE = {
    "format": "ftplan/failure",
    "format_version": "1.0",
    "fail": ["node:n1", {"at_s": 200, "select": "node:n3"}],
    "arrivals": [
        {"at_s": 100, "node": {"id": "r1", "cpu": 2}},
        {"at_s": [150, 250], "node": {"id": "r2", "cpu": 4}},
        {"at_s": 300, "node": {"id": "r3", "cpu": 4}},
    ],
}

SCENARIOS = {
    "format": "ftplan/failure",
    "format_version": "1.0",
    "scenarios": [
        {"id": "a", "probability": 0.1, "fail": ["zone:a"]},
        {"id": "b", "probability": 0.3, "fail": ["zone:b", "node:n5"]},
    ],
}


def checkpoint(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = small(stats=SMALL / "stats")
    return ftplan.plan("allocate-checkpoints", problem, algorithm="exact", objective="correlation"), problem


def upkeep(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = small(stats=SMALL / "stats")
    current = ftplan.plan("allocate-checkpoints", problem, algorithm="even", objective="usable")
    (folder / "current.json").write_text(current.to_json())
    chosen: dict[str, Any] = {"current": folder / "current.json", "max_moves": 3, "balance": "count"}
    return ftplan.plan("allocate-checkpoints", problem, algorithm="correlated", objective="usable", **chosen), problem


def failover(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = small(stats=SMALL / "stats")
    chosen: dict[str, Any] = {"copies": 2, "anti_affinity": "zone", "failover_limit": 3.0, "balance": "none"}
    return ftplan.plan("allocate-checkpoints", problem, algorithm="exact", **chosen), problem


def schedule(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = figure()
    return ftplan.plan("recovery-schedule", problem, algorithm="best-density", objective="priority"), problem


def struck_again(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = small(failure=FAILURE)
    chosen: dict[str, Any] = {"objective": "priority-time", "bandwidth": 1.0, "capacity": 3.0}
    return ftplan.plan("recovery-schedule", problem, algorithm="best-density", **chosen), problem


def replication(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = small()
    current = ftplan.plan("replicate-tasks", problem, algorithm="greedy", budget=2, fail=["zone:b"])
    (folder / "replicas.json").write_text(current.to_json())
    chosen: dict[str, Any] = {"current": folder / "replicas.json", "curve": True, "fail": ["operator:clicks"]}
    return ftplan.plan("replicate-tasks", problem, algorithm="exact", budget="50%", **chosen), problem


def scenarios(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = small(failure=SCENARIOS)
    return ftplan.plan("replicate-tasks", problem, algorithm="structure-aware", budget=3), problem


def target(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = small()
    return ftplan.plan("replicate-tasks", problem, algorithm="exact", target=0.4), problem


def no_room(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = figure()
    chosen: dict[str, Any] = {"arrivals": False, "capacity": 0.0}
    return ftplan.plan("recovery-schedule", problem, algorithm="best-density", **chosen), problem


def drained(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = drain_cases.job()
    chosen: dict[str, Any] = {"min_fidelity": 0.1, "max": 3, "max_per_zone": 2, "keep_priority": 5, "iterations": 50}
    return ftplan.plan("drain-schedule", problem, algorithm="greedy", **chosen), problem


def moved(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = drain_cases.job()
    (folder / "costs.json").write_text(json.dumps(drain_cases.COSTS))
    chosen: dict[str, Any] = {"max_cpu": 0.6, "costs": folder / "costs.json", "nodes": ["zone:a", "node:n4"]}
    return ftplan.plan("drain-schedule", problem, algorithm="greedy", move=True, iterations=50, **chosen), problem


def not_alone(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = drain_cases.job()
    return ftplan.plan("drain-schedule", problem, algorithm="greedy", min_fidelity=0.9), problem


def all_but_some(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = drain_cases.job()
    chosen: dict[str, Any] = {"partial": True, "keep_copies": "checkpoints"}
    return ftplan.plan("drain-schedule", problem, algorithm="greedy", min_fidelity=0.5, **chosen), problem


def rebalanced(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = rebalance_cases.job()
    chosen: dict[str, Any] = {"remove": ["n6"], "add": ["n7"], "phase_bytes": 1e8, "max_pause_s": 10.0}
    return rebalance_cases.planned(problem, objective="completion", anti_affinity="zone", **chosen), problem


def unrelieved(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = rebalance_cases.job()
    return rebalance_cases.planned(problem, remove=["n6"], max_moves=1), problem


def scaled(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = scale_out_cases.job()
    chosen: dict[str, Any] = {"latency_budget_s": 0.5, "alarming": "auto", "free_cpu": 20.0, "quota": 40.0}
    return scale_out_cases.planned(problem, **chosen), problem


def above_quota(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = scale_out_cases.job()
    return scale_out_cases.planned(problem, quota=4.0, split="hash"), problem


def ringed(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = ring_cases.job()
    return ring_cases.planned(problem, replication=2, tier=["zone:vault"], fail=["node:n1", "node:v1"]), problem


def grown_ring(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = ring_cases.job()
    (folder / "ring.json").write_text(json.dumps(ring_cases.EVEN))
    chosen: dict[str, Any] = {"current": folder / "ring.json", "add": ["n7"], "remove": [], "max_bytes": 2e9}
    return ring_cases.planned(problem, **chosen), problem


def virtual_ring(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = ring_cases.job()
    return ring_cases.planned(problem, "virtual-nodes", tokens=3, fail=["zone:a"]), problem


def immovable_ring(folder: Path) -> tuple[ftplan.Plan, ftplan.Problem]:
    problem = ring_cases.job()
    (folder / "ring.json").write_text(json.dumps(ring_cases.EVEN))
    chosen: dict[str, Any] = {"current": folder / "ring.json", "remove": ["n6"], "overload": 3.0, "max_bytes": 1.0}
    return ring_cases.planned(problem, "paper", **chosen), problem


CASES = [
    checkpoint, upkeep, failover, schedule, struck_again, replication, scenarios, target, no_room, drained, moved,
    not_alone, all_but_some, rebalanced, unrelieved, scaled, above_quota,
    ringed, grown_ring, virtual_ring, immovable_ring,
]  # fmt: skip
