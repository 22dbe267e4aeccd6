"""Cuts of one order, bounds of any, and where nodes join, against all there are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.compiled import called_often
from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.peer_ring.algorithms.bounds import least_load
from ftplan.planners.peer_ring.algorithms.exact import exact
from ftplan.planners.peer_ring.algorithms.moves import arc_bound as bounds
from ftplan.planners.peer_ring.algorithms.moves import cuts as module
from ftplan.planners.peer_ring.algorithms.moves.arc_bound import arc_bound
from ftplan.planners.peer_ring.algorithms.moves.candidate_orders import candidate_orders, every_order
from ftplan.planners.peer_ring.algorithms.moves.cuts import RingChange, floor_bytes, least_bytes
from ftplan.planners.peer_ring.algorithms.moves.from_current import front
from ftplan.planners.peer_ring.algorithms.moves.levels import LevelLimits, best_of, orders_of
from ftplan.planners.peer_ring.moves import moved_bytes
from ftplan.planners.peer_ring.problem import RingProblem
from tests.planners.peer_ring.algorithms.cases import even_ring, ring_of, ring_problem, with_current

BUDGET = Budget(np.inf)


@st.composite
def orders(draw: st.DrawFn) -> tuple[RingProblem, np.ndarray]:
    """A ring in place of some nodes, and an order of all but one of them."""
    count = draw(st.integers(3, 5))
    size = draw(st.integers(count, 8))
    replication = draw(st.integers(0, count - 2))
    load = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    state = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    cpu = draw(st.lists(st.sampled_from([1.0, 2.0]), min_size=count, max_size=count))
    problem = ring_problem([float(x) for x in load], cpu, None, replication, [float(x) for x in state])
    nodes = draw(st.permutations(range(count)))
    first = sorted(draw(st.permutations(range(size)))[:count])
    there = draw(st.integers(replication + 1, count))
    asked = with_current(problem, ring_of(problem, nodes[:there], first[:there]), removed=[nodes[0]])
    return asked, np.array(draw(st.permutations(nodes[1:])), dtype=np.int64)


@pytest.mark.parametrize("places", [100_000_000, 12])
@settings(max_examples=40)
@given(asked=orders(), load=st.sampled_from([1.0, 1.2, 1.6, np.inf]))
def test_cuts_of_an_order_are_the_best_of_all(asked: tuple[RingProblem, np.ndarray], load: float, places: int) -> None:
    problem, order = asked
    assert problem.current is not None
    want = np.inf
    for first in combinations(range(len(problem.position)), len(order)):
        for turn in range(len(order)):
            ring = ring_of(problem, np.roll(order, turn).tolist(), first)
            if problem.largest_load(ring) <= load * (1 + 1e-9):
                want = min(want, moved_bytes(problem, problem.current, ring))
    question = RingChange(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_PLACES", places)
        found = least_bytes(question, order, load, BUDGET)
    assert found.cost == pytest.approx(want)
    assert found.bound == pytest.approx(want)
    assert floor_bytes(question, order, load) <= want * (1 + 1e-9)
    if found.first is not None:
        assert question.bytes(ring_of(problem, order.tolist(), found.first.tolist())) == pytest.approx(want)


@settings(max_examples=30)
@given(orders(), st.sampled_from([1.0, 1.3, 2.0]))
def test_the_bound_of_any_order_is_below_that_of_each(asked: tuple[RingProblem, np.ndarray], load: float) -> None:
    question = RingChange(asked[0])
    bound = max(arc_bound(question, load, BUDGET), rough_bound(question, load))
    costs = [least_bytes(question, order, load, BUDGET).cost for order in every_order(question)]
    if np.isfinite(min(costs)):
        assert bound <= min(costs) * (1 + 1e-9)


def rough_bound(question: RingChange, load: float) -> float:
    """Return the bound by arcs of blocks of some positions, as where the clock leaves time for no more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "MOST_STEPS", (100,))
        return arc_bound(question, load, BUDGET)


def grown(seed: int, joins: int, replication: int, target: float) -> RingProblem:
    """Return a question where nodes join five others that share 60 key groups evenly."""
    rng = np.random.default_rng(seed)
    load = rng.exponential(1.0, 60)
    state = (100.0 * load).tolist()
    problem = ring_problem(load.tolist(), [1.0] * (5 + joins), None, replication, state, members=list(range(5)))
    best = exact(problem, SearchOptions()).answer
    assert best is not None
    return with_current(
        problem, best.ring, members=list(range(5 + joins)), added=list(range(5, 5 + joins)), target_load=target
    )


@pytest.mark.parametrize(
    ("seed", "joins", "replication", "target"), [(0, 1, 1, 1.3), (1, 1, 2, 1.2), (2, 2, 1, 1.3), (3, 2, 1, 1.0)]
)
def test_kept_orders_are_close_to_the_best_of_all(seed: int, joins: int, replication: int, target: float) -> None:
    problem = grown(seed, joins, replication, target)
    question, best = RingChange(problem), least_load(problem, SearchOptions(), BUDGET)
    wanted = LevelLimits(target, np.inf, best.bound)
    with called_often():
        some = best_of(question, orders_of(question, candidate_orders(question, best, BUDGET)), wanted, BUDGET)
        every = best_of(question, orders_of(question, every_order(question)), wanted, BUDGET)
    assert some is not None
    assert every is not None
    assert every.bytes <= some.bytes <= 1.1 * every.bytes
    load = max(every.load, target)
    rough = rough_bound(question, load)
    assert rough < arc_bound(question, load, BUDGET) <= every.bytes * (1 + 1e-9)


def test_the_front_falls_and_has_the_planned_ring() -> None:
    problem = grown(4, 1, 1, 1.25)
    answer = exact(problem, SearchOptions()).answer
    assert answer is not None
    rows = front(problem, answer)
    loads, moved = [row["largest_load"] for row in rows], [row["bytes"] for row in rows]
    assert loads == sorted(loads)
    assert moved == sorted(moved, reverse=True)
    assert len(rows) > 1
    planned = moved_bytes(problem, even_ring(problem) if problem.current is None else problem.current, answer.ring)
    assert any(row["bytes"] <= planned for row in rows)
