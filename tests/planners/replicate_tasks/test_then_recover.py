"""Replicas by what they save in the recovery afterwards: against every choice, other commands, and what is false."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
import yaml

import ftplan
from ftplan.api import evaluate, explain, verify
from ftplan.errors import FtplanError
from ftplan.planners.replicate_tasks.from_plan import nodes_by_task, question_of
from tests.effort import examples
from tests.places import ROOT
from tests.planners.replicate_tasks.then_recover_cases import case_of_detection, documents, every_choice, following

EXAMPLES = ROOT / "examples"
RACKS = ("rack-a", "rack-b", "rack-c")

#: Three lanes on two racks; the state of the first rack's tasks takes 8, 16 and 4 s to restore.
TOPOLOGY: dict[str, Any] = {
    "format": "ftplan/topology",
    "format_version": "1.0",
    "operators": [
        {"id": "source", "parallelism": 3, "cpu": 0.5, "rate_out": [1.0, 1.0, 4.0]},
        {
            "id": "sink",
            "parallelism": 3,
            "cpu": 0.5,
            "priority": [1, 3, 2],
            "state_bytes": [8 * 2**20, 16 * 2**20, 4 * 2**20],
        },
    ],
    "edges": [{"from": "source", "to": "sink", "partitioning": "one-to-one"}],
}
CLUSTER: dict[str, Any] = {
    "format": "ftplan/cluster",
    "format_version": "1.0",
    "nodes": [
        {"id": "n1", "cpu": 5, "zone": "a"},
        {"id": "n2", "cpu": 5, "zone": "b"},
        {"id": "n3", "cpu": 5, "zone": "b"},
    ],
    "network": {"bandwidth_mb_s": 1},
    "placement": {"tasks": {"source": ["n1", "n1", "n1"], "sink": ["n1", "n1", "n1"]}},
}


def lanes(**failure: Any) -> ftplan.Problem:
    given = {"format": "ftplan/failure", "format_version": "1.0", **(failure or {"fail": ["zone:a"]})}
    return ftplan.load(topology=TOPOLOGY, cluster=CLUSTER, failure=given)


def planned(problem: ftplan.Problem, **options: Any) -> ftplan.Plan:
    settings = {"then_recover": True, "iterations": 5, "time_limit_s": 3600.0, **options}
    return ftplan.plan("replicate-tasks", problem, **settings)


def value(plan: ftplan.Plan) -> float:
    assert plan.objective is not None
    assert plan.objective.value is not None
    return plan.objective.value


def replicas(plan: ftplan.Plan) -> list[str]:
    assert plan.plan is not None, plan.reason
    return [f"{item['operator']}/{item['index']}" for item in plan.plan["replicas"]]


def test_replicas_go_where_restores_take_longest() -> None:
    """Fidelity takes the lane of most records; the recovery is shortened where priority waits for state."""
    problem = lanes()
    assert replicas(ftplan.plan("replicate-tasks", problem, budget=2)) == ["sink/2", "source/2"]
    one, two, three = (planned(problem, budget=budget) for budget in (1, 2, 3))
    assert replicas(one) == ["sink/1"]
    assert replicas(two) == ["sink/0", "sink/1"]
    assert replicas(three) == ["sink/0", "sink/1", "sink/2"]  # sources hold no state: they are back at once
    assert value(three) == 0.0
    assert three.status == "optimal"
    assert replicas(planned(problem, budget=6)) == replicas(three)  # more is of no use
    assert one.objective is not None
    assert one.objective.name == "priority-time"
    assert one.objective.bound == pytest.approx(1 * 8 + 2 * 4, rel=1e-6)  # on nodes of their own
    before, after = one.summary["before"], one.summary["after"]
    assert before["priority_time"] > after["priority_time"] == value(one)
    assert one.summary["most_fidelity"]["replicas"] == 0  # one replica completes no lane
    assert two.summary["most_fidelity"]["shared"] == 0
    assert two.summary["most_fidelity"]["output_fidelity"] > after["output_fidelity"]


@pytest.mark.parametrize("seed", range(examples(12)))
def test_no_choice_beats_the_bound_and_no_baseline_the_plan(seed: int) -> None:
    """Every choice and placement of tiny jobs: the bound holds, more budget is never worse, verify agrees."""
    problem = ftplan.load(**documents(random.Random(seed)))
    before: float | None = None
    for budget in range(4):
        plan = planned(problem, budget=budget, iterations=3)
        assert verify(plan, problem).violations == ()
        reached, recovery = value(plan), following(plan, problem)
        assert plan.objective is not None
        assert plan.objective.bound is not None
        if budget < 3:
            best = min(recovery.expected(choice) for choice in every_choice(plan, problem))
            assert plan.objective.bound <= best * (1 + 1e-9) + 1e-9
            assert reached >= best * (1 - 1e-9) - 1e-9
        by_fidelity = ftplan.plan("replicate-tasks", problem, budget=budget, iterations=3, time_limit_s=3600.0)
        others = [recovery.expected({})]
        if by_fidelity.plan is not None:
            others.append(recovery.expected(nodes_by_task(by_fidelity, question_of(plan, problem).graph)))
        assert reached <= min(others) * (1 + 1e-9) + 1e-9
        assert before is None or reached <= before * (1 + 1e-9) + 1e-9
        before = reached


def test_the_value_is_that_of_recovery_schedule() -> None:
    """A schedule for each rack with the plan's replicas is worth what the plan says of it.

    On links of a fifth of the example's: there restores are short beside the waiting for nodes, and no replica saves
    anything.
    """
    folder = EXAMPLES / "storm-recovery"
    cluster = yaml.safe_load((folder / "cluster.yaml").read_text())
    cluster["network"]["bandwidth_mb_s"] = 5
    inputs = {"topology": folder / "topology.yaml", "cluster": cluster}
    problem = ftplan.load(**inputs, failure=folder / "racks.yaml")
    plan = planned(problem, budget=2, iterations=1)
    assert verify(plan, problem).violations == ()
    assert replicas(plan)
    by_case = {row["id"]: row["priority_time"] for row in plan.summary["after"]["by_case"]}
    for rack in RACKS:
        schedule = ftplan.plan(
            "recovery-schedule",
            ftplan.load(**inputs),
            algorithm="best-density",
            objective="priority-time",
            iterations=0,
            fail=[f"zone:{rack}"],
            replicas=plan,
        )
        assert value(schedule) == pytest.approx(by_case[rack], rel=1e-12)
    weights = (0.02, 0.01, 0.01)
    mean = sum(w * by_case[rack] for w, rack in zip(weights, RACKS, strict=True)) / sum(weights)
    assert value(plan) == pytest.approx(mean, rel=1e-12)
    assert value(plan) < plan.summary["before"]["priority_time"]
    metrics = {metric.name: metric.value for metric in evaluate(plan, problem).metrics}
    assert metrics["priority-time"] == pytest.approx(value(plan), rel=1e-12)


def test_without_room_what_never_returns_counts_until_the_horizon() -> None:
    """No recovery at all is a value, not an error: replicas that find no room neither."""
    cluster = {**CLUSTER, "nodes": [{"id": "n1", "cpu": 5, "zone": "a"}, {"id": "n2", "cpu": 0.5, "zone": "b"}]}
    failure = {"format": "ftplan/failure", "format_version": "1.0", "fail": ["node:n1"]}
    arrival = {"arrivals": [{"at_s": 100, "node": {"id": "n9", "cpu": 0.5}}]}
    problem = ftplan.load(topology=TOPOLOGY, cluster=cluster, failure={**failure, **arrival})
    plan = planned(problem, budget=3)
    assert replicas(plan) == []
    assert value(plan) == 6 * 200.0  # priority x twice the last arrival
    assert plan.status == "optimal"
    assert verify(plan, problem).violations == ()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"budget": None, "target": 0.5}, "does not go with --target"),
        ({"curve": True}, "does not go with --curve"),
        ({"threshold": 0.1}, "does not go with --threshold"),
        ({"metric": "internal-completeness"}, "does not go with --metric internal-completeness"),
        ({"algorithm": "exact"}, "exact knows fidelity only: --algorithm auto, structure-aware or greedy"),
        ({"algorithm": "dynamic-programming"}, "dynamic-programming knows fidelity only"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(FtplanError, match=f"--then-recover: .*{text}"):
        planned(lanes(), **{"budget": 1, **options})
    with pytest.raises(FtplanError, match="--then-recover: where is room for what comes back"):
        planned(replace(lanes(), cluster=None), budget=1)


def test_greedy_only_grows() -> None:
    plan = planned(lanes(), budget=2, algorithm="greedy")
    assert replicas(plan) == ["sink/0", "sink/1"]
    assert plan.algorithm == "greedy"


def test_changes_are_limited() -> None:
    """The answer is never worse than the replicas in place, and no change is an answer with its reason."""
    problem = lanes()
    current = planned(problem, budget=1)
    by_fidelity = ftplan.plan("replicate-tasks", problem, budget=2)
    kept = planned(problem, budget=2, current=current, max_changes=0)
    assert replicas(kept) == replicas(current)
    assert kept.reason is not None
    assert "no change" in kept.reason
    one = planned(problem, budget=3, current=current, max_changes=1)
    assert replicas(one) == ["sink/0", "sink/1"]
    swapped = planned(problem, budget=2, current=by_fidelity, max_changes=2)
    assert len(swapped.plan["activate"] or ()) + len(swapped.plan["deactivate"] or ()) <= 2  # type: ignore[index]
    assert value(swapped) <= swapped.summary["before"]["priority_time"]
    over = planned(problem, budget=1, current=by_fidelity, max_changes=0)
    assert over.status == "infeasible"
    assert over.infeasible is not None
    assert over.infeasible.smallest_fix == "--max-changes 1"
    fixed = planned(problem, budget=1, current=by_fidelity, max_changes=1)
    assert fixed.plan is not None
    for plan in (kept, one, swapped, over, fixed):
        assert verify(plan, problem).violations == ()


def tampered(plan: ftplan.Plan, **changes: Any) -> ftplan.Plan:
    assert plan.plan is not None
    return replace(plan, plan={**plan.plan, **changes})


def test_what_a_plan_states_falsely_is_found() -> None:
    problem = lanes()
    plan = planned(problem, budget=1)
    assert plan.plan is not None
    assert plan.objective is not None
    (case,) = plan.plan["recovery"]
    nothing = {**case, "steps": [{**step, "recover": []} for step in case["steps"]]}
    false = {
        "RECOVERY_MISSING": tampered(plan, recovery=[]),
        "OBJECTIVE_DIFFERS": tampered(plan, recovery=[{**case, "priority_time": case["priority_time"] / 2}]),
        "MISSING_STEP": tampered(plan, recovery=[{**case, "steps": []}]),
        "OPTION_DIFFERS": tampered(plan, recovery=[{**case, "horizon_s": 1e6}]),
        "GAP_DIFFERS": replace(plan, objective=replace(plan.objective, bound=0.0)),
        "SUMMARY_DIFFERS": replace(
            plan, summary={**plan.summary, "after": {**plan.summary["after"], "priority_time": 1.0}}
        ),
    }
    for code, wrong in false.items():
        assert code in {item.code for item in verify(wrong, problem).violations}, code
    assert "OBJECTIVE_DIFFERS" in {item.code for item in verify(tampered(plan, recovery=[nothing]), problem).violations}
    beaten = replace(plan, objective=replace(plan.objective, bound=value(plan) * 2))
    assert "OBJECTIVE_DIFFERS" in {item.code for item in verify(beaten, problem).violations}


def test_explain_says_what_a_replica_saves() -> None:
    """Without sink/1 its query of priority 3 waits 16 s; with sink/0 or sink/2 instead another saves 8."""
    problem = lanes()
    plan = planned(problem, budget=1)
    said = explain(plan, problem, "task:sink/1")
    lost = following(plan, problem).expected({}) - value(plan)
    assert f"without it priority-time rises by {lost:.6g}, from {value(plan):.6g}" in said.notes[0]
    assert {row["task"] for row in said.rows[:2]} == {"sink/0", "sink/2"}
    assert all(row["saved"] == pytest.approx(value(plan) - row["priority-time"]) for row in said.rows)
    assert {row["ruled out by"] for row in said.rows} == {"worth less"}
    other = explain(plan, problem, "task:sink/0")
    assert "has no replica: with one priority-time would fall by" in other.notes[0]
    stands = explain(plan, problem, f"node:{(plan.plan or {})['replicas'][0]['node']}")
    assert [row["worth"] for row in stands.rows] == [pytest.approx(lost)]


@pytest.mark.parametrize(("budget", "best"), [(1, 147.25), (2, 127.0)])
def test_a_replica_that_saves_nothing_on_one_node_is_tried_on_the_others(budget: int, best: float) -> None:
    """On n2, which has most room, the replica of s/0 takes room that others are restored in when z1 fails."""
    problem, costs = case_of_detection()
    assert value(planned(problem, budget=budget, costs=costs)) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(examples(6)))
def test_detection_and_restart_count_in_the_search(seed: int) -> None:
    """Every choice and placement of small jobs, some of which need two replicas that save nothing alone."""
    problem, costs = case_of_detection(random.Random(seed))
    for budget in (1, 2):
        plan = planned(problem, budget=budget, costs=costs)
        recovery = following(plan, problem)
        best = min(recovery.expected(choice) for choice in every_choice(plan, problem))
        assert value(plan) == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_evaluate_plans_the_recovery_from_another_failure() -> None:
    """Without the replica's node nothing is saved; plans by fidelity have no such value."""
    problem = lanes()
    plan = planned(problem, budget=1)
    assert plan.plan is not None
    other = lanes(fail=["zone:a", f"node:{plan.plan['replicas'][0]['node']}"])
    worse = {metric.name: metric.value for metric in evaluate(plan, other).metrics}["priority-time"]
    assert worse is not None
    assert worse > value(plan)
    by_fidelity = ftplan.plan("replicate-tasks", problem, budget=2)
    metrics = {metric.name: metric.value for metric in evaluate(by_fidelity, problem).metrics}
    assert metrics["priority-time"] is None


def test_the_same_question_has_the_same_answer() -> None:
    first, second = (planned(lanes(), budget=2, seed=3).to_json() for _ in range(2))
    assert first == second
