"""Statistics of fewer key groups, against counting the keys again."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.errors import FtplanError
from ftplan.model.measures.key_group_series import merged
from ftplan.model.statistics import KeyGroupSeries


def counted(hashes: np.ndarray, windows: np.ndarray, key_groups: int) -> KeyGroupSeries:
    """Loads of two operators whose key group is hash modulo their number, state 8 bytes a record."""
    loads = np.zeros((6, 2 * key_groups))
    for operator in (0, 1):
        np.add.at(loads, (windows, operator * key_groups + (hashes >> operator) % key_groups), 1.0)
    return KeyGroupSeries(
        ("a", "b"),
        np.repeat([0, 1], key_groups),
        np.tile(np.arange(key_groups), 2),
        loads,
        "records",
        60.0,
        8 * loads.sum(axis=0),
        np.zeros(2 * key_groups, dtype=np.bool_),
    )


@pytest.mark.parametrize("key_groups", [1, 2, 3, 8, 24])
def test_merging_is_counting_with_fewer(key_groups: int) -> None:
    rng = np.random.default_rng(4)
    hashes, windows = rng.integers(0, 2**31, 500), rng.integers(0, 6, 500)
    found, expected = merged(counted(hashes, windows, 24), key_groups), counted(hashes, windows, key_groups)
    for field in ("operator", "key_group", "loads", "state_bytes", "estimated"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))


def test_only_divisors() -> None:
    series = counted(np.arange(9), np.zeros(9, dtype=np.int64), 6)
    for wrong in (0, -2, 4, 12):
        with pytest.raises(FtplanError, match=r"does not divide the 6 key groups.*one of 1, 2, 3, 6"):
            merged(series, wrong)
