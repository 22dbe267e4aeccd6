"""Small knapsacks for tests: as examples, as a hypothesis strategy, and their optimum by going through all choices."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack

#: Figure 2 of Su & Zhou as a knapsack: tasks 3 to 12 of one core each, four queries of priority 1.
FIGURE_2 = ({3, 5, 7, 9}, {3, 4, 5, 7, 10}, {3, 4, 6, 8, 11}, {3, 4, 6, 8, 12})


def knapsack_of(
    needs: Sequence[set[int]], weight: Sequence[float], priority: Sequence[float], capacity: float
) -> SetUnionKnapsack:
    """Return the knapsack of queries that need these elements."""
    return SetUnionKnapsack(
        np.array(priority, dtype=np.float64),
        np.array(weight, dtype=np.float64),
        np.concatenate(([0], np.cumsum([len(need) for need in needs]))).astype(np.int64),
        np.array([b for need in needs for b in sorted(need)], dtype=np.int64),
        capacity,
    )


def figure_2(capacity: float) -> SetUnionKnapsack:
    """Return figure 2 with this many cores."""
    needs = [{task - 3 for task in query} for query in FIGURE_2]
    return knapsack_of(needs, [1.0] * 10, [1.0] * 4, capacity)


@st.composite
def knapsacks(draw: st.DrawFn, max_queries: int = 7, max_elements: int = 8) -> SetUnionKnapsack:
    """Draw a knapsack; it may have no query, queries without elements, elements without weight and no capacity."""
    quarters = st.integers(0, 24).map(lambda quarter: quarter / 4)
    weights = quarters | st.floats(0.001, 10.0)  # not as small as the rounding error that still fits
    priorities = st.integers(1, 10).map(float) | st.floats(0.125, 10.0)
    weight = draw(st.lists(weights, max_size=max_elements))
    need = st.sets(st.integers(0, len(weight) - 1)) if weight else st.just(set())
    needs = draw(st.lists(need, max_size=max_queries))
    priority = draw(st.lists(priorities, min_size=len(needs), max_size=len(needs)))
    capacity = draw(st.just(0.0) | quarters | st.floats(0.001, 40.0))
    return knapsack_of(needs, weight, priority, capacity)


def brute_force(knapsack: SetUnionKnapsack) -> float:
    """Return the largest value of a choice that fits."""
    choices = (np.array(chosen, dtype=np.bool_) for chosen in itertools.product((False, True), repeat=knapsack.queries))
    return max(knapsack.value(chosen) for chosen in choices if knapsack.fits(chosen))
