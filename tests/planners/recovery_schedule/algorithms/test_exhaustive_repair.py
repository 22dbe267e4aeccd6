"""The best placement of a small repair is the one that brute force finds."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.instance import value
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms import exhaustive_repair as exhaustive
from tests.planners.recovery_schedule.algorithms.exhaustive_repair import optimum_where_few
from tests.planners.recovery_schedule.algorithms.repair_cases import least_loss, random_repair
from tests.planners.recovery_schedule.algorithms.repair_search_cases import at_first, least_loss_waiting, varied


def unbounded() -> Budget:
    return Budget(1e9, None)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_it_loses_least_of_all_placements(first: int) -> None:
    for seed in range(first, first + 20):
        instance = varied(seed)
        placement = optimum_where_few(instance, unbounded())
        assert placement is not None
        assert instance.fits(placement.host)
        if len(instance.host):
            assert value(instance, placement) == pytest.approx(least_loss(instance), rel=1e-12), seed


@pytest.mark.parametrize("first", range(1000, 1100, 20))
def test_where_tasks_wait_for_their_queries_too(first: int) -> None:
    for seed in range(first, first + 20):
        instance = varied(seed, most_tasks=3, most_arrivals=2, prefetch=False)
        placement = optimum_where_few(instance, unbounded())
        assert placement is not None
        assert instance.fits(placement.host)
        if len(instance.host):
            assert value(instance, placement) == pytest.approx(least_loss_waiting(instance), rel=1e-12), seed


def test_waiting_loses_no_less_than_beginning_ahead() -> None:
    for seed in range(2000, 2000 + examples(40)):
        ahead, waiting = varied(seed), varied(seed, prefetch=False)
        if len(ahead.host):
            one, other = (optimum_where_few(instance, unbounded()) for instance in (ahead, waiting))
            assert one is not None
            assert other is not None
            assert value(ahead, one) <= value(waiting, other) + 1e-9


def test_too_many_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = next(own for seed in range(50) if len((own := at_first(random_repair(seed))).task) == 5)
    assert optimum_where_few(instance, unbounded(), 3) is None
    monkeypatch.setattr(exhaustive, "MOST_TASKS", 4)
    assert optimum_where_few(instance, unbounded()) is None


def test_the_order_names_every_task_once() -> None:
    for seed in range(examples(40)):
        instance = varied(seed)
        placement = optimum_where_few(instance, unbounded())
        assert placement is not None
        assert np.array_equal(np.sort(placement.order), np.arange(len(instance.task)))
