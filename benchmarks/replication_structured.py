"""The optimum of active replicas on structured topologies of 10 operators with about 500 tasks each.

Run from the project's root: ``python benchmarks/replication_structured.py [--time-limit 30]``. Prints a Markdown table.

Random in-trees; parallelism is uniform from 300 to 700, so that edges are one-to-one, split or merge and lanes overlap.
Rates of sources and input shares fall as k^-0.1, shuffled. All tasks fail. The peer is CP-SAT on the same program with
rates as integers, one part in a million.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from instances import in_tree
from ortools.sat.python import cp_model

from ftplan.model.measures.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Topology
from ftplan.planners.budget import Budget
from ftplan.planners.fidelity_circuit.circuit import circuit
from ftplan.planners.replicate_tasks.algorithms.exact import exact
from ftplan.planners.replicate_tasks.algorithms.models.monomials import rows
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions
from ftplan.planners.replicate_tasks.problem import FailureCase, ReplicationProblem

SEEDS, OPERATORS, TASKS, SKEW, PARTS = range(3), 10, (300, 700), 0.1, 1_000_000


def problem_of(topology: Topology, budget: int) -> ReplicationProblem:
    """Return the worst case: all tasks fail."""
    graph = TaskGraph(topology)
    known = rates(graph)
    model = fidelity_model(graph, known)
    cases = (FailureCase("worst-case", 1.0, np.ones(graph.tasks, dtype=np.bool_)),)
    return ReplicationProblem(graph, model, cases, np.ones(graph.tasks), budget)


def peer(problem: ReplicationProblem, time_limit_s: float) -> float:
    """Return the gap that CP-SAT leaves; what is rounded is below its smallest gap."""
    none = np.zeros(problem.tasks, dtype=np.bool_)
    made = circuit(problem.graph, problem.model, none, np.ones(problem.tasks, dtype=np.int64))
    found, (output,) = rows([made], problem.tasks, 60_000, Budget(np.inf))
    model = cp_model.CpModel()
    variables = [model.new_int_var(0, 1 if k < problem.tasks else PARTS, "") for k in range(found.variables)]
    for left, right in zip(found.left, found.right, strict=True):
        terms = [round(PARTS * w) * variables[k] * (PARTS if k < problem.tasks else 1) for k, w in right if k >= 0]
        model.add(PARTS * variables[left] <= sum(terms) + sum(round(PARTS**2 * w) for k, w in right if k < 0))
    model.add(sum(variables[: problem.tasks]) <= int(problem.budget))
    model.maximize(variables[output])
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = time_limit_s
    solver.parameters.num_workers = 2
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return float("inf")
    plan = np.array([solver.value(v) > 0 for v in variables[: problem.tasks]], dtype=np.bool_)
    value = problem.value(plan)
    return max(0.0, solver.best_objective_bound / PARTS - value) / max(value, 1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=30.0)
    time_limit_s = parser.parse_args().time_limit
    print("| joins | seed | tasks | budget | fidelity | status | gap | seconds | gap of CP-SAT |\n" + "|---" * 9 + "|")
    for joins in (0.0, 0.5):
        for seed in SEEDS:
            topology = in_tree(seed, OPERATORS, TASKS, SKEW, joins=joins)
            for share in (0.1, 0.3, 0.6):
                problem = problem_of(topology, int(share * topology.task_count))
                start = time.perf_counter()
                result = exact(problem, ReplicationOptions(time_limit_s=time_limit_s))
                seconds = time.perf_counter() - start
                assert result.answer is not None
                assert result.bound is not None
                value = problem.value(result.answer.replicated)
                other = f"{peer(problem, time_limit_s):.2%}" if seed == SEEDS[0] and share == 0.3 else ""
                print(
                    f"| {joins:.0%} | {seed} | {problem.tasks:,} | {share:.0%} | {value:.6f} | {result.status} | "
                    f"{(result.bound - value) / max(value, 1e-9):.3%} | {seconds:.1f} | {other} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
