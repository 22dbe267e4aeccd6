"""Planners for key-aligned fidelity against all plans of small topologies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.rates import rates
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Topology
from ftplan.planners.budget import Budget
from ftplan.planners.fidelity_circuit.circuit import circuit
from ftplan.planners.replicate_tasks.algorithms.bounds import quick_bound, quick_bounds
from ftplan.planners.replicate_tasks.algorithms.exact import exact
from ftplan.planners.replicate_tasks.algorithms.greedy import drops, greedy
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions
from ftplan.planners.replicate_tasks.algorithms.search.branching import BranchAndBound
from ftplan.planners.replicate_tasks.algorithms.structure_aware import structure_aware
from ftplan.planners.replicate_tasks.key_aligned_fidelity import key_aligned_model
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from tests.planners.replicate_tasks.algorithms.cases import brute_force, hosted, joint_brute_force, problem_of
from tests.topologies import joined_topologies, operator

OPTIONS = ReplicationOptions(time_limit_s=3600)


def aligned(problem: ReplicationProblem) -> ReplicationProblem:
    """Return a problem with key-aligned fidelity as its metric."""
    model = key_aligned_model(problem.graph, rates(problem.graph))
    return replace(problem, model=model, metric="key-aligned-fidelity")


@st.composite
def problems(draw: st.DrawFn, tasks: int = 8) -> ReplicationProblem:
    """Draw a problem of a few tasks with joins: plain or weighted, in the worst case or in two."""
    topology = draw(joined_topologies(tasks=tasks))
    count = topology.task_count
    weight = draw(st.sampled_from([None, [0.5, 1.0, 2.0], [0.0, 1.0, 3.0]]))
    costs = 1.0 if weight is None else [draw(st.sampled_from(weight)) for _ in range(count)]
    cases = draw(st.sampled_from([0, 0, 1, 2]))
    failed = [(1.0 / (k + 1), np.array(draw(st.tuples(*[st.booleans()] * count)))) for k in range(cases)]
    return aligned(problem_of(topology, draw(st.integers(0, 7)), failed, costs))


@settings(deadline=None, max_examples=100)
@given(problems())
def test_against_all_plans(problem: ReplicationProblem) -> None:
    best, _ = brute_force(problem)
    result = exact(problem, OPTIONS)
    assert result.answer is not None
    assert result.status == "optimal"
    assert problem.value(result.answer.replicated) == pytest.approx(best, rel=1e-6, abs=1e-12)
    assert result.bound == pytest.approx(best, rel=1e-6, abs=1e-12)
    bound = quick_bound(problem, Budget.of(OPTIONS))
    assert bound >= best - 1e-12
    assert quick_bounds(problem, [problem.budget], Budget.of(OPTIONS))[0] >= best - 1e-12
    for planner in (greedy, structure_aware):
        answer = planner(problem, OPTIONS).answer
        assert answer is not None
        assert problem.fits(problem.cost(answer.replicated))
        assert problem.value(answer.replicated) <= best + 1e-9


@settings(deadline=None, max_examples=40)
@given(problems(tasks=6).flatmap(lambda problem: hosted(problem, nodes=2)))
def test_against_all_choices_and_placements(problem: ReplicationProblem) -> None:
    best = joint_brute_force(problem)
    assert best is not None
    result = exact(problem, OPTIONS)
    assert result.answer is not None
    assert result.status == "optimal"
    assert problem.value_at(result.answer.nodes()) == pytest.approx(best[0], rel=1e-6, abs=1e-12)
    assert quick_bound(problem, Budget.of(OPTIONS)) >= best[0] - 1e-12
    for planner in (greedy, structure_aware):
        answer = planner(problem, OPTIONS).answer
        assert answer is not None
        assert problem.value_at(answer.nodes()) <= best[0] + 1e-9


@settings(deadline=None, max_examples=40)
@given(joined_topologies(), st.integers(0, 8))
def test_branch_and_bound_equals_all_plans(topology: Topology, budget: int) -> None:
    """The rows of a task take it or leave it together, and pay for it once."""
    problem = aligned(problem_of(topology, budget))
    every = np.ones(problem.tasks, dtype=np.int64)
    made = circuit(problem.graph, problem.model, np.zeros(problem.tasks, dtype=np.bool_), every)
    search = BranchAndBound(made, min(budget, problem.tasks))
    reached = search.resume(Budget(3600.0))
    best, _ = brute_force(problem)
    assert reached.value == pytest.approx(best, abs=1e-9)
    assert reached.bound >= best - 1e-12


@settings(deadline=None, max_examples=40)
@given(problems())
def test_drops_equal_one_failure_each(problem: ReplicationProblem) -> None:
    live = np.ones(problem.tasks, dtype=np.bool_)
    whole = problem.model.fidelity(live)
    share = sum(case.weight * case.failed for case in problem.cases) / problem.total_weight
    for task, drop in enumerate(drops(problem).tolist()):
        live[task] = False
        expected = (whole - problem.model.fidelity(live)) * share[task]
        live[task] = True
        assert drop == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("partitioning", ["one-to-one", "full"])
def test_whole_lanes_of_a_diamond_are_taken(partitioning: str) -> None:
    """Of 40 tasks in 10 lanes of keys, 4 of a lane: 17 replicas complete 4 lanes, and not one more."""
    made = [operator(name, 10, key_groups=20) for name in "abc"]
    made.append(operator("d", 10, key_groups=20, inputs="correlated", output=True))
    ends = ((0, 1), (0, 2), (1, 3), (2, 3))
    edges = tuple(Edge(*pair, partitioning) for pair in ends)  # type: ignore[arg-type]
    problem = aligned(problem_of(Topology(tuple(made), edges), 17))
    for planner in (structure_aware, exact):
        answer = planner(problem, OPTIONS).answer
        assert answer is not None
        assert problem.value(answer.replicated) == pytest.approx(0.4)
        assert int(answer.replicated.sum()) == 16
    proven = exact(problem, OPTIONS)
    assert proven.status == "optimal"
    assert proven.bound == pytest.approx(0.4)


def test_a_thousand_tasks_with_four_parts_each() -> None:
    """Merges: every task of B, C and D holds four keys of A."""
    made = [operator("a", 1_000), operator("b", 250), operator("c", 250)]
    made.append(operator("d", 250, inputs="correlated", output=True))
    edges = (Edge(0, 1, "merge"), Edge(0, 2, "merge"), Edge(1, 3, "one-to-one"), Edge(2, 3, "one-to-one"))
    problem = aligned(problem_of(Topology(tuple(made), edges), 70))
    answer = structure_aware(problem, OPTIONS).answer
    assert answer is not None
    assert problem.value(answer.replicated) == pytest.approx(0.04)  # 10 times 3 + 4 replicas for 4 of 1,000 keys
    assert quick_bound(problem, Budget.of(OPTIONS)) >= 0.04


def test_no_parts_where_nothing_is_aligned() -> None:
    made = (operator("a", 2), operator("b", 2), operator("c", 1, inputs="correlated", output=True))
    graph = TaskGraph(Topology(made, (Edge(0, 2, "merge"), Edge(1, 2, "merge"))))
    assert key_aligned_model(graph, rates(graph)).task_of is None
