"""Drain schedules: 400 nodes whose key groups have copies elsewhere, and production Storm topologies.

Run from the project's root: ``python benchmarks/drain.py [FOLDER] [--time-limit 60] [--only PART] [--quick]``; the
folder may also stand in the environment as ``FTPLAN_STORM_TOPOLOGIES``. Prints Markdown tables.

Copies: 32,768 key groups on 400 nodes in 21 zones, primaries spread evenly, two copies each on random nodes of two
other zones. Either all copies stay apart, the primary's node among them, or only the two copies. A third of the rows
limits the nodes of a zone or of a round too.

Storm: the 40 topologies with most tasks, read as in replication_storm.py, tasks in turn on 40 nodes in 8 racks.
Output fidelity stays at 0.75 or at what the worst single node leaves, whichever is less. The peers are Strimzi's one by
one and cass-operator's rack by rack, which know no such limit: in how many of the racks' rounds it breaks is counted.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from replication_storm import TOPOLOGIES, topology_of

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import IntArray, Operator, Topology
from ftplan.planners.drain_schedule.algorithms.exact import exact
from ftplan.planners.drain_schedule.algorithms.greedy import greedy
from ftplan.planners.drain_schedule.problem import Drain, DrainLimits, DrainOptions, DrainProblem, KeyGroupCopies
from ftplan.planners.drain_schedule.rules import broken, fidelity
from ftplan.planners.result import Result

NODES, ZONES, GROUPS, COPIES = 400, 21, 32_768, 2
LIMITS = (
    ("none", DrainLimits()),
    ("8 a zone", DrainLimits(max_per_zone=8)),
    ("12 a round", DrainLimits(max_nodes=12)),
)
RACK_NODES, RACKS, LEAST_FIDELITY = 40, 8, 0.75

Planner = Callable[[DrainProblem, DrainOptions], Result[Drain]]


def problem_of(
    topology: Topology, task_node: IntArray, zone: IntArray, copies: KeyGroupCopies, limits: DrainLimits
) -> DrainProblem:
    """Return the question of restarting all nodes."""
    graph = TaskGraph(topology)
    ids = tuple(f"n{k + 1}" for k in range(len(zone)))
    return DrainProblem(
        graph=graph,
        model=fidelity_model(graph, rates(graph)),
        nodes=ids,
        zone=zone,
        zone_names=tuple(f"z{z}" for z in zone.tolist()),
        chosen=np.ones(len(zone), dtype=np.bool_),
        task_node=task_node,
        replica_node=np.full(graph.tasks, NOWHERE, dtype=np.int64),
        priority=graph.per_task("priority").astype(np.float64),
        copies=copies,
        restart_s=np.full(len(zone), 60.0),
        limits=limits,
    )


def copied(keep: str, limits: DrainLimits, seed: int) -> DrainProblem:
    """Return one operator of a task a node whose key groups have copies in other zones."""
    rng = np.random.default_rng(seed)
    zone = np.arange(NODES) % ZONES
    home = np.arange(GROUPS) * NODES // GROUPS
    apart = 1 + np.array([rng.choice(ZONES - 1, COPIES, replace=False) for _ in range(GROUPS)])
    zones = (zone[home][:, None] + apart) % ZONES
    by_zone = [np.flatnonzero(zone == z) for z in range(ZONES)]
    held = np.array([[rng.choice(by_zone[z]) for z in row] for row in zones.tolist()])
    rows = np.column_stack((home, held)) if keep == "all" else held
    copies = KeyGroupCopies.of(("state", g, row) for g, row in enumerate(rows.tolist()))
    one = np.ones(NODES)
    state = Operator("state", NODES, one, 0 * one, one, key_groups=GROUPS, output=True)
    return problem_of(Topology((state,), ()), np.arange(NODES), zone, copies, limits)


def spread(topology: Topology) -> DrainProblem:
    """Return a topology spread over racks, and the limit on its output fidelity."""
    task_node = np.arange(topology.task_count) % RACK_NODES
    zone = np.arange(RACK_NODES) % RACKS
    free = problem_of(topology, task_node, zone, KeyGroupCopies.of(()), DrainLimits())
    worst = min(fidelity(free, free.mask([k])) for k in range(RACK_NODES))
    limits = DrainLimits(min_fidelity=min(LEAST_FIDELITY, worst))
    return problem_of(topology, task_node, zone, KeyGroupCopies.of(()), limits)


def timed(planner: Planner, problem: DrainProblem, time_limit_s: float) -> tuple[int, int, float]:
    """Return rounds, bound and seconds, each round held against the limits."""
    start = time.perf_counter()
    result = planner(problem, DrainOptions(time_limit_s=time_limit_s))
    seconds = time.perf_counter() - start
    assert result.answer is not None
    assert result.bound is not None
    assert all(not broken(problem, nodes) for nodes in result.answer.rounds)
    return len(result.answer.rounds), int(result.bound), seconds


def copies_table(time_limit_s: float, seeds: int, limited: bool) -> None:
    print("| apart | limits | seed | one by one | zone by zone | greedy | its s | exact | bound | gap | seconds |")
    print("|---" * 11 + "|", flush=True)
    for keep in ("all", "checkpoints"):
        for name, limits in LIMITS if limited else LIMITS[:1]:
            for seed in range(seeds):
                problem = copied(keep, limits, seed)
                quick, _, quick_s = timed(greedy, problem, time_limit_s)
                rounds, bound, seconds = timed(exact, problem, time_limit_s)
                print(
                    f"| {keep} | {name} | {seed} | {NODES} | {ZONES if name == 'none' else '-'} | {quick} | "
                    f"{quick_s:.1f} | {rounds} | {bound} | {rounds - bound} | {seconds:.1f} |",
                    flush=True,
                )


def storm_table(folder: Path, time_limit_s: float, count: int) -> None:
    topologies = sorted(map(topology_of, sorted(folder.glob("*.json"))), key=lambda t: -t.task_count)[:count]
    print("\n| topology | tasks | fidelity | one by one | racks | of these broken | greedy | exact | bound | seconds |")
    print("|---" * 10 + "|")
    figures = []
    for topology in topologies:
        problem = spread(topology)
        racks = [np.flatnonzero(problem.zone == z).tolist() for z in range(RACKS)]
        wrong = sum(bool(broken(problem, nodes)) for nodes in racks)
        quick, _, _ = timed(greedy, problem, time_limit_s)
        rounds, bound, seconds = timed(exact, problem, time_limit_s)
        figures.append((rounds, bound, quick, wrong))
        print(
            f"| {topology.name} | {topology.task_count:,} | {problem.limits.min_fidelity:.3f} | {RACK_NODES} | {RACKS} "
            f"| {wrong} | {quick} | {rounds} | {bound} | {seconds:.1f} |",
            flush=True,
        )
    rounds_of, bound_of, quick_of, wrong_of = np.array(figures).T
    print(
        f"\n{len(figures)} topologies: {int((rounds_of == bound_of).sum())} proven optimal, largest gap "
        f"{int((rounds_of - bound_of).max())}; median {np.median(rounds_of):g} rounds (greedy {np.median(quick_of):g}) "
        f"against {RACK_NODES} one by one; rack by rack breaks the limit on {int((wrong_of > 0).sum())}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Drain schedules.")
    parser.add_argument("folder", nargs="?", default=os.environ.get("FTPLAN_STORM_TOPOLOGIES"), type=Path)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--quick", action="store_true", help="one seed, three topologies, 10 s each")
    parser.add_argument("--only", choices=("copies", "unlimited-copies", "storm"), help="one part")
    asked = parser.parse_args()
    limit = 10.0 if asked.quick else asked.time_limit
    if asked.only != "storm":
        copies_table(limit, 1 if asked.quick else 2, limited=asked.only != "unlimited-copies")
    if asked.only not in (None, "storm"):
        return
    if asked.folder is None:
        print("\nThe Storm topologies are not here: name their folder, or set FTPLAN_STORM_TOPOLOGIES.")
        return
    storm_table(asked.folder, limit, 3 if asked.quick else TOPOLOGIES)


if __name__ == "__main__":
    main()
