"""Orders of zones on a ring: the fewest neighbours that share one, against every order there is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.orders import windows
from ftplan.planners.peer_ring.algorithms.orders.windows import cost_of_order, distinct_in_windows, fewest_crowded
from ftplan.planners.peer_ring.algorithms.orders.zone_order import (
    is_possible,
    order_with_excess,
    paired_order,
    spaced_order,
    zone_order,
    zones_in_order,
)
from tests.planners.peer_ring.algorithms.cases import ring_problem


def crowded(order: IntArray, width: int) -> tuple[int, int, int]:
    """Return windows within one zone, those with a zone twice, and zones in the worst, negative; all zones count."""
    return windows.crowded(order, width, EACH)


def in_order(sizes: IntArray, width: int, budget: Budget | None = None) -> tuple[IntArray, int]:
    return zones_in_order(sizes, width, 0, budget or Budget(1e6), EACH[: len(sizes)])


EACH = np.ones(40, dtype=np.bool_)
SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=6).map(lambda sizes: np.array(sizes))


def every_order(sizes: tuple[int, ...]) -> IntArray:
    """Return every circular order of zones of these sizes that begins with the first zone, a row each."""

    def rest(left: list[int], order: list[int]) -> Iterator[list[int]]:
        if not any(left):
            yield list(order)
        for zone, count in enumerate(left):
            if count:
                left[zone] -= 1
                yield from rest(left, [*order, zone])
                left[zone] += 1

    return np.array(list(rest([sizes[0] - 1, *sizes[1:]], [0])))


def partitions(total: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to split a number into parts, the largest first."""
    if total == 0:
        yield ()
    for part in range(min(total, most), 0, -1):
        for rest in partitions(total - part, part):
            yield (part, *rest)


def text(order: IntArray) -> str:
    return "".join("ABCDEFG"[zone] for zone in order)


def test_dealt_as_in_the_notes() -> None:
    assert text(spaced_order(np.array([3, 3, 3, 2]), 3)) == "ABCDABCDABC"
    assert text(spaced_order(np.array([4, 4, 3]), 2)) == "ABCABABACBC"
    assert text(spaced_order(np.array([2, 2, 1, 1]), 3)) == "ABCABD"


@pytest.mark.parametrize("total", range(2, 8))
def test_zones_in_order_against_every_order(total: int) -> None:
    """Fewest windows within a zone, then with a zone twice; that none is needed exactly where no zone is too large."""
    for sizes in partitions(total, total):
        orders = every_order(sizes)
        for width in range(1, total + 1):
            best = min(crowded(order, width)[:2] for order in orders)
            order, bound = in_order(np.array(sizes), width)
            assert np.bincount(order, minlength=len(sizes)).tolist() == list(sizes)
            assert crowded(order, width)[:2] == best, (sizes, width)
            assert bound == (0 if width == 1 else best[1]), (sizes, width)
            assert fewest_crowded(np.array(sizes), width) <= best[1]
            assert is_possible(np.array(sizes), width) == (best[1] == 0)
            zones = "".join("abcdefg"[zone] * many for zone, many in enumerate(sizes))
            assert ring_problem([1.0], [1.0] * total, zones, width - 1).least_losses == best[0]


def test_most_zones_in_the_worst_window() -> None:
    for sizes, width in (((3, 2, 1), 3), ((2, 2, 1, 1), 4), ((4, 2), 4), ((3, 2, 1, 1), 4)):
        best = min(crowded(order, width) for order in every_order(sizes))
        order, _ = in_order(np.array(sizes), width)
        assert crowded(order, width) == best


@pytest.mark.parametrize("width", [2, 3, 4, 6])
def test_bound_of_one_large_zone_is_exact(width: int) -> None:
    """With all other nodes in zones of their own only the large one is ever twice in a window."""
    for total in range(width, 11):
        for large in range(1, total + 1):
            fewest = min(
                crowded(one_zone(total, (0, *others)), width)[1] for others in combinations(range(1, total), large - 1)
            )
            sizes = np.array([large] + [1] * (total - large))
            assert fewest_crowded(sizes, width) == fewest


