"""Greedy, dynamic programming and structure-aware against the worked examples and brute force."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftplan
from ftplan.errors import FtplanError
from ftplan.model.measures.fidelity_gains import useful
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Topology
from ftplan.planners.replicate_tasks.algorithms.dynamic_programming import dynamic_programming
from ftplan.planners.replicate_tasks.algorithms.greedy import drops, greedy
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.structure_aware import structure_aware
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from tests.planners.replicate_tasks.algorithms.cases import brute_force, problem_of, problems
from tests.topologies import operator

OPTIONS = ReplicationOptions()
PLANNERS = (greedy, dynamic_programming, structure_aware)


def value(planner: object, problem: ReplicationProblem) -> float:
    return problem.value(planner(problem, OPTIONS).answer.replicated)  # type: ignore[operator]


@pytest.mark.parametrize(("budget", "optimum"), [(3, 0.0), (4, 1 / 32), (5, 1 / 16), (6, 1 / 8)])
def test_two_tables_joined(budget: int, optimum: float) -> None:
    """Greedy completes no tree, the others are optimal."""
    made = (operator("A", 4), operator("B", 1), operator("J", 8, inputs="correlated"), operator("K", 1, output=True))
    topology = Topology(made, (Edge(0, 2, "full"), Edge(1, 2, "full"), Edge(2, 3, "merge")))
    found = [value(planner, problem_of(topology, budget)) for planner in PLANNERS]
    assert found == pytest.approx([0.0, optimum, optimum])


def test_fewer_replicas_than_operators() -> None:
    """A, B → C with two replicas keeps a half, though there are three operators."""
    made = (operator("A", 1), operator("B", 1), operator("C", 1, output=True))
    problem = problem_of(Topology(made, (Edge(0, 2, "one-to-one"), Edge(1, 2, "one-to-one"))), 2)
    assert [value(planner, problem) for planner in PLANNERS[1:]] == pytest.approx([0.5, 0.5])


def test_more_budget_than_tasks() -> None:
    made = (operator("A", 1), operator("B", 1, output=True))
    problem = problem_of(Topology(made, (Edge(0, 1, "one-to-one"),)), 5)
    assert [value(planner, problem) for planner in PLANNERS] == pytest.approx([1.0, 1.0, 1.0])


@given(problems())
@settings(max_examples=60, deadline=None)
def test_against_brute_force(problem: ReplicationProblem) -> None:
    """Dynamic programming is optimal at least cost; structure-aware lies between greedy and it, without waste."""
    best, least = brute_force(problem)
    exact = dynamic_programming(problem, OPTIONS).answer.replicated
    assert problem.value(exact) == pytest.approx(best, abs=1e-12)
    assert problem.cost(exact) == pytest.approx(least)
    found = structure_aware(problem, OPTIONS).answer.replicated
    assert problem.fits(problem.cost(found))
    assert value(greedy, problem) - 1e-12 <= problem.value(found) <= best + 1e-12
    needed = np.any([useful(problem.model, ~case.failed | found) & case.failed for case in problem.cases], axis=0)
    assert not (found & ~needed).any()


@given(problems())
@settings(max_examples=40, deadline=None)
def test_drops_equal_one_failure_each(problem: ReplicationProblem) -> None:
    total = sum(case.weight for case in problem.cases)
    live = np.ones(problem.tasks, dtype=np.bool_)
    found = drops(problem)
    for task in range(problem.tasks):
        live[task] = False
        part = sum(case.weight * case.failed[task] for case in problem.cases) / total
        expected = part * (problem.model.fidelity(np.ones_like(live)) - problem.model.fidelity(live))
        assert found[task] == pytest.approx(expected, abs=1e-12)
        live[task] = True


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=3), min_size=2, max_size=4), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_optimal_on_full_chains(shares: list[list[int]], budget: int) -> None:
    """Fidelity is a product of concave sums, so that the best single step is right every time."""
    made = [operator("a", len(shares[0]), rate_out=shares[0], output=False)]
    made += [operator(f"b{i}", len(share), input_share=share) for i, share in enumerate(shares[1:])]
    made[-1] = operator("z", len(shares[-1]), input_share=shares[-1], output=True)
    topology = Topology(tuple(made), tuple(Edge(i, i + 1, "full") for i in range(len(made) - 1)))
    if topology.task_count <= 10:
        problem = problem_of(topology, budget)
        assert value(structure_aware, problem) == pytest.approx(brute_force(problem)[0], abs=1e-12)


@given(problems(), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_order_of_the_file_does_not_matter(problem: ReplicationProblem, random: object) -> None:
    topology = problem.graph.topology
    order = list(range(len(topology.operators)))
    random.shuffle(order)  # type: ignore[attr-defined]
    place = {old: new for new, old in enumerate(order)}
    edges = [Edge(place[e.source], place[e.target], e.partitioning, e.substreams) for e in topology.edges]
    random.shuffle(edges)  # type: ignore[attr-defined]
    shuffled = Topology(tuple(topology.operators[i] for i in order), tuple(edges))
    if problem.metric != "output-fidelity":
        return
    failed = [(case.weight, case.failed) for case in problem.cases]
    other = problem_of(shuffled, problem.budget, failed, problem.weight)
    for planner in PLANNERS:
        same = planner(problem, OPTIONS).answer.replicated
        assert (same == planner(other, OPTIONS).answer.replicated).all()
        assert (same == planner(problem, OPTIONS).answer.replicated).all()


def row(parallelism: list[int], kinds: list[str]) -> TaskGraph:
    made = tuple(operator(f"o{i}", p, output=i == len(parallelism) - 1) for i, p in enumerate(parallelism))
    return TaskGraph(Topology(made, tuple(Edge(i, i + 1, kind) for i, kind in enumerate(kinds))))  # type: ignore[arg-type]


def test_dynamic_programming_names_its_limit() -> None:
    with pytest.raises(FtplanError, match="use exact, or structure-aware"):
        dynamic_programming(problem_of(row([50, 50, 50], ["full", "full"]).topology, 5), OPTIONS)


def test_a_replica_more_is_never_worse_on_a_row() -> None:
    topology = row([6, 3, 3, 6, 2], ["merge", "one-to-one", "split", "full"]).topology
    values = [value(structure_aware, problem_of(topology, budget)) for budget in range(21)]
    assert all(after >= before - 1e-12 for before, after in pairwise(values))
    assert values[-1] == pytest.approx(1.0)


def test_twenty_thousand_tasks() -> None:
    """Seconds, or hours with anything quadratic; how many seconds is a benchmark's to say."""
    graph = row([4_000, 2_000, 4_000, 4_000, 4_000, 2_000], ["merge", "split", "full", "one-to-one", "merge"])
    problem = problem_of(graph.topology, graph.tasks // 10)
    found = structure_aware(problem, OPTIONS).answer.replicated
    assert problem.value(found) >= value(greedy, problem)


def test_a_huge_rate_of_a_task_that_costs_nothing() -> None:
    """What a tree is worth for its cost stays finite, without a warning of numpy."""
    topology = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": [{"id": "a", "parallelism": 2, "rate_out": 1e12, "cpu": 0}, {"id": "b", "rate_out": 1e12}],
        "edges": [{"from": "a", "to": "b"}],
    }
    problem = ftplan.load(topology=topology)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for algorithm in ("greedy", "structure-aware", "exact", "dynamic-programming"):
            plan = ftplan.plan("replicate-tasks", problem, algorithm=algorithm, budget_cpu=1.0, weight="priority")
            assert plan.objective is not None
            assert plan.objective.value == 1.0
