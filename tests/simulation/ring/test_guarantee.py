"""No record is lost while a copy is left, whatever fails, moves, joins and leaves; and broken protocols are seen."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.topology import BoolArray
from ftplan.planners.peer_ring.problem import RingThresholds
from ftplan.planners.peer_ring.ring import Ring, without
from ftplan.simulation.ring.checkpoints import Checkpoints
from ftplan.simulation.ring.run import RingOutcome, run_ring
from ftplan.simulation.ring.setting import Leave, NodeFailure, RingSetting, Surge
from tests.simulation.ring.cases import BOUND_S, ring

TIMES = st.floats(0.2, 5.0)


@st.composite
def busy_rings(draw: st.DrawFn) -> RingSetting:
    """Draw a ring, of one token a node or more, to which much happens."""
    nodes = draw(st.integers(3, 6))
    which = st.lists(st.integers(0, nodes - 1), min_size=1, max_size=nodes // 2, unique=True)
    failures = draw(st.lists(st.builds(NodeFailure, TIMES, which.map(tuple)), max_size=3))
    leaves = draw(st.lists(st.builds(Leave, TIMES, st.integers(0, nodes - 1)), max_size=1))
    hot = np.where(np.arange(12) < 3, draw(st.sampled_from([1.0, 4.0, 8.0])), 1.0)
    more = draw(st.lists(st.integers(0, nodes - 1), max_size=6))
    order = np.array(draw(st.permutations([*range(nodes), *more])), dtype=np.int64)
    tokens = (np.arange(len(order)) * 12 // len(order)) / 12.0
    return ring(
        nodes, ring=Ring(tokens, order), spares=draw(st.integers(0, 1)),
        replication=draw(st.integers(1, min(3, nodes - 1))),
        failures=tuple(failures), leaves=tuple(leaves), surges=(Surge(1.0, hot),),
        thresholds=draw(st.sampled_from([None, RingThresholds(0.2, 0.1, 0.8, 0.7)])),
        heartbeat_s=draw(st.sampled_from([None, 0.2])), fixed_s=draw(st.sampled_from([0.0, 0.3])),
        checkpoint_s=draw(st.sampled_from([0.0, 0.05])), bandwidth=draw(st.sampled_from([1e9, 2e4])),
        capacity=np.full(7, draw(st.sampled_from([150.0, 400.0])))[: nodes + 1],
        mappers=draw(st.sampled_from([2, 3])), seed=draw(st.integers(0, 99)),
    )  # fmt: skip


@settings(max_examples=12, deadline=None)
@given(busy_rings())
def test_nothing_is_lost_while_a_copy_is_left(setting: RingSetting) -> None:
    outcome = run_ring(setting)
    assert outcome.unfinished == 0.0
    assert outcome.audit.lost.sum() == 0.0
    assert not outcome.audit.unsound.any()
    assert outcome.audit.sent.sum() > 0.0


def test_what_is_lost_is_what_all_holders_of_which_fail() -> None:
    """Against the definition, for every set of three of five nodes."""
    for replication in (1, 2):
        for failed in combinations(range(5), 3):
            setting = ring(5, 10, replication=replication, failures=(NodeFailure(2.3, failed),), until_s=4.5)
            outcome = run_ring(setting)
            holders = setting.ring.holders(replication)[setting.ring.owner(setting.position)]
            gone = np.isin(holders, failed).all(axis=1)
            assert (outcome.audit.excused > 0.0).tolist() == gone.tolist()
            if replication == 1 or gone.any():  # else a second detection may send some copies twice
                assert outcome.copied_bytes == new_copies(setting, failed, gone)
            assert outcome.audit.lost.sum() == 0.0


def new_copies(setting: RingSetting, failed: tuple[int, ...], gone: BoolArray) -> float:
    """Return the bytes of copies on nodes that held none: of what is lost there is nothing to copy."""
    after = without(setting.ring, np.isin(np.arange(len(setting.nodes)), failed))
    copies = min(setting.replication, len(after.nodes) - 1)
    was, now = (
        one.holders(many)[one.owner(setting.position)]
        for one, many in ((setting.ring, setting.replication), (after, copies))
    )
    fresh = (now[:, :, None] != was[:, None, :]).all(axis=2).sum(axis=1)
    return float((setting.state_bytes * fresh)[~gone].sum())


def losses(**asked: Any) -> list[RingOutcome]:
    """Return what comes of the failure of one node of four, at several moments."""
    failures = (NodeFailure(2.31, (1,)),)
    return [run_ring(ring(failures=failures, until_s=4.0, seed=seed, **asked)) for seed in range(6)]


def test_within_the_bounds_one_failure_loses_nothing_and_some_records_count_twice() -> None:
    outcomes = losses()
    assert sum(outcome.audit.lost.sum() for outcome in outcomes) == 0.0
    assert sum(outcome.audit.twice.sum() for outcome in outcomes) > 0.0


@pytest.mark.parametrize(
    "broken",
    [{"keep_s": 0.0}, {"skew_s": 4.0 * BOUND_S}, {"delay_s": 5.0 * BOUND_S}],
    ids=lambda asked: next(iter(asked)),
)
def test_what_the_bound_rules_out_loses_records(broken: dict[str, float]) -> None:
    """Backups that drop what is older than T_s; clocks, and messages, that are beyond the bound of latency."""
    outcomes = losses(**broken)
    assert sum(outcome.audit.lost.sum() for outcome in outcomes) > 0.0
    assert sum(outcome.audit.excused.sum() for outcome in outcomes) == 0.0


def test_one_timestamp_for_all_of_a_node_loses_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a new owner replays is newer than what waits in its queue: T_s of one must not evict the other."""
    send_all = Checkpoints._send_all

    def of_the_node(self: Checkpoints, whole: Any, *to: Any) -> None:
        whole.stamp[:] = whole.stamp.max()
        send_all(self, whole, *to)

    asked: dict[str, Any] = {
        "failures": (NodeFailure(2.31, (1,)), NodeFailure(5.0, (2,))),
        "capacity": np.array([400.0, 400.0, 80.0, 400.0]),
    }  # fmt: skip
    right = [run_ring(ring(seed=seed, **asked)) for seed in range(3)]
    assert sum(outcome.audit.lost.sum() for outcome in right) == 0.0
    monkeypatch.setattr(Checkpoints, "_send_all", of_the_node)
    wrong = [run_ring(ring(seed=seed, **asked)) for seed in range(3)]
    assert sum(outcome.audit.lost.sum() for outcome in wrong) > 0.0


