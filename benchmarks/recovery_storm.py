"""One recovery step on production Storm topologies whose edges go by key range: how many are proven optimal.

Run from the project's root: ``python benchmarks/recovery_storm.py FOLDER [--time-limit 10] [--all]``. FOLDER holds one
JSON file a topology: ``components`` (id, parallelism) and ``edges`` (from, to). Prints Markdown tables.

The 40 topologies with the most tasks are taken, ties by file name, read as in storm_jobs.py. Edges are one-to-one
where parallelism is equal, split or merge where not. Loads of an operator's tasks fall as 1/sqrt(k) around a mean of
0.25 cores; priorities are 1 to 10 at random. Tasks lie round robin on 20 equal nodes that were used to 70 % (at 60 %,
what 4 of 20 nodes lose would always fit); survivors take work up to 80 %.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
from storm_jobs import tasks_and_edges

from ftplan.model.failed_queries import failed_queries
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Operator, Partitioning, Topology
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.exact import exact_step
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack

NODES, USED, MOST_USED, TOPOLOGIES = 20, 0.7, 0.8, 40


def topology_of(path: Path, seed: int) -> Topology | None:
    """Return the topology of a file by key range, None where it is empty."""
    tasks, pairs = tasks_and_edges(path)
    if not tasks:
        return None
    rng = np.random.default_rng(seed)
    place = {name: i for i, name in enumerate(sorted(tasks))}
    senders = {sender for sender, _ in pairs}
    operators = []
    for name in place:
        load = 1 / np.sqrt(np.arange(1, tasks[name] + 1))
        priority = rng.integers(1, 11, tasks[name]).astype(np.float64)
        cpu = 0.25 * load / load.mean()
        operators.append(Operator(name, tasks[name], cpu, 0 * cpu, priority, output=name not in senders))

    def rule(sender: str, receiver: str) -> Partitioning:
        if tasks[sender] == tasks[receiver]:
            return "one-to-one"
        return "split" if tasks[sender] < tasks[receiver] else "merge"

    return Topology(tuple(operators), tuple(Edge(place[a], place[b], rule(a, b)) for a, b in pairs), path.stem)


def knapsack_of(topology: Topology, share: float, seed: int) -> SetUnionKnapsack:
    """Return the step after the loss of a share of the nodes, before any new node has come."""
    graph = TaskGraph(topology)
    cpu = graph.per_task("cpu")
    lost = np.random.default_rng(seed).permutation(NODES)[: round(share * NODES)]
    failed = np.isin(np.arange(graph.tasks) % NODES, lost)
    cores = float(cpu.sum()) / USED
    room = MOST_USED * cores * (1 - share) - float(cpu[~failed].sum())
    queries = failed_queries(graph, failed)
    priority = graph.per_task("priority")[queries.query]
    return SetUnionKnapsack(priority, queries.weight(cpu), queries.start, queries.member, max(0.0, room))


def run(topologies: list[Topology], share: float, time_limit_s: float, show_all: bool) -> None:
    rows, gaps, seconds, proven, whole = [], [], [], 0, 0
    for seed, topology in enumerate(topologies):
        knapsack = knapsack_of(topology, share, seed)
        start = time.perf_counter()
        choice = exact_step(knapsack, Budget(time_limit_s))
        seconds.append(time.perf_counter() - start)
        value, bound = knapsack.value(choice.queries), choice.bound
        assert knapsack.fits(choice.queries)
        assert bound is not None
        proven += choice.optimal and seconds[-1] <= time_limit_s
        whole += bool(choice.queries.all())
        gaps.append(0.0 if choice.optimal else bound / max(value, 1e-9) - 1)
        if show_all or not choice.optimal:
            rows.append(
                f"| {topology.name} | {topology.task_count:,} | {knapsack.queries:,} | {knapsack.elements:,} | "
                f"{value:g} | {bound:g} | {gaps[-1]:.2%} | {seconds[-1]:.2f} | {choice.note} |"
            )
    print(
        f"| {share:.0%} | {len(topologies)} | {whole} | {proven} | {proven / len(topologies):.0%} | "
        f"{np.median(seconds):.2f} | {max(seconds):.2f} | {max(gaps):.2%} |"
    )
    if rows:
        print("\n| topology | tasks | queries | bundles | value | bound | gap | seconds | how |\n" + "|---" * 9 + "|")
        print("\n".join(rows) + "\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("FTPLAN_STORM_TOPOLOGIES"))
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--all", action="store_true", help="a row for each topology")
    options = parser.parse_args()
    if options.folder is None or not options.folder.is_dir():
        print("Not run: needs the folder of the topologies.")
        return
    read = [topology_of(path, i) for i, path in enumerate(sorted(options.folder.glob("*.json")))]
    found = sorted((t for t in read if t is not None), key=lambda t: (-t.task_count, t.name or ""))[:TOPOLOGIES]
    print(f"{len(read) - len(found)} of {len(read)} files left out: empty or too small.", file=sys.stderr)
    for share in (0.2, 0.5):
        print("\n| nodes lost | topologies | all fits | proven | share | median s | slowest s | largest gap |")
        print("|---" * 8 + "|")
        run(found, share, options.time_limit, options.all)


if __name__ == "__main__":
    main()
