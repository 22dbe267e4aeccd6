from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.takeover.estimates import estimates, ring_memory, ring_traffic
from ftplan.planners.peer_ring.takeover.recovery import losses, recovery, worst_runs
from tests.planners.peer_ring.algorithms.cases import even_ring, ring_problem

MB = 2.0**20
SIX = ring_problem([60.0, 10.0, 20.0, 30.0, 40.0, 50.0], [1.0] * 6, state=[MB * k for k in range(1, 7)])


def walk(ring: Ring, token: int, count: int) -> list[int]:
    """Return the next distinct nodes from a token on."""
    met: list[int] = []
    for step in range(len(ring.token)):
        node = int(ring.node[(token + step) % len(ring.token)])
        if node not in met:
            met.append(node)
    return met[:count]


def test_a_backup_keeps_records_until_the_next_checkpoint() -> None:
    problem = ring_problem([60.0, 10.0, 20.0], [1.0] * 3, replication=2, setting={"checkpoint_s": 0.5})
    memory = ring_memory(problem, even_ring(problem))
    others = np.array([30.0, 80.0, 70.0])
    assert memory.records == pytest.approx(others * (10.0 + 0.5 + 0.03))
    assert memory.copies.tolist() == [2.0, 2.0, 2.0]
    assert memory.peak == pytest.approx(2.0 + 100.0 * others * 10.53)
    assert memory.mean == pytest.approx(2.0 + 100.0 * others * 5.53)


def test_every_record_is_sent_to_all_holders() -> None:
    problem = ring_problem([60.0, 10.0, 20.0], [1.0] * 3, replication=2, setting={"touched": 0.1})
    traffic = ring_traffic(problem)
    assert traffic == pytest.approx((9000.0, 27000.0, 0.06))


def test_sizes_that_nobody_knows_are_null() -> None:
    problem = ring_problem([1.0, 0.0, 2.0], [1.0] * 3, setting={"record_bytes": np.array([np.nan, np.nan, 5.0])})
    memory = ring_memory(problem, even_ring(problem))
    assert np.isnan(memory.peak).tolist() == [False, True, False]  # no record comes in at the second position
    said = estimates(problem, even_ring(problem))
    assert said["input_bytes_s"] is None
    assert [row["memory_bytes"] is None for row in said["nodes"]] == [False, True, False]


def test_state_that_nobody_knows_is_null() -> None:
    said = estimates(
        ring_problem([1.0] * 3, [1.0] * 3, state_known=False), even_ring(ring_problem([1.0] * 3, [1.0] * 3))
    )
    names = ("state_bytes", "copies_bytes", "memory_bytes", "restore_bytes", "window_s")
    assert all(row[name] is None for row in said["nodes"] for name in names)
    assert said["checkpoint_bytes_s"] is None


def test_the_next_node_clockwise_takes_over() -> None:
    said = estimates(SIX, even_ring(SIX))
    assert [row["taker"] for row in said["nodes"]] == ["n1", "n2", "n3", "n4", "n5", "n0"]
    first = said["nodes"][0]
    parts = recovery(SIX.setting, 60.0, 10.0, 20_000.0)
    assert first["ready_s"] == float(parts.ready_s)
    assert first["caught_up_s"] == float(parts.caught_up_s)
    # arcs of n0 and n5 get their second copies again, on nodes n1 and n2
    assert first["restore_bytes"] == 7.0 * MB
    assert first["window_s"] == pytest.approx(0.7 + 6.0 / 100.0)
    assert said["worst"]["ready_s"]["node"] == "n0"
    assert said["worst"]["window_s"]["node"] == "n0"  # as n5 and n4, of which it is the first
    assert first["balance_s"] == pytest.approx(30.0 * 5.03 / 20_000.0)


def test_without_backups_a_loss_is_for_ever() -> None:
    problem = ring_problem([1.0] * 3, [1.0] * 3, replication=0)
    said = estimates(problem, even_ring(problem))
    assert all(row["taker"] is None and row["ready_s"] is None and row["takers"] == 0 for row in said["nodes"])
    assert said["worst"]["ready_s"] == {"node": "n0", "value": None}
    assert said["runs"] == []


def test_no_node_left_for_a_copy_leaves_the_window_open() -> None:
    problem = ring_problem([1.0] * 3, [1.0] * 3, replication=2)
    said = estimates(problem, even_ring(problem))
    assert all(row["window_s"] is None and row["ready_s"] is not None for row in said["nodes"])


