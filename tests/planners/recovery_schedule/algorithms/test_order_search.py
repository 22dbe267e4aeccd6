"""List schedules and the search over orders: lawful, worth what their schedules are, nearly best on small repairs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from benchmarks.instances import popular_queries
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.horizon.ruin_and_recreate import ruin_and_recreate
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, RepairPlacement, value
from ftplan.planners.recovery_schedule.algorithms.repair.policy import WholeRepairPolicy
from ftplan.planners.recovery_schedule.algorithms.repair.search.list_schedule import list_schedule
from ftplan.planners.recovery_schedule.algorithms.repair.search.order_search import search_orders
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.score import priority_time_of
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host, RecoveryOptions, RecoveryProblem
from tests.effort import examples
from tests.planners.recovery_schedule.algorithms.repair_cases import least_loss, placements, random_repair
from tests.planners.recovery_schedule.algorithms.repair_search_cases import at_first
from tests.planners.recovery_schedule.algorithms.time_indexed_cases import shared_repair

OPTIONS = RecoveryOptions(objective="priority-time", iterations=1)


def search(instance: RepairInstance, passes: int = 3, seed: int = 0) -> RepairPlacement:
    return search_orders(instance, list_schedule(instance), Budget(600.0, passes), seed)


def is_lawful(instance: RepairInstance, placement: RepairPlacement) -> bool:
    """Return whether tasks fit, and without prefetch begin when all is started that some query needs."""
    host, step = placement.host, placement.step_s
    started = host >= 0
    if not instance.fits(host):
        return False
    if instance.prefetch:
        return step is None
    assert step is not None
    allowed = np.zeros(len(host), dtype=np.bool_)
    for q in range(instance.queries.queries):
        needed = np.isin(instance.bundle, instance.queries.members(q))
        if started[needed].all():
            allowed |= needed & (step >= step[needed].max(initial=0.0))
    early = step[started] < instance.there_s[host[started]]
    return bool(allowed[started].all()) and not early.any() and set(step[started]) <= set(instance.steps)


def without_prefetch(instance: RepairInstance) -> Iterator[RepairPlacement]:
    """Yield every lawful placement with every step of each task."""
    for placement in placements(instance):
        steps = [instance.steps[instance.steps >= instance.there_s[h]] if h >= 0 else [np.inf] for h in placement.host]
        for step in itertools.product(*steps):
            stepped = RepairPlacement(placement.host, placement.order, np.array(step))
            if is_lawful(instance, stepped):
                yield stepped


@pytest.mark.parametrize("seed", range(examples(40)))
@pytest.mark.parametrize("prefetch", [True, False])
def test_a_placement_is_lawful_and_worth_what_its_schedule_is(seed: int, prefetch: bool) -> None:
    problem = random_repair(seed, 8, 4)
    instance = at_first(problem, prefetch)
    first = list_schedule(instance)
    better = search_orders(instance, first, Budget(600.0, 1), seed)
    assert is_lawful(instance, first)
    assert is_lawful(instance, better)
    assert value(instance, better) <= value(instance, first) <= instance.nothing + 1e-9
    result = construct_schedule(problem, OPTIONS, WholeRepairPolicy(lambda *_: better, prefetch))
    if result.answer is not None:
        assert priority_time_of(result.answer, problem) == pytest.approx(value(instance, better))


def test_small_repairs_are_nearly_best() -> None:
    lists, searched, count = 0, 0, 80
    for seed in range(count):
        instance = at_first(random_repair(seed, 4, 2))
        least = least_loss(instance)
        listed, found = value(instance, list_schedule(instance)), value(instance, search(instance))
        assert least <= found * (1.0 + 1e-9) + 1e-9
        lists += listed <= least * (1.0 + 1e-9) + 1e-9
        searched += found <= least * (1.0 + 1e-9) + 1e-9
    assert lists >= 0.85 * count
    assert searched >= 0.98 * count


def test_small_repairs_without_prefetch_are_nearly_best() -> None:
    best, count = 0, 40
    for seed in range(count):
        instance = at_first(random_repair(seed, 3, 2), prefetch=False)
        least = min(value(instance, placement) for placement in without_prefetch(instance))
        found = value(instance, search(instance))
        assert least <= found * (1.0 + 1e-9) + 1e-9
        best += found <= least * (1.0 + 1e-9) + 1e-9
    assert best >= 0.97 * count


@pytest.mark.parametrize("seed", range(6))
def test_more_passes_never_lose_more_and_the_same_seed_gives_the_same(seed: int) -> None:
    instance = at_first(random_repair(seed, 12, 5))
    start = list_schedule(instance)
    found = [search_orders(instance, start, Budget(600.0, passes), seed) for passes in (0, 1, 2, 3, 5)]
    values = [value(instance, placement) for placement in [start, *found]]
    assert values == sorted(values, reverse=True)
    again = search_orders(instance, start, Budget(600.0, 5), seed)
    assert same(again, found[-1])


@pytest.mark.parametrize("prefetch", [True, False])
def test_compiled_and_plain_ways_are_the_same(monkeypatch: pytest.MonkeyPatch, prefetch: bool) -> None:
    instances = [at_first(random_repair(seed, 8, 3), prefetch) for seed in range(8)]

    def placed() -> list[RepairPlacement]:
        lists = [list_schedule(instance) for instance in instances]
        pairs = zip(instances, lists, strict=True)
        return lists + [search_orders(instance, start, Budget(600.0, 2), 1) for instance, start in pairs]

    found = []
    for fast in (False, True):
        for module in ("list_schedule", "order_search"):
            monkeypatch.setattr(
                f"ftplan.planners.recovery_schedule.algorithms.repair.search.{module}.pays_within",
                lambda *_, fast=fast: fast,
            )
        found.append(placed())
    assert all(same(a, b) for a, b in zip(*found, strict=True))


def test_any_start_is_taken_as_it_is_or_bettered() -> None:
    for seed in range(examples(20)):
        instance = at_first(random_repair(seed, 6, 3))
        every = list(itertools.islice(placements(instance), 200))
        start = every[seed % len(every)]
        assert value(instance, search_orders(instance, start, Budget(600.0, 1), seed)) <= value(instance, start)


def test_a_start_that_waits_for_steps_is_begun_as_early_as_it_can() -> None:
    for seed in range(examples(20)):
        problem = random_repair(seed, 6, 3)
        waits = list_schedule(at_first(problem, prefetch=False))
        instance = at_first(problem)
        assert waits.step_s is not None
        better = search_orders(instance, waits, Budget(600.0, 1), seed)
        assert value(instance, better) <= value(instance, waits)


@pytest.mark.parametrize("bandwidth", [None, 2.0**20])
def test_many_queries_lose_less_than_the_list_schedule(bandwidth: float | None) -> None:
    instance = at_first(many_queries(120, bandwidth))
    start = list_schedule(instance)
    better = search(instance, passes=1)
    assert is_lawful(instance, better)
    assert value(instance, better) < value(instance, start)
    assert same(better, search(instance, passes=1))


def many_queries(queries: int, bandwidth: float | None) -> RecoveryProblem:
    """Return a failure of everything, where six nodes come with a third of the cores."""
    random = np.random.default_rng(0)
    graph = TaskGraph(popular_queries(queries, random))
    cost = graph.per_task("cpu")
    nowhere = np.full(graph.tasks, -1, dtype=np.int64)
    at = [10.0, 20.0, 30.0, 40.0, 60.0, 80.0]
    return RecoveryProblem(
        graph=graph,
        cost=cost,
        failed=np.ones(graph.tasks, dtype=np.bool_),
        home=nowhere,
        standby=nowhere,
        hosts=tuple(Host(f"n{k}", float(cost.sum()) / 18.0) for k in range(6)),
        live_hosts=0,
        arrivals=tuple(ArrivalEvent(when, k, (when, when)) for k, when in enumerate(at)),
        state_bytes=random.uniform(0.0, 3.0, graph.tasks) * 2.0**20,
        bandwidth_bytes_s=bandwidth,
        restores_at_once=2,
        horizon_s=200.0,
        failed_nodes=2,
    )


def same(one: RepairPlacement, other: RepairPlacement) -> bool:
    """Return whether two placements are equal in every number."""
    steps: list[FloatArray | None] = [one.step_s, other.step_s]
    pairs: list[tuple[IntArray, IntArray]] = [(one.host, other.host), (one.order, other.order)]
    equal = all(np.array_equal(a, b) for a, b in pairs)
    return equal and (steps[0] is steps[1] is None or np.array_equal(np.asarray(steps[0]), np.asarray(steps[1])))


@pytest.mark.parametrize("fast", [True, False])
def test_no_search_touches_the_random_state_of_its_caller(monkeypatch: pytest.MonkeyPatch, fast: bool) -> None:
    for place in ("repair.search.list_schedule", "repair.search.order_search", "horizon.ruin_and_recreate"):
        monkeypatch.setattr(
            f"ftplan.planners.recovery_schedule.algorithms.{place}.pays_within", lambda *_, fast=fast: fast
        )
    np.random.seed(3)
    before = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]
    search(at_first(random_repair(0, 8, 3)))
    repair = shared_repair(1, 6, 3)
    ruin_and_recreate(repair, np.full(6, 3), Budget(600.0, 5), 1)
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index, union-attr]
