"""Named planners over the whole repair: the exact ones find what brute force finds, and no bound is beyond it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.failure import FailureEvent
from ftplan.model.tolerances import PROVEN
from ftplan.planners import registry
from ftplan.planners.recovery_schedule.algorithms.repair.whole_repair import LEAST_GAP_SCALE
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result
from tests.planners.recovery_schedule.algorithms.repair_cases import least_loss, random_repair
from tests.planners.recovery_schedule.algorithms.repair_search_cases import at_first

NAMES = [row.name for row in registry.rows("recovery-schedule")]
PROVING = ("dynamic-programming", "exact", "auto")

pytestmark = pytest.mark.usefixtures("few_random_orders")


def planned(name: str, problem: RecoveryProblem, **options: int) -> Result[Schedule]:
    asked = RecoveryOptions(objective="priority-time", time_limit_s=600.0, **options)  # type: ignore[arg-type]
    result: Result[Schedule] = registry.load(registry.row("recovery-schedule", name))(problem, asked)
    return result


@given(st.integers(0, 100_000))
@settings(deadline=None, max_examples=12)
def test_small_repairs_are_planned_best_and_proved(seed: int) -> None:
    problem = random_repair(seed, 4, 2)
    least = least_loss(at_first(problem, prefetch=True))
    for name in NAMES:
        result = planned(name, problem, iterations=5)
        if result.answer is None:
            assert result.status == "infeasible"
            continue
        value = priority_time_of(result.answer, problem)
        assert value >= least - 1e-9 * max(1.0, least)
        assert result.bound is not None
        assert result.bound <= least + 1e-6 * max(1.0, least)
        assert (result.status == "optimal") == (value - result.bound <= PROVEN * max(value, LEAST_GAP_SCALE))
        if name in PROVING:
            assert value == pytest.approx(least)
            assert result.status == "optimal"


@given(st.integers(0, 100_000))
@settings(deadline=None, max_examples=12)
def test_more_work_of_the_search_loses_no_more(seed: int) -> None:
    problem = random_repair(seed, 9, 4)
    less, more = (planned("local-search", problem, iterations=work).answer for work in (1, 3))
    if less is not None:
        assert more is not None
        assert priority_time_of(more, problem) <= priority_time_of(less, problem) + 1e-9


@given(st.integers(0, 100_000))
@settings(deadline=None, max_examples=12)
def test_more_room_loses_no_more_where_proved(seed: int) -> None:
    problem = random_repair(seed, 4, 2)
    roomy = replace(problem, hosts=tuple(replace(host, room=host.room + 0.5) for host in problem.hosts), capacity=None)
    tight, wide = (planned("exact", case, iterations=5).answer for case in (problem, roomy))
    if tight is not None:
        assert wide is not None
        assert priority_time_of(wide, roomy) <= priority_time_of(tight, problem) + 1e-9


def test_a_bound_where_the_first_failure_is_later_than_the_start() -> None:
    """Nothing is down at step 0; the bound of neither objective over time is missing."""
    problem = random_repair(8)
    later = FailureEvent(7.0, "all", frozenset(), problem.failed.nonzero()[0])
    case = replace(problem, failed=problem.failed & False, failures=(later,))
    for objective in ("priority-time", "fidelity-time"):
        for name in NAMES:
            options = RecoveryOptions(objective=objective, time_limit_s=600.0, iterations=2)
            result = registry.load(registry.row("recovery-schedule", name))(case, options)
            assert result.bound is not None
