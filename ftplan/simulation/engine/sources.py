"""Arrivals: the times between them, and what they set off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from simpy import Environment, Process
from simpy.events import ProcessGenerator

from ftplan.simulation.engine.clock import data_timeout


def regular_gaps(rate: float) -> Iterator[float]:
    """Yield the seconds between arrivals of *rate* a second, all alike, for ever."""
    while True:
        yield 1.0 / rate


def poisson_gaps(rate: float, rng: np.random.Generator) -> Iterator[float]:
    """Yield the seconds between the arrivals of a Poisson process of *rate* a second, for ever."""
    while True:
        yield from rng.exponential(1.0 / rate, 1024).tolist()


def arrivals(env: Environment, gaps: Iterable[float], arrive: Callable[[], object]) -> Process:
    """Let *arrive* happen after each gap; return the process, which ends with the gaps."""

    def source() -> ProcessGenerator:
        for gap in gaps:
            yield data_timeout(env, gap)
            arrive()

    return env.process(source())
