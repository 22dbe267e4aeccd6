"""Who asks whom on a ring: chains, hysteresis, and the fluid queue."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.peer_ring.negotiation import Watch, fluid_queue, may_accept, negotiated, overloaded, requested
from ftplan.planners.peer_ring.problem import RingThresholds
from ftplan.planners.peer_ring.ring import Ring, positions_of_arcs

POSITION = np.arange(32) / 32
#: Four nodes with a quarter each.
FOUR = Ring(np.arange(4) / 4, np.arange(4))
NOBODY, ALL = np.zeros(4, dtype=np.bool_), np.ones(4, dtype=np.bool_)
LIMITS = RingThresholds()
HIGH, LOW, BETWEEN = (5.0, 1.2), (0.0, 0.3), (0.5, 0.8)


def these(*nodes: int) -> np.ndarray:
    return np.isin(np.arange(4), nodes)


def starts(ring: Ring) -> list[float]:
    """The token of each node, by number, in 32nds."""
    return [float(32 * ring.token[ring.node == node][0]) for node in range(4)]


def window(
    ring: Ring, states: list[tuple[float, float]], thresholds: RingThresholds = LIMITS, watch: Watch | None = None
):  # type: ignore[no-untyped-def]
    queue, use = np.array(states).T
    return negotiated(ring, POSITION, queue, use, thresholds, watch or Watch.of(4))


def test_both_queue_and_utilisation_count() -> None:
    queue, use = np.array([1.0, 1.0, 0.9, 0.1, 0.1, 0.11]), np.array([0.85, 0.84, 2.0, 0.7, 0.71, 0.1])
    assert overloaded(queue, use, LIMITS).tolist() == [True, False, False, False, False, False]
    assert may_accept(queue, use, LIMITS).tolist() == [False, False, False, True, False, False]


def test_the_neighbour_takes_half() -> None:
    request = requested(FOUR, POSITION, 0, ALL, ALL)
    assert (request.outcome, request.asked, request.moves) == ("balance", (1,), ((0, 1),))
    assert starts(request.rings[-1]) == [0, 4, 16, 24]


def test_a_neighbour_that_may_not_accept_asks_on() -> None:
    """Reducer 1 asks 3, which first gives to 2: figure 6a, whose reducers stand in the order 1, 3, 2."""
    ring = Ring(np.arange(3) / 4, np.array([1, 3, 2]))
    accepts = these(2)
    request = requested(ring, POSITION, 1, accepts, ALL)
    assert request.asked == (3, 2)
    assert request.moves == ((3, 2), (1, 3))
    assert [starts_of(ring) for ring in request.rings] == [
        {1: 0.0, 3: 0.25, 2: 0.375},
        {1: 0.0, 3: 0.125, 2: 0.375},
    ]


def starts_of(ring: Ring) -> dict[int, float]:
    return dict(zip(ring.node.tolist(), ring.token.tolist(), strict=True))


def test_once_around_and_then_a_new_node() -> None:
    assert requested(FOUR, POSITION, 2, NOBODY, ALL) == (2, "scale-out", (3, 0, 1), ())
    assert requested(FOUR, POSITION, 2, these(1), ALL).asked == (3, 0, 1)
    assert requested(FOUR, POSITION, 2, these(2), ALL).outcome == "scale-out"  # nobody asks oneself


def test_who_waits_neither_accepts_nor_passes_on() -> None:
    assert requested(FOUR, POSITION, 0, ALL, ~these(1)) == (0, "wait", (1,), ())
    assert requested(FOUR, POSITION, 0, these(2), ~these(1)) == (0, "wait", (1,), ())
    assert requested(FOUR, POSITION, 0, these(1), ~these(2)).outcome == "balance"


def test_a_single_position_is_neither_given_nor_passed_on() -> None:
    ring = Ring(np.array([0, 1, 2, 16]) / 32, np.arange(4))
    assert requested(ring, POSITION, 0, ALL, ALL) == (0, "alone", (), ())
    assert requested(ring, POSITION, 3, these(1), ALL) == (3, "scale-out", (0,), ())
    assert requested(ring, POSITION, 3, these(0), ALL).outcome == "balance"


def test_a_ring_of_one_scales_out() -> None:
    assert requested(Ring(np.array([0.5]), np.array([0])), POSITION, 0, ALL, ALL) == (0, "scale-out", (), ())


def test_the_most_utilised_asks_first_and_each_moves_once() -> None:
    requests, ring, watch = window(FOUR, [(5.0, 1.2), LOW, (9.0, 1.5), LOW])
    assert [(r.node, r.outcome, r.asked) for r in requests] == [(2, "balance", (3,)), (0, "balance", (1,))]
    assert starts(ring) == [0, 4, 16, 20]
    assert watch.rest.tolist() == [1, 1, 1, 1]
    requests, _, _ = window(FOUR, [HIGH, HIGH, LOW, BETWEEN])
    assert [(r.node, r.outcome, r.asked) for r in requests] == [(0, "balance", (1, 2))]  # 1 has a part in it


def test_between_the_thresholds_nothing_happens() -> None:
    requests, ring, watch = window(FOUR, [BETWEEN, BETWEEN, BETWEEN, BETWEEN])
    assert (requests, ring) == ([], FOUR)
    assert watch.since.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("hold", [1, 2, 3])
def test_hold_delays_the_first_and_the_next_request(hold: int) -> None:
    """Asked in window hold - 1; then all who took part wait for as many windows, and begin to count again meanwhile."""
    limits, ring, watch = RingThresholds(hold=hold), FOUR, Watch.of(4)
    moved = []
    for index in range(12):
        requests, ring, watch = window(ring, [HIGH, LOW, LOW, LOW], limits, watch)
        moved += [index for request in requests if request.rings]
    assert moved == list(range(hold - 1, 12, hold + 1))[: len(moved)]
    assert moved[:2] == [hold - 1, 2 * hold]


def test_one_calm_window_ends_the_count() -> None:
    limits, watch, moved = RingThresholds(hold=2), Watch.of(4), []
    for index, state in enumerate([HIGH, BETWEEN, HIGH, HIGH]):
        requests, _, watch = window(FOUR, [state, LOW, LOW, LOW], limits, watch)
        moved += [index for request in requests if request.rings]
    assert moved == [3]


def test_what_waits_moves_with_its_position() -> None:
    owner, able = np.array([0, 0, 1, 2]), np.array([100.0, 100.0, 0.0])
    backlog, arriving = np.array([60.0, 0.0, 0.0, 0.0]), np.array([60.0, 80.0, 50.0, 5.0])
    asked, left = fluid_queue(owner, backlog, arriving, able)
    assert asked.tolist() == [200.0, 50.0, 5.0]
    assert left.tolist() == [60.0, 40.0, 0.0, 5.0]
    asked, left = fluid_queue(np.array([0, 1, 1, 1]), left, np.zeros(4), able)
    assert asked.tolist() == [60.0, 45.0, 0.0]
    assert left.tolist() == [0.0, 0.0, 0.0, 0.0]


@given(
    st.lists(st.tuples(st.floats(0, 5), st.floats(0, 2)), min_size=6, max_size=6),
    st.sets(st.integers(0, 9), min_size=6, max_size=6),
    st.permutations(range(6)),
    st.lists(st.integers(0, 1), min_size=6, max_size=6),
)
@settings(max_examples=80, deadline=None)
def test_no_position_is_lost_and_order_stays(
    states: list[tuple[float, float]], at: set[int], order: list[int], rest: list[int]
) -> None:
    position = np.arange(10) / 10
    before = Ring(position[sorted(at)], np.array(order))
    queue, use = np.array(states).T
    requests, ring, watch = negotiated(
        before, position, queue, use, LIMITS, Watch(np.zeros(6, dtype=np.int64), np.array(rest))
    )
    for after in [ring, *(ring for request in requests for ring in request.rings)]:
        assert positions_of_arcs(after, position).min() >= 1
        assert positions_of_arcs(after, position).sum() == 10
        start = after.node.tolist().index(order[0])
        assert np.roll(after.node, -start).tolist() == order
    busy = [node for request in requests if request.rings for node in (request.node, *request.asked)]
    assert len(busy) == len(set(busy))
    assert not any(rest[node] for node in busy)
    assert set(np.flatnonzero(watch.rest)) == set(busy)
