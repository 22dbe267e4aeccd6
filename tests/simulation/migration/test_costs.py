"""What migrations take in the simulation, beside the formulas: in the paper's messages and in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.units import MB
from ftplan.planners.rebalance.migration_costs import PROTOCOLS, MigrationSetting, migration_costs
from ftplan.simulation.migration.run import run_moves
from ftplan.simulation.migration.setting import MessageTiming, MoveSetting, RecordTiming
from tests.planners.rebalance.migration_messages import cpa_costs, cpal_costs, direct_costs
from tests.simulation.migration.message_cases import in_messages, simulated

BUFFERS = st.lists(st.integers(1, 40), min_size=1, max_size=5).map(tuple)


@given(BUFFERS, st.sampled_from([0.0625, 0.5, 2.0]), st.sampled_from([0.0, 3.0, 20.0]))
@settings(max_examples=40)
def test_costs_in_messages(buffers: tuple[int, ...], record_time: float, queue: float) -> None:
    """Up to small messages, the controller's order and what carries data, and to replaying while others are sent."""
    moved = simulated(in_messages("cpa", buffers, record_time, queue))
    assert moved.faults == ()
    stated = cpa_costs(buffers, record_time)
    last = max(
        max(buffers) + record_time * buffers[buffers.index(max(buffers))], min(buffers) + record_time * sum(buffers)
    )
    assert last <= moved.figures.pause_s <= stated.latency + 1.0
    assert last <= moved.figures.completion_s <= max(stated.completion, 1.0 + queue) + 2.0
    moved = simulated(in_messages("cpal", buffers, record_time, queue))
    assert moved.faults == ()
    stated = cpal_costs(buffers, record_time, queue)
    assert 0.0 <= moved.figures.pause_s <= stated.latency
    assert last + 2.0 + 2.0 * queue <= moved.figures.completion_s <= stated.completion + 2.0


def test_one_buffer_takes_what_the_formula_says() -> None:
    moved = simulated(in_messages("cpa", (40,), 0.5, 3.0))
    assert (moved.figures.pause_s, moved.figures.replayed) == (cpa_costs((40.0,), 0.5).latency + 1.0, 40)
    moved = simulated(in_messages("cpal", (40,), 0.5, 3.0))
    assert moved.figures.completion_s == cpal_costs((40.0,), 0.5, 3.0).completion + 2.0


def test_direct_depends_on_the_state_and_not_on_the_buffers() -> None:
    """Beside the state there are four small messages: the order, the state's, the acknowledgement, the empty buffer."""
    pauses = {simulated(in_messages("direct", (size,), 0.5, 3.0, state=200)).figures.pause_s for size in (1, 40)}
    assert pauses == {direct_costs(200.0).latency + 3.0}


def in_seconds(protocol: str, cost: MigrationSetting, upstreams: int) -> MoveSetting:
    """Return the move of the first key group of a cost model's setting: records at regular times, all alike."""
    given = {name: float(np.atleast_1d(value)[0]) for name, value in cost._asdict().items() if value is not None}

    def records(upstream: int) -> Iterator[RecordTiming]:
        gap_s = upstreams / given["rate"]
        yield RecordTiming(gap_s * (1.0 + upstream / upstreams), given["delay_s"], given["queue_s"])
        while True:
            yield RecordTiming(gap_s, given["delay_s"], given["queue_s"])

    return MoveSetting(
        protocol, 0, 1, upstreams, records, lambda: MessageTiming(given["delay_s"], given["queue_s"]),
        record_time_s=given["record_time_s"], record_bytes=given["record_bytes"], state_bytes=given["state_bytes"],
        age_s=given["age_s"], interval_s=given["interval_s"], bytes_s=given["bandwidth_mb_s"] * MB,
        serialisation_s=given["serialisation_mb_s"] * MB, restart_s=given["restart_s"],
        detection_s=given["detection_s"], warm_up_s=5.0 / given["rate"], most_records=20_000.0,
    )  # fmt: skip


