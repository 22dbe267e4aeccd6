"""Small traces, and every schedule on them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from hypothesis import strategies as st

from ftplan.planners.scale_out.algorithms.churn.trace import ChurnAccount, ChurnLimits, DemandTrace, account


@st.composite
def traces(draw: st.DrawFn, most: int = 4) -> DemandTrace:
    """Draw a trace of a few windows, with rescales of none to three of them, and capacities in any order."""
    tasks = draw(st.integers(1, most))
    windows = draw(st.integers(1, {1: 8, 2: 8, 3: 6, 4: 5}[tasks]))
    numbers = st.integers(0, 12).map(float)
    return DemandTrace(
        demand=np.array(draw(st.lists(numbers, min_size=windows, max_size=windows))),
        capacity=np.array(draw(st.lists(numbers, min_size=tasks, max_size=tasks))),
        day=np.arange(windows) // draw(st.integers(1, 5)),
        window_s=10.0,
        rescale_s=draw(st.sampled_from((0.0, 4.0, 10.0, 17.0, 25.0))),
        start=draw(st.integers(1, tasks)),
    )


limits = st.builds(ChurnLimits, st.integers(0, 3), st.sampled_from((0.0, 0.2, 0.4, 0.75)))


def schedules(trace: DemandTrace) -> Iterator[tuple[tuple[int, ...], ChurnAccount]]:
    """Yield every schedule that can be, with its account."""
    for tasks in product(range(1, trace.most + 1), repeat=len(trace.demand)):
        try:
            yield tasks, account(trace, np.array(tasks))
        except ValueError:
            continue


def day_and_night(windows: int = 96 * 7, tasks: int = 12) -> DemandTrace:
    """Return a week of quarters of an hour with a daily swing, noise, and a day that is not like the others."""
    rng = np.random.default_rng(7)
    time = np.arange(windows)
    demand = 5.0 - 3.0 * np.cos(2.0 * np.pi * time / 96) + rng.normal(0.0, 0.3, windows)
    demand[96 * 4 : 96 * 5] *= 1.2
    return DemandTrace(np.maximum(demand, 0.1), np.arange(1.0, tasks + 1.0), time // 96, 900.0, 60.0, 4)
