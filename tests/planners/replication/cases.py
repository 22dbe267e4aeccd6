"""Replication problems for tests, and their optimum by trying all plans."""

from __future__ import annotations

import itertools

import numpy as np

from ftplan.metrics.fidelity import fidelity_model
from ftplan.metrics.replication_problem import FailureCase, ReplicationProblem
from ftplan.model.rates import rates
from ftplan.model.task_graph import BoolArray, TaskGraph
from ftplan.model.topology import Edge, FloatArray, Topology
from tests.topologies import operator


def problem_of(
    topology: Topology,
    budget: float,
    failed: list[tuple[float, BoolArray]] | None = None,
    weight: FloatArray | None = None,
) -> ReplicationProblem:
    """Return a problem: the worst case unless there are (weight, failed) pairs; replicas cost 1 each by default."""
    graph = TaskGraph(topology)
    known = rates(graph)
    model = fidelity_model(graph, known)
    given = failed or [(1.0, np.ones(graph.tasks, dtype=np.bool_))]
    cases = tuple(FailureCase(f"case{k}", w, down) for k, (w, down) in enumerate(given))
    weight = np.ones(graph.tasks) if weight is None else weight
    return ReplicationProblem(graph, model, cases, weight, budget)


def brute_force(problem: ReplicationProblem) -> float:
    """Return the best value of all plans that fit."""
    best = 0.0
    some = np.flatnonzero(problem.fails)
    for chosen in itertools.product((False, True), repeat=len(some)):
        replicated = np.zeros(problem.tasks, dtype=np.bool_)
        replicated[some] = chosen
        if problem.fits(problem.cost(replicated)):
            best = max(best, problem.value(replicated))
    return best


def random_tree(
    seed: int, operators: int, parallelism: int, partitioning: str = "full", joins: float = 0.0
) -> Topology:
    """Return an in-tree of operators: full, or structured as the numbers of tasks allow; shares fall as 1/√k."""
    draw = np.random.default_rng(seed)
    tasks = draw.integers(1, parallelism + 1, operators)
    parents = [0] + [int(draw.integers(0, i)) for i in range(1, operators)]
    made, edges = [], []
    for i in range(operators):
        share = 1.0 / np.sqrt(np.arange(1, tasks[i] + 1))
        inputs = "correlated" if draw.random() < joins else "independent"
        fields = {} if i in parents[1:] else {"rate_out": share}
        made.append(operator(f"o{i}", int(tasks[i]), input_share=share, inputs=inputs, output=i == 0, **fields))
        if i:
            here, there = tasks[i], tasks[parents[i]]
            narrow = "one-to-one" if here == there else "split" if here < there else "merge"
            edges.append(Edge(i, parents[i], "full" if partitioning == "full" else narrow))  # type: ignore[arg-type]
    return Topology(tuple(made), tuple(edges))
