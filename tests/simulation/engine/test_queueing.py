"""Queues at a node: M/D/1 and D/D/1, and no record is lost unseen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simpy import Environment, Event

from ftplan.simulation.engine.processor import Processor
from ftplan.simulation.engine.queues import CountedQueue, arrivals, poisson_gaps, regular_gaps


def waits(gaps: Iterable[float], service_s: float) -> list[float]:
    """Return how long each arrival waits for a single server."""
    env = Environment()
    node, queue = Processor(env, 1.0), CountedQueue[float](env)
    waited: list[float] = []

    def serve() -> Iterator[Event]:
        while True:
            arrived_s = yield queue.get()
            waited.append(env.now - arrived_s)
            yield node.work(service_s)

    env.process(serve())
    arrivals(env, gaps, lambda: queue.put(env.now))
    env.run()
    return waited


@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_mean_wait_of_m_d_1(rho: float) -> None:
    """rho * s / (2 * (1 - rho)), by Pollaczek and Khinchine; 20 batches of 1,000 arrivals."""
    gaps = poisson_gaps(rho, np.random.default_rng(3))
    waited = np.array(waits((next(gaps) for _ in range(22_000)), 1.0)[2000:])
    means = waited.reshape(20, -1).mean(axis=1)
    expected = rho / (2.0 * (1.0 - rho))
    error = 4.0 * means.std(ddof=1) / np.sqrt(20)
    assert abs(means.mean() - expected) <= error
    assert error <= 0.35 * expected


def test_waits_are_those_of_lindley() -> None:
    """Each wait is the one before plus its service less the gap, or nothing."""
    drawn = poisson_gaps(0.9, np.random.default_rng(5))
    gaps = [next(drawn) for _ in range(3000)]
    expected = [0.0]
    for gap in gaps[1:]:
        expected.append(max(expected[-1] + 1.0 - gap, 0.0))
    assert waits(gaps, 1.0) == pytest.approx(expected, abs=1e-8)


def test_regular_arrivals_wait_for_nothing_or_ever_longer() -> None:
    below, above = regular_gaps(2.0), regular_gaps(2.0)
    assert waits((next(below) for _ in range(100)), 0.5) == pytest.approx([0.0] * 100, abs=1e-9)
    assert waits((next(above) for _ in range(100)), 0.75) == pytest.approx([0.25 * k for k in range(100)])


@given(
    st.floats(0.0, 20.0) | st.just(np.inf),
    st.lists(st.tuples(st.sampled_from(["put", "get", "clear"]), st.integers(1, 5)), max_size=60),
)
def test_records_that_enter_leave_are_dropped_or_held(capacity: float, steps: list[tuple[str, int]]) -> None:
    env = Environment()
    queue = CountedQueue[int](env, capacity)
    taken: list[int] = []
    put: list[int] = []
    for number, (step, records) in enumerate(steps):
        if step == "put":
            if queue.put(number, records):
                put.append(number)
        elif step == "get":
            queue.get().callbacks.append(lambda event: taken.append(event.value))
        else:
            queue.clear()
            assert len(queue) == queue.held == 0
        assert queue.entered == queue.left + queue.dropped + queue.held
        assert 0.0 <= queue.held <= capacity
    env.run()
    assert taken == sorted(taken)
    assert set(taken) <= set(put)
    assert queue.entered == sum(records for step, records in steps if step == "put")
