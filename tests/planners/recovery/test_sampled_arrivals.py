"""A plan's order on arrivals that are late."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from ftplan.planners.recovery.best_density import best_density
from ftplan.planners.recovery.by_queries import by_queries
from ftplan.planners.recovery.problem import ArrivalEvent, RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.run import run
from ftplan.planners.recovery.sampled_arrivals import on_sampled_arrivals, uncertain
from ftplan.planners.recovery.schedule import Recovery, Schedule, Step
from ftplan.planners.recovery.score import downtimes, priority_time_of
from tests.planners.recovery.cases import figure_2, graph, problem


def figure_2_case() -> RecoveryProblem:
    failed = [f"p{i:02}/0" for i in range(3, 13)]
    return problem(figure_2(), failed, arriving=[(60.0 * i, f"n{i}", 2.0) for i in range(1, 6)], horizon_s=600.0)


def spread(case: RecoveryProblem, seconds: float) -> RecoveryProblem:
    arrivals = tuple(ArrivalEvent(a.at_s, a.host, (a.at_s - seconds, a.at_s + seconds)) for a in case.arrivals)
    return replace(case, arrivals=arrivals)


def test_certain_arrivals_give_the_plan_itself() -> None:
    case = figure_2_case()
    schedule = run(case, RecoveryOptions(), by_queries(best_density)).answer
    assert schedule is not None
    assert not uncertain(case)
    found = on_sampled_arrivals(schedule, case, samples=3)
    assert found.priority_time.mean == pytest.approx(priority_time_of(schedule, case))
    assert found.priority_time.low == found.priority_time.high
    assert found.first_back_s.mean == downtimes(schedule).first_back_s(600.0)
    assert found.last_back_s.mean == downtimes(schedule).last_back_s(600.0)


def test_each_sample_is_walked_in_the_order_of_time() -> None:
    """With ranges that overlap, arrivals of equal nodes change places and the plan does not mind."""
    case = spread(figure_2_case(), 200.0)
    schedule = run(case, RecoveryOptions(), by_queries(best_density)).answer
    assert schedule is not None
    assert uncertain(case)
    found = on_sampled_arrivals(schedule, case, seed=7)
    random = np.random.default_rng(7)
    planned = np.array([a.at_s for a in case.arrivals])
    times = np.sort(planned - 200.0 + 400.0 * random.random((200, 5)), axis=1)
    # Q1 is back with the second node, Q2 with the third, the rest with the last
    waited = times[:, 1] + times[:, 2] + 2 * times[:, 4]
    assert found.priority_time.mean == pytest.approx(waited.mean())
    assert found.priority_time.low == pytest.approx(np.percentile(waited, 2.5))
    assert found.first_back_s.high == pytest.approx(np.percentile(times[:, 1], 97.5))
    assert found.last_back_s.missing == 0.0
    assert on_sampled_arrivals(schedule, case, seed=7) == found
    assert on_sampled_arrivals(schedule, case, seed=8) != found


def test_what_comes_after_the_horizon_counts_until_then() -> None:
    case = replace(spread(figure_2_case(), 0.0), horizon_s=90.0)
    schedule = Schedule((), (), ())
    found = on_sampled_arrivals(schedule, case, samples=4)
    assert found.priority_time.mean == 4 * 90.0
    assert found.first_back_s.mean is None
    assert found.first_back_s.missing == 1.0


def test_ten_thousand_queries() -> None:
    tasks = graph([{"id": "a", "parallelism": 10_000, "cpu": 0.1}], [])
    arriving = [(120.0 + 5 * i, f"n{i}", 30.0) for i in range(40)]
    case = spread(problem(tasks, [f"a/{i}" for i in range(10_000)], arriving=arriving), 100.0)
    none = Step(0.0, "failure", 0.0, 0.0, None, False, (), ())  # type: ignore[arg-type]
    recover = tuple(Recovery(i, 0, 0.1, 0.0) for i in range(10_000))
    began = time.perf_counter()
    found = on_sampled_arrivals(Schedule((replace(none, recover=recover),), (), ()), case)
    assert time.perf_counter() - began < 5.0
    assert found.last_back_s.missing == 0.0
