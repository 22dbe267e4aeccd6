"""The Lagrangian bound of a linear program at any prices of its rows: sound, at whatever tolerance they were found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray


class Entries(NamedTuple):
    """The entries of a sparse matrix, one by one: row, column and entry, (E,)."""

    row: IntArray
    column: IntArray
    entry: FloatArray

    @classmethod
    def of(cls, rows: Iterable[Sequence[tuple[int, float]]]) -> Entries:
        """Return the entries of rows that are listed as columns with what stands there."""
        listed = list(rows)
        return cls(
            np.repeat(np.arange(len(listed)), [len(terms) for terms in listed]),
            np.array([column for terms in listed for column, _ in terms], dtype=np.int64),
            np.array([entry for terms in listed for _, entry in terms], dtype=np.float64),
        )

    def reduced(self, cost: FloatArray, prices: FloatArray) -> FloatArray:
        """Return costs (V,) with each row's price, (R,), paid for what a variable takes of it."""
        return cost - np.bincount(self.column, self.entry * prices[self.row], minlength=len(cost))

    def bound(self, cost: FloatArray, most: FloatArray, sides: FloatArray, prices: FloatArray) -> float:
        """Return what no solution of the least cost is below: of variables between 0 and *most*, (V,).

        *sides*: the limit of each row on the side that its price speaks of, (R,): the lower one where that is above 0.
        """
        gained = np.minimum(self.reduced(cost, prices), 0.0) * most
        return float((prices * sides).sum() + gained.sum())
