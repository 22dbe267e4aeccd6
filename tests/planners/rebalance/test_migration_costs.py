"""What moves cost: computed by hand, held to recovery times, and how each part moves them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.model.measures.recovery_time import RecoveryParameters, recovery_time
from ftplan.planners.rebalance.migration_costs import (
    CPA,
    CPAL,
    DIRECT,
    FETCH,
    LAZY,
    PROTOCOLS,
    RECOVER,
    MigrationSetting,
    ProtocolCosts,
    migration_costs,
)

MB = 2.0**20
#: rho is 0.5, 400 records of 8 KiB wait upstream: 3.125 MB, 0.09765625 s on the link and 2 s of work.
SETTING = MigrationSetting(
    rate=100.0,
    record_time_s=0.005,
    state_bytes=64 * MB,
    record_bytes=8192.0,
    age_s=4.0,
    interval_s=10.0,
    full=True,
    bandwidth_mb_s=32.0,
    serialisation_mb_s=64.0,
    delay_s=0.25,
    queue_s=0.125,
    restart_s=1.0,
    detection_s=3.0,
)
REPLAY_S = 2.09765625


def row(costs: ProtocolCosts, protocol: str) -> tuple[float, ...]:
    """Return (latency, completion, bytes, link) of the first group by a protocol."""
    number = PROTOCOLS.index(protocol)
    return tuple(float(table[number, 0]) for table in (costs.latency_s, costs.completion_s, costs.bytes, costs.link_s))


@pytest.mark.parametrize(
    ("protocol", "latency", "completion", "sent", "link"),
    [
        (CPA, 0.25 + 2 * (1 + REPLAY_S), 0.25 + 2 * (1 + REPLAY_S), 3.125, 0.09765625),
        (CPAL, 2 * 0.125, 0.25 + 2 * (1 + REPLAY_S) + 2 * 0.25 + 2 * 0.125, 3.125, 0.09765625),
        # S = 1 + 2 + 1 s; as many records come in meanwhile as wait upstream above
        (DIRECT, 0.25 + 2 * (1 + 4), 0.25 + 2 * (1 + 4), 64, 4),
        (LAZY, 0.25 + 2 * (1 + REPLAY_S), 10 + 4 + 0.25 + 2 * (1 + REPLAY_S), 3.125, 0.09765625),
        (RECOVER, 0.25 + 2 * (3 + 1 + REPLAY_S), 0.25 + 2 * (3 + 1 + REPLAY_S), 3.125, 0.09765625),
        # what is stored is serialised already: 2 + 1 s
        (FETCH, 0.25 + 2 * (3 + 1 + 3 + REPLAY_S), 0.25 + 2 * (3 + 1 + 3 + REPLAY_S), 67.125, 3.09765625),
    ],
)
def test_by_hand(protocol: str, latency: float, completion: float, sent: float, link: float) -> None:
    assert row(migration_costs(SETTING), protocol) == pytest.approx((latency, completion, sent * MB, link))
    assert migration_costs(SETTING).catch_up.tolist() == [2.0]


def test_all_records_count_once_a_move() -> None:
    """8,000 records/s over 20 groups at 0.1 ms each, as in figures 5 and 6: 40,000 to replay take 4 s of work."""
    setting = MigrationSetting(
        400.0, 1e-4, age_s=100.0, queue_s=0.01, delay_s=0.001, state_bytes=MB, bandwidth_mb_s=100
    )
    costs = migration_costs(setting)
    assert row(costs, CPA)[0] == pytest.approx(0.001 + 4.0 / 0.96)
    assert row(costs, CPAL)[:2] == pytest.approx((0.01 / 0.96, row(costs, CPA)[1] + 0.022))
    assert row(costs, DIRECT)[0] == pytest.approx(0.001 + 0.01 / 0.96)
    assert row(costs, LAZY)[0] == np.inf


@pytest.mark.parametrize("busy", [{"rate": 200.0}, {"rate": 1e6}, {"rho": 1.0}, {"rho": 7.0}])
@pytest.mark.parametrize(
    "idle", [{}, {"queue_s": 0.0, "restart_s": 0.0, "age_s": 0.0, "state_bytes": 0.0, "detection_s": 0}]
)
def test_a_group_that_takes_a_whole_thread_never_catches_up(busy: dict[str, Any], idle: dict[str, Any]) -> None:
    costs = migration_costs(SETTING._replace(**busy, **idle))
    assert np.isinf(costs.latency_s).all()
    assert np.isinf(costs.completion_s).all()
    assert np.isinf(costs.catch_up).all()
    assert np.isfinite(costs.bytes).all()


def test_groups_are_priced_one_by_one() -> None:
    rate, age = np.array([0.0, 50.0, 100.0, 199.0]), np.array([4.0, 1.0, 2.0, 0.0])
    together = migration_costs(SETTING._replace(rate=rate, age_s=age))
    assert together.latency_s.shape == (len(PROTOCOLS), 4)
    for k in range(4):
        alone = migration_costs(SETTING._replace(rate=rate[k], age_s=age[k]))
        for table, single in zip(together[:4], alone[:4], strict=True):
            assert table[:, k] == pytest.approx(single[:, 0])


def test_an_idle_group_has_nothing_to_replay() -> None:
    costs = migration_costs(SETTING._replace(rate=0.0, rho=0.5))
    assert row(costs, CPA)[0] == pytest.approx(0.25 + 2 * 1)
    assert row(costs, LAZY)[0] == pytest.approx(0.25 + 2 * 1)


def test_remote_state_is_fetched_and_not_sent() -> None:
    costs = migration_costs(SETTING._replace(remote=True, age_s=0.0))
    assert row(costs, CPA) == pytest.approx((0.25 + 2 * (1 + 2), 0.25 + 2 * (1 + 2), 0.0, 0.0))
    assert row(costs, CPAL)[0] == pytest.approx(0.25)
    for protocol in (DIRECT, LAZY, FETCH):
        assert row(costs, protocol)[0] == np.inf


SECONDS = st.floats(0.0, 100.0)
SIZES = st.floats(0.0, 1e9)
SETTINGS = st.builds(
    MigrationSetting,
    rate=st.floats(0.0, 1000.0),
    record_time_s=st.floats(0.0, 0.0009),
    state_bytes=SIZES,
    record_bytes=st.floats(0.0, 1e4),
    age_s=SECONDS,
    interval_s=SECONDS,
    full=st.booleans(),
    bandwidth_mb_s=st.floats(1.0, 1000.0),
    serialisation_mb_s=st.floats(1.0, 1000.0) | st.just(np.inf),
    delay_s=st.floats(0.0, 1.0),
    queue_s=st.floats(0.0, 1.0),
    restart_s=SECONDS,
    detection_s=SECONDS,
    rho=st.none() | st.floats(0.0, 0.99),
    remote=st.booleans(),
)


@given(SETTINGS, st.sampled_from(["state_bytes", "age_s", "rate", "bandwidth_mb_s"]), st.floats(1.0, 10.0))
def test_more_state_age_or_rate_costs_no_less_and_more_bandwidth_no_more(
    setting: MigrationSetting, name: str, factor: float
) -> None:
    less, more = migration_costs(setting), migration_costs(setting._replace(**{name: getattr(setting, name) * factor}))
    if name == "bandwidth_mb_s":
        less, more = more, less
    for small, large in zip(less, more, strict=True):
        assert (small <= large * (1 + 1e-12)).all()


@given(SETTINGS)
def test_a_move_is_done_when_its_pause_is_over(setting: MigrationSetting) -> None:
    costs = migration_costs(setting)
    assert (costs.completion_s >= costs.latency_s).all()
    assert (costs.latency_s >= 0.0).all()


@given(SETTINGS)
def test_the_checkpoint_at_hand_wins_exactly_where_its_replay_is_shorter_than_the_transfer(
    setting: MigrationSetting,
) -> None:
    s: Any = setting._replace(remote=False, rho=setting.rho or 0.0)
    costs, rho = migration_costs(s), max(s.rate * s.record_time_s, s.rho)
    replay = s.rate * s.age_s * s.record_bytes / (s.bandwidth_mb_s * MB) + (s.age_s * rho if s.rate else 0.0)
    transfer = s.state_bytes / MB * (1 / s.bandwidth_mb_s + 2 / s.serialisation_mb_s)
    cpa, direct = row(costs, CPA)[0], row(costs, DIRECT)[0]
    if abs(replay - transfer) > 1e-9 * (1 + s.restart_s + replay):
        assert (cpa < direct) == (replay < transfer)


@given(SETTINGS, SECONDS, st.floats(0.0, 1e4))
def test_the_pause_of_cpal_does_not_depend_on_what_is_replayed(
    setting: MigrationSetting, age: float, record: float
) -> None:
    other = setting._replace(age_s=age, record_bytes=record)
    assert row(migration_costs(setting), CPAL)[0] == row(migration_costs(other), CPAL)[0]


@given(
    st.floats(0.0, 100.0), SECONDS, st.floats(1.0, 1000.0), st.floats(0.0, 1.0), st.floats(0.0, 0.99), SECONDS, SIZES
)
def test_moves_with_measured_costs_take_what_recoveries_take(
    detection: float, restart: float, bandwidth: float, share: float, rho: float, interval: float, size: float
) -> None:
    measured = RecoveryParameters(detection, restart, bandwidth, share, 1000.0)
    setting = MigrationSetting(
        rate=3.0,
        record_time_s=0.0,
        state_bytes=size,
        age_s=share * interval,
        interval_s=interval,
        bandwidth_mb_s=bandwidth,
        restart_s=restart,
        detection_s=detection,
        rho=rho,
    )
    costs, stored = migration_costs(setting), migration_costs(setting._replace(remote=True))

    def recovery(state_bytes: float, detection_s: float) -> Any:
        parts = recovery_time(measured._replace(detection_s=detection_s), 1000.0 * rho, interval, state_bytes)
        return pytest.approx(float(parts.total_s), rel=1e-9)

    assert row(costs, CPA)[0] == recovery(0.0, 0.0)
    assert row(costs, RECOVER)[0] == recovery(0.0, detection)
    assert row(costs, FETCH)[0] == recovery(size, detection)
    assert row(stored, CPA)[0] == recovery(size, 0.0)
    assert row(stored, RECOVER)[0] == recovery(size, detection)
