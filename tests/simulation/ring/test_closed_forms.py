"""Times, replayed records and copies against formulas; load that moves against the rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ftplan.planners.peer_ring.problem import RingThresholds
from ftplan.planners.peer_ring.ring import balanced, scaled_out, without
from ftplan.simulation.ring.run import run_ring
from ftplan.simulation.ring.setting import Leave, NodeFailure, Surge
from tests.simulation.ring.cases import BOUND_S, ring

#: Of all: with one mapper, no skew and next to no delay, only ticks are not exact.
EXACT: dict[str, Any] = {"mappers": 1, "skew_s": 0.0, "delay_s": 1e-4, "tick_s": 0.01, "interval_s": 2.0}


@pytest.mark.parametrize("seed", [0, 1])
def test_a_take_over(seed: int) -> None:
    """N = rate (u + t_det + 2 L_n), u + t_det the interval; ready after N / mu, caught up at mu - rate - own rate."""
    outcome = run_ring(ring(failures=(NodeFailure(5.0, (1,)),), fixed_s=0.2, until_s=14.0, seed=seed, **EXACT))
    (change,) = outcome.changes
    assert (change.event, change.node, change.others) == ("failure", 2, (1,))
    records = 100.0 * (2.0 + 2.0 * BOUND_S)
    assert change.replayed == pytest.approx(records, abs=3.0)
    assert change.decided_s is not None
    assert 5.0 <= change.decided_s <= 7.001
    assert change.ready_s == pytest.approx(change.decided_s + 0.2 + change.replayed / 400.0, abs=0.02)
    waits = 100.0 * 0.2  # the new records of what is taken over, while the take-over itself lasts
    assert change.caught_up_s == pytest.approx(change.decided_s + 0.2 + (records + waits) / 200.0, abs=0.2)


def test_heartbeats_of_their_own_and_a_run_of_two() -> None:
    outcome = run_ring(
        ring(5, 10, replication=2, failures=(NodeFailure(5.0, (1, 2)),), heartbeat_s=0.5, grace_s=0.1, **EXACT)
    )
    (change,) = outcome.changes
    assert (change.node, change.others, len(change.at)) == (3, (1, 2), 4)
    assert change.decided_s is not None
    assert 0.1 <= change.decided_s - 5.0 <= 0.601


def test_full_copies_after_a_failure_are_r_plus_one_arcs() -> None:
    """The ledger of restoring r: for one failure one arc to each of the next r + 1 nodes."""
    for replication in (1, 2):
        outcome = run_ring(ring(6, 12, replication=replication, failures=(NodeFailure(2.0, (1,)),), until_s=12.0))
        assert outcome.copied_bytes == 2 * 1000.0 * (replication + 1)
        assert outcome.changes[0].restored_s is not None


def test_load_goes_half_way_to_the_neighbour() -> None:
    """A node whose records quadruple gives its upper half to the next one, which needs no copy first."""
    hot = np.where(np.arange(16) < 4, 5.0, 1.0)
    setting = ring(
        4, 16, surges=(Surge(2.0, hot),), thresholds=RingThresholds(0.2, 0.1, 0.9, 0.7), until_s=12.0, **EXACT
    )
    outcome = run_ring(setting)
    first = outcome.changes[0]
    assert (first.event, first.node, first.others) == ("balance", 1, (0,))
    after = balanced(setting.ring, setting.position, 0)
    assert after is not None
    assert (
        first.at.tolist()
        == np.flatnonzero(after.owner(setting.position) != setting.ring.owner(setting.position)).tolist()
    )
    assert outcome.over_time.queue_records[-1].max() < 50.0
    assert outcome.audit.lost.sum() == 0.0


def test_a_spare_joins_when_nobody_can_take_more() -> None:
    setting = ring(
        3,
        12,
        spares=1,
        surges=(Surge(2.0, np.full(12, 5.0)),),
        thresholds=RingThresholds(0.2, 0.1, 0.9, 0.5),
        until_s=9.0,
        **EXACT,
    )
    outcome = run_ring(setting)
    joins = [change for change in outcome.changes if change.event == "scale-out"]
    assert [change.node for change in joins] == [3]
    after = scaled_out(setting.ring, setting.position, joins[0].others[0], 3)
    assert after is not None
    assert outcome.ring.node.tolist() == after.node.tolist()
    assert joins[0].decided_s is not None
    assert joins[0].decided_s - joins[0].begun_s >= setting.timing.provision_s
    assert outcome.out_of_room_s is not None  # even so


def test_a_node_leaves_when_all_copies_are_made() -> None:
    setting = ring(5, 10, replication=2, leaves=(Leave(2.0, 1),), until_s=9.0)
    outcome = run_ring(setting)
    (change,) = outcome.changes
    gone = np.arange(5) == 1
    assert (change.event, change.node, change.restored_s) == ("scale-in", 2, change.decided_s)
    assert outcome.ring.token.tolist() == without(setting.ring, gone).token.tolist()
    assert outcome.copied_bytes == 2 * 1000.0 * 3


def test_a_failure_calls_off_what_is_prepared() -> None:
    outcome = run_ring(ring(5, 10, leaves=(Leave(2.0, 1),), failures=(NodeFailure(2.05, (3,)),), bandwidth=1e4))
    assert [(change.event, change.given_up) for change in outcome.changes] == [("scale-in", True), ("failure", False)]
    assert outcome.audit.lost.sum() == 0.0


def test_a_spare_that_has_failed_does_not_join() -> None:
    setting = ring(
        3, 12, spares=2, surges=(Surge(2.0, np.full(12, 5.0)),), thresholds=RingThresholds(0.2, 0.1, 0.9, 0.5),
        failures=(NodeFailure(1.0, (3,)),), until_s=9.0, **EXACT,
    )  # fmt: skip
    joins = [change.node for change in run_ring(setting).changes if change.event == "scale-out"]
    assert joins == [4]
