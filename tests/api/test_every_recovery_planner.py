"""Every recovery planner, in every way: what comes out keeps its rules, says the truth, and is the same twice."""

from __future__ import annotations

import random
from typing import Any

import pytest
import yaml

import ftplan
from ftplan.api import verify
from ftplan.planners.registry import rows
from tests.api.recovery_cases import EXAMPLES, example, loaded

PLANNERS = [row.name for row in rows("recovery-schedule")]
WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "no-prefetch": {"prefetch": False},
    "parallel": {"parallel_recovery": True},
    "capped": {"capacity": 1.2},
    "slow-network": {"bandwidth": 5.0},
    "priority-time": {"objective": "priority-time"},
    "fidelity-time": {"objective": "fidelity-time"},
    "complete": {"complete_failure": True},
}


def planned(problem: ftplan.Problem, algorithm: str, **options: Any) -> ftplan.Plan:
    return ftplan.plan("recovery-schedule", problem, algorithm=algorithm, iterations=5, samples=0, **options)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("algorithm", PLANNERS)
def test_plans_keep_their_rules_and_state_the_truth(algorithm: str, way: str) -> None:
    problem = example("storm-recovery")
    plan = planned(problem, algorithm, **WAYS[way])
    assert plan.plan is not None, plan.reason
    found = verify(plan, problem)
    assert found.valid, found.violations
    objective = plan.objective
    assert objective is not None
    assert objective.value is not None
    assert objective.bound is not None
    if objective.sense == "max":
        assert objective.value <= objective.bound * (1 + 1e-9)
    else:
        assert objective.value >= objective.bound * (1 - 1e-9)


@pytest.mark.parametrize("algorithm", PLANNERS)
def test_no_planner_beats_a_proof(algorithm: str) -> None:
    problem = example("storm-recovery")
    best, other = planned(problem, "exact"), planned(problem, algorithm)
    assert best.status == "optimal"
    assert best.plan is not None
    assert other.plan is not None
    proved, found = (plan.plan["steps"][0]["objective"] for plan in (best, other) if plan.plan is not None)
    assert proved["gap"] == 0.0
    # Only step 0 finds the same state with every planner: what comes later follows from what was chosen before.
    assert found["value"] <= proved["value"] <= found["bound"]


@pytest.mark.parametrize("algorithm", PLANNERS)
def test_shuffled_files_give_the_same_plan(algorithm: str) -> None:
    files = {name: yaml.safe_load((EXAMPLES / "storm-recovery" / f"{name}.yaml").read_text()) for name in
             ("topology", "cluster", "failure")}  # fmt: skip
    bodies = []
    for seed in (0, 1):
        shuffle = random.Random(seed).shuffle
        for part in (files["topology"]["operators"], files["topology"]["edges"], files["cluster"]["nodes"]):
            shuffle(part)
        bodies.append(planned(ftplan.load(**files), algorithm).plan)
    assert bodies[0] == bodies[1]


def test_more_capacity_is_never_worse() -> None:
    values = []
    for cores in (1.0, 2.0, 3.0, 4.0):
        plan = planned(loaded({"fail": ["zone:a"]}), "exact", capacity=cores)
        values.append(0.0 if plan.objective is None else plan.objective.value or 0.0)
    assert values == sorted(values)
