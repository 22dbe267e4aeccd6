"""Tiny jobs whose replicas are chosen by the recovery afterwards, and every set of replicas that they could have."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

import ftplan
from ftplan.planners.replicate_tasks.from_plan import options_of, question_of
from ftplan.planners.replicate_tasks.hosts import Current, with_hosts
from ftplan.planners.replicate_tasks.then_recover import FollowingRecovery
from tests.places import ROOT

#: A job in which s/0 saves 54 with a replica on n1 or n3, and nothing with one on n2.
CASE = ROOT / "tests" / "cases" / "ring" / "then-recover-402"
ENVELOPE = {"format_version": "1.0"}


def documents(draw: random.Random) -> dict[str, Any]:
    """Return a job of at most five tasks on at most three nodes, with scenarios, or failures and arrivals."""
    parallel = draw.choice([[1, 1], [2, 1], [2, 2], [1, 2, 1], [2, 1, 2], [1, 1, 1]])
    operators = [
        {
            "id": f"o{k}",
            "parallelism": tasks,
            "cpu": draw.choice([0.25, 0.5, 1.0]),
            "state_bytes": draw.choice([0, 4, 9, 30]) * 2**20,
            "priority": draw.choice([1, 2, 5]),
        }
        for k, tasks in enumerate(parallel)
    ]
    edges = []
    for k, (a, b) in enumerate(itertools.pairwise(parallel)):
        fits = ["full"] + (["one-to-one"] if a == b else []) + (["merge"] if a > b else ["split"] if a < b else [])
        edges.append({"from": f"o{k}", "to": f"o{k + 1}", "partitioning": draw.choice(fits)})
    nodes = [
        {"id": f"n{k}", "cpu": draw.choice([1.0, 2.0, 3.0]), "zone": draw.choice(["a", "b", "c"])}
        for k in range(draw.choice([2, 3]))
    ]
    names = [node["id"] for node in nodes]
    placed = {f"o{k}": [draw.choice(names) for _ in range(tasks)] for k, tasks in enumerate(parallel)}
    cluster = {
        "format": "ftplan/cluster",
        **ENVELOPE,
        "nodes": nodes,
        "network": {"bandwidth_mb_s": draw.choice([1, 2]), "delay_s": draw.choice([0, 0.5])},
        "placement": {"tasks": placed},
    }
    topology = {"format": "ftplan/topology", **ENVELOPE, "operators": operators, "edges": edges}
    return {"topology": topology, "cluster": cluster, "failure": _failure(draw, names)}


def _failure(draw: random.Random, names: list[str]) -> Mapping[str, Any] | None:
    arrivals = [{"at_s": 20, "node": {"id": "m1", "cpu": 2}}, {"at_s": [30, 60], "node": {"id": "m2", "cpu": 1}}]
    some = {"arrivals": draw.choice([arrivals, arrivals[:1], []])}
    form = draw.choice(["scenarios", "named", "late", "none"])
    if form == "scenarios":
        some["scenarios"] = [{"id": n, "probability": draw.choice([0.1, 0.3]), "fail": [f"node:{n}"]} for n in names]
    elif form == "named":
        some["fail"] = [draw.choice([f"node:{names[0]}", "operator:o1", "task:o0/0"])]
    elif form == "late":
        some["fail"] = [f"node:{names[0]}", {"at_s": draw.choice([5, 25]), "select": f"node:{names[1]}"}]
    else:
        return None
    return {"format": "ftplan/failure", **ENVELOPE, **some}


def case_of_detection(draw: random.Random | None = None) -> tuple[ftplan.Problem, dict[str, Any]]:
    """Return the job of ``then-recover-402`` and its recovery costs; with *draw* other numbers and placements."""
    topology, cluster, failure, costs = (json.loads((CASE / f"{name}.json").read_text()) for name in "tcfk")
    if draw is not None:
        names = [node["id"] for node in cluster["nodes"]]
        for operator in topology["operators"]:
            operator["cpu"] = draw.choice([0.5, 1.0])
            cluster["placement"]["tasks"][operator["id"]] = [draw.choice(names) for _ in range(2)]
        topology["operators"][2]["priority"] = [draw.choice([1, 3]), draw.choice([1, 3, 5])]
        topology["edges"][1]["partitioning"] = draw.choice(["full", "one-to-one"])
        for node in cluster["nodes"]:
            node["cpu"] = draw.choice([3.0, 4.0])
        values = {"detection_s": draw.choice([0, 20]), "restart_s": draw.choice([0, 7])}
        costs["parameters"] = {name: {"value": seconds} for name, seconds in values.items()}
    return ftplan.load(topology=topology, cluster=cluster, failure=failure), costs


def following(plan: ftplan.Plan, problem: ftplan.Problem) -> FollowingRecovery:
    """Return the recoveries that a plan is valued by."""
    return FollowingRecovery.of(question_of(plan, problem), problem, options_of(plan))


def every_choice(plan: ftplan.Plan, problem: ftplan.Problem) -> Iterator[dict[int, str | None]]:
    """Yield all replicas on nodes that keep the limits of a plan but for changes."""
    prepared, options = question_of(plan, problem), options_of(plan)
    hosts = with_hosts(prepared, problem.cluster, Current({}, False), options)[0].hosts
    assert hosts is not None
    tasks = [task for task in range(prepared.graph.tasks) if prepared.problem.fails[task]]
    open_to = [[None, *hosts.allowed(task).nonzero()[0].tolist()] for task in tasks]
    for chosen in itertools.product(*open_to):
        placed = {task: node for task, node in zip(tasks, chosen, strict=True) if node is not None}
        cpu, mb = hosts.residual_cpu.copy(), hosts.residual_mb.copy()
        for task, node in placed.items():
            cpu[node] -= hosts.cpu[task]
            mb[node] -= hosts.memory_mb[task]
        used = sorted(set(placed.values()))
        if prepared.problem.fits(float(prepared.problem.weight[list(placed)].sum())) and all(
            cpu[n] >= -1e-9 and mb[n] >= -1e-9 for n in used
        ):
            yield {task: hosts.ids[node] for task, node in placed.items()}
