"""The parts of a recovery: held to a queue that is played through, and to the formula written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.model.measures.recovery_time import (
    RecoveryParameters,
    outside_fitted_range,
    recovery_time,
    require_keeping_up,
)
from ftplan.model.recovery_costs import Estimate, FittedRange, RecoveryCosts

SECONDS = st.floats(0.0, 100.0)
STEP_S = 0.01


def queue(stopped_s: float, behind_s: float, rate: float, capacity: float) -> tuple[float, float]:
    """Play a queue through: when all that has to be processed again is, and when the queue is empty."""
    again, waiting, at_s, replayed_at = rate * behind_s, 0.0, 0.0, 0.0
    while at_s < stopped_s or again + waiting > rate * STEP_S / 2:
        waiting += rate * STEP_S
        room = capacity * STEP_S if at_s >= stopped_s else 0.0
        first = min(room, again)
        again -= first
        waiting = max(0.0, waiting - (room - first))
        at_s += STEP_S
        replayed_at = at_s if again > 0.0 else replayed_at
    return replayed_at, at_s


@pytest.mark.parametrize(
    ("detection", "restart", "megabytes", "share", "interval", "rate", "capacity"),
    [
        (5.0, 3.0, 100.0, 0.5, 20.0, 60.0, 100.0),
        (0.0, 3.0, 0.0, 1.0, 10.0, 10.0, 100.0),
        (2.0, 0.0, 50.0, 0.0, 10.0, 80.0, 100.0),
    ],
)
def test_it_is_what_a_queue_takes(
    detection: float, restart: float, megabytes: float, share: float, interval: float, rate: float, capacity: float
) -> None:
    parameters = RecoveryParameters(detection, restart, 50.0, share, capacity)
    parts = recovery_time(parameters, rate, interval, megabytes * 2**20)
    stopped = detection + restart + megabytes / 50.0
    replayed, empty = queue(stopped, share * interval, rate, capacity)
    assert parts.stopped_s == pytest.approx(stopped)
    assert parts.total_s == pytest.approx(empty, abs=20 * STEP_S)
    if share:
        assert parts.stopped_s + parts.replay_s == pytest.approx(replayed, abs=5 * STEP_S)


@given(SECONDS, SECONDS, st.floats(0.0, 1.0), SECONDS, st.floats(0.0, 0.95))
def test_the_parts_sum_to_the_formula(down: float, transfer: float, share: float, interval: float, rho: float) -> None:
    parts = recovery_time(RecoveryParameters(down, 0.0, 1.0, share, 1000.0), 1000.0 * rho, interval, transfer * 2**20)
    stopped = down + transfer
    assert float(parts.total_s) == pytest.approx(stopped + (share * interval + stopped) * rho / (1.0 - rho))
    assert float(parts.total_s) == pytest.approx(float(sum(parts)))


def test_it_broadcasts_and_never_ends_without_capacity() -> None:
    parts = recovery_time(RecoveryParameters(60.0, capacity_records_s=100.0), [[50.0], [100.0]], [10.0, 20.0, 30.0])
    assert parts.total_s.shape == (2, 3)
    assert np.isfinite(parts.total_s[0]).all()
    assert np.isinf(parts.total_s[1]).all()
    assert float(recovery_time(RecoveryParameters(), 5.0, 10.0, 1e9).total_s) == 0.0
    assert float(recovery_time(RecoveryParameters(capacity_records_s=5.0), 5.0).total_s) == 0.0


def test_costs_say_where_they_hold() -> None:
    costs = RecoveryCosts(
        "remote",
        capacity_records_s=Estimate(100.0),
        rates=FittedRange(10.0, 20.0),
        intervals_s=FittedRange(10.0, 60.0),
    )
    assert list(outside_fitted_range(costs, 15.0, None)) == []
    assert [warning.code for warning in outside_fitted_range(costs, 25.0, 5.0)] == ["OUTSIDE_FITTED_RANGE"] * 2
    require_keeping_up(costs, 99.0)
    with pytest.raises(FtplanError, match="never catches up after a failure"):
        require_keeping_up(costs, 100.0)
