"""The optimum of active replicas on production Storm topologies, all edges full: how many are proven, and how fast.

Run from the project's root: ``python benchmarks/replication_storm.py FOLDER [--time-limit 60] [--peer-limit 10]``; the
folder may also stand in the environment as ``FTPLAN_STORM_TOPOLOGIES``. It holds one JSON file a topology:
``components`` (id, parallelism) and ``edges`` (from, to). Prints Markdown tables.

The 40 topologies with the most tasks are taken, ties by file name, read as in storm_jobs.py. All edges are full, inputs
independent; the rates of sources and the input shares of an operator's tasks fall as 1/sqrt(k). All tasks fail.

The peer is HiGHS on the plain program: binary replicate[t], continuous intact[t] at most replicate[t] and at most the
weighted mean of intact upstream.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
from storm_jobs import tasks_and_edges

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Operator, Topology
from ftplan.planners.budget import Budget
from ftplan.planners.registry import row
from ftplan.planners.replicate_tasks.algorithms.curve import curve
from ftplan.planners.replicate_tasks.algorithms.exact import exact
from ftplan.planners.replicate_tasks.algorithms.models.candidate_nodes import CandidateNodes, Sites
from ftplan.planners.replicate_tasks.algorithms.models.joint_program import JointProgram
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions, ReplicationPlanner
from ftplan.planners.replicate_tasks.problem import FailureCase, ReplicationProblem

TOPOLOGIES, SHARES, POINTS, PEER_IN_TREES = 40, (0.1, 0.25, 0.5), 100, 3


def topology_of(path: Path) -> Topology:
    """Return the topology of a file with full edges, without cycles."""
    tasks, pairs = tasks_and_edges(path)
    senders, receivers = {a for a, _ in pairs}, {b for _, b in pairs}
    place = {name: i for i, name in enumerate(sorted(tasks))}
    operators = []
    for name in place:
        share = 1 / np.sqrt(np.arange(1, tasks[name] + 1))
        source, output = name not in receivers, name not in senders
        one = np.ones(tasks[name])
        rate = share if source else None
        operators.append(Operator(name, len(one), one, 0 * one, one, rate_out=rate, input_share=share, output=output))
    edges = tuple(Edge(place[a], place[b], "full") for a, b in pairs)
    return Topology(tuple(operators), edges, path.stem)


def problem_of(topology: Topology, budget: int) -> ReplicationProblem:
    """Return the worst case: all tasks fail."""
    graph = TaskGraph(topology)
    known = rates(graph)
    model = fidelity_model(graph, known)
    cases = (FailureCase("worst-case", 1.0, np.ones(graph.tasks, dtype=np.bool_)),)
    return ReplicationProblem(graph, model, cases, np.ones(graph.tasks), budget)


def in_tree(topology: Topology) -> bool:
    """Return whether each operator feeds at most one other."""
    return all(len(edges) <= 1 for edges in TaskGraph(topology).out_edges)


def peer(problem: ReplicationProblem, time_limit_s: float) -> tuple[float, float, float]:
    """Return value, bound and seconds of HiGHS alone."""
    start = time.perf_counter()
    candidates = CandidateNodes.of(problem)
    clock = Budget(time_limit_s)
    solution = JointProgram(problem, candidates, Sites.merged(problem, candidates), 0, clock).solved(clock)
    value = 0.0 if solution.site is None else problem.value(solution.site != NOWHERE)
    return value, solution.bound, time.perf_counter() - start


def gap(value: float, bound: float) -> float:
    return (bound - value) / max(value, 1e-9)


def run(topologies: list[Topology], time_limit_s: float, peer_limit_s: float) -> None:
    rows = []
    print("| operators form | budget | topologies | optimal | median s | slowest s | median gap | largest gap |")
    print("|---" * 8 + "|")
    for tree in (True, False):
        some = [topology for topology in topologies if in_tree(topology) == tree]
        for share in SHARES:
            seconds, gaps, optimal = [], [], 0
            for k, topology in enumerate(some):
                problem = problem_of(topology, int(share * topology.task_count))
                start = time.perf_counter()
                result = exact(problem, ReplicationOptions(time_limit_s=time_limit_s))
                seconds.append(time.perf_counter() - start)
                assert result.answer is not None
                assert result.bound is not None
                value = problem.value(result.answer.replicated)
                assert problem.fits(problem.cost(result.answer.replicated))
                optimal += result.status == "optimal"
                gaps.append(gap(value, result.bound))
                if not tree or k < PEER_IN_TREES:
                    other = peer(problem, peer_limit_s)
                    rows.append(
                        f"| {topology.name} | {topology.task_count:,} | {share:.0%} | {value:.6g} | {gaps[-1]:.2%} | "
                        f"{seconds[-1]:.2f} | {other[0]:.6g} | {gap(*other[:2]):.2%} | {other[2]:.2f} |"
                    )
            print(
                f"| {'an in-tree' if tree else 'another graph'} | {share:.0%} | {len(some)} | {optimal} | "
                f"{np.median(seconds):.3f} | {max(seconds):.2f} | {np.median(gaps):.2%} | {max(gaps):.2%} |",
                flush=True,
            )
    print("\n| topology | tasks | budget | value | gap | seconds | HiGHS value | its gap | its seconds |")
    print("|---" * 9 + "|\n" + "\n".join(rows))


def run_curve(topologies: list[Topology]) -> None:
    print(f"\n| topology | tasks | one budget s | {POINTS} budgets s | ratio |\n" + "|---" * 5 + "|")
    options, planner = ReplicationOptions(), ReplicationPlanner.of(row("replicate-tasks", "exact"))
    for topology in [topology for topology in topologies if in_tree(topology)][:5]:
        problem = problem_of(topology, topology.task_count // 2)
        start = time.perf_counter()
        exact(problem, options)
        one = time.perf_counter() - start
        start = time.perf_counter()
        curve(problem, planner, options, np.linspace(0, topology.task_count, POINTS).round().tolist())
        every = time.perf_counter() - start
        print(f"| {topology.name} | {topology.task_count:,} | {one:.3f} | {every:.3f} | {every / one:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("FTPLAN_STORM_TOPOLOGIES"))
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--peer-limit", type=float, default=10.0)
    options = parser.parse_args()
    if options.folder is None or not Path(options.folder).is_dir():
        print("Not run: needs the folder of the topologies.")
        return
    read = [topology_of(path) for path in sorted(Path(options.folder).glob("*.json"))]
    found = sorted(read, key=lambda t: (-t.task_count, t.name or ""))[:TOPOLOGIES]
    exact(problem_of(found[-1], 1), ReplicationOptions())  # imports are not measured
    run(found, options.time_limit, options.peer_limit)
    run_curve(found)


if __name__ == "__main__":
    main()
