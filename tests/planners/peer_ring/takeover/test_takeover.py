"""What a failure does to a ring: runs, loads, times, what follows, and what is lost; against walks around the ring."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.topology import BoolArray
from ftplan.planners.peer_ring.moves import held_at
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.takeover.takeover import TakeOver, ring_after, take_over
from tests.planners.peer_ring.algorithms.cases import even_ring, ring_problem


def six(replication: int = 1, **others: Any) -> tuple[RingProblem, Ring]:
    """Six nodes with two key groups each."""
    problem = ring_problem([1.0] * 12, [1.0] * 6, replication=replication, **others)
    return problem, even_ring(problem)


def dead(*nodes: int, of: int = 6) -> BoolArray:
    return np.isin(np.arange(of), nodes)


def taken(found: TakeOver) -> dict[str, list[str]]:
    return {row["node"]: row["run"] for row in found.takeovers if row["run"]}


def lost(found: TakeOver) -> list[int]:
    return [row["key_group"] for row in found.lost]


@pytest.mark.parametrize(
    ("replication", "gone", "runs", "arcs"),
    [
        (1, (0, 1), {"n2": ["n0", "n1"]}, [0]),
        (1, (0, 1, 2), {"n3": ["n0", "n1", "n2"]}, [0, 1]),
        (1, (5, 0), {"n1": ["n5", "n0"]}, [5]),
        (1, (0, 2, 4), {"n1": ["n0"], "n3": ["n2"], "n5": ["n4"]}, []),
        (2, (0, 1, 2), {"n3": ["n0", "n1", "n2"]}, [0]),
        (2, (0, 1, 2, 3), {"n4": ["n0", "n1", "n2", "n3"]}, [0, 1]),
        (2, (0, 1, 3, 4), {"n2": ["n0", "n1"], "n5": ["n3", "n4"]}, []),
        (0, (2,), {"n3": ["n2"]}, [2]),
        (1, (), {}, []),
    ],
)
def test_runs_of_the_notes(
    replication: int, gone: tuple[int, ...], runs: dict[str, list[str]], arcs: list[int]
) -> None:
    problem, ring = six(replication)
    found = take_over(problem, ring, dead(*gone))
    assert taken(found) == runs
    assert lost(found) == sorted(group for arc in arcs for group in (2 * arc, 2 * arc + 1))
    assert {row["node"] for row in found.lost} == {f"n{arc}" for arc in arcs}


def test_all_nodes_dead_is_an_answer_all_the_same() -> None:
    problem, ring = six()
    found = take_over(problem, ring, np.ones(6, dtype=np.bool_))
    assert (found.after, found.moves, found.copies, found.takeovers) == (None, (), (), [])
    assert lost(found) == list(range(12))


def test_nodes_of_the_question_fail_where_none_are_said() -> None:
    problem, ring = six(fails=[3])
    assert taken(take_over(problem, ring)) == {"n4": ["n3"]}


def test_one_failure_by_the_notes() -> None:
    """T = 10 s, t_det + c0 = 0.7 s, mu = 20,000/s: N = lam (u + t_det + 2 L_n), ready after N / mu, and so on."""
    problem, ring = six(rate=np.full(12, 500.0))
    row = next(row for row in take_over(problem, ring, dead(2)).takeovers if row["node"] == "n3")
    records = 1000.0 * (5.0 + 0.7 + 0.03)
    assert row["replayed_records"] == pytest.approx(records)
    assert row["ready_s"] == pytest.approx(0.7 + records / 20_000)
    assert row["caught_up_s"] == pytest.approx(0.7 + records / (20_000 - 2_000))
    assert (row["arcs"], row["key_groups"], row["load_taken"], row["load"]) == (1, 2, 2.0, 4.0)
    assert (row["transfer_bytes"], row["overloaded"], row["follows"], row["asks"]) == (0.0, False, None, [])


def test_who_cannot_keep_up_never_catches_up() -> None:
    problem, ring = six(rate=np.full(12, 500.0), setting={"replay_rate": np.full(6, 2_000.0)})
    row = next(row for row in take_over(problem, ring, dead(2)).takeovers if row["run"])
    assert row["caught_up_s"] is None
    assert row["ready_s"] == pytest.approx(0.7 + 5_730.0 / 2_000)


def test_copies_are_restored_by_who_gets_them() -> None:
    """After one failure: one arc each on the r + 1 nodes after it, those that take nothing over among them."""
    problem, ring = six(2, setting={"bandwidth": 4.0})
    rows = take_over(problem, ring, dead(2)).takeovers
    assert [(row["node"], row["run"], row["restore_bytes"]) for row in rows] == [
        ("n3", ["n2"], 2.0),
        ("n4", [], 2.0),
        ("n5", [], 2.0),
    ]
    assert [row["restored_s"] for row in rows] == [pytest.approx(0.7 + 0.5)] * 3
    assert [(row["ready_s"] is None, row["load_taken"]) for row in rows] == [(False, 2.0), (True, 0.0), (True, 0.0)]


@pytest.mark.parametrize(
    ("capacity", "follows", "asks"),
    [
        ([10.0] * 6, None, []),
        ([10.0, 10.0, 10.0, 4.5, 10.0, 10.0], "balance", ["n4"]),
        ([10.0, 10.0, 10.0, 4.5, 2.5, 10.0], "balance", ["n4", "n5"]),
        ([2.1, 2.1, 10.0, 4.5, 2.1, 2.1], "scale-out", ["n4", "n5", "n0", "n1"]),
        ([10.0, 10.0, 10.0, 0.0, 10.0, 10.0], "balance", ["n4"]),
    ],
)
def test_what_follows_an_overload(capacity: list[float], follows: str | None, asks: list[str]) -> None:
    """Node 3 has four groups after it takes over those of node 2."""
    problem, ring = six(capacity=np.array(capacity))
    row = next(row for row in take_over(problem, ring, dead(2)).takeovers if row["run"])
    assert (row["follows"], row["asks"], row["overloaded"]) == (follows, asks, follows is not None)
    assert row["utilisation"] == (None if capacity[3] == 0.0 else pytest.approx(4.0 / capacity[3]))


def test_last_copies_of_the_tier_move_on() -> None:
    """Those of a dead node go to the one with least for its cpu, not in a zone of theirs; else to the ring itself."""
    problem = ring_problem([1.0] * 8, [1.0] * 7, "abababc", tier=[4, 5, 6])
    ring = Ring(np.arange(4) / 4, np.arange(4), np.array([6, 6, 4, 5]))
    after = ring_after(problem, ring, dead(6, of=7))
    assert after is not None
    assert after.tier is not None
    assert after.tier.tolist() == [5, 4, 4, 5]
    alone = ring_after(problem, ring, dead(4, 5, 6, of=7))
    assert alone is not None
    assert alone.tier is None
    found = take_over(problem, ring, dead(6, of=7))
    assert [(row["node"], row["run"], row["restore_bytes"]) for row in found.takeovers] == [
        ("n4", [], 2.0),
        ("n5", [], 2.0),
    ]


def test_without_a_copy_on_the_ring_state_travels_from_the_tier() -> None:
    problem = ring_problem([1.0] * 8, [1.0] * 5, tier=[4], setting={"bandwidth": 2.0})
    ring = Ring(np.arange(4) / 4, np.arange(4), np.array([4, 4, 4, 4]))
    row = next(row for row in take_over(problem, ring, dead(1, of=5)).takeovers if row["run"])
    assert (row["node"], row["transfer_bytes"], row["restore_bytes"]) == ("n2", 2.0, 0.0)
    assert row["ready_s"] == pytest.approx(0.7 + 1.0 + 2.0 * 5.73 / 20_000)
    assert lost(take_over(problem, ring, dead(0, 1, 2, 3, of=5))) == []


@pytest.mark.parametrize("replication", [0, 1, 2, 3])
def test_every_failure_of_a_small_ring(replication: int) -> None:
    """Against walks: an arc is lost where its holders are dead; the first live node clockwise takes it over."""
    problem = ring_problem(np.arange(1.0, 13.0).tolist(), [1.0] * 5, replication=replication)
    ring = Ring(problem.position[[0, 1, 5, 6, 10]], np.array([3, 0, 4, 1, 2]))
    order = ring.node.tolist()
    for size in range(5):
        for gone in combinations(range(5), size):
            found = take_over(problem, ring, dead(*gone, of=5))
            assert found.after is not None
            heirs = {node: heir(order, place, gone) for place, node in enumerate(order)}
            owner = ring.node[ring.owner(problem.position)].tolist()
            after = found.after.node[found.after.owner(problem.position)].tolist()
            assert after == [heirs[node] for node in owner]
            arcs = {node for place, node in enumerate(order) if held(order, place, replication) <= set(gone)}
            assert lost(found) == [group for group in range(12) if owner[group] in arcs]
            assert {row["node"] for row in found.takeovers if row["arcs"]} == {f"n{heirs[node]}" for node in gone}
            load = problem.loads(found.after)
            assert all(row["load"] == load[int(row["node"][1:])] for row in found.takeovers)
            assert sum(row["load_taken"] for row in found.takeovers) == problem.loads(ring)[list(gone)].sum()


def heir(order: list[int], place: int, gone: tuple[int, ...]) -> int:
    return next(node for node in order[place:] + order[:place] if node not in gone)


def held(order: list[int], place: int, replication: int) -> set[int]:
    return set((order[place:] + order[:place])[: replication + 1])


@st.composite
def failures(draw: st.DrawFn) -> tuple[RingProblem, Ring, BoolArray]:
    """Rings with one token a node or several, with a tier or not, and a failure that leaves at least one node."""
    nodes, replication, tiered = draw(st.integers(2, 6)), draw(st.integers(0, 2)), draw(st.booleans())
    replication = max(min(replication, nodes - 1), int(tiered))
    load = draw(st.lists(st.floats(0, 9), min_size=2, max_size=10))
    problem = ring_problem(load, [1.0] * 8, "abababcc", replication=replication, tier=[6, 7])
    order = [*range(nodes), *draw(st.lists(st.integers(0, nodes - 1), max_size=4))]
    order = draw(st.permutations(order))
    at = draw(st.sets(st.integers(0, 49), min_size=len(order), max_size=len(order)))
    tier = draw(st.lists(st.integers(6, 7), min_size=len(order), max_size=len(order)))
    alive = draw(st.integers(0, nodes - 1))
    gone = draw(st.sets(st.integers(0, 7))) - {alive}
    ring = Ring(np.array(sorted(at)) / 50, np.array(order), np.array(tier) if tiered else None)
    return problem, ring, dead(*gone, of=8)


@given(failures())
@settings(max_examples=80, deadline=None)
def test_all_copies_are_there_again(case: tuple[RingProblem, Ring, BoolArray]) -> None:
    problem, ring, gone = case
    found = take_over(problem, ring, gone)
    assert found.after is not None
    assert not gone[found.after.node].any()
    size = len(problem.position)
    there = [{node for node in row if not gone[node]} for row in held_at(problem, ring).tolist()]
    kept = [bool(nodes) for nodes in there]
    for copy in found.copies:
        for k in range((copy.last - copy.first) % size + 1):
            assert copy.source in there[(copy.first + k) % size]
    for copy in found.copies:
        for k in range((copy.last - copy.first) % size + 1):
            there[(copy.first + k) % size].add(copy.target)
    holders = held_at(problem, found.after).tolist()
    backups = [] if found.after.tier is None else found.after.tier.tolist()
    assert not any(gone[node] for node in backups)
    assert len(holders[0]) == min(problem.replication + 1, len(found.after.nodes) + bool(backups))
    assert all(len(set(row)) == len(row) for row in holders)
    assert all(set(row) <= nodes for row, nodes, keeps in zip(holders, there, kept, strict=True) if keeps)
    assert sorted({row["key_group"] for row in found.lost}) == [k for k in range(size) if not kept[k]]
    if ring.tier is None:
        assert all(row["transfer_bytes"] == 0.0 for row in found.takeovers)
    moved = sum(row["restore_bytes"] + row["transfer_bytes"] for row in found.takeovers)
    assert moved == sum(copy.bytes for copy in found.copies)


def test_too_few_nodes_for_all_copies() -> None:
    problem, ring = six(2)
    rows = take_over(problem, ring, dead(0, 1, 3, 4)).takeovers
    assert [(row["node"], row["restored_s"] is None) for row in rows] == [("n2", True), ("n5", True)]
    assert sum(row["restore_bytes"] for row in rows) == 12.0


def test_unknown_state_is_not_counted() -> None:
    problem, ring = six(state_known=False)
    rows = take_over(problem, ring, dead(2)).takeovers
    assert {row["restore_bytes"] for row in rows} == {row["restored_s"] for row in rows} == {None}
