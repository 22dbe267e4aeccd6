"""How long the page of a large plan takes, as a whole process and within one, and how large it is.

Run: ``python benchmarks/report.py [--tasks 5000] [--runs 5]``. Prints a Markdown table. The topologies are those of the
generators; half of the nodes fail, and every plan is made by a quick planner.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ftplan
from ftplan.model.plan import canonical_json

NODES, OPERATORS, TO_REACH_S, TO_REACH_MB = 200, 50, 5.0, 2.0


def inputs(tasks: int, folder: Path) -> dict[str, Path]:
    """Write a topology of a chain of operators that fan out, and a cluster that runs it with room to spare."""
    each = tasks // OPERATORS
    operators = [{"id": f"operator-{k}", "parallelism": each, "cpu": 0.1} for k in range(OPERATORS)]
    edges = [
        {"from": f"operator-{(k - 1) // 3}", "to": f"operator-{k}", "partitioning": "one-to-one"}
        for k in range(1, OPERATORS)
    ]
    nodes = [{"id": f"n{i}", "cpu": tasks * 0.1 / NODES * 1.6, "zone": f"rack-{i % 10}"} for i in range(NODES)]
    placed = {f"operator-{k}": [f"n{(k * each + i) % NODES}" for i in range(each)] for k in range(OPERATORS)}
    topology = {"format": "ftplan/topology", "format_version": "1.0", "operators": operators, "edges": edges}
    cluster = {"format": "ftplan/cluster", "format_version": "1.0", "nodes": nodes, "placement": {"tasks": placed}}
    paths = {"topology": folder / "topology.json", "cluster": folder / "cluster.json"}
    for role, document in (("topology", topology), ("cluster", cluster)):
        paths[role].write_text(canonical_json(document))
    return paths


def plans(tasks: int, folder: Path) -> list[Path]:
    """Write a plan of each kind that needs no statistics."""
    problem = ftplan.load(**inputs(tasks, folder))  # type: ignore[arg-type]  # roles are names
    half = [f"zone:rack-{k}" for k in range(5)]
    made = [
        ftplan.plan("recovery-schedule", problem, algorithm="operator-centric", fail=half, samples=0),
        ftplan.plan("replicate-tasks", problem, algorithm="greedy", budget="20%"),
        ftplan.plan("drain-schedule", problem, algorithm="greedy", max_per_zone=4, min_fidelity=0.0),
    ]
    paths = []
    for plan in made:
        path = folder / f"{plan.kind}.json"
        path.write_text(plan.to_json())
        paths.append(path)
    return paths


def measured(documents: list[Path], runs: int, folder: Path) -> tuple[float, float, int]:
    """Return the median seconds of the command and of the call, and the bytes of the page."""
    page = folder / "page.html"
    args = [sys.executable, "-m", "ftplan", "report", *map(str, documents), "-o", str(page), "--force", "-q"]
    whole, calls, size = [], [], 0
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run(args, check=True)
        whole.append(time.perf_counter() - began)
        began = time.perf_counter()
        size = len(ftplan.report(list(documents)).encode())
        calls.append(time.perf_counter() - began)
    return statistics.median(whole), statistics.median(calls), size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    print("| documents | tasks | command, median s | call, median s | page, MB | to reach |")
    print("|---|--:|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        single = plans(given.tasks, folder)
        for documents in (*([path] for path in single), single):
            whole, call, size = measured(documents, given.runs, folder)
            text = "all of these" if len(documents) > 1 else documents[0].stem
            target = f"≤ {TO_REACH_S:g} s, ≤ {TO_REACH_MB:g} MB" if len(documents) == 1 else ""
            print(f"| {text} | {given.tasks:,} | {whole:.2f} | {call:.2f} | {size / 1e6:.2f} | {target} |", flush=True)


if __name__ == "__main__":
    main()
