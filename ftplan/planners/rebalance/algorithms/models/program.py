"""Mixed-integer programs as arrays: built row by row, cut down to free variables, bounded by any prices."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.priced_bound import Entries

#: Most by which a scaled row may be broken where that is allowed.
MOST_SLACK = 1e3


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise ``cost x`` with ``low <= A x <= high`` and ``0 <= x <= most``, some of x whole.

    V variables, R rows; A is sparse, entry by entry. Rows are scaled so that their limits are about 1.
    """

    cost: FloatArray  # (V,)
    most: FloatArray  # (V,) finite
    whole: BoolArray  # (V,)
    row: IntArray  # (E,)
    column: IntArray  # (E,)
    entry: FloatArray  # (E,)
    low: FloatArray  # (R,)
    high: FloatArray  # (R,)

    def activity(self, x: FloatArray) -> FloatArray:
        """Return A x, (R,)."""
        used = np.bincount(self.row, self.entry * x[self.column], minlength=len(self.low))
        return np.asarray(used, dtype=np.float64)

    def reduced_costs(self, prices: FloatArray) -> FloatArray:
        """Return the costs (V,) with each row's price paid for what a variable takes of it."""
        return self._entries.reduced(self.cost, prices)

    def dual_bound(self, prices: FloatArray) -> float:
        """Return the Lagrangian bound at any prices of rows, (R,): it holds whoever found them.

        A row that is not limited on the side that its price speaks of has to have no price.
        """
        sides = np.where(prices > 0.0, self.low, np.where(prices < 0.0, self.high, 0.0))
        return self._entries.bound(self.cost, self.most, sides, prices)

    @property
    def _entries(self) -> Entries:
        return Entries(self.row, self.column, self.entry)

    def restricted(self, free: BoolArray, x: FloatArray) -> Program:
        """Return the program of the free variables, (V,), where all others are as in x, (V,)."""
        given = np.where(free, 0.0, x)
        used = self.activity(given)
        position = np.cumsum(free) - 1
        kept = free[self.column]
        live = np.zeros(len(self.low), dtype=np.bool_)
        live[self.row[kept]] = True
        # A row without free variables stays if it is broken: then the program has no solution.
        live |= (used < self.low - ROUNDING) | (used > self.high + ROUNDING)
        number = np.cumsum(live) - 1
        return Program(
            self.cost[free], self.most[free], self.whole[free],
            number[self.row[kept]], position[self.column[kept]], self.entry[kept],
            (self.low - used)[live], (self.high - used)[live],
        )  # fmt: skip

    def elastic(self, first: int, penalty: float) -> Program:
        """Return the program in which rows from *first* on may be broken, at a *penalty* for each 1 of a scaled row.

        Two variables a row follow the others, those that fill what is too little and those that take what is too much.
        """
        rows = np.arange(first, len(self.low))
        count, both = len(rows), np.concatenate([rows, rows])
        new = len(self.cost) + np.arange(2 * count)
        sides = np.where(np.isfinite(np.concatenate([self.low[rows], self.high[rows]])), MOST_SLACK, 0.0)
        return Program(
            np.append(self.cost, np.full(2 * count, penalty)), np.append(self.most, sides),
            np.append(self.whole, np.zeros(2 * count, dtype=np.bool_)),
            np.append(self.row, both), np.append(self.column, new),
            np.append(self.entry, np.repeat([1.0, -1.0], count)), self.low, self.high,
        )  # fmt: skip

    def with_row(self, columns: IntArray, entries: ArrayLike, low: float, high: float) -> Program:
        """Return the program with one more row."""
        entry = np.broadcast_to(np.asarray(entries, dtype=np.float64), columns.shape)
        return Program(
            self.cost, self.most, self.whole,
            np.append(self.row, np.full(len(columns), len(self.low))), np.append(self.column, columns),
            np.append(self.entry, entry), np.append(self.low, low), np.append(self.high, high),
        )  # fmt: skip


@dataclass
class Builder:
    """Gathers variables and rows of a program."""

    cost: list[FloatArray] = field(default_factory=list)
    most: list[FloatArray] = field(default_factory=list)
    whole: list[BoolArray] = field(default_factory=list)
    entries: list[tuple[IntArray, IntArray, FloatArray]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    variables: int = 0

    def add(self, cost: FloatArray, most: ArrayLike, whole: bool) -> IntArray:
        """Add variables of some cost each; return their numbers."""
        count = len(cost)
        self.cost.append(np.asarray(cost, dtype=np.float64))
        self.most.append(np.broadcast_to(np.asarray(most, dtype=np.float64), (count,)))
        self.whole.append(np.full(count, whole))
        self.variables += count
        return np.arange(self.variables - count, self.variables)

    def rows(
        self, low: ArrayLike, high: ArrayLike, scale: ArrayLike, *parts: tuple[IntArray, IntArray, ArrayLike]
    ) -> None:
        """Add as many rows as limits; parts are entries (row counted from the first new one, variable, value).

        Rows are divided by their scales; those that limit nothing are left out.
        """
        given = np.broadcast_arrays(*(np.atleast_1d(np.asarray(side, dtype=np.float64)) for side in (low, high, scale)))
        down, up, unit = (np.asarray(side) for side in given)
        live = np.isfinite(down) | np.isfinite(up)
        number = np.cumsum(live) - 1 + len(self.low)
        for row, column, value in parts:
            values = np.broadcast_to(np.asarray(value, dtype=np.float64), row.shape) / unit[row]
            kept = live[row] & (values != 0.0)
            self.entries.append((number[row[kept]], column[kept], values[kept]))
        self.low += (down[live] / unit[live]).tolist()
        self.high += (up[live] / unit[live]).tolist()

    def program(self) -> Program:
        """Return the program."""
        row, column, entry = (np.concatenate([part[i] for part in self.entries]) for i in range(3))
        return Program(
            np.concatenate(self.cost), np.concatenate(self.most), np.concatenate(self.whole),
            row, column, entry, np.array(self.low), np.array(self.high),
        )  # fmt: skip
