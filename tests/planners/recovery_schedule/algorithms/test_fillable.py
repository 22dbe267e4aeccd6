"""What tasks can use of a host's room: never less than some tasks that fit do use."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ftplan.planners.fillable import fillable


def most(room: float, sizes: list[float]) -> float:
    """Return the largest sum of sizes, each any number of times, that fits, by trying all."""
    used = {0.0}
    for size in sizes:
        used = {value + k * size for value in used for k in range(int((room - value) / size + 1e-9) + 1)}
    return max(value for value in used if value <= room + 1e-9)


def test_sizes_that_are_no_millionths() -> None:
    """Nineteen tasks of 5/36 cores fill 2.6389 of 2.7 cores; rounded down to millionths they would sum to less."""
    usable = fillable(np.array([2.7]), np.array([5 / 36]))
    assert 19 * 5 / 36 <= usable[0] < 20 * 5 / 36


@given(
    st.floats(0.05, 2.0),
    st.lists(st.tuples(st.integers(1, 40), st.sampled_from([3, 7, 36, 100])), min_size=1, max_size=3),
)
def test_never_less_than_what_fits(room: float, fractions: list[tuple[int, int]]) -> None:
    sizes = [k / d for k, d in fractions if k / d >= 0.08]
    if not sizes:
        return
    usable = fillable(np.array([room]), np.array(sizes))[0]
    assert most(room, sizes) <= usable + 1e-9
    assert usable <= room
