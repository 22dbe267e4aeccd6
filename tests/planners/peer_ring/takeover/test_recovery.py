from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from ftplan.model.topology import IntArray
from ftplan.planners.peer_ring.takeover.recovery import balance, recovery
from tests.planners.peer_ring.ring_latencies import POWER, setting

#: Milliseconds until the neighbour has half an arc, by records per second (of the arc) and interval.
BALANCE_MS = {
    500.0: (12, 18, 37, 68),
    1000.0: (18, 31, 68, 131),
    2000.0: (32, 56, 132, 256),
    4000.0: (58, 108, 258, 508),
}
INTERVALS_S = (1.0, 2.0, 5.0, 10.0)


@pytest.mark.parametrize("rate", BALANCE_MS)
def test_balance_takes_what_the_papers_parameters_give(rate: float) -> None:
    taken = [
        float(balance(setting(interval_s=T, fixed_s=0.005), rate / 2.0, rate, POWER).ready_s) * 1000.0
        for T in INTERVALS_S
    ]
    assert [round(ms) for ms in taken] == list(BALANCE_MS[rate])


def apart(failures: int) -> IntArray:
    """Return all sets of so many of twelve nodes on a circle of which no two are neighbours."""
    sets = combinations(range(12), failures)
    return np.array([one for one in sets if not any((node + 1) % 12 in one for node in one)])


def mean_latency_ms(failures: int, even: bool, runs: int = 20_000) -> tuple[float, float]:
    """Return the mean latency of failures at any time since the last checkpoint, in parallel and one by one."""
    rng = np.random.default_rng(failures)
    tokens = np.tile(np.arange(12) / 12, (runs, 1)) if even else np.sort(rng.random((runs, 12)), axis=1)
    arcs = 15_000.0 * ((np.roll(tokens, -1, axis=1) - tokens) % 1.0)
    sets = apart(failures)
    lost = np.take_along_axis(arcs, sets[rng.integers(len(sets), size=runs)], axis=1)
    ready = recovery(setting(), lost, 0.0, POWER, rng.uniform(0.0, 10.0, lost.shape)).ready_s * 1000.0
    return float(ready.max(axis=1).mean()), float(ready.sum(axis=1).mean())


def test_recovery_of_random_rings_takes_what_the_papers_parameters_give() -> None:
    assert mean_latency_ms(1, even=False)[0] == pytest.approx(1023, rel=0.01)
    parallel, sequential = mean_latency_ms(6, even=False)
    assert parallel == pytest.approx(1593, rel=0.01)
    assert sequential == pytest.approx(6084, rel=0.01)


def test_latency_of_even_arcs_is_that_of_the_oldest_checkpoint() -> None:
    latency = {}
    for failures in (1, 3, 6):
        latency[failures], _ = mean_latency_ms(failures, even=True)
        oldest = 10.0 * failures / (failures + 1)
        expected = 1000.0 * (0.7 + 1250.0 * (oldest + 0.03) / POWER)
        assert latency[failures] == pytest.approx(expected, rel=0.01)
    assert latency[6] / latency[3] <= 1.25


def test_a_checkpoint_that_is_the_heartbeat_bounds_what_is_replayed() -> None:
    beating = setting(detection_s=20.5, heartbeat_is_checkpoint=True)
    for age in (0.0, 3.0, 10.0):
        parts = recovery(beating, 1000.0, 500.0, POWER, age)
        assert float(parts.detection_s) == 20.5 - age
        assert float(parts.replayed_records) == pytest.approx(1000.0 * (20.5 + 0.03))
    mean = recovery(beating, 1000.0, 500.0, POWER)
    assert float(mean.detection_s) == 20.5 - 5.0 == beating.mean_detection_s


def test_detection_apart_from_checkpoints_adds_to_what_is_replayed() -> None:
    parts = recovery(setting(detection_s=3.0), 1000.0, 500.0, POWER)
    assert float(parts.replayed_records) == pytest.approx(1000.0 * (5.0 + 3.0 + 0.03))
    assert float(parts.ready_s) == pytest.approx(3.0 + 0.7 + 8030.0 / POWER)
    assert float(parts.caught_up_s) == pytest.approx(3.0 + 0.7 + 8030.0 / (POWER - 1500.0))


def test_a_node_without_room_never_catches_up() -> None:
    assert math.isinf(float(recovery(setting(), 1000.0, POWER - 1000.0, POWER).caught_up_s))
    assert math.isinf(float(recovery(setting(), 1000.0, 0.0, 0.0).ready_s))
    nothing = recovery(setting(), 0.0, 2.0 * POWER, POWER)
    assert float(nothing.ready_s) == float(nothing.caught_up_s) == 0.7


def test_state_that_has_to_travel_comes_on_top() -> None:
    with_copy, without = (recovery(setting(), 1000.0, 0.0, POWER, 1.0, transfer) for transfer in (0.0, 4.0))
    assert float(without.ready_s) == pytest.approx(float(with_copy.ready_s) + 4.0)