def test_checkpoints_that_build_on_another_one_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node fails between two backups: the one that takes over has the older checkpoint, or the newer."""
    asked: dict[str, Any] = {
        "nodes": 5, "replication": 2, "interval_s": 0.5, "checkpoint_s": 0.4, "until_s": 4.0,
        "failures": (NodeFailure(1.31, (0,)), NodeFailure(2.61, (1,))),
    }  # fmt: skip
    refused = list[int]()
    refuse = Checkpoints._refuse

    def counted(self: Checkpoints, message: Any, at: Any) -> None:
        refused.append(len(at))
        refuse(self, message, at)

    monkeypatch.setattr(Checkpoints, "_refuse", counted)
    outcomes = [run_ring(ring(seed=seed, **asked)) for seed in range(8)]
    assert sum(refused) > 0
    assert sum(outcome.audit.excused.sum() for outcome in outcomes) == 0.0
    assert sum(outcome.audit.lost.sum() for outcome in outcomes) == 0.0
    assert not any(outcome.audit.unsound.any() for outcome in outcomes)
    merge = Checkpoints._merge

    def taken_as_it_is(self: Checkpoints, message: Any) -> None:
        if message.base is not None:
            message.base[:] = self.world.peers[message.target].holdings.tag[message.at]
        merge(self, message)

    monkeypatch.setattr(Checkpoints, "_merge", taken_as_it_is)
    wrong = [run_ring(ring(seed=seed, **asked)) for seed in range(8)]
    assert sum(outcome.audit.lost.sum() for outcome in wrong) > 0.0


def test_all_nodes_fail() -> None:
    outcome = run_ring(ring(failures=(NodeFailure(2.0, (0, 1, 2, 3)),), until_s=4.0))
    np.testing.assert_allclose(outcome.audit.excused, outcome.audit.sent)
    assert not outcome.changes


def test_positions_that_are_lost_twice() -> None:
    """All who hold some fail, others begin anew, and fail too; what came between is gone as well, and excused."""
    failures = (NodeFailure(1.3, (0, 1)), NodeFailure(3.9, (2, 3)))
    outcome = run_ring(ring(failures=failures, until_s=5.0))
    assert outcome.audit.lost.sum() == 0.0
    np.testing.assert_allclose(outcome.audit.excused, outcome.audit.sent)


def test_what_still_waits_when_a_run_is_broken_off_is_not_lost() -> None:
    """A batch that a node is at work on is neither in its queue nor in its state."""
    outcome = run_ring(ring(until_s=1.0, capacity=np.full(4, 2.0)))
    assert outcome.unfinished > 0.0
    assert outcome.audit.lost.sum() == 0.0
    assert outcome.audit.twice.sum() == 0.0
