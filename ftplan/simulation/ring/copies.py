"""What each copy of each position holds: how often each batch was applied to it.

A copy is a fold that shows all that goes wrong: a batch that is lost counts 0 and one that came twice counts 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ftplan.model.topology import BoolArray, FloatArray, IntArray

Counts = npt.NDArray[np.uint8]


class Copies:
    """Rows of counts, taken and given back; a row is one copy of one position."""

    def __init__(self, rows: int, batches: int) -> None:
        #: (rows, batches) how often a batch was applied
        self.applied: Counts = np.zeros((rows, batches), dtype=np.uint8)
        #: (rows,) T_s, the largest timestamp among what was applied; -inf before the first
        self.latest: FloatArray = np.full(rows, -np.inf)
        self._free = list(range(rows - 1, -1, -1))

    def take(self, count: int) -> IntArray:
        """Return some empty rows."""
        if len(self._free) < count:
            self._grow(max(count, len(self.latest)))
        rows = np.array([self._free.pop() for _ in range(count)], dtype=np.int64)
        self.applied[rows] = 0
        self.latest[rows] = -np.inf
        return rows

    def give_back(self, rows: IntArray) -> None:
        """Take rows back."""
        self._free.extend(rows.tolist())

    def apply(self, rows: IntArray, batch: int, stamp: float) -> None:
        """Apply a batch to some rows."""
        self.applied[rows, batch] += 1
        self.latest[rows] = np.maximum(self.latest[rows], stamp)

    def _grow(self, more: int) -> None:
        old = len(self.latest)
        self.applied = np.vstack([self.applied, np.zeros((more, self.applied.shape[1]), dtype=np.uint8)])
        self.latest = np.append(self.latest, np.full(more, -np.inf))
        self._free.extend(range(old + more - 1, old - 1, -1))


class Holdings:
    """What one node holds, position by position, all (M,)."""

    def __init__(self, positions: int) -> None:
        self.row: IntArray = np.full(positions, -1, dtype=np.int64)  # of the node's copy, -1 without one
        #: Number of the checkpoint that the copy was brought up to by; what is applied beyond is in the fragment
        self.tag: IntArray = np.zeros(positions, dtype=np.int64)
        #: Version of the ring with which the node began to hold the position
        self.since: IntArray = np.zeros(positions, dtype=np.int64)
        #: Whether the copy, and the records kept for it, are all that a take-over needs
        self.sound: BoolArray = np.zeros(positions, dtype=np.bool_)

    def drop(self, at: Any, copies: Copies) -> None:
        """Give the copies of some positions up."""
        rows = self.row[at]
        copies.give_back(rows[rows >= 0])
        self.row[at] = -1
        self.tag[at] = -1
        self.sound[at] = False

    def begin(self, at: Any, version: int) -> None:
        """Hold some positions from now on, without a copy of them yet."""
        self.since[at] = version
        self.tag[at] = -1
        self.sound[at] = False
