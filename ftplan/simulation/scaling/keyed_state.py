"""State by key group, which tells what it was made of; composed and decomposed as in [Mudassar2019], equation 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ftplan.model.topology import IntArray

Digests = npt.NDArray[np.uint64]

_FACTOR, _OF_GROUP, _MASK = 1_000_003, 0x9E3779B97F4A7C15, (1 << 64) - 1


def group_factors(first: int, last: int) -> Digests:
    """Return an odd number for each key group, by which the digests of key groups differ."""
    groups = np.arange(first, last + 1, dtype=np.uint64)
    return (groups * np.uint64(_OF_GROUP)) | np.uint64(1)


def expected_digests(batches: int) -> Digests:
    """Return what the first n batches in order make of a factor of 1, for n from 0 on, (batches + 1,)."""
    digest, out = 0, [0]
    for number in range(batches):
        digest = (digest * _FACTOR + _said(number)) & _MASK
        out.append(digest)
    return np.array(out, dtype=np.uint64)


def _said(number: int) -> int:
    return ((number + 1) * 2_654_435_761) & _MASK


class KeyedState:
    """What some key groups in a row have of the batches: for each the last one, and a digest of all in order."""

    __slots__ = ("_factors", "digest", "first", "number")

    def __init__(self, first: int, number: IntArray, digest: Digests) -> None:
        #: ``first``: number of the first key group
        #: ``number``: last batch that each key group has, -1 for none, (groups,)
        #: ``digest``: of all that it has, (groups,)
        self.first, self.number, self.digest = first, number, digest
        self._factors = group_factors(first, self.last)

    @classmethod
    def empty(cls, key_groups: int) -> KeyedState:
        """Return the state of all key groups before the first batch."""
        return cls(0, np.full(key_groups, -1, dtype=np.int64), np.zeros(key_groups, dtype=np.uint64))

    @property
    def last(self) -> int:
        """Number of the last key group."""
        return self.first + len(self.number) - 1

    def apply(self, number: int, groups: slice | IntArray) -> None:
        """Apply a batch to some of the key groups, by position."""
        said = self._factors[groups] * np.uint64(_said(number))
        self.digest[groups] = self.digest[groups] * np.uint64(_FACTOR) + said
        self.number[groups] = number

    def right(self, expected: Digests) -> bool:
        """Return whether each key group has exactly the batches up to its last one, each once and in order."""
        return bool((self.digest == self._factors * expected[self.number + 1]).all())

    def copy(self) -> KeyedState:
        """Return a state that later batches do not change."""
        return KeyedState(self.first, self.number.copy(), self.digest.copy())

    def same_as(self, other: KeyedState) -> bool:
        """Return whether two states have the same key groups, made of the same batches."""
        return (
            self.first == other.first
            and np.array_equal(self.number, other.number)
            and np.array_equal(self.digest, other.digest)
        )


def decompose(state: KeyedState, ranges: Iterable[tuple[int, int]]) -> list[KeyedState]:
    """Return the parts of a state that ranges of key groups (first and last of each) take."""
    parts = []
    for first, last in ranges:
        of = slice(first - state.first, last + 1 - state.first)
        parts.append(KeyedState(first, state.number[of].copy(), state.digest[of].copy()))
    return parts


def compose(parts: Sequence[KeyedState]) -> KeyedState:
    """Return the state that parts make together.

    Raises ValueError if a key group is in two of them, or one between them is in none.
    """
    ordered = sorted((part for part in parts if len(part.number)), key=lambda part: part.first)
    for one, other in pairwise(ordered):
        if other.first != one.last + 1:
            raise ValueError(f"key groups {one.last} and {other.first} do not follow each other")
    return KeyedState(
        ordered[0].first,
        np.concatenate([part.number for part in ordered]),
        np.concatenate([part.digest for part in ordered]),
    )
