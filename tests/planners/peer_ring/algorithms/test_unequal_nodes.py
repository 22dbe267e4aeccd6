"""Orders of unequal nodes: dynamic programming over all of them, and the beam, against each other and all rings."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.peer_ring.algorithms.orders.beam import Beam
from ftplan.planners.peer_ring.algorithms.orders.every_order import EveryOrder
from ftplan.planners.peer_ring.algorithms.orders.node_classes import NodeClasses, windows_of_zones
from ftplan.planners.peer_ring.algorithms.orders.unequal_nodes import Arrangement, try_orders
from ftplan.planners.peer_ring.algorithms.orders.zone_order import ZoneOrder, zone_order
from ftplan.planners.peer_ring.algorithms.partition import partition, ring_of
from ftplan.planners.peer_ring.problem import RingProblem, ZoneCost
from tests.effort import examples
from tests.planners.peer_ring.algorithms.cases import best_ring, ring_problem


def question(seed: int, most: int = 6) -> RingProblem:
    random = np.random.default_rng(seed)
    count = int(random.integers(2, most))
    size = int(random.integers(count, 10))
    load = random.choice([1.0, 2.0, 3.0, 7.0, 20.0], size) if seed % 2 else random.exponential(size=size)
    zones = "".join(random.choice(list("abc-"), count))
    cpu = random.choice([1.0, 2.0, 8.0], count)
    return ring_problem(load.tolist(), cpu.tolist(), zones, int(random.integers(min(3, count))))


@pytest.mark.parametrize("seed", range(examples(30)))
def test_every_order_is_exact_with_every_place(seed: int) -> None:
    """And a bound without: arcs may then be empty, only where some position is too heavy for a small node."""
    problem = question(seed)
    zones, largest = best_ring(problem)
    unit = problem.per_cpu
    exactly = EveryOrder(problem, NodeClasses.of(problem), zones, True).least(0.0, 1e9, Budget(1e6))
    assert exactly.bound / unit == pytest.approx(largest, rel=1e-9)
    cuts = partition(problem, exactly.order)
    assert cuts.largest == pytest.approx(largest, rel=1e-9)
    assert problem.zone_cost(ring_of(problem, exactly.order, cuts.first)) == zones
    bound = EveryOrder(problem, NodeClasses.of(problem), zones).least(0.0, 1e9, Budget(1e6)).bound
    assert bound <= largest * unit * (1.0 + 1e-9)
    if problem.load.max() <= bound * problem.cpu[problem.member].min():
        assert bound / unit == pytest.approx(largest, rel=1e-9)


@pytest.mark.parametrize("seed", range(examples(12)))
def test_a_beam_keeps_what_it_says(seed: int) -> None:
    problem = question(seed)
    order = zone_order(problem, 0, Budget(1e6))
    found = Beam(problem, NodeClasses.of(problem), order.order).least(0.0, 1e9, Budget(1e6))
    if len(found.order):
        cuts = partition(problem, found.order)
        assert cuts.largest <= found.bound / problem.per_cpu * (1.0 + 1e-9)
        assert problem.zone_cost(ring_of(problem, found.order, cuts.first)) == order.zones


def test_nodes_without_zone_are_one_class() -> None:
    problem = ring_problem([1.0] * 9, [1.0, 2.0, 1.0, 2.0, 1.0], "a-a-b", 1)
    classes = NodeClasses.of(problem)
    assert classes.count.tolist() == [2, 1, 2]  # the zone of two; cpu 1 and 2 of those that are alone
    assert classes.free == 1
    twice, within = windows_of_zones(classes, 2, 2, classes.risky(problem))
    assert twice.tolist() == within.tolist() == [1, 0, 0, 0]


def test_choices_are_numbered_so_that_more_comes_later() -> None:
    classes = NodeClasses.of(ring_problem([1.0] * 9, [1.0, 1.0, 2.0, 4.0], replication=0))
    taken = classes.taken()
    assert len(taken) == classes.choices == 12
    assert (taken @ classes.stride() == np.arange(12)).all()
    assert classes.left().tolist() == (8.0 - taken @ classes.cpu).tolist()


def test_too_many_choices_are_not_looked_at() -> None:
    problem = ring_problem([1.0] * 200, [1.0 + k for k in range(100)], replication=99)
    assert not EveryOrder(problem, NodeClasses.of(problem), ZoneCost(0, 0)).fits(1e9, Budget(1e6))


def tried(problem: RingProblem, order: ZoneOrder, bound: float, budget: Budget) -> Incumbents[Arrangement]:
    """What is known of orders with as few zone violations."""
    log = Incumbents[Arrangement]("min", "largest-load")
    log.prove(bound, "given")
    try_orders(problem, order, log, budget)
    return log


def test_no_time_leaves_the_bound_that_was_given() -> None:
    problem = question(4)
    order = zone_order(problem, 0, Budget(1e6))
    found = tried(problem, order, 0.5, Budget(0.0))
    assert found.bound == 0.5
    assert found.value >= best_ring(problem)[1] * (1.0 - 1e-12)


@pytest.mark.parametrize("iterations", [1, 10, 100])
def test_more_iterations_are_never_worse(iterations: int) -> None:
    random = np.random.default_rng(1)
    cpu = random.choice([2.0, 3.0, 4.0], 12).tolist()
    problem = ring_problem(random.exponential(size=90).tolist(), cpu, "abcabcabcabc", 1)
    order = zone_order(problem, 0, Budget(1e6))
    few, more = (tried(problem, order, 1.0, Budget(1e6, iterations=k)) for k in (iterations, 4 * iterations))
    assert more.value <= few.value * (1.0 + 1e-9)
    assert more.bound >= few.bound * (1.0 - 1e-9)
