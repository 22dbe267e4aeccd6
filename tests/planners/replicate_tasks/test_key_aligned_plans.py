"""Replication plans for key-aligned fidelity: made, verified, evaluated, explained; and who refuses them."""

from __future__ import annotations

from typing import Any

import pytest

import ftplan
from ftplan.api import explain, verify
from ftplan.planners.registry import rows

#: Orders and payments come from two lanes of one log and meet again by customer, over full edges.
TOPOLOGY: dict[str, Any] = {
    "format": "ftplan/topology",
    "format_version": "1.0",
    "operators": [
        {"id": "log", "parallelism": 2, "key_groups": 8},
        {"id": "orders", "parallelism": 2, "key_groups": 8},
        {"id": "payments", "parallelism": 4, "key_groups": 8},
        {"id": "joined", "parallelism": 2, "key_groups": 8, "inputs": "correlated", "priority": [1, 3]},
    ],
    "edges": [
        {"from": "log", "to": "orders", "partitioning": "full"},
        {"from": "log", "to": "payments", "partitioning": "full"},
        {"from": "orders", "to": "joined", "partitioning": "full"},
        {"from": "payments", "to": "joined", "partitioning": "full"},
    ],
}
PLANNERS = [row.name for row in rows("replicate-tasks") if row.name != "dynamic-programming"]


def planned(**options: Any) -> ftplan.Plan:
    asked = {"metric": "key-aligned-fidelity", **options}
    return ftplan.plan("replicate-tasks", ftplan.load(topology=TOPOLOGY), **asked)


@pytest.mark.parametrize("algorithm", PLANNERS)
@pytest.mark.parametrize("weight", ["rate", "priority"])
def test_a_plan_is_bounded_and_states_what_it_is_worth(algorithm: str, weight: str) -> None:
    problem = ftplan.load(topology=TOPOLOGY)
    plan = planned(budget=5, algorithm=algorithm, weight=weight, curve=True)
    assert plan.objective is not None
    assert plan.objective.name == "key-aligned-fidelity"
    assert plan.objective.value is not None
    assert plan.objective.bound is not None
    assert plan.objective.bound >= (0.75 if weight == "priority" else 0.5)
    assert plan.objective.value <= plan.objective.bound
    assert verify(plan, problem).violations == ()
    assert ftplan.evaluate(plan, problem)["key-aligned-fidelity"] == pytest.approx(plan.objective.value)
    assert plan.summary["after"]["key_aligned_fidelity"] == pytest.approx(plan.objective.value)
    assert plan.plan is not None
    values = [point["value"] for point in plan.plan["curve"]]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("algorithm", ["structure-aware", "exact"])
def test_half_of_the_keys_takes_one_half_of_every_operator(algorithm: str) -> None:
    """Output fidelity counts half of the log twice, and halves again for each operator: 1/32."""
    plan = planned(budget=5, algorithm=algorithm)
    assert plan.objective is not None
    assert plan.objective.value == pytest.approx(0.5)
    assert plan.plan is not None
    half = {entry["index"] // (2 if entry["operator"] == "payments" else 1) for entry in plan.plan["replicas"]}
    assert len(half) == 1
    assert plan.summary["after"]["output_fidelity"] == pytest.approx(1 / 32)


def test_the_fewest_replicas_for_a_target() -> None:
    plan = planned(target=0.5, algorithm="exact")
    assert plan.objective is not None
    assert (plan.objective.name, plan.objective.value, plan.objective.bound) == ("replicas", 5.0, 5.0)
    assert verify(plan, ftplan.load(topology=TOPOLOGY)).violations == ()


def test_explain_speaks_of_the_metric_that_was_planned_for() -> None:
    problem = ftplan.load(topology=TOPOLOGY)
    plan = planned(budget=5, algorithm="exact")
    assert plan.plan is not None
    entry = next(entry for entry in plan.plan["replicas"] if entry["operator"] == "log")
    told = explain(plan, problem, f"task:log/{entry['index']}")
    assert told.notes[0] == "has a replica: without it key-aligned-fidelity falls by 0.5, from 0.5"
    other = explain(plan, problem, f"task:log/{1 - entry['index']}")
    assert "has no replica: with one key-aligned-fidelity would grow by 0, from 0.5" in other.notes


def test_dynamic_programming_refuses_it() -> None:
    with pytest.raises(ftplan.FtplanError) as refused:
        planned(budget=5, algorithm="dynamic-programming")
    assert str(refused.value) == (
        "--metric key-aligned-fidelity: dynamic-programming does not plan for it: "
        "use one of auto, greedy, structure-aware, exact"
    )