def test_runs_of_neighbours_add_up_on_one_node() -> None:
    problem = ring_problem([100.0] * 8, [1.0] * 8, replication=3, setting={"replay_rate": np.full(8, 2000.0)})
    runs = worst_runs(problem, even_ring(problem))
    assert [run.length for run in runs] == [1, 2, 3]
    behind = [run.ready_s - 0.7 for run in runs]
    assert behind == pytest.approx([behind[0], 2.0 * behind[0], 3.0 * behind[0]])
    assert [run.taker for run in runs] == [0, 0, 0]


def test_a_tier_node_hands_the_only_copy_to_the_taker() -> None:
    problem = ring_problem([10.0] * 4, [1.0] * 5, state=[50 * MB] * 4, tier=[4])
    ring = even_ring(problem)
    ring = Ring(ring.token, ring.node, np.full(4, 4))
    rows = {row["node"]: row for row in estimates(problem, ring)["nodes"]}
    parts = recovery(problem.setting, 10.0, 10.0, 20_000.0, None, 0.5)
    assert rows["n0"]["taker"] == "n1"
    assert rows["n0"]["ready_s"] == float(parts.ready_s)
    assert rows["n0"]["restore_bytes"] == 50 * MB
    assert (rows["n4"]["takers"], rows["n4"]["ready_s"], rows["n4"]["restore_bytes"]) == (0, 0.0, 200 * MB)
    assert rows["n4"]["window_s"] is None  # no other node of the tier


@st.composite
def rings(draw: st.DrawFn) -> tuple[RingProblem, Ring]:
    nodes, tokens = draw(st.integers(2, 5)), draw(st.integers(1, 2))
    places = draw(st.permutations(range(12)))[: nodes * tokens]
    owners = draw(st.permutations([node for node in range(nodes) for _ in range(tokens)]))
    weights = draw(st.lists(st.integers(0, 50), min_size=12, max_size=12))
    most = draw(st.integers(1, nodes - 1))
    problem = ring_problem(
        [float(w) for w in weights], [1.0] * nodes, replication=most, state=[float(w % 7) * MB for w in weights]
    )
    order = np.argsort(places)
    return problem, Ring(problem.position[np.array(places)[order]], np.array(owners)[order])


@given(rings())
def test_losses_are_those_of_looking_at_every_arc(case: tuple[RingProblem, Ring]) -> None:
    problem, ring = case
    count, copies = len(problem.nodes), problem.replication + 1
    lost, rate, state = losses(problem, ring), problem.arcs(ring, problem.rate), problem.arcs(ring, problem.state)
    owned = np.bincount(ring.node, rate, minlength=count)
    for place, node in enumerate(lost.nodes.tolist()):
        taken: dict[int, float] = {}
        sent: dict[int, float] = {}
        total = 0.0
        for token, owner in enumerate(ring.node.tolist()):
            near = walk(ring, token, copies + 1)
            if owner == node:
                taken[near[1]] = taken.get(near[1], 0.0) + rate[token]
            if node in near[:copies]:
                total += state[token]
                if len(near) > copies:
                    sent[near[copies]] = sent.get(near[copies], 0.0) + state[token]
        ready = {
            taker: float(recovery(problem.setting, more, owned[taker], 2e4).ready_s) for taker, more in taken.items()
        }
        assert lost.takers[place] == len(taken)
        assert lost.ready_s[place] == pytest.approx(max(ready.values()))
        assert ready[int(lost.taker[place])] == pytest.approx(max(ready.values()))
        assert lost.restore_bytes[place] == pytest.approx(total)
        if count > copies:
            assert lost.window_s[place] == pytest.approx(0.7 + max(sent.values(), default=0.0) / (100.0 * MB))
        else:
            assert np.isinf(lost.window_s[place])


def test_the_document_is_plain() -> None:
    def plain(value: Any) -> bool:
        if isinstance(value, dict):
            return all(isinstance(key, str) and plain(item) for key, item in value.items())
        if isinstance(value, list):
            return all(plain(item) for item in value)
        return value is None or type(value) in (str, int, float)

    for replication, tokens in product((0, 1, 3), (1, 2)):
        problem = ring_problem([5.0] * 12, [1.0] * 5, replication=replication)
        node = np.arange(5 * tokens) % 5
        assert plain(estimates(problem, Ring(problem.position[: 5 * tokens], node)))
