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
from instances import lognormal_tree, packed_cluster

import ftplan
from ftplan.io.model_entries import cluster_entry, topology_entry

MAX_CPU, ZONES, MB = 0.8, 20, 2**20


def document(kind: str, **body: Any) -> dict[str, Any]:
    return {"format": f"ftplan/{kind}", "format_version": "1.0", **body}


def row(given: argparse.Namespace, algorithm: str, failure: str) -> None:
    """Plan once and print the row."""
    random = np.random.default_rng(0)
    job = lognormal_tree(given.tasks, random)
    machines = packed_cluster(job, given.nodes, ZONES, given.load, MAX_CPU, random)
    scenarios = [{"id": f"z{k}", "probability": 0.01, "fail": [f"zone:z{k}"]} for k in range(ZONES)]
    problem = ftplan.load(
        topology=topology_entry(job), cluster=cluster_entry(machines),
        failure=document("failure", scenarios=scenarios) if failure == "racks" else None,
    )  # fmt: skip
    assert problem.topology is not None
    began = time.perf_counter()
    plan = ftplan.plan(
        "replicate-tasks", problem, algorithm=algorithm, budget=given.budget, time_limit_s=given.time_limit
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
