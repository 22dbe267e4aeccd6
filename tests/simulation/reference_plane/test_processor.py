"""Cores shared max-min fair: closed forms, and small time steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simpy import Environment, Event

from ftplan.simulation.engine.clock import after
from tests.simulation.reference_plane.processor import Processor, max_min_shares

CORES = st.floats(0.0, 16.0)
THREADS = st.lists(st.floats(0.1, 8.0) | st.integers(1, 4).map(float), max_size=7)


def by_filling(cores: float, threads: list[float]) -> list[float]:
    """Raise the water drop by drop: the definition, in steps between the levels at which a job has enough."""
    shares = [0.0] * len(threads)
    left = cores
    for _ in threads:
        thirsty = [job for job, most in enumerate(threads) if shares[job] < most]
        if not thirsty or left <= 0.0:
            break
        step = min(left / len(thirsty), *(threads[job] - shares[job] for job in thirsty))
        for job in thirsty:
            shares[job] = threads[job] if threads[job] - shares[job] == step else shares[job] + step
        left -= step * len(thirsty)
    return shares


@given(CORES, THREADS)
def test_shares_are_those_of_rising_water(cores: float, threads: list[float]) -> None:
    shares = max_min_shares(cores, threads)
    assert shares == pytest.approx(by_filling(cores, threads), abs=1e-9)
    assert sum(shares) == pytest.approx(min(cores, sum(threads)))


def departures(cores: float, jobs: list[tuple[float, float, float]]) -> list[float]:
    """Return when jobs (arrival, core-seconds, threads) are done; inf for never."""
    env = Environment()
    node = Processor(env, cores)
    done = [np.inf] * len(jobs)

    def life(number: int, arrival_s: float, core_s: float, threads: float) -> Iterator[Event]:
        yield env.timeout(arrival_s)
        yield node.work(core_s, threads)
        done[number] = env.now

    for number, job in enumerate(jobs):
        env.process(life(number, *job))
    env.run()
    return done


def small_steps(cores: float, jobs: list[tuple[float, float, float]], step_s: float = 1e-3) -> list[float]:
    """Return the same by small steps of time."""
    left = [core_s for _, core_s, _ in jobs]
    done = [np.inf] * len(jobs)
    for step in range(100_000):
        now_s = step * step_s
        there = [job for job, (arrival_s, _, _) in enumerate(jobs) if arrival_s <= now_s and done[job] == np.inf]
        for job, share in zip(there, by_filling(cores, [jobs[job][2] for job in there]), strict=True):
            left[job] -= share * step_s
            if left[job] <= 1e-12:
                done[job] = now_s + step_s
        if np.inf not in done:
            break
    return done


def test_closed_forms() -> None:
    assert departures(1.0, [(0.0, 1.0, 1.0), (0.0, 1.0, 1.0)]) == [2.0, 2.0]
    # alone for 1 s, then half of the core each: 1 s of the first is left, 2 s later it is done
    assert departures(1.0, [(0.0, 2.0, 1.0), (1.0, 1.5, 1.0)]) == pytest.approx([3.0, 3.5])
    # one thread cannot use more: 3 cores for the other two
    assert departures(4.0, [(0.0, 3.0, 1.0), (0.0, 3.0, 4.0), (0.0, 3.0, 4.0)]) == pytest.approx([3.0, 2.0, 2.0])
    assert departures(1.0, [(0.5, 0.0, 1.0)]) == [0.5]
    assert departures(0.0, [(0.0, 1.0, 1.0)]) == [np.inf]


@given(
    st.sampled_from([0.5, 1.0, 2.5]),
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(1, 20), st.sampled_from([0.5, 1.0, 2.0])), min_size=1, max_size=5
    ),
)
def test_departures_are_those_of_small_steps(cores: float, drawn: list[tuple[int, int, float]]) -> None:
    jobs = [(arrival * 0.01, work * 0.01, threads) for arrival, work, threads in drawn]
    assert departures(cores, jobs) == pytest.approx(small_steps(cores, jobs), abs=0.01)


def test_cancelled_work_makes_room_and_is_not_done() -> None:
    env = Environment()
    node = Processor(env, 1.0)
    first, second = node.work(2.0), node.work(2.0)
    left: list[float] = []
    after(env, 1.0, lambda: left.append(node.cancel(first)))
    env.run(second)
    assert (left, first.triggered) == ([1.5], False)
    assert env.now == 2.5
    assert node.cancel(second) == 0.0


def test_many_pieces_of_work_end_at_their_times() -> None:
    """Rounding of sums of times neither holds work back nor leaves any over."""
    env = Environment()
    node = Processor(env, 3.0)
    done: list[float] = []

    def life() -> Iterator[Event]:
        for _ in range(1000):
            yield node.work(0.1)
        done.append(env.now)

    for _ in range(7):
        env.process(life())
    env.run()
    assert done == pytest.approx([7 * 1000 * 0.1 / 3] * 7, rel=1e-9)
