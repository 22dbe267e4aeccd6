"""The exact choice of replicas equals trying all plans, and its bound holds however little work is done."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.topology import Edge, Topology
from ftplan.planners.budget import Budget
from ftplan.planners.fidelity_circuit.circuit import circuit
from ftplan.planners.fidelity_circuit.reduction import reduce
from ftplan.planners.registry import row
from ftplan.planners.replicate_tasks.algorithms import greedy, structure_aware
from ftplan.planners.replicate_tasks.algorithms.bounds import quick_bound, quick_bounds
from ftplan.planners.replicate_tasks.algorithms.curve import curve
from ftplan.planners.replicate_tasks.algorithms.exact import exact
from ftplan.planners.replicate_tasks.algorithms.models.candidate_nodes import CandidateNodes, Sites
from ftplan.planners.replicate_tasks.algorithms.models.joint_program import JointProgram
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions, ReplicationPlanner
from ftplan.planners.replicate_tasks.algorithms.search.branching import BranchAndBound
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from tests.planners.replicate_tasks.algorithms.cases import brute_force, problem_of, random_tree
from tests.topologies import operator, topologies

OPTIONS = ReplicationOptions(time_limit_s=3600)
EXACT = ReplicationPlanner.of(row("replicate-tasks", "exact"))
SMALL = topologies(operators=4, parallelism=2)
FEW = settings(max_examples=60, deadline=None)


def check(problem: ReplicationProblem) -> float:
    """Hold exact to the optimum of all plans; return it."""
    best, _ = brute_force(problem)
    result = exact(problem, OPTIONS)
    assert result.answer is not None
    assert result.bound is not None
    value = problem.value(result.answer.replicated)
    assert problem.fits(problem.cost(result.answer.replicated))
    assert not (result.answer.replicated & ~problem.fails).any()
    assert value == pytest.approx(best, abs=1e-9)
    assert result.status == "optimal"
    assert result.bound >= best - 1e-12
    assert quick_bound(problem, Budget(np.inf)) >= best - 1e-12
    return best


@FEW
@given(SMALL, st.integers(0, 8))
def test_equals_all_plans(topology: Topology, budget: int) -> None:
    check(problem_of(topology, budget))


@FEW
@given(st.data(), SMALL, st.integers(0, 5))
def test_equals_all_plans_where_some_tasks_never_fail(data: st.DataObject, topology: Topology, budget: int) -> None:
    failed = np.array([data.draw(st.booleans()) for _ in range(topology.task_count)], dtype=np.bool_)
    check(problem_of(topology, budget, [(1.0, failed)]))


@FEW
@given(st.data(), topologies(operators=3, parallelism=2), st.integers(0, 5))
def test_equals_all_plans_in_two_scenarios(data: st.DataObject, topology: Topology, budget: int) -> None:
    failed = [
        (w, np.array([data.draw(st.booleans()) for _ in range(topology.task_count)], dtype=np.bool_))
        for w in (0.3, 2.0)
    ]
    check(problem_of(topology, budget, failed))


@FEW
@given(st.data(), SMALL, st.sampled_from([0.0, 0.75, 2.0, 3.1]))
def test_equals_all_plans_where_replicas_differ_in_cost(data: st.DataObject, topology: Topology, budget: float) -> None:
    costs = st.sampled_from([0.0, 0.25, 1.0, 1.5, 0.1, np.pi / 4])
    weight = np.array([data.draw(costs) for _ in range(topology.task_count)])
    check(problem_of(topology, budget, weight=weight))


@FEW
@given(SMALL, st.integers(0, 8))
def test_bound_holds_without_time_or_work(topology: Topology, budget: int) -> None:
    problem = problem_of(topology, budget)
    best, _ = brute_force(problem)
    for options in (ReplicationOptions(time_limit_s=0.0), ReplicationOptions(iterations=1)):
        result = exact(problem, options)
        assert result.answer is not None
        assert result.bound is not None
        value = problem.value(result.answer.replicated)
        assert problem.fits(problem.cost(result.answer.replicated))
        assert value - 1e-9 <= best <= result.bound + 1e-12
        assert result.status == "feasible" or value == pytest.approx(best, abs=1e-9)


@FEW
@given(SMALL)
def test_more_budget_never_lowers_the_value_and_the_curve_is_that_of_single_runs(topology: Topology) -> None:
    budgets = [float(b) for b in range(topology.task_count + 1)]
    points, cut = curve(problem_of(topology, 0), EXACT, OPTIONS, budgets)
    assert cut == ()
    last = 0.0
    for budget, value, bound in points:
        problem = problem_of(topology, budget)
        result = exact(problem, OPTIONS)
        assert result.answer is not None
        assert value == pytest.approx(problem.value(result.answer.replicated), abs=1e-9)
        assert last - 1e-12 <= value <= bound + 1e-12
        last = value


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("joins", [0.0, 0.6])
def test_tables_of_in_trees_equal_the_integer_program(seed: int, joins: float) -> None:
    topology = random_tree(seed, operators=5, parallelism=5, joins=joins)
    for budget in (topology.task_count // 3, topology.task_count // 2):
        problem = problem_of(topology, budget)
        every = np.ones(problem.tasks, dtype=np.int64)
        made = circuit(problem.graph, problem.model, np.zeros(problem.tasks, dtype=np.bool_), every)
        reduced = reduce(made, budget)
        assert reduced.exact
        candidates = CandidateNodes.of(problem)
        solved = JointProgram(problem, candidates, Sites.merged(problem, candidates), 0, Budget(3600)).solved(
            Budget(3600)
        )
        assert solved.site is not None
        value = problem.value(solved.site != NOWHERE)
        assert reduced.table.values[-1] == pytest.approx(value, abs=1e-7)
        assert solved.bound == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_structured_topologies_with_joins_are_proven(seed: int) -> None:
    topology = random_tree(seed, operators=6, parallelism=8, partitioning="structured", joins=0.5)
    problem = problem_of(topology, topology.task_count // 3)
    result = exact(problem, OPTIONS)
    assert result.status == "optimal"
    assert quick_bound(problem, Budget(np.inf)) >= problem.value(result.answer.replicated)  # type: ignore[union-attr]


@FEW
@given(SMALL)
def test_bounds_of_all_budgets_at_once_hold_for_each(topology: Topology) -> None:
    budgets = [float(b) for b in range(topology.task_count + 1)]
    for budget, bound in zip(
        budgets, quick_bounds(problem_of(topology, len(budgets)), budgets, Budget(np.inf)), strict=True
    ):
        assert bound >= brute_force(problem_of(topology, int(budget)))[0] - 1e-12


@FEW
@given(SMALL)
def test_plans_for_all_budgets_fit_them(topology: Topology) -> None:
    budgets = [float(b) for b in range(topology.task_count + 1)]
    for plans in (greedy.plans, structure_aware.plans):
        for budget, plan in zip(budgets, plans(problem_of(topology, 0), budgets, OPTIONS), strict=True):
            assert (plan != NOWHERE).sum() <= budget
    for budget, plan in zip(budgets, greedy.plans(problem_of(topology, 0), budgets, OPTIONS), strict=True):
        alone = greedy.greedy(problem_of(topology, int(budget)), OPTIONS).answer
        assert alone is not None
        assert ((plan != NOWHERE) == alone.replicated).all()


@FEW
@given(SMALL, st.integers(0, 6))
def test_branch_and_bound_equals_all_plans(topology: Topology, budget: int) -> None:
    problem = problem_of(topology, budget)
    every = np.ones(problem.tasks, dtype=np.int64)
    made = circuit(problem.graph, problem.model, np.zeros(problem.tasks, dtype=np.bool_), every)
    found = BranchAndBound(made, budget).resume(Budget(3600))
    best, _ = brute_force(problem)
    assert found.value == pytest.approx(best, abs=1e-9)
    assert found.bound == pytest.approx(best, abs=1e-7)
    replicated = np.zeros(problem.tasks, dtype=np.bool_)
    for k, count in found.counts.items():
        replicated[made.blocks[k].tasks[:count]] = True
    assert problem.value(replicated) == pytest.approx(best, abs=1e-9)
    assert replicated.sum() <= budget


def bridge(tasks: int) -> Topology:
    """Two sources, one feeding two consumers: paths that do not nest."""
    share = 1.0 / np.sqrt(np.arange(1, tasks + 1))
    sources = [operator(name, tasks, rate_out=share) for name in ("a", "b")]
    sinks = [operator(name, tasks, input_share=share, output=True) for name in ("c", "d")]
    edges = (Edge(0, 2, "full"), Edge(0, 3, "full"), Edge(1, 3, "full"))
    return Topology((*sources, *sinks), edges)


def test_shared_operators_are_solved_by_branching() -> None:
    for budget in (4, 6, 9):
        check(problem_of(bridge(3), budget))
    problem = problem_of(bridge(40), 40)
    result = exact(problem, OPTIONS)
    assert result.status == "optimal"


def test_same_plan_twice() -> None:
    problem = problem_of(bridge(12), 15)
    first, second = (exact(problem, OPTIONS) for _ in range(2))
    assert (first.answer.replicated == second.answer.replicated).all()  # type: ignore[union-attr]
    assert first.bound == second.bound


def test_replicas_that_complete_no_tree_are_dropped() -> None:
    topology = Topology(
        (operator("a", 4), operator("b", 1), operator("c", 2, output=True)), (Edge(0, 1, "full"), Edge(1, 2, "full"))
    )
    result = exact(problem_of(topology, 2), OPTIONS)
    assert result.answer is not None
    assert not result.answer.replicated.any()
    assert result.bound == 0.0
