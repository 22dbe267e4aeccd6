"""The interval model finds what brute force finds, and its bound is never above it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair import interval_model
from ftplan.planners.recovery_schedule.algorithms.repair.instance import (
    NOWHERE,
    RepairInstance,
    RepairPlacement,
    value,
)
from ftplan.planners.recovery_schedule.algorithms.repair.interval_model import solve_intervals
from ftplan.planners.recovery_schedule.algorithms.repair.whole_numbers import integer_repair
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.exhaustive_repair import optimum_where_few
from tests.planners.recovery_schedule.algorithms.repair_cases import least_loss
from tests.planners.recovery_schedule.algorithms.repair_search_cases import least_loss_waiting, varied


def nothing(instance: RepairInstance) -> RepairPlacement:
    count = len(instance.task)
    return RepairPlacement(np.full(count, NOWHERE), np.arange(count))


def best(instance: RepairInstance) -> RepairPlacement:
    placement = optimum_where_few(instance, Budget(1e9, None))
    assert placement is not None
    return placement


@pytest.mark.parametrize("first", range(3000, 3030, 10))
def test_it_loses_least_and_proves_it(first: int) -> None:
    for seed in range(first, first + 10):
        instance = varied(seed)
        if len(instance.host) == 0:
            continue
        least = least_loss(instance)
        placement, bound, optimal = solve_intervals(instance, nothing(instance), Budget(1e9, None), seed)
        assert bound is not None
        assert bound <= least + 1e-9 * max(1.0, least), seed
        assert instance.fits(placement.host)
        assert value(instance, placement) == pytest.approx(least, rel=1e-9), seed
        assert optimal, seed


def test_without_restores_points_say_it_all() -> None:
    for seed in range(8000, 8000 + examples(20)):
        instance = varied(seed)
        instance = replace(instance, restore_s=np.zeros(len(instance.task)), near=())
        if len(instance.host) == 0:
            continue
        least = least_loss(instance)
        placement, bound, optimal = solve_intervals(instance, nothing(instance), Budget(1e9, None), seed)
        assert optimal, seed
        assert bound == pytest.approx(least, rel=1e-6)
        assert value(instance, placement) == pytest.approx(least, rel=1e-9), seed


def test_where_tasks_wait_for_their_queries_the_bound_holds() -> None:
    met = []
    for seed in range(7000, 7000 + examples(40)):
        instance = varied(seed, most_tasks=3, most_arrivals=2, prefetch=False)
        if len(instance.host) == 0:
            continue
        least = least_loss_waiting(instance)
        placement, bound, _ = solve_intervals(instance, nothing(instance), Budget(1e9, None), seed)
        assert bound is not None
        assert bound <= least + 1e-9 * max(1.0, least), seed
        assert value(instance, placement) >= least - 1e-9, seed
        met.append(value(instance, placement) - bound <= 1e-6 * max(1.0, least))
    assert sum(met) >= 0.9 * len(met)


def test_numbers_that_no_unit_divides_are_bounded_from_below() -> None:
    for seed in range(4000, 4000 + examples(20)):
        instance = varied(seed)
        if len(instance.host) == 0:
            continue
        odd = np.random.default_rng(seed).uniform(0.9, 1.1, len(instance.task))
        instance = replace(
            instance,
            restore_s=instance.restore_s * odd,
            cost=instance.cost * odd,
            replay_s=instance.replay_s * odd,
            catch_up=instance.catch_up * odd,
            priority=instance.priority * np.pi,
            near=(),
        )
        least = value(instance, best(instance))
        placement, bound, _ = solve_intervals(instance, nothing(instance), Budget(1e9, None), seed)
        assert bound is not None
        assert least * (1.0 - 1e-5) - 1e-6 <= bound <= least * (1.0 + 1e-9)
        assert value(instance, placement) >= least * (1.0 - 1e-9)


def test_tiny_and_huge_numbers_are_bounded_from_below() -> None:
    for seed in range(9000, 9000 + examples(25)):
        instance = varied(seed)
        if len(instance.host) == 0:
            continue
        cores, priority, seconds = 10.0 ** np.random.default_rng(seed).choice([-9, 0, 9, 14], 3)
        instance = replace(
            instance,
            cost=instance.cost * cores,
            room=instance.room * cores,
            pool=instance.pool * cores,
            priority=instance.priority * priority,
            horizon_s=instance.horizon_s * max(1.0, seconds),
        )
        least = value(instance, best(instance))
        placement, bound, _ = solve_intervals(instance, nothing(instance), Budget(1e9, None), seed)
        assert bound is not None
        assert bound <= least * (1.0 + 1e-9)
        assert instance.fits(placement.host)


def test_it_is_never_worse_than_its_start_and_repeats_itself() -> None:
    for seed in range(5000, 5010):
        instance = varied(seed, most_tasks=5)
        if len(instance.host) == 0:
            continue
        start = best(instance)
        answers = [solve_intervals(instance, start, Budget(1e9, 1), seed) for _ in range(2)]
        assert value(instance, answers[0][0]) <= value(instance, start)
        assert answers[0][1:] == answers[1][1:]
        assert np.array_equal(answers[0][0].host, answers[1][0].host)
        assert np.array_equal(answers[0][0].order, answers[1][0].order)


def test_what_is_known_of_points_in_time_cuts_nothing_off() -> None:
    for seed in range(6000, 6000 + examples(20)):
        instance = varied(seed)
        if len(instance.host) == 0:
            continue
        least = value(instance, best(instance))
        at_s = np.linspace(instance.at_s, instance.horizon_s, 5)
        most = at_s, np.full(5, float(instance.priority.sum()))
        placement, bound, optimal = solve_intervals(instance, nothing(instance), Budget(1e9, None), seed, most)
        assert optimal
        assert bound == pytest.approx(least, rel=1e-6)
        assert value(instance, placement) == pytest.approx(least, rel=1e-9)


def test_without_work_there_is_no_bound() -> None:
    instance = next(own for seed in range(50) if len((own := varied(seed)).host))
    start = nothing(instance)
    assert solve_intervals(instance, start, Budget(1e9, 0), 0) == (start, None, False)


def test_larger_models_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = next(own for seed in range(50) if len((own := varied(seed)).host))
    monkeypatch.setattr(interval_model, "MOST_PAIRS", 0)
    start = nothing(instance)
    assert solve_intervals(instance, start, Budget(1e9, None), 0) == (start, None, False)


def test_a_bound_that_a_placement_beats_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(instance: RepairInstance) -> object:
        whole = integer_repair(instance)
        assert whole is not None
        return replace(whole, begins=whole.begins + whole.end // 4)

    instance = next(
        own for seed in range(90) if len((own := varied(seed)).host) and value(own, best(own)) < 0.6 * own.nothing
    )
    monkeypatch.setattr(interval_model, "integer_repair", slow)
    with pytest.raises(RuntimeError, match="bound"):
        solve_intervals(instance, best(instance), Budget(1e9, None), 0)
