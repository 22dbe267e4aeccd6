"""The schedule around a policy: steps, placement, prefetch, restores, failures on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ftplan.planners.recovery_schedule.algorithms.best_density import best_density
from ftplan.planners.recovery_schedule.algorithms.operator_centric import operator_centric
from ftplan.planners.recovery_schedule.body import body
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from tests.planners.recovery_schedule.algorithms.cases import figure_2, graph, problem

PLAIN = RecoveryOptions()


def planned(case: RecoveryProblem, options: RecoveryOptions = PLAIN, planner: Any = best_density) -> dict[str, Any]:
    result = planner(case, options)
    assert result.answer is not None, result.reason
    return dict(body(result.answer, case))


def recovered(body: dict[str, Any]) -> list[list[str]]:
    return [[f"{item['operator']}/{item['index']}" for item in step["recover"]] for step in body["steps"]]


def restored(body: dict[str, Any]) -> list[list[str]]:
    return [sorted(item["operator"] for item in step["restored"]) for step in body["steps"]]


def five_nodes() -> RecoveryProblem:
    failed = [f"p{i:02}/0" for i in range(3, 13)]
    return problem(figure_2(), failed, arriving=[(60.0 * i, f"n{i}", 2.0) for i in range(1, 6)])


def test_figure_2_query_centric() -> None:
    """Su & Zhou, figure 2, right column: with prefetching, step by step as in the table."""
    body = planned(five_nodes())
    assert [{name[1:3] for name in step} for step in recovered(body)] == [
        set(), {"03", "05"}, {"07", "09"}, {"04", "10"}, {"06", "08"}, {"11", "12"},
    ]  # fmt: skip
    assert restored(body) == [[], [], ["p09"], ["p10"], [], ["p11", "p12"]]
    assert [step["trigger"] for step in body["steps"]] == ["failure", *(f"arrival:n{i}" for i in range(1, 6))]


def test_figure_2_operator_centric() -> None:
    """Su & Zhou, figure 2, left column."""
    body = planned(five_nodes(), planner=operator_centric)
    assert [{name[1:3] for name in step} for step in recovered(body)] == [
        set(), {"03", "04"}, {"05", "06"}, {"07", "08"}, {"09", "10"}, {"11", "12"},
    ]  # fmt: skip
    assert restored(body) == [[], [], [], [], ["p09", "p10"], ["p11", "p12"]]


def test_without_prefetch_capacity_stays_free() -> None:
    body = planned(five_nodes(), RecoveryOptions(prefetch=False))
    assert [len(step["recover"]) for step in body["steps"]] == [0, 0, 4, 2, 0, 4]
    assert body["steps"][2]["capacity"] == 4.0


def test_restores_on_one_node_go_one_after_another() -> None:
    tasks = graph([{"id": "a", "parallelism": 3, "cpu": 1.0, "state_bytes": [100, 200, 300]}], [])
    case = problem(
        tasks,
        ["a/0", "a/1", "a/2"],
        {"n1": 3.0},
        state_bytes=tasks.per_task("state_bytes"),
        bandwidth_bytes_s=100.0,
        delay_s=0.5,
        local_bytes={(1, 0): 200.0},
    )
    body = planned(case)
    assert {item["index"]: item["ready_s"] for item in body["steps"][0]["recover"]} == {0: 1.5, 1: 0.0, 2: 5.0}
    assert body["timeline"][-1] == {"at_s": 5.0, "queries": 3, "priority": 3.0}


def test_a_task_goes_where_its_checkpoint_lies() -> None:
    tasks = graph([{"id": "a", "cpu": 1.0, "state_bytes": 10}], [])
    case = problem(tasks, ["a/0"], {"n1": 1.0, "n2": 9.0}, state_bytes=np.array([10.0]), local_bytes={(0, 0): 10.0})
    assert planned(case)["steps"][0]["recover"][0]["node"] == "n1"


def test_the_node_with_most_room_takes_the_heaviest_task() -> None:
    tasks = graph([{"id": "a", "parallelism": 3, "cpu": [1.0, 3.0, 2.0]}], [])
    case = problem(tasks, ["a/0", "a/1", "a/2"], {"n1": 2.5, "n2": 4.0})
    nodes = {item["index"]: item["node"] for item in planned(case)["steps"][0]["recover"]}
    assert nodes == {1: "n2", 2: "n1", 0: "n2"}


def test_a_failure_on_the_way_takes_recovered_tasks_down_again() -> None:
    tasks = graph([{"id": "a", "parallelism": 2, "cpu": 1.0}], [])
    case = problem(tasks, ["a/0", "a/1"], {"n1": 1.0}, [(100.0, "n2", 2.0)], failures=[(50.0, "node:n1", ["n1"], [])])
    body = planned(case)
    assert recovered(body) == [["a/0"], [], ["a/0", "a/1"]]
    assert body["steps"][1]["trigger"] == "failure:node:n1"
    assert body["steps"][1]["global_rollback"] is False
    assert [(q["index"], q["back_s"]) for q in body["queries"]] == [(0, 0.0), (0, 100.0), (1, 100.0)]
    assert body["timeline"] == [
        {"at_s": 0.0, "queries": 1, "priority": 1.0},
        {"at_s": 50.0, "queries": 0, "priority": 0.0},
        {"at_s": 100.0, "queries": 2, "priority": 2.0},
    ]


def test_a_query_that_was_still_restoring_never_came_back() -> None:
    tasks = graph([{"id": "a", "cpu": 1.0, "state_bytes": 1000}], [])
    case = problem(
        tasks,
        ["a/0"],
        {"n1": 1.0},
        [(100.0, "n2", 2.0)],
        failures=[(5.0, "node:n1", ["n1"], [])],
        state_bytes=np.array([1000.0]),
        bandwidth_bytes_s=100.0,
    )
    body = planned(case)
    assert restored(body) == [[], [], ["a"]]
    assert [(q["back_s"]) for q in body["queries"]] == [110.0]
    assert [(step["objective"]["value"], step["objective"]["bound"]) for step in body["steps"]] == [
        (0.0, 1.0), (0.0, 0.0), (1.0, 1.0),
    ]  # fmt: skip


def test_an_operator_without_determinism_forces_a_rollback_at_every_failure() -> None:
    tasks = graph([{"id": "a", "parallelism": 2, "cpu": 1.0, "deterministic": False}], [])
    case = problem(tasks, ["a/0"], {"n1": 4.0}, homes={"a/1": "n1"}, failures=[(9.0, "task:a/1", [], ["a/1"])])
    assert [step["global_rollback"] for step in planned(case)["steps"]] == [True, True]


def test_a_live_replica_takes_over_and_frees_what_ran_there() -> None:
    tasks = graph([{"id": "a", "parallelism": 2, "cpu": 1.0}], [])
    case = problem(
        tasks,
        ["a/0"],
        {"n1": 1.0, "n2": 0.0},
        homes={"a/1": "n1"},
        standby={"a/1": "n2"},
        failures=[(10.0, "task:a/1", [], ["a/1"]), (20.0, "node:n2", ["n2"], [])],
    )
    body = planned(case)
    assert recovered(body) == [["a/0"], [], ["a/1"]]


def test_capacity_caps_the_nodes_that_are_there_but_not_those_that_arrive() -> None:
    tasks = graph([{"id": "a", "parallelism": 3, "cpu": 1.0}], [])
    case = problem(tasks, ["a/0", "a/1", "a/2"], {"n1": 3.0}, [(5.0, "n2", 1.0)], capacity=1.0)
    body = planned(case)
    assert [step["capacity"] for step in body["steps"]] == [1.0, 1.0]
    assert [len(step["recover"]) for step in body["steps"]] == [1, 1]


def test_what_fits_in_sum_but_not_onto_nodes_waits_and_says_so() -> None:
    tasks = graph([{"id": "a", "parallelism": 4, "cpu": [0.6, 0.6, 0.6, 0.5]}], [])
    case = problem(tasks, [f"a/{i}" for i in range(4)], {"n1": 1.15, "n2": 1.15})
    result = best_density(case, PLAIN)
    assert result.answer is not None
    step = result.answer.steps[0]
    assert step.objective.value == 3.0
    assert sum(item.cpu for item in step.recover) <= 2.3


def test_a_heavy_task_with_key_groups_may_be_split() -> None:
    tasks = graph([{"id": "a", "cpu": 4.0, "key_groups": 4}], [])
    case = problem(tasks, ["a/0"], {"n1": 3.0, "n2": 1.0})
    assert best_density(case, PLAIN).status == "infeasible"
    parts = planned(case, RecoveryOptions(parallel_recovery=True))["steps"][0]["recover"]
    assert [(item["node"], item["cpu"], item["key_groups"]) for item in parts] == [
        ("n1", 3.0, [0, 2]),
        ("n2", 1.0, [3, 3]),
    ]


def test_nothing_back_within_the_horizon_names_the_cheapest_query() -> None:
    tasks = graph([{"id": "a", "cpu": 4.0}, {"id": "b", "cpu": 3.0}], [])
    result = best_density(problem(tasks, ["a/0", "b/0"], {"n1": 1.0}), PLAIN)
    assert result.status == "infeasible"
    assert result.infeasible is not None
    assert "query:b/0, needs 3 cores" in result.infeasible.reason
    assert "lacks 2" in result.infeasible.reason


@pytest.mark.parametrize("planner", [best_density, operator_centric])
def test_free_tasks_come_back_without_capacity(planner: Any) -> None:
    tasks = graph([{"id": "a", "cpu": 0.0}, {"id": "b", "cpu": 1.0}], [])
    body = planned(problem(tasks, ["a/0", "b/0"], {"n1": 0.0}, [(9.0, "n2", 1.0)]), planner=planner)
    assert restored(body) == [["a"], ["b"]]
