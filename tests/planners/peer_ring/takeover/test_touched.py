"""The share of the state that checkpoints hold, against records on a time line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.planners.peer_ring.inputs.setting import most_touched


def test_by_hand() -> None:
    """Four windows of 100 s, checkpoints every 10 s: a record is in a tenth of a window's checkpoints."""
    records = np.array([[1.0, 50.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    state = np.array([10.0, 10.0, 20.0])
    assert most_touched(records, state, np.zeros(3, dtype=bool), 100.0, 10.0) == pytest.approx(
        (10 * 0.1 + 10 * 0.275) / 40
    )
    assert most_touched(records, state, np.array([False, False, True]), 100.0, 10.0) == pytest.approx(
        (10 * 0.1 + 10 * 0.275 + 20) / 40
    )
    assert most_touched(records, np.zeros(3), np.zeros(3, dtype=bool), 100.0, 10.0) is None
    assert most_touched(records[:0], state, np.zeros(3, dtype=bool), 100.0, 10.0) is None


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 119), st.integers(0, 3)), max_size=40),
    st.sampled_from((2, 5, 10, 30, 60)),
    st.sampled_from((1, 3, 8, 20, 45, 120)),
)
def test_no_checkpoints_hold_more(came: list[tuple[int, int]], window: int, interval: int) -> None:
    """Records at whole seconds of two minutes; checkpoints at every second, each of the interval before it."""
    at = np.zeros((120 + interval, 4), dtype=bool)
    for second, group in came:
        at[second, group] = True
    records = np.zeros((120 // window, 4))
    for second, group in came:
        records[second // window, group] += 1.0
    held = np.array([at[max(0, end - interval) : end].any(axis=0) for end in range(1, 121)])
    state = np.array([1.0, 2.0, 4.0, 8.0])
    bound = most_touched(records, state, np.zeros(4, dtype=bool), float(window), float(interval))
    assert bound is not None
    assert (held.mean(axis=0) * state).sum() / state.sum() <= bound + 1e-9
