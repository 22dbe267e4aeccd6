"""Replication of the example's tasks, and of jobs where little or nothing is worth something."""

from __future__ import annotations

import itertools

import pytest

import ftplan
from ftplan.api import verify
from ftplan.planners.registry import Row, rows
from tests.planners.recovery_schedule.recovery_cases import EXAMPLES
from tests.planners.replicate_tasks.replication_cases import TOPOLOGY

ROWS = list(rows("replicate-tasks"))


@pytest.mark.parametrize("row", [row for row in ROWS if row.name != "dynamic-programming"], ids=lambda row: row.name)
def test_the_example_of_the_readme(row: Row) -> None:
    """Racks that fail one at a time, and too little room for what the planners want first."""
    folder = EXAMPLES / "storm-recovery"
    problem = ftplan.load(
        topology=folder / "topology.yaml", cluster=folder / "cluster.yaml", failure=folder / "racks.yaml"
    )
    plan = ftplan.plan("replicate-tasks", problem, algorithm=row.name, budget_cpu=1.9)
    assert plan.status == ("optimal" if row.name in ("auto", "exact") else "feasible")
    assert plan.objective is not None
    assert plan.objective.value is not None
    assert plan.objective.bound is not None
    assert plan.summary["random"]["output_fidelity"] < plan.objective.value <= plan.objective.bound
    assert verify(plan, problem, strict=True).violations == ()


def test_a_tiny_value_is_not_taken_for_the_optimum() -> None:
    """Ten operators of 100 tasks, all to all: greedy completes no tree, and something is worth more than nothing."""
    operators = [{"id": f"o{i}", "parallelism": 100} for i in range(10)]
    edges = [{"from": f"o{i}", "to": f"o{i + 1}", "partitioning": "full"} for i in range(9)]
    problem = ftplan.load(topology={**TOPOLOGY, "operators": operators, "edges": edges})
    greedy, aware = (
        ftplan.plan("replicate-tasks", problem, algorithm=a, budget=20) for a in ("greedy", "structure-aware")
    )
    assert greedy.objective is not None
    assert aware.objective is not None
    assert greedy.status == "feasible"
    assert 0.0 == greedy.objective.value < aware.objective.value <= greedy.objective.bound


def test_a_curve_of_a_heuristic_is_bounded() -> None:
    folder = EXAMPLES / "storm-recovery"
    problem = ftplan.load(topology=folder / "topology.yaml")
    plan = ftplan.plan("replicate-tasks", problem, budget=8, curve=True)
    assert plan.plan is not None
    curve = plan.plan["curve"]
    assert [point["budget"] for point in curve] == list(range(1, 84))
    for before, after in itertools.pairwise(curve):
        assert before["value"] <= after["value"]
        assert before["bound"] <= after["bound"]
    assert all(point["value"] <= point["bound"] for point in curve)
    assert curve[-1]["value"] == pytest.approx(1.0)
