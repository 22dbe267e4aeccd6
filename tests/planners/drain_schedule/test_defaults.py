"""What limits a round when nobody asks for a limit, and that the smallest fix of a lack of room is the smallest."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import ftplan
from ftplan.api import export_plan, verify
from tests.effort import examples
from tests.planners.drain_schedule.cases import planned, rounds

CASES = Path(__file__).parents[2] / "cases" / "drain"
ZONES = ("zone-1", "zone-2", "zone-3")


def twelve(sinks: list[str], **nodes: Any) -> ftplan.Problem:
    """Return twelve nodes in three zones, each with a task of the map, and sinks on some."""
    names = [f"tm-{k}" for k in range(12)]
    operators = [{"id": "map", "parallelism": 12}, {"id": "sink", "parallelism": len(sinks)}]
    edges = [{"from": "map", "to": "sink", "partitioning": "full"}]
    cluster = {
        "format": "ftplan/cluster",
        "format_version": "1.0",
        "nodes": [{"id": name, "cpu": 4, "zone": ZONES[k // 4], **nodes} for k, name in enumerate(names)],
        "placement": {"tasks": {"map": names, "sink": sinks}},
    }
    topology = {"format": "ftplan/topology", "format_version": "1.0", "operators": operators, "edges": edges}
    return ftplan.load(topology=topology, cluster=cluster)


@pytest.mark.parametrize("algorithm", ["greedy", "exact"])
def test_a_zone_at_a_time(algorithm: str) -> None:
    """Twelve nodes are not one round: three zones are three, and Flink keeps as many spares as a round takes nodes."""
    problem = twelve(["tm-0", "tm-4", "tm-8"])
    plan = planned(problem, algorithm=algorithm)
    assert rounds(plan) == [[f"tm-{k + i}" for i in range(4)] for k in (0, 4, 8)]
    assert plan.status == "optimal"
    assert {"one-zone", "some-output"} <= set(plan.rules or ())
    assert not verify(plan, problem, strict=True).violations
    written = yaml.safe_load(export_plan(plan, "flink").text)
    assert written["slotmanager.redundant-taskmanager-num"] == 4
    free = planned(problem, algorithm=algorithm, no_limits=True)
    assert len(rounds(free)) == 1
    assert {v.code for v in verify({**plan.to_dict(), "plan": free.plan}, problem).violations} >= {"SEVERAL_ZONES"}


def test_never_all_nodes() -> None:
    """Neither where all are in one zone, nor where zones do not matter."""
    assert len(rounds(planned(twelve(["tm-0", "tm-11"], zone="only")))) == 2
    assert len(rounds(planned(twelve(["tm-0", "tm-11"]), max_per_zone=4))) == 2


def test_some_output_is_left_where_that_can_be() -> None:
    """The only sink takes all output with it, alone: others of its zone restart without it."""
    plan = planned(twelve(["tm-1"]))
    assert ["tm-1"] in rounds(plan)
    assert len(rounds(plan)) == 4
    assert plan.plan is not None
    assert [item["fidelity"] > 0.0 for item in plan.plan["rounds"]] == [
        item["nodes"] != ["tm-1"] for item in plan.plan["rounds"]
    ]
    assert planned(twelve(["tm-1"]), min_fidelity=0.0).objective.value == 3.0  # type: ignore[union-attr]


def test_nodes_without_a_zone_are_zones_of_their_own() -> None:
    assert all(len(nodes) == 1 for nodes in rounds(planned(twelve(["tm-0", "tm-11"], zone=None))))


@pytest.mark.parametrize(("case", "cores"), [("d226", 1.25), ("d227", 0.625), ("d229", 0.9375)])
def test_seen_cases(case: str, cores: float) -> None:
    fix = refused(case_problem(case)).infeasible.smallest_fix  # type: ignore[union-attr]
    assert added(fix)["cpu"] == cores


def case_problem(case: str) -> ftplan.Problem:
    return ftplan.load(topology=CASES / f"{case}t.json", cluster=CASES / f"{case}c.json")


def refused(problem: ftplan.Problem) -> ftplan.Plan:
    plan = planned(problem, move=True, algorithm="greedy")
    assert plan.status == "infeasible"
    return plan


def added(fix: str) -> dict[str, Any]:
    entry: dict[str, Any] = yaml.safe_load(fix.rpartition("cluster file: ")[2])
    return entry


def least_added(cpu: list[float], memory: list[float], tasks: list[tuple[int, float, float]]) -> tuple[float, float]:
    """Return the fewest cores, then the least memory, of an added node, by trying every move of each node's tasks."""
    options = list[list[tuple[float, float]]]()
    for node in range(len(cpu)):
        free = [[cpu[k], memory[k]] for k in range(len(cpu))]
        for home, cores, mb in tasks:
            free[home][0] -= cores
            free[home][1] -= mb
        mine, found = [task for task in tasks if task[0] == node], list[tuple[float, float]]()
        for hosts in product([k for k in range(len(cpu)) if k != node] + [-1], repeat=len(mine)):
            left = [list(one) for one in free]
            for host, (_, cores, mb) in zip(hosts, mine, strict=True):
                if host >= 0:
                    left[host][0] -= cores
                    left[host][1] -= mb
            if all(min(left[host]) >= -1e-9 for host in hosts if host >= 0):
                extra = [task for host, task in zip(hosts, mine, strict=True) if host < 0]
                found.append((sum(task[1] for task in extra), sum(task[2] for task in extra)))
        options.append(found)
    most = max(min(one[0] for one in found) for found in options)
    return most, max(min(one[1] for one in found if one[0] <= most + 1e-9) for found in options)


@pytest.mark.parametrize("seed", range(examples(25)))
def test_no_smaller_node_is_enough(seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes, count = int(random.integers(2, 5)), int(random.integers(2, 6))
    tasks = [
        (int(random.integers(nodes)), float(random.choice([0.25, 0.5, 0.75, 1.0])), float(random.choice([8.0, 16.0])))
        for _ in range(count)
    ]
    used = [[sum(task[d] for task in tasks if task[0] == k) for d in (1, 2)] for k in range(nodes)]
    cpu = [used[k][0] + float(random.choice([0.25, 0.5, 0.75])) for k in range(nodes)]
    memory = [used[k][1] + float(random.choice([1.0, 8.0, 16.0])) for k in range(nodes)]
    topology = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": [
            {"id": f"o{k}", "cpu": cores, "state_bytes": mb * 2**20} for k, (_, cores, mb) in enumerate(tasks)
        ],
        "edges": [],
    }
    cluster = {
        "format": "ftplan/cluster",
        "format_version": "1.0",
        "nodes": [{"id": f"n{k}", "cpu": cpu[k] / 0.8, "memory_mb": memory[k]} for k in range(nodes)],
        "placement": {"tasks": {f"o{k}": [f"n{home}"] for k, (home, _, _) in enumerate(tasks)}},
    }
    plan = planned(ftplan.load(topology=topology, cluster=cluster), move=True)
    cores, mb = least_added(cpu, memory, tasks)
    if cores == mb == 0.0:
        assert plan.status == "optimal"
        return
    assert plan.infeasible is not None
    entry = added(plan.infeasible.smallest_fix)
    assert (entry["cpu"], entry.get("memory_mb", 0.0)) == pytest.approx((cores / 0.8, mb), abs=2e-6)
    cluster["nodes"].append(entry)  # type: ignore[attr-defined]
    assert planned(ftplan.load(topology=topology, cluster=cluster), move=True).plan is not None
