"""Replication problems for tests."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from ftplan.metrics.fidelity import fidelity_model
from ftplan.metrics.replication_problem import FailureCase, ReplicationProblem
from ftplan.model.rates import rates
from ftplan.model.task_graph import BoolArray, TaskGraph
from ftplan.model.topology import Topology
from tests.topologies import topologies


def problem_of(
    topology: Topology, budget: float, weight: object = 1.0, cases: tuple[FailureCase, ...] = ()
) -> ReplicationProblem:
    """Return the problem of a topology, by default of its worst case."""
    graph = TaskGraph(topology)
    flows = rates(graph)
    model = fidelity_model(graph, flows)
    cases = cases or (FailureCase("worst", 1.0, np.ones(graph.tasks, dtype=np.bool_)),)
    cost = np.broadcast_to(np.asarray(weight, dtype=np.float64), (graph.tasks,)).copy()
    return ReplicationProblem(graph, model, cases, cost, budget)


def brute_force(problem: ReplicationProblem) -> tuple[float, float]:
    """Return the best value that fits, and the least cost that reaches it."""
    best, least = -1.0, 0.0
    for chosen in itertools.product((False, True), repeat=problem.tasks):
        replicated: BoolArray = np.array(chosen, dtype=np.bool_)
        cost = problem.cost(replicated)
        if not problem.fits(cost):
            continue
        value = problem.value(replicated)
        if value > best + 1e-12 or (value > best - 1e-12 and cost < least - 1e-9):
            best, least = max(best, value), cost
    return best, least


@st.composite
def problems(draw: st.DrawFn, operators: int = 4, parallelism: int = 3, tasks: int = 9) -> ReplicationProblem:
    """Draw a small problem: plain or weighted, in the worst case or in several."""
    drawn = topologies(operators, parallelism).filter(lambda topology: topology.task_count <= tasks)
    topology = draw(drawn)
    count = topology.task_count
    weight = draw(st.sampled_from([None, [0.5, 1.0, 2.0], [0.0, 1.0, 3.0]]))
    costs = 1.0 if weight is None else [draw(st.sampled_from(weight)) for _ in range(count)]
    cases = tuple(
        FailureCase(f"c{k}", draw(st.sampled_from([0.5, 1.0])), np.array(draw(st.tuples(*[st.booleans()] * count))))
        for k in range(draw(st.sampled_from([0, 0, 1, 2])))
    )
    budget = draw(st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.5, 6.0, 20.0]))
    problem = problem_of(topology, budget, costs, cases)
    if draw(st.integers(0, 3)):
        return problem
    everywhere = replace(problem.model, outputs=np.arange(count), weight=np.full(count, 1.0 / count))
    return replace(problem, model=everywhere, metric="internal-completeness")