@st.composite
def costs(draw: st.DrawFn) -> MigrationSetting:
    rate = draw(st.sampled_from([10.0, 100.0]))
    age_s = draw(st.floats(0.5, 5.0))
    return MigrationSetting(
        rate=rate,
        record_time_s=draw(st.floats(0.05, 0.8)) / rate,
        state_bytes=draw(st.floats(0.0, 20.0)) * MB,
        record_bytes=draw(st.floats(0.0, 0.02)) * MB / rate,
        age_s=age_s,
        interval_s=age_s + draw(st.floats(0.5, 5.0)),
        full=True,
        bandwidth_mb_s=10.0,
        serialisation_mb_s=draw(st.sampled_from([20.0, np.inf])),
        delay_s=draw(st.sampled_from([0.001, 0.05])),
        queue_s=draw(st.sampled_from([0.0, 0.02])),
        restart_s=draw(st.sampled_from([0.0, 1.0])),
        detection_s=draw(st.sampled_from([0.0, 3.0])),
    )


@given(st.sampled_from(PROTOCOLS), costs(), st.integers(1, 4))
@settings(max_examples=60)
def test_costs_in_seconds(protocol: str, cost: MigrationSetting, upstreams: int) -> None:
    """What a formula leaves out: a few messages, single records, and that buffers are replayed while others come."""
    moved = run_moves([in_seconds(protocol, cost, upstreams)])[0]
    assert moved.faults == ()
    stated, row = migration_costs(cost), PROTOCOLS.index(protocol)
    c: Any = cost
    catch_up = float(stated.catch_up[0])
    # of the messages between the steps, those of the checkpoint's storing, and a record of each upstream instance
    small = (6.0 * c.delay_s + 2.0 * c.queue_s + (3.0 + upstreams) / c.rate) * catch_up
    wire = (c.age_s + c.interval_s) * c.rate * c.record_bytes / (c.bandwidth_mb_s * MB)
    overlap = (wire + (c.restart_s if upstreams > 1 else 0.0)) * catch_up
    latency, completion = float(stated.latency_s[row, 0]), float(stated.completion_s[row, 0])
    if protocol == "lazy":  # the next checkpoint comes when the interval since the last one is over
        completion -= c.age_s
    if protocol == "cpal":
        assert moved.figures.pause_s <= latency + small
    else:
        assert latency - overlap - small <= moved.figures.pause_s <= latency + overlap + small
    assert completion - overlap - small <= moved.figures.completion_s <= completion + overlap + small


def test_cpal_as_printed_pauses_by_what_came_in_during_the_replay() -> None:
    """Synchronised right after the replay, the new node has what came in meanwhile still before it."""
    cost = MigrationSetting(rate=100.0, record_time_s=0.005, state_bytes=0.0, age_s=4.0, interval_s=60.0, delay_s=0.001)
    setting = in_seconds("cpal", cost, 2)
    printed = run_moves([replace(setting, catch_up_first=False)])[0]
    caught_up = run_moves([setting])[0]
    # 400 records are replayed in 2 s; 200 came in meanwhile, which takes 1 s, and 1 s more with what comes then
    assert printed.figures.pause_s == pytest.approx(2.0, abs=0.1)
    assert printed.figures.longest_delay_s == pytest.approx(1.0, abs=0.1)
    assert caught_up.figures.pause_s == pytest.approx(0.0, abs=0.01)
    assert printed.figures.completion_s == pytest.approx(caught_up.figures.completion_s, abs=0.1)
    assert printed.faults == caught_up.faults == ()


def test_transfers_into_a_node_wait_for_each_other() -> None:
    """Two moves onto one node: the second gets its buffer when the first has its own; onto two nodes at once."""
    cost = MigrationSetting(
        rate=10.0, record_time_s=0.001, state_bytes=0.0, record_bytes=MB / 10.0, age_s=10.0, interval_s=1e6,
        bandwidth_mb_s=1.0,
    )  # fmt: skip
    first = in_seconds("cpa", cost, 1)
    together = run_moves([first, replace(first, source=2)])
    assert [move.figures.pause_s for move in together] == pytest.approx([10.0, 20.0], rel=0.05)
    apart = run_moves([first, replace(first, target=2)])
    assert [move.figures.pause_s for move in apart] == pytest.approx([10.0, 10.0], rel=0.05)


def test_the_link_out_of_the_old_node_counts_for_what_is_sent_from_it() -> None:
    cost = MigrationSetting(
        rate=10.0, record_time_s=0.001, state_bytes=10 * MB, age_s=1.0, interval_s=1e6, bandwidth_mb_s=1.0
    )
    first = in_seconds("direct", cost, 1)
    together = run_moves([first, replace(first, target=2)])
    assert [move.figures.completion_s for move in together] == pytest.approx([10.0, 20.0], rel=0.05)
