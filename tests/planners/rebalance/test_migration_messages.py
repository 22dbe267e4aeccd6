"""Costs in messages, worked out by hand from the listings of the paper."""

from __future__ import annotations

import pytest

from tests.planners.rebalance.migration_messages import cpa_costs, cpal_costs, direct_costs, message_time

#: Buffers of 3 and 5 messages, half a unit to work one off, at most 2 units in a queue.
BUFFERS, RECORD_TIME, QUEUE = (3.0, 5.0), 0.5, 2.0


def test_what_messages_take() -> None:
    """Table 2: fast 1, normal 1 + C, fast with data its size, normal with data its size + C."""
    times = [
        message_time(fast=True),
        message_time(QUEUE),
        message_time(size=7.0, fast=True),
        message_time(QUEUE, size=7),
    ]
    assert times == [1.0, 3.0, 7.0, 9.0]
    assert message_time(QUEUE, fast=True) == 1.0


def test_cpa() -> None:
    """The larger buffer is there after 5, both are worked off in 1.5 + 2.5."""
    assert cpa_costs(BUFFERS, RECORD_TIME) == (9.0, 9.0)
    assert cpa_costs((), RECORD_TIME) == (0.0, 0.0)


def test_cpal() -> None:
    """5 + 2 until all is there, 4 to replay, 1 to say so, 1 + 2 for syncGroup, and what was put aside."""
    assert cpal_costs(BUFFERS, RECORD_TIME, QUEUE) == (2.0, 15.0)
    assert cpal_costs(BUFFERS, RECORD_TIME, QUEUE, held=1.5) == (3.5, 16.5)


def test_direct_depends_on_the_state_alone() -> None:
    assert direct_costs(40.0) == (40.0, 40.0)


@pytest.mark.parametrize("scale", [1.0, 10.0, 1000.0])
def test_latency_of_cpal_does_not_depend_on_the_buffers(scale: float) -> None:
    buffers = [size * scale for size in BUFFERS]
    assert cpal_costs(buffers, RECORD_TIME, QUEUE).latency == 2.0
    apart = cpal_costs(buffers, RECORD_TIME, QUEUE).completion - cpa_costs(buffers, RECORD_TIME).completion
    assert apart == pytest.approx(1.0 + 1.0 + 2.0 * QUEUE)
