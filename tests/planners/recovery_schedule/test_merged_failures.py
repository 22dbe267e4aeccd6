"""Two failures of a job that rolls back: waiting for the second and going back once may lose less."""

from __future__ import annotations

from typing import Any

import pytest

import ftplan
from ftplan.api import verify

pytestmark = pytest.mark.usefixtures("few_random_orders")


def planned(second_s: float, first: int = 1, *, deterministic: bool = False, **options: Any) -> tuple[ftplan.Plan, Any]:
    """Return a plan for three queries of one task with 40 MB each, on a node each; the first two nodes fail."""
    topology = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": [
            {
                "id": "q",
                "parallelism": 3,
                "output": True,
                "state_bytes": 40 * 2**20,
                "priority": [first, 1, 8],
                "deterministic": deterministic,
            }
        ],
        "edges": [],
    }
    cluster = {
        "format": "ftplan/cluster",
        "format_version": "1.0",
        "nodes": [{"id": f"n{k}", "cpu": 4.0} for k in range(5)],
        "network": {"bandwidth_mb_s": 1.0},
        "placement": {"tasks": {"q": ["n0", "n1", "n2"]}},
    }
    fail = ["node:n0", {"at_s": second_s, "select": "node:n1"}]
    failure = {"format": "ftplan/failure", "format_version": "1.0", "fail": fail}
    problem = ftplan.load(topology=topology, cluster=cluster, failure=failure)
    asked = {"objective": "priority-time", "iterations": 20, "arrivals": False, "horizon": 600.0, **options}
    return ftplan.plan("recovery-schedule", problem, algorithm="auto", **asked), problem


def test_waiting_for_a_failure_soon_loses_less() -> None:
    """Only q/0 is down until 10 s, all from then on, 40 s each, as they fetch on nodes of their own."""
    plan, problem = planned(10.0)
    assert plan.summary["waiting"] == {"until_s": 10.0, "priority_time": pytest.approx(1 * 50 + 1 * 40 + 8 * 40)}
    assert plan.objective is not None
    assert plan.objective.value == pytest.approx(1 * 50 + 1 * 50 + 8 * 50)
    (said,) = [warning.message for warning in plan.warnings if warning.code == "MERGING_LOSES_LESS"]
    assert "410 against 500" in said
    assert verify(plan, problem).valid


def test_waiting_for_a_failure_far_away_loses_more() -> None:
    plan, _ = planned(300.0, first=20)
    assert plan.summary["waiting"]["priority_time"] > plan.summary["after"]["priority_time"]
    assert "MERGING_LOSES_LESS" not in {warning.code for warning in plan.warnings}


def test_only_where_the_job_goes_back() -> None:
    plan, _ = planned(10.0, deterministic=True)
    assert "waiting" not in plan.summary


def test_a_bound_that_knows_what_comes_is_named() -> None:
    codes = {warning.code for warning in planned(10.0)[0].warnings}
    assert "CLAIRVOYANT_BOUND" in codes
    assert "CLAIRVOYANT_BOUND" not in {warning.code for warning in planned(10.0, objective="priority")[0].warnings}


def test_a_bound_that_does_not_know_what_goes_back_is_named() -> None:
    def codes(**options: Any) -> set[str]:
        return {warning.code for warning in planned(10.0, **options)[0].warnings}

    assert "BOUND_WITHOUT_ROLLBACKS" in codes(objective="fidelity-time")
    assert "BOUND_WITHOUT_ROLLBACKS" not in codes()
    assert "BOUND_WITHOUT_ROLLBACKS" not in codes(objective="fidelity-time", deterministic=True)


def test_the_bound_knows_that_all_goes_back() -> None:
    """Up to the failure at 10 s only q/0 is down, then all that wait for their state once more."""
    objective = planned(10.0)[0].objective
    assert objective is not None
    assert objective.bound == pytest.approx(objective.value, rel=1e-5)
