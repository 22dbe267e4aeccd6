"""What a summary says of churn: policies chosen on the past, judged on the rest, beside the optimum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ftplan
from ftplan.planners.budget import Budget
from ftplan.planners.scale_out.algorithms.churn.optimum import offline_optimum, timely_schedule
from ftplan.planners.scale_out.algorithms.churn.trace import ChurnLimits, account
from ftplan.planners.scale_out.churn import judged
from tests.planners.scale_out.algorithms.churn.cases import day_and_night
from tests.planners.scale_out.cases import BARE, WINDOW_S, WINDOWS, planned

LIMITS = ChurnLimits(4, 0.05)


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    return judged(day_and_night(96 * 4), LIMITS, cpu=2.0, foretold=True, budget=Budget(math.inf))


def test_the_best_is_chosen_on_whole_days_of_the_past(said: dict[str, Any]) -> None:
    assert said["windows"] == {"history": 2 * 96, "unseen": 2 * 96}
    hours = [said["history"]["core_hours"], *(item["history"]["core_hours"] for item in said["others"])]
    assert said["history"]["keeps_limits"]
    assert hours[0] == min(hours)
    assert {said["method"], *(item["method"] for item in said["others"])} == {"thresholds", "foretold", "planned"}


def test_both_parts_stand_beside_their_optimum(said: dict[str, Any]) -> None:
    trace = day_and_night(96 * 4)
    past = trace.part(0, 2 * 96)
    best = offline_optimum(past, LIMITS)
    assert said["history"]["optimum"]["bound"] == pytest.approx(best.bound * 2.0 / 3600.0)
    for part in (said["history"], said["unseen"]):
        assert part["late"] >= part["overloaded"] >= part["least_overloaded"] - 1.0
        assert part["optimum"]["bound"] <= part["optimum"]["core_hours"] * (1.0 + 1e-9)
        assert part["optimum"]["bound"] <= part["optimum"]["timely_core_hours"]
        if part["keeps_limits"]:
            assert part["distance"] == pytest.approx(part["core_hours"] / part["optimum"]["bound"] - 1.0)
            assert part["distance"] >= 0.0
        else:
            assert part["distance"] is None


def test_as_it_is_keeps_its_tasks(said: dict[str, Any]) -> None:
    trace = day_and_night(96 * 4)
    assert said["as_it_is"]["unseen"]["core_hours"] == pytest.approx(trace.start * 2 * 24 * 2.0)
    kept = account(trace.part(0, 2 * 96), np.full(2 * 96, trace.start))
    assert said["as_it_is"]["history"]["late"] == kept.late / (2 * 96)


def test_a_schedule_that_knows_all_demand_keeps_the_limits() -> None:
    trace = day_and_night(96 * 3)
    timely = timely_schedule(trace, LIMITS)
    assert timely is not None
    assert account(trace, timely[0]) == timely[1]
    assert timely[1].keeps(LIMITS, trace, late=True)
    assert timely[1].task_s >= offline_optimum(trace, LIMITS).bound
    assert timely_schedule(trace, ChurnLimits(0, 0.0)) is None


def test_a_plan_says_what_was_asked_for() -> None:
    problem = ftplan.load(**BARE)
    assert "churn" not in planned(problem).summary
    churn = planned(problem, max_rescales_per_day=2, rescale_time_s=45.0, max_overloaded=0.1).summary["churn"]
    assert churn["max_rescales_per_day"] == 2
    assert churn["max_overloaded"] == 0.1
    assert churn["rescale_time_s"] == 45.0
    operators = {item["operator"]: item for item in churn["operators"]}
    assert "count" in operators
    for item in operators.values():
        assert item["windows"] == {"history": WINDOWS // 2, "unseen": WINDOWS // 2}
        assert item["method"] == "thresholds"  # --forecast none
        assert item["policy"]["hold_s"] % WINDOW_S == 0.0
        assert item["history"]["rescales_per_day"] <= 2
    # demand grows in the second half: as it is, the operator is overloaded there, and says so
    as_it_is = operators["count"]["as_it_is"]["unseen"]
    assert as_it_is["overloaded"] > 0.5
    assert not as_it_is["keeps_limits"]
    assert as_it_is["distance"] is None


def test_operators_are_left_out_when_time_is_over() -> None:
    plan = planned(ftplan.load(**BARE), max_rescales_per_day=2, time_limit_s=1e-9)
    assert plan.summary["churn"]["operators"] == []
    assert "count" in plan.summary["churn"]["left_out"]
