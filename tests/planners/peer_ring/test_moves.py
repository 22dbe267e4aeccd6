"""What a change of the ring moves: the table of what the paper leaves out, and every small ring by looking at it."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.topology import BoolArray
from ftplan.planners.peer_ring.moves import CopyMove, moved_bytes, replayed_share_s, ring_moves
from ftplan.planners.peer_ring.problem import Event, RingProblem
from ftplan.planners.peer_ring.ring import Ring, balanced, scaled_out, without
from tests.planners.peer_ring.algorithms.cases import even_ring, ring_problem

ARC = 4


def six(replication: int) -> tuple[RingProblem, Ring]:
    """Six nodes with equal arcs of four key groups, and a seventh that is not on the ring."""
    problem = ring_problem([1.0] * 6 * ARC, [1.0] * 7, replication=replication, members=range(6))
    return problem, even_ring(problem)


def arcs_sent(copies: list[CopyMove], before: Ring, problem: RingProblem) -> dict[tuple[int, int], float]:
    """Return how much of which node's arc (before) goes to whom, in arcs."""
    sent = defaultdict[tuple[int, int], float](float)
    owner = before.node[before.owner(problem.position)]
    for copy in copies:
        size = (copy.last - copy.first) % len(problem.position) + 1
        at = np.arange(copy.first, copy.first + size) % len(problem.position)
        assert copy.bytes == size
        for node in owner[at].tolist():
            sent[node, copy.target] += 1 / ARC
    return dict(sent)


def dead(*nodes: int) -> BoolArray:
    return np.isin(np.arange(7), nodes)


@pytest.mark.parametrize("replication", [1, 2])
@pytest.mark.parametrize("event", ["failure", "scale-in"])
def test_one_node_that_is_gone(replication: int, event: Event) -> None:
    """Arc A-j has to go to A-j+r+1, for j = 0..r; the take-over itself moves nothing, even where A is on notice."""
    problem, before = six(replication)
    after = without(before, dead(2))
    moves, copies = ring_moves(problem, before, after, event, dead(2) if event == "failure" else None)
    r = replication
    assert arcs_sent(copies, before, problem) == {((2 - j) % 6, (2 - j + r + 1) % 6): 1.0 for j in range(r + 1)}
    owned = [move for move in moves if move.source != move.target]
    assert [(move.source, move.target, move.first, move.last) for move in owned] == [(2, 3, 8, 11)]
    assert sum(move.transfer_bytes for move in moves) == sum(move.takeover_bytes for move in moves) == 0.0
    assert sum(move.rereplicate_bytes for move in moves) == (r + 1) * ARC
    assert all((copy.source == 2) == (event == "scale-in" and 8 <= copy.first <= 11) for copy in copies)


@pytest.mark.parametrize(("replication", "run"), [(1, 1), (2, 1), (2, 2)])
def test_a_run_that_is_gone(replication: int, run: int) -> None:
    """m (r + 1) arcs, m on each of the r + 1 nodes after the run."""
    problem, before = six(replication)
    gone = dead(*range(1, 1 + run))
    after = without(before, gone)
    moves, copies = ring_moves(problem, before, after, "failure", gone)
    to = defaultdict[int, float](float)
    for (_, target), arcs in arcs_sent(copies, before, problem).items():
        to[target] += arcs
    assert to == {1 + run + k: float(run) for k in range(replication + 1)}
    assert not any(move.lost for move in moves)
    assert moved_bytes(problem, before, after, gone) == run * (replication + 1) * ARC


@pytest.mark.parametrize("replication", [1, 2])
def test_balance_sends_the_moved_half_to_the_last_new_backup(replication: int) -> None:
    problem, before = six(replication)
    after = balanced(before, problem.position, 0)
    assert after is not None
    moves, copies = ring_moves(problem, before, after, "balance")
    assert arcs_sent(copies, before, problem) == {(0, 1 + replication): 0.5}
    assert [(m.source, m.target, m.first, m.last, m.transfer_bytes, m.rereplicate_bytes) for m in moves] == [
        (0, 1, 2, 3, 0.0, 2.0)
    ]


@pytest.mark.parametrize("replication", [1, 2])
def test_a_new_node_gets_as_many_arcs_as_there_are_backups(replication: int) -> None:
    """Its half by transfer; the rest of A's arc and the arcs before as copies: the paper counts the half only."""
    problem, before = six(replication)
    after = scaled_out(before, problem.position, 0, 6)
    assert after is not None
    moves, copies = ring_moves(problem, before, after, "scale-out")
    expected = {(0, 6): 1.0} | {((0 - j) % 6, 6): 1.0 for j in range(1, replication)}
    assert arcs_sent(copies, before, problem) == expected
    assert sum(arcs_sent(copies, before, problem).values()) == replication
    assert sum(move.transfer_bytes for move in moves) == ARC / 2
    assert sum(move.rereplicate_bytes for move in moves) == replication * ARC - ARC / 2
    assert [(move.source, move.target) for move in moves if move.transfer_bytes] == [(0, 6)]


