"""Replication problems for tests, and their optimum by trying all plans."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from ftplan.metrics.fidelity import fidelity_model
from ftplan.metrics.replica_hosts import NOWHERE, ReplicaHosts
from ftplan.metrics.replication_problem import FailureCase, ReplicationProblem
from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, Edge, Topology
from tests.topologies import operator, topologies


def problem_of(
    topology: Topology, budget: float, failed: Sequence[tuple[float, BoolArray]] = (), weight: object = 1.0
) -> ReplicationProblem:
    """Return a problem: the worst case unless there are (weight, failed) pairs; replicas cost 1 each by default."""
    graph = TaskGraph(topology)
    model = fidelity_model(graph, rates(graph))
    given = failed or [(1.0, np.ones(graph.tasks, dtype=np.bool_))]
    cases = tuple(FailureCase(f"case{k}", w, down) for k, (w, down) in enumerate(given))
    cost = np.broadcast_to(np.asarray(weight, dtype=np.float64), (graph.tasks,)).copy()
    return ReplicationProblem(graph, model, cases, cost, budget)


def brute_force(problem: ReplicationProblem) -> tuple[float, float]:
    """Return the best value of all plans that fit, and the least cost that reaches it."""
    best, least = 0.0, 0.0
    some = np.flatnonzero(problem.fails)
    for chosen in itertools.product((False, True), repeat=len(some)):
        replicated = np.zeros(problem.tasks, dtype=np.bool_)
        replicated[some] = chosen
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
    failed = [
        (draw(st.sampled_from([0.5, 1.0])), np.array(draw(st.tuples(*[st.booleans()] * count))))
        for _ in range(draw(st.sampled_from([0, 0, 1, 2])))
    ]
    budget = draw(st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.5, 6.0, 20.0]))
    problem = problem_of(topology, budget, failed, costs)
    if draw(st.integers(0, 3)):
        return problem
    everywhere = replace(problem.model, outputs=np.arange(count), weight=np.full(count, 1.0 / count))
    return replace(problem, model=everywhere, metric="internal-completeness")


@st.composite
def hosted(draw: st.DrawFn, problem: ReplicationProblem, nodes: int = 3) -> ReplicationProblem:
    """Draw tight nodes for a problem: unequal replicas, zones, nodes that fail, and replicas in place."""
    tasks, count = problem.tasks, draw(st.integers(1, nodes))
    ids = tuple(f"n{k}" for k in range(count))
    each = lambda of, size: np.array(draw(st.lists(of, min_size=size, max_size=size)))  # noqa: E731
    hosts = ReplicaHosts(
        ids=ids,
        residual_cpu=each(st.sampled_from([-0.5, 0.0, 0.5, 1.0, 1.5, 3.0]), count),
        residual_mb=each(st.sampled_from([0.0, 64.0, 128.0, np.inf]), count),
        zone=each(st.integers(0, 2), count),
        accepting=each(st.sampled_from([True, True, True, False]), count),
        max_cpu=1.0,
        primary=each(st.integers(NOWHERE, count - 1), tasks),
        cpu=each(st.sampled_from([0.25, 0.5, 1.0]), tasks),
        memory_mb=each(st.sampled_from([0.0, 0.0, 32.0, 64.0]), tasks),
        same_zone=draw(st.sampled_from(["never", "never", "allow", "last-resort"])),
    )
    failing = draw(st.booleans())
    cases = tuple(
        replace(case, nodes=frozenset(draw(st.sets(st.sampled_from(ids))) if failing else ())) for case in problem.cases
    )
    return replace(problem, hosts=hosts, cases=cases)


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
