"""Repairs of one task with answers computed by hand, and random ones with a task that cannot keep up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ftplan
from ftplan import api
from ftplan.model.plan import Plan
from tests.cli.in_process import environment, run_here
from tests.effort import examples
from tests.planners.recovery_schedule.recovery_cases import example
from tests.planners.recovery_schedule.repair_documents import loaded, random_case

CASES = Path(__file__).parents[2] / "cases" / "repair"
OBJECTIVES = ("priority", "priority-time", "fidelity-time")


def planned(topology: str, cluster: str = "cluster", failure: str | None = None, **options: Any) -> Plan:
    problem = ftplan.load(
        topology=CASES / f"{topology}.yaml",
        cluster=CASES / f"{cluster}.yaml",
        failure=None if failure is None else CASES / f"{failure}.yaml",
    )
    given = {} if failure else {"fail": ["node:n0"]}
    return ftplan.plan("recovery-schedule", problem, **{**given, "iterations": 20, **options})


def codes(plan: Plan) -> set[str]:
    return {warning.code for warning in plan.warnings}


def test_remote_costs_without_a_bandwidth_take_that_of_the_cluster() -> None:
    """100 MiB at 10 MiB/s; an option wins over that."""
    costs = CASES / "costs.yaml"
    plan = planned("topology", costs=costs)
    assert [query["back_s"] for query in (plan.plan or {})["queries"]] == [10.0]
    assert plan.options["bandwidth_mb_s"] == 10.0
    assert "RESTORE_TIME_UNKNOWN" not in codes(plan)
    assert (planned("topology", costs=costs, bandwidth=20.0).plan or {})["queries"][0]["back_s"] == 5.0


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("algorithm", ["auto", "best-density", "operator-centric"])
def test_a_task_that_needs_more_than_it_can_use_never_catches_up(objective: str, algorithm: str) -> None:
    """0.012 s for each of 100 records/s are 1.2 cores; of 0.9 with a headroom of 1 / 0.8 it has 1.125."""
    plan = planned("overloaded", arrivals=False, objective=objective, algorithm=algorithm)
    assert (plan.status, plan.plan) == ("infeasible", None)
    assert "a/0 needs 1.2 cores for its input, and has 1.125" in (plan.reason or "")
    assert plan.infeasible is not None
    assert (plan.infeasible.current, plan.infeasible.needed) == (1.125, pytest.approx(1.2))
    assert "TIME_LIMIT" not in codes(plan)
    assert "NEVER_CATCHES_UP" in codes(plan)
    assert plan.objective is not None
    assert plan.objective.bound == {"priority": 0.0, "priority-time": 600.0, "fidelity-time": 0.0}[objective]


def test_all_of_the_cores_in_use_leave_nothing_to_catch_up_with() -> None:
    """A task of one core and no more; the fix that is offered helps."""
    topology = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": [{"id": "a", "checkpoint": {"interval_s": 10}}],
    }
    problem = ftplan.load(topology=topology, cluster=CASES / "cluster.yaml")
    given: dict[str, Any] = {"fail": ["node:n0"], "iterations": 20}
    plan = ftplan.plan("recovery-schedule", problem, max_cpu=1.0, **given)
    assert plan.infeasible is not None
    assert plan.infeasible.smallest_fix == "--max-cpu 0.9"
    assert ftplan.plan("recovery-schedule", problem, max_cpu=0.9, **given).plan is not None


@pytest.mark.parametrize("command", [["recovery-schedule"], ["simulate", "recovery"]])
def test_commands_say_no_where_a_task_is_overloaded(command: list[str], tmp_path: Path) -> None:
    files = ["-t", str(CASES / "overloaded.yaml"), "-c", str(CASES / "cluster.yaml")]
    answer = run_here([*command, *files, "--fail", "node:n0", "--no-arrivals"], cwd=tmp_path, env=environment())
    assert answer.returncode == 1
    assert "a/0" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("seed", range(examples(30)))
def test_nothing_waits_for_a_task_that_never_catches_up(seed: int) -> None:
    """out/0 gets so much that it would need three cores: its query stays down, and the judge agrees with the rest."""
    case = random_case(seed)
    source, middle, output = case["topology"]["operators"]
    case["topology"]["edges"][0]["partitioning"] = "full"
    middle["input_share"] = [8.0] + [1.0] * (middle["parallelism"] - 1)
    output["record_time_s"] = 4.0 / (2.0 * source["rate_out"])
    case["cluster"]["placement"]["tasks"]["out"][0] = "n0"
    case["cluster"]["placement"].pop("replicas", None)
    problem = loaded(case)
    for objective in OBJECTIVES:
        options: dict[str, Any] = {
            "iterations": 3,
            "objective": objective,
            "algorithm": ("auto", "best-density")[seed % 2],
        }
        options["pause_lower_priority"] = seed % 3 == 0
        options["parallel_recovery"] = seed % 5 == 0
        plan = ftplan.plan("recovery-schedule", problem, **options)
        if plan.plan is None:
            continue
        assert api.verify(plan, problem).violations == ()
        assert "NEVER_CATCHES_UP" in codes(plan)
        assert all(q["back_s"] is None for q in plan.plan["queries"] if (q["operator"], q["index"]) == ("out", 0))
        assert ("out", 0) in {(task["operator"], task["index"]) for task in plan.plan["unrecovered"]}
        json.dumps(plan.to_dict(), allow_nan=False)


def test_the_horizon_leaves_time_for_the_recovery() -> None:
    """A node at 3 s, 10 s of restore, 5 s and 13 s to process again at 0.4 of the pace: back at 25 s."""
    plan = planned("topology", "full-cluster", "arrival")
    assert [query["back_s"] for query in (plan.plan or {})["queries"]] == [pytest.approx(25.0)]
    assert plan.options["horizon_s"] > 40.0


def test_an_empty_list_of_arrivals_means_none() -> None:
    plan = planned("topology", "full-cluster", "nobody-arrives")
    assert plan.status == "infeasible"
    assert "DEFAULT_ARRIVALS" not in codes(plan)
    assert planned("topology", "full-cluster").status == "optimal"


@pytest.mark.parametrize("algorithm", ["auto", "local-search"])
def test_no_room_is_no_plan_where_failures_come_later_too(algorithm: str) -> None:
    """Schedules for fidelity, in which tasks return and no query does, are no answer to another objective."""
    plan = ftplan.plan(
        "recovery-schedule", example("storm-recovery"), capacity=0.1, arrivals=False, iterations=1, algorithm=algorithm
    )
    assert (plan.status, plan.plan) == ("infeasible", None)


def test_a_drain_fetches_state_as_a_recovery_does() -> None:
    """120 s of restart, then 100 MiB at the cluster's 10 MiB/s."""
    problem = ftplan.load(topology=CASES / "topology.yaml", cluster=CASES / "cluster.yaml")
    plan = ftplan.plan("drain-schedule", problem, costs=CASES / "costs.yaml", iterations=20)
    assert plan.plan is not None
    assert max(item["duration_s"] for item in plan.plan["rounds"]) == pytest.approx(130.0)
