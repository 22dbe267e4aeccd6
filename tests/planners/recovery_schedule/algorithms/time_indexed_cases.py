"""Repairs over several steps for tests: random small ones, and the answer by trying everything."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from ftplan.planners.recovery_schedule.algorithms.horizon.time_indexed import TimeIndexedKnapsack
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack


@st.composite
def repairs(draw: st.DrawFn, queries: int = 5, bundles: int = 5, steps: int = 3) -> TimeIndexedKnapsack:
    """Draw a repair; some queries need nothing, some weights are 0, some queries are released late or never."""
    q, b, k = draw(st.integers(1, queries)), draw(st.integers(1, bundles)), draw(st.integers(1, steps))
    needs = [sorted(draw(st.sets(st.integers(0, b - 1), max_size=3))) for _ in range(q)]
    number = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.3, 2.0, 3.0])
    capacity = np.cumsum([draw(number) for _ in range(k)])
    span = [draw(st.sampled_from([0.0, 1.0, 2.5, 10.0])) for _ in range(k)]
    knapsack = SetUnionKnapsack(
        priority=np.array([draw(st.sampled_from([1.0, 2.0, 5.0, 0.5])) for _ in range(q)]),
        weight=np.array([draw(number) for _ in range(b)]),
        start=np.concatenate(([0], np.cumsum([len(need) for need in needs]))).astype(np.int64),
        member=np.array([i for need in needs for i in need], dtype=np.int64),
        capacity=float(capacity[-1]),
    )
    return TimeIndexedKnapsack(
        knapsack=knapsack,
        release=np.array([draw(st.sampled_from([0, 0, 0, min(1, k), k])) for _ in range(q)], dtype=np.int64),
        capacity=capacity,
        gain=np.append(np.cumsum(span[::-1])[::-1], 0.0),
    )


def most_gained(problem: TimeIndexedKnapsack) -> float:
    """Return the most that any assignment of steps gains."""
    every = itertools.product(range(problem.steps + 1), repeat=problem.knapsack.queries)
    return max(problem.gained(s) for s in map(np.array, every) if problem.fits(s))


def shared_repair(seed: int, queries: int, steps: int, share: float = 0.6) -> TimeIndexedKnapsack:
    """Return a repair with sparse, skewed sharing: 3 to 8 bundles a query, cores for *share* of them in the end."""
    rng = np.random.default_rng(seed)
    bundles = 5 * queries // 2
    popular = np.arange(1, bundles + 1) ** -0.5
    popular /= popular.sum()
    needs = [np.sort(rng.choice(bundles, rng.integers(3, 9), replace=False, p=popular)) for _ in range(queries)]
    weight = rng.integers(1, 11, bundles).astype(np.float64)
    arrived = np.cumsum(rng.uniform(0.5, 1.5, steps))
    times = np.sort(rng.uniform(120.0, 360.0, steps))
    times[0] = 0.0
    capacity = arrived / arrived[-1] * weight[np.unique(np.concatenate(needs))].sum() * share
    knapsack = SetUnionKnapsack(
        priority=rng.integers(1, 11, queries).astype(np.float64),
        weight=weight,
        start=np.concatenate(([0], np.cumsum([len(need) for need in needs]))).astype(np.int64),
        member=np.concatenate(needs).astype(np.int64),
        capacity=float(capacity[-1]),
    )
    return TimeIndexedKnapsack(
        knapsack=knapsack,
        release=np.zeros(queries, dtype=np.int64),
        capacity=capacity,
        gain=np.append(720.0 - times, 0.0),
    )