def one_zone(total: int, nodes: tuple[int, ...]) -> IntArray:
    order = np.arange(1, total + 1)
    order[list(nodes)] = 0
    return order


@settings(max_examples=60, deadline=None)
@given(SIZES, st.integers(1, 5))
def test_dealt_has_no_zone_twice(sizes: IntArray, width: int) -> None:
    if int(sizes.sum()) < width or not is_possible(sizes, width):
        return
    order = spaced_order(sizes, width)
    assert np.bincount(order, minlength=len(sizes)).tolist() == sizes.tolist()
    assert crowded(order, width)[1] == 0


@settings(max_examples=60, deadline=None)
@given(SIZES, st.integers(2, 5))
def test_with_excess_keeps_all_nodes_and_the_bound(sizes: IntArray, width: int) -> None:
    if int(sizes.sum()) < width:
        return
    order = order_with_excess(sizes, width)
    assert np.bincount(order, minlength=len(sizes)).tolist() == sizes.tolist()
    assert crowded(order, width)[1] >= fewest_crowded(sizes, width)


@settings(max_examples=60, deadline=None)
@given(SIZES)
def test_paired_has_as_few_as_the_closed_form(sizes: IntArray) -> None:
    if 2 * int(sizes.max()) <= int(sizes.sum()):
        return
    order = paired_order(sizes)
    assert np.bincount(order, minlength=len(sizes)).tolist() == sizes.tolist()
    if len(order) > 1:
        assert crowded(order, 2)[1] == min(2 * int(sizes.max()) - int(sizes.sum()), len(order))


def test_large_zones_at_scale_are_proven() -> None:
    for sizes, width in (((400, 300, 200, 100), 3), ((600, 200, 200), 3), ((300, 300, 300, 100), 4)):
        order, bound = in_order(np.array(sizes), width)
        assert crowded(order, width)[1] == bound


def test_fewer_iterations_are_allowed() -> None:
    order, bound = in_order(np.array([3, 3, 1, 1, 1]), 4, Budget(1e6, iterations=1))
    assert crowded(order, 4)[:2] >= (0, bound)


def test_distinct_in_windows_wraps() -> None:
    assert distinct_in_windows(np.array([0, 0, 1, 2]), 3).tolist() == [2, 3, 3, 2]
    assert distinct_in_windows(np.array([0, 1]), 0).tolist() == [0, 0]


def test_zone_order_names_nodes_in_order_of_their_ids() -> None:
    problem = ring_problem([1.0] * 6, [1.0] * 6, "aabbcc", replication=2)
    found = zone_order(problem, 0, Budget(1e6))
    assert (found.order.tolist(), found.zones, found.bound) == ([0, 2, 4, 1, 3, 5], (0, 0), 0)


def test_the_tier_holds_one_copy_less_on_the_ring() -> None:
    problem = ring_problem([1.0] * 6, [1.0] * 5, "aabbv", replication=2, tier=[4])
    assert problem.width == 2
    found = zone_order(problem, 0, Budget(1e6))
    assert (sorted(found.order.tolist()), found.zones) == ([0, 1, 2, 3], (0, 0))


@pytest.mark.parametrize(
    ("zones", "tier", "risky"), [("aaabv", [4], ""), ("aaabb", [4], "b"), ("aaabbaa", [4, 5], ""), ("aaab", [], "ab")]
)
def test_zones_that_can_hold_all_copies(zones: str, tier: list[int], risky: str) -> None:
    """With a tier only that of the whole tier, where members are in it."""
    problem = ring_problem([1.0] * 6, [1.0] * len(zones), zones, replication=2, tier=tier)
    within = {problem.zones[zone] for zone in problem.zone[problem.member].tolist() if problem.risky[zone]}
    assert within == set(risky)
    found = zone_order(problem, 0, Budget(1e6))
    orders = [np.array([problem.member[0], *rest]) for rest in permutations(problem.member[1:].tolist())]
    assert found.zones.losses == min(cost_of_order(problem, order).losses for order in orders) == problem.least_losses
