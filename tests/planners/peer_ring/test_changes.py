"""Tokens that move, join and leave: figures 10 to 12, and what holds for every ring."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.peer_ring.ring import Ring, balanced, clockwise, half_way, positions_of_arcs, scaled_out, without

SIXTEEN = np.arange(16) / 16
#: A, B, C and D of the figures, each with a quarter of the circle.
FOUR = Ring(np.array([0.0, 0.25, 0.5, 0.75]), np.arange(4))


def spans(ring: Ring) -> dict[int, tuple[float, ...]]:
    return {node: tuple(ring.token[ring.node == node].tolist()) for node in ring.nodes.tolist()}


def gone(*nodes: int, of: int = 4) -> np.ndarray:
    return np.isin(np.arange(of), nodes)


@st.composite
def rings(draw: st.DrawFn) -> tuple[Ring, np.ndarray]:
    """Rings of up to six nodes with one token each on some of up to 14 uneven positions."""
    size = draw(st.integers(1, 14))
    position = np.array(sorted(draw(st.sets(st.integers(0, 99), min_size=size, max_size=size)))) / 100
    nodes = draw(st.permutations(range(draw(st.integers(1, min(6, size))))))
    at = sorted(draw(st.sets(st.integers(0, size - 1), min_size=len(nodes), max_size=len(nodes))))
    return Ring(position[at], np.array(nodes)), position


def test_figure_10_the_neighbour_takes_half() -> None:
    after = balanced(FOUR, SIXTEEN, 0)
    assert after is not None
    assert spans(after) == {0: (0.0,), 1: (0.125,), 2: (0.5,), 3: (0.75,)}
    over_zero = balanced(FOUR, SIXTEEN, 3)
    assert over_zero is not None
    assert spans(over_zero) == {0: (0.875,), 1: (0.25,), 2: (0.5,), 3: (0.75,)}


def test_figure_11_a_node_joins_midway() -> None:
    after = scaled_out(FOUR, SIXTEEN, 0, 9)
    assert after is not None
    assert spans(after) == {0: (0.0,), 9: (0.125,), 1: (0.25,), 2: (0.5,), 3: (0.75,)}


def test_figure_12_the_neighbour_takes_the_place() -> None:
    assert spans(without(FOUR, gone(0))) == {1: (0.0,), 2: (0.5,), 3: (0.75,)}
    assert spans(without(FOUR, gone(2, 3))) == {0: (0.5,), 1: (0.25,)}
    assert spans(without(FOUR, gone(3, 0))) == {1: (0.75,), 2: (0.5,)}
    assert spans(without(FOUR, gone(0, 1, 2))) == {3: (0.0,)}
    assert spans(without(FOUR, gone(0, 1, 2, 3))) == {}


def test_last_copies_go_with_their_token() -> None:
    ring = Ring(FOUR.token, FOUR.node, tier=np.array([7, 8, 7, 8]))
    assert without(ring, gone(0, of=9)).tier.tolist() == [8, 7, 8]  # type: ignore[union-attr]
    joined = scaled_out(ring, SIXTEEN, 1, 5)
    assert joined is not None
    assert joined.tier is not None
    assert joined.tier.tolist() == [7, 8, 8, 7, 8]


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ([0.0, 0.5], None),  # one position in the arc: nothing to give but all of it
        ([0.0, 0.1, 0.5], 0.1),  # nothing in the upper half: the last one moves all the same
        ([0.0, 0.3, 0.4, 0.5], 0.3),
        ([0.0, 0.1, 0.25, 0.5], 0.25),  # at the middle
        ([0.0, 0.1, 0.24, 0.26, 0.5], 0.26),
    ],
)
def test_middle_is_rounded_up_to_a_position(positions: list[float], expected: float | None) -> None:
    assert half_way(Ring(np.array([0.0, 0.5]), np.array([0, 1])), np.array(positions), 0) == expected


def test_middle_of_thirds_is_found_through_rounding() -> None:
    """2/3 - 1/3 is not 1/3 in binary: 1/2 is midway all the same."""
    ring = Ring(np.array([1 / 3, 2 / 3]), np.array([0, 1]))
    assert half_way(ring, np.arange(12) / 12, 0) == 0.5


def test_a_node_alone_has_the_whole_circle() -> None:
    alone = Ring(np.array([0.25]), np.array([3]))
    assert balanced(alone, SIXTEEN, 3) is None
    assert half_way(alone, SIXTEEN, 3) == 0.75
    assert clockwise(alone, 3).tolist() == []


@given(rings(), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_half_an_arc_goes_to_the_neighbour_and_nothing_else_moves(case: tuple[Ring, np.ndarray], pick: int) -> None:
    ring, position = case
    node = int(ring.node[pick % len(ring.node)])
    after = balanced(ring, position, node)
    if after is None:
        assert len(ring.node) == 1 or positions_of_arcs(ring, position)[ring.node == node].tolist() == [1]
        return
    assert np.isin(after.token, position).all()
    assert (np.diff(after.token) > 0).all()
    assert (positions_of_arcs(after, position) > 0).all()
    old, new = ring.node[ring.owner(position)], after.node[after.owner(position)]
    changed = old != new
    assert changed.any()
    assert set(old[changed]) == {node}
    assert set(new[changed]) == {int(clockwise(ring, node)[0])}
    assert positions_of_arcs(after, position).sum() == len(position)


@given(rings(), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_a_node_that_joins_takes_of_one_node_only(case: tuple[Ring, np.ndarray], pick: int) -> None:
    ring, position = case
    node = int(ring.node[pick % len(ring.node)])
    after = scaled_out(ring, position, node, 9)
    if after is None:
        return
    old, new = ring.node[ring.owner(position)], after.node[after.owner(position)]
    assert set(new[old != new]) == {9}
    assert set(old[old != new]) == {node}


@st.composite
def many_tokens(draw: st.DrawFn) -> tuple[Ring, np.ndarray]:
    tokens = sorted(draw(st.sets(st.integers(0, 99), min_size=1, max_size=12)))
    node = draw(st.lists(st.integers(0, 4), min_size=len(tokens), max_size=len(tokens)))
    dead = draw(st.lists(st.booleans(), min_size=5, max_size=5))
    return Ring(np.array(tokens) / 100, np.array(node)), np.array(dead)


@given(many_tokens())
@settings(max_examples=100, deadline=None)
def test_who_takes_over_is_the_first_holder_that_is_left(case: tuple[Ring, np.ndarray]) -> None:
    ring, dead = case
    after = without(ring, dead)
    where = np.arange(100) / 100
    holders = ring.holders(len(ring.nodes) - 1)[ring.owner(where)]
    if dead[ring.nodes].all():
        assert len(after.token) == 0
        return
    expected = [next(node for node in row if not dead[node]) for row in holders.tolist()]
    assert after.node[after.owner(where)].tolist() == expected
