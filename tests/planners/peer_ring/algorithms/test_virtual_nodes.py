"""Many hashed tokens a node: who joins moves only its own arcs, and who leaves is followed by who holds copies."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.budget import SearchOptions
from ftplan.planners.peer_ring.algorithms import baselines as module
from ftplan.planners.peer_ring.algorithms.baselines import hashed, virtual_nodes
from ftplan.planners.peer_ring.moves import worth_moved
from ftplan.planners.peer_ring.problem import RingAnswer, RingProblem
from ftplan.planners.peer_ring.ring import Ring, written_token
from tests.planners.peer_ring.algorithms.cases import ring_problem, with_current


def question(nodes: int, cpu: list[float] | None = None, **others: Any) -> RingProblem:
    return ring_problem([1.0] * 64, cpu or [1.0] * nodes, tokens=8, **others)


def answer(problem: RingProblem, seed: int = 0) -> RingAnswer:
    found = virtual_nodes(problem, SearchOptions(seed)).answer
    assert found is not None
    return found


def owners(problem: RingProblem, ring: Ring) -> np.ndarray:
    return ring.node[ring.owner(problem.position)]


def test_seed_node_and_number_alone_decide() -> None:
    assert hashed(0, "n1", 2) == hashed(0, "n1", 2) == 0.723868909
    assert len({hashed(0, "n1", 2), hashed(1, "n1", 2), hashed(0, "n2", 2), hashed(0, "n1", 3)}) == 4
    assert hashed(1, "1 n", 2) != hashed(1, "n", 21)


def test_as_many_tokens_as_cpu() -> None:
    ring = answer(question(3, [1.0, 2.0, 0.001])).ring
    assert np.bincount(ring.node).tolist() == [8, 16, 1]
    assert ring.token.tolist() == [written_token(token) for token in ring.token.tolist()]


def test_too_many_tokens_are_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TOKENS", 10)
    result = virtual_nodes(question(3), SearchOptions())
    assert [warning.code for warning in result.warnings] == ["FEWER_TOKENS"]
    assert result.answer is not None
    assert np.bincount(result.answer.ring.node).tolist() == [3, 3, 3]


def test_many_copies_have_fewer_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each token walks to as many distinct nodes: 9 copies of 90 tokens are 7,290 comparisons at least."""
    monkeypatch.setattr(module, "MOST_COMPARISONS", 9 * 9 * 18)
    result = virtual_nodes(question(9, replication=8), SearchOptions())
    assert [warning.code for warning in result.warnings] == ["FEWER_TOKENS"]
    assert result.answer is not None
    assert np.bincount(result.answer.ring.node).tolist() == [2] * 9


@given(st.integers(2, 6), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_a_node_that_joins_moves_only_its_own_arcs(nodes: int, seed: int) -> None:
    before = question(nodes + 1, members=range(nodes))
    ring = answer(before, seed).ring
    problem = with_current(replace(before, members=np.ones(nodes + 1, dtype=np.bool_)), ring)
    grown = answer(problem, seed)
    assert [step.event for step in grown.steps] == ["scale-out"]
    assert set(ring.token.tolist()) < set(grown.ring.token.tolist())
    changed = owners(problem, ring) != owners(problem, grown.ring)
    assert set(owners(problem, grown.ring)[changed]) <= {nodes}
    alone = answer(replace(problem, current=None), seed).ring
    assert grown.ring.token.tolist() == alone.token.tolist()


@given(st.integers(3, 6), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_who_leaves_is_followed_by_a_holder(nodes: int, seed: int) -> None:
    before = question(nodes)
    ring = answer(before, seed).ring
    problem = with_current(before, ring, removed=[1])
    after = answer(problem, seed).ring
    backups = ring.holders(1)[ring.owner(problem.position), 1]
    left = owners(problem, ring) == 1
    assert (owners(problem, after) == np.where(left, backups, owners(problem, ring))).all()


def test_the_ring_in_place_stays() -> None:
    problem = question(4)
    ring = answer(problem).ring
    assert answer(with_current(problem, ring), seed=7).steps == ()
    assert virtual_nodes(with_current(problem, ring), SearchOptions()).reason is not None
    assert answer(with_current(problem, ring, keep=True), seed=7).ring is ring


def test_copies_that_are_not_there_yet_are_a_step() -> None:
    problem = question(4, replication=2)
    problem = with_current(problem, answer(problem).ring, copies_in_place=1)
    made = answer(problem)
    assert [step.event for step in made.steps] == ["re-plan"]
    assert worth_moved(problem, made.steps) == 64.0
    assert virtual_nodes(replace(problem, max_bytes=63.0), SearchOptions()).answer is None
    assert virtual_nodes(replace(problem, max_bytes=64.0), SearchOptions()).reason is None


def test_what_leaves_may_be_too_much_for_the_others() -> None:
    problem = question(4)
    small = with_current(problem, answer(problem).ring, removed=[0], capacity=np.full(4, 20.0))
    result = virtual_nodes(small, SearchOptions())
    assert (result.status, result.infeasible and result.infeasible.limit) == ("infeasible", "capacity")
    assert result.infeasible is not None
    enough = virtual_nodes(replace(small, overload=result.infeasible.needed), SearchOptions())
    assert enough.status == "feasible"
    assert "capacity" in enough.rules


def test_two_limits_are_named_where_both_are_broken() -> None:
    problem = question(4)
    small = with_current(problem, answer(problem).ring, removed=[0], capacity=np.full(4, 20.0), max_bytes=0.0)
    why = virtual_nodes(small, SearchOptions()).infeasible
    assert why is not None
    found = re.match(r"--overload ([\d.]+) and --max-bytes (\d+), or ", why.smallest_fix)
    assert found is not None
    overload, most = map(float, found.groups())
    assert virtual_nodes(replace(small, overload=overload, max_bytes=most), SearchOptions()).answer is not None


def test_bytes_are_limited() -> None:
    before = question(4, members=range(3))
    problem = replace(before, members=np.ones(4, dtype=np.bool_), current=answer(before).ring, max_bytes=0.0)
    result = virtual_nodes(problem, SearchOptions())
    assert result.infeasible is not None
    assert result.infeasible.limit == "max-bytes"
    enough = virtual_nodes(replace(problem, max_bytes=result.infeasible.needed), SearchOptions())
    assert "max-bytes" in enough.rules
    assert virtual_nodes(replace(problem, max_bytes=result.infeasible.needed - 1.0), SearchOptions()).answer is None