def test_what_nobody_holds_any_more_is_lost() -> None:
    """Of three dead neighbours and one backup, the first two arcs are gone; the third is taken over."""
    problem, before = six(1)
    moves, copies = ring_moves(problem, before, without(before, dead(1, 2, 3)), "failure", dead(1, 2, 3))
    assert [(m.source, m.target, m.first, m.last) for m in moves if m.lost] == [(1, 4, 4, 7), (2, 4, 8, 11)]
    assert all(m.transfer_bytes == m.rereplicate_bytes == m.replayed_records == 0.0 for m in moves if m.lost)
    assert not [copy for copy in copies if 4 <= copy.first <= 11]
    assert [m.replayed_records > 0 for m in moves if m.source == 3] == [True]


def test_fewer_nodes_than_copies_hold_what_there_is() -> None:
    """Four of six with two backups: two nodes are left, and both hold everything afterwards."""
    problem, before = six(2)
    gone = dead(0, 1, 3, 4)
    moves, copies = ring_moves(problem, before, without(before, gone), "failure", gone)
    assert not any(move.lost for move in moves)
    assert arcs_sent(copies, before, problem) == {(arc, 5 if arc < 3 else 2): 1.0 for arc in range(6)}


def test_replayed_is_what_came_since_the_checkpoint() -> None:
    """u + 2 L_n for a balance, and detection with it after a failure."""
    problem, before = six(1)
    assert replayed_share_s(problem, "balance") == pytest.approx(5.03)
    assert replayed_share_s(problem, "failure") == pytest.approx(5.73)
    moves, _ = ring_moves(problem, before, without(before, dead(2)), "failure", dead(2))
    assert sum(move.replayed_records for move in moves) == pytest.approx(ARC * 5.73)


@st.composite
def changes(draw: st.DrawFn) -> tuple[RingProblem, Ring, Ring, BoolArray | None]:
    """Two rings of the same positions, many tokens a node or one, and what is dead (not on the second ring)."""
    size = draw(st.integers(2, 9))
    state = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    replication = draw(st.integers(0, 2))
    problem = ring_problem([1.0] * size, [1.0] * 6, replication=replication, state=[float(x) for x in state])

    def ring(nodes: list[int]) -> Ring:
        more = draw(st.lists(st.sampled_from(nodes), max_size=3))
        order = draw(st.permutations([*nodes, *more]))
        at = draw(st.sets(st.integers(0, 19), min_size=len(order), max_size=len(order)))
        return Ring(np.array(sorted(at)) / 20, np.array(order))

    old = draw(st.lists(st.integers(0, 5), min_size=replication + 1, max_size=6, unique=True))
    new = draw(st.lists(st.integers(0, 5), min_size=replication + 1, max_size=6, unique=True))
    gone = draw(st.none() | st.sets(st.sampled_from(range(6))))
    lost = None if gone is None else np.isin(np.arange(6), sorted(gone - set(new)))
    return problem, ring(old), ring(new), lost


@given(changes())
@settings(max_examples=120, deadline=None)
def test_ledgers_equal_what_each_position_tells(case: tuple[RingProblem, Ring, Ring, BoolArray | None]) -> None:
    problem, before, after, lost = case
    gone = set() if lost is None else set(np.flatnonzero(lost).tolist())
    moves, copies = ring_moves(problem, before, after, "re-plan", lost)
    size = len(problem.position)
    covered = list[int]()
    for move in moves:
        covered += [(move.first + k) % size for k in range((move.last - move.first) % size + 1)]
    assert len(covered) == len(set(covered))
    transfer = copied = 0.0
    concerned, arrived = set[int](), set[tuple[int, int]]()
    for at in range(size):
        old, new = walked(before, problem, at), walked(after, problem, at)
        here = set(old) - gone
        fresh = [node for node in new if node not in here]
        if fresh or old[0] != new[0]:
            concerned.add(at)
        if here:
            arrived |= {(at, node) for node in fresh}
            transfer += float(problem.state[at]) * (new[0] in fresh and old[0] != new[0])
            copied += float(problem.state[at]) * sum(node in fresh for node in new[1:])
    assert set(covered) == concerned
    assert sum(move.transfer_bytes for move in moves) == transfer
    assert sum(move.rereplicate_bytes for move in moves) == copied
    sent = [((c.first + k) % size, c.target) for c in copies for k in range((c.last - c.first) % size + 1)]
    assert sorted(sent) == sorted(arrived)
    assert moved_bytes(problem, before, after, lost) == transfer + copied
    assert not any(copy.source in gone for copy in copies)


def walked(ring: Ring, problem: RingProblem, at: int) -> list[int]:
    """Return who holds a position, by walking the circle."""
    total = len(ring.token)
    own = max((k for k in range(total) if ring.token[k] <= problem.position[at]), default=total - 1)
    found = list[int]()
    for step in range(total):
        node = int(ring.node[(own + step) % total])
        if node not in found:
            found.append(node)
    return found[: problem.replication + 1]
