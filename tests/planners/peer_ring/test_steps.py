"""Steps of a ring as a plan lists them: read again they lead to the same rings, and move the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.model.plan import canonical
from ftplan.planners.peer_ring.moves import moved_bytes, worth_moved
from ftplan.planners.peer_ring.problem import RingProblem, RingStep
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.steps import event_of, moved_by, same_ring, steps_listed, steps_of
from tests.planners.peer_ring.algorithms.cases import even_ring, ring_problem, with_current

THIRDS = ring_problem([1.0] * 9, [1.0] * 4, "abab", added=[3])


@st.composite
def changes(draw: st.DrawFn) -> tuple[RingProblem, tuple[RingStep, ...]]:
    """A ring in place, or none, and some rings after it: of one token a node, of several, with tiers."""
    problem = ring_problem([1.0] * 9, [1.0] * 5, "ababc")
    rings = []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(3, 7))
        extra = st.sampled_from([*problem.position.tolist(), 0.123456789, 0.5000001, 0.999999999])
        token = sorted(draw(st.sets(extra, min_size=size, max_size=size)))
        node = np.array(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
        node[:2] = [0, 1]
        tier = np.full(size, 4) if draw(st.booleans()) else None
        rings.append(Ring(np.array(token), node, tier))
    if draw(st.booleans()):
        problem = with_current(problem, rings.pop(0))
    else:
        rings = rings[:1]  # nothing comes before the first ring
    return problem, tuple(RingStep("re-plan", ring) for ring in rings)


@given(changes())
def test_steps_read_again_lead_to_the_same_rings(case: tuple[RingProblem, tuple[RingStep, ...]]) -> None:
    problem, steps = case
    listed = canonical(steps_listed(problem, steps))
    last = steps[-1].ring if steps else problem.current
    assert last is not None
    again = steps_of(listed, problem, last)
    assert len(again) == len(steps)
    for one, other in zip(again, steps, strict=True):
        assert one.event == other.event
        assert same_ring(one.ring, other.ring)
        assert np.array_equal(one.ring.owner(problem.position), other.ring.owner(problem.position))
    assert worth_moved(problem, again) == worth_moved(problem, steps)


def test_a_plan_without_steps_has_one() -> None:
    ring, other = even_ring(THIRDS, [0, 1, 2]), even_ring(THIRDS, [0, 1, 2, 3])
    assert steps_of(None, with_current(THIRDS, ring), ring) == ()
    ((event, after),) = steps_of(None, with_current(THIRDS, ring), other)
    assert (event, after) == ("scale-out", other)
    assert event_of(ring_problem([1.0], [1.0])) == "re-plan"


def test_what_steps_move_is_what_their_ledgers_say() -> None:
    ring, other = even_ring(THIRDS, [0, 1, 2]), even_ring(THIRDS, [0, 1, 2, 3])
    problem = with_current(THIRDS, ring)
    (moved,) = moved_by(problem, (RingStep("scale-out", other),))
    total = sum(move.transfer_bytes + move.rereplicate_bytes for move in moved.moves)
    assert total == sum(copy.bytes for copy in moved.copies) == moved_bytes(problem, ring, other)
    assert list(moved_by(THIRDS, (RingStep("re-plan", ring),))) == []


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        ([{"node": "zz", "from": None, "to": 0.5}], "the cluster has no node 'zz'"),
        ([{"node": "n3", "from": 0.5, "to": 0.6}], "n3 has no token 0.5 then"),
        ([{"node": "n1", "from": 0.0, "to": None}], "n1 has no token 0 then"),
        ([{"node": "n3", "from": None, "to": 0.0}], "two tokens at 0"),
        ([{"node": f"n{k}", "from": k / 3, "to": None} for k in range(3)], "no token is left"),
        ([{"node": "n3", "from": None, "to": 0.6, "tier": "zz"}], "the cluster has no node 'zz'"),
    ],
)
def test_steps_that_cannot_be_taken(tokens: list[dict[str, Any]], says: str) -> None:
    problem = with_current(THIRDS, even_ring(THIRDS, [0, 1, 2]))
    with pytest.raises(FtplanError, match=rf"^steps\[0\]: .*{says}"):
        steps_of([{"event": "scale-out", "tokens": tokens}], problem, problem.current or even_ring(THIRDS))
