"""Structure-aware on 100,000 tasks in a cluster of 1,000 nodes, choice and placement as one problem.

Run: ``python benchmarks/replication_joint_scale.py [--tasks 100000] [--nodes 1000] [--budget 10%] [--load 0.8]
[--time-limit 60] [--failures racks all] [--algorithms structure-aware greedy]``. Prints a Markdown table; a process a
row.

Ten operators in an in-tree with edges that are one-to-one, split or merge, one of them measured: 1 to 3 substreams a
task. Rates of sources, shares of inputs and measured substreams are lognormal with sigma 1, as task loads of production
jobs are: few tasks carry most. A task takes 0.1 to 0.5 cores. The nodes have 20 zones, primaries are placed at random
where there is room; each zone fails in a scenario of its own, or all tasks fail at once. Seconds are those of
``ftplan.plan``; peak memory is that of the process, with reading.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

import ftplan

MAX_CPU, ZONES, MB = 0.8, 20, 2**20
#: Tasks of each operator in twentieths of all, and the operator that it feeds.
WIDTHS, FEEDS = (2, 1, 2, 4, 2, 2, 2, 3, 1, 1), (1, 2, 3, 4, 5, 7, 5, 8, 9, None)
MEASURED = 4


def document(kind: str, **body: Any) -> dict[str, Any]:
    return {"format": f"ftplan/{kind}", "format_version": "1.0", **body}


def topology_of(tasks: int, random: np.random.Generator) -> dict[str, Any]:
    """Return the job."""
    operators, edges = [], []
    sizes = [max(1, tasks * width // 20) for width in WIDTHS]
    for i, (size, to) in enumerate(zip(sizes, FEEDS, strict=True)):
        load = random.lognormal(0.0, 1.0, size).round(4).tolist()
        made = {"id": f"o{i}", "parallelism": size, "cpu": random.choice([0.1, 0.2, 0.3, 0.5], size).tolist()}
        made["input_share" if i in FEEDS else "rate_out"] = load
        made["inputs"] = "correlated" if i == 5 else "independent"
        operators.append(made)
        if to is None:
            continue
        edge: dict[str, Any] = {"from": f"o{i}", "to": f"o{to}"}
        there = sizes[to]
        if i == MEASURED:
            pairs = {(k, k * there // size) for k in range(size)} | {(k * size // there, k) for k in range(there)}
            pairs |= set(zip(range(size), random.integers(0, there, size).tolist(), strict=True))
            rates = random.lognormal(0.0, 1.0, len(pairs)).round(4).tolist()
            edge["substreams"] = [[a, b, rate] for (a, b), rate in zip(sorted(pairs), rates, strict=True)]
        else:
            edge["partitioning"] = "one-to-one" if size == there else "split" if size < there else "merge"
        edges.append(edge)
    return document("topology", operators=operators, edges=edges)


def cluster_of(topology: dict[str, Any], nodes: int, load: float, random: np.random.Generator) -> dict[str, Any]:
    """Return equal nodes with the primaries at random."""
    cpu = np.concatenate([operator["cpu"] for operator in topology["operators"]])
    usable = float(cpu.sum()) / load / nodes
    used, home = np.zeros(nodes), np.zeros(len(cpu), dtype=np.int64)
    for task, node in zip(random.permutation(len(cpu)), random.integers(0, nodes, len(cpu)), strict=True):
        while used[node] + cpu[task] > usable:
            node = random.integers(0, nodes)
        used[node] += cpu[task]
        home[task] = node
    placed, first = {}, 0
    for operator in topology["operators"]:
        placed[operator["id"]] = [f"n{n}" for n in home[first : first + operator["parallelism"]]]
        first += operator["parallelism"]
    machines = [{"id": f"n{n}", "cpu": round(usable / MAX_CPU, 6), "zone": f"z{n % ZONES}"} for n in range(nodes)]
    return document("cluster", nodes=machines, placement={"tasks": placed})


def row(given: argparse.Namespace, algorithm: str, failure: str) -> None:
    """Plan once and print the row."""
    random = np.random.default_rng(0)
    topology = topology_of(given.tasks, random)
    cluster = cluster_of(topology, given.nodes, given.load, random)
    scenarios = [{"id": f"z{k}", "probability": 0.01, "fail": [f"zone:z{k}"]} for k in range(ZONES)]
    problem = ftplan.load(
        topology=topology, cluster=cluster,
        failure=document("failure", scenarios=scenarios) if failure == "racks" else None,
    )  # fmt: skip
    assert problem.topology is not None
    began = time.perf_counter()
    plan = ftplan.plan(
        "task-replication", problem, algorithm=algorithm, budget=given.budget, time_limit_s=given.time_limit
    )
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    assert plan.plan is not None, plan.reason
    assert plan.objective is not None
    cut = " ".join(warning.code for warning in plan.warnings)
    print(
        f"| {algorithm} | {failure} | {problem.topology.task_count:,} | {given.nodes:,} | "
        f"{len(plan.plan['replicas']):,} | {plan.objective.value:.6f} | {plan.objective.bound:.6f} | {seconds:.1f} | "
        f"{peak:.2f} | {cut} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--nodes", type=int, default=1_000)
    parser.add_argument("--budget", default="10%")
    parser.add_argument("--load", type=float, default=0.8)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--failures", nargs="+", default=["racks", "all"], choices=["racks", "all"])
    parser.add_argument("--algorithms", nargs="+", default=["structure-aware", "greedy"])
    parser.add_argument("--one", action="store_true", help="the first of each, in this process")
    given = parser.parse_args()
    if given.one:
        row(given, given.algorithms[0], given.failures[0])
        return
    print(
        "| algorithm | what fails | tasks | nodes | replicas | output fidelity | bound | seconds | peak memory GiB | "
        "warnings |\n|---|---" + "|--:" * 7 + "|---|",
        flush=True,
    )
    for failure in given.failures:
        for algorithm in given.algorithms:
            subprocess.run(
                [sys.executable, *sys.argv, "--one", "--failures", failure, "--algorithms", algorithm], check=True
            )


if __name__ == "__main__":
    main()
