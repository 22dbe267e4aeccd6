"""What is measured, in bins of time, as arrays.

Bin i is ``[start_s + i * bin_s, start_s + (i + 1) * bin_s)``; what happens at its end counts in the next bin.
"""

from __future__ import annotations

import numpy as np
from simpy import Environment

from ftplan.model.topology import FloatArray


class SumSeries:
    """Sums by bin: what is added counts in the bin of its moment."""

    def __init__(self, env: Environment, bin_s: float, columns: int = 1) -> None:
        self.env = env
        self.bin_s = bin_s
        self.start_s = float(env.now)
        self.columns = columns
        self._rows: list[FloatArray] = []

    def add(self, amount: float, column: int = 0) -> None:
        """Add an amount now."""
        self._row(_bin(self.env.now - self.start_s, self.bin_s))[column] += amount

    def sums(self) -> FloatArray:
        """Return the sums of the bins that have ended, shape (bins, columns)."""
        return self._ended()

    def _row(self, index: int) -> FloatArray:
        while len(self._rows) <= index:
            self._rows.append(np.zeros(self.columns))
        return self._rows[index]

    def _ended(self) -> FloatArray:
        bins = _bin(self.env.now - self.start_s, self.bin_s)
        if bins:
            self._row(bins - 1)
        return np.array(self._rows[:bins]).reshape(bins, self.columns)


class LevelSeries:
    """Levels over time: at the ends of bins (before what happens at that moment), their means and highest by bin."""

    def __init__(self, env: Environment, bin_s: float, columns: int = 1, level: float = 0.0) -> None:
        self.env = env
        self.bin_s = bin_s
        self.start_s = float(env.now)
        self._level = np.full(columns, level)
        self._area = np.zeros(columns)  # of the bin under way
        self._until_s = self.start_s
        self._ends: list[FloatArray] = []
        self._means: list[FloatArray] = []
        self._high = np.full(columns, -np.inf)  # of the bin under way
        self._highs: list[FloatArray] = []

    def set(self, level: float, column: int = 0) -> None:
        """Say that the level is another from now on."""
        self._fill()
        self._level[column] = level

    def change(self, by: float, column: int = 0) -> None:
        """Raise or lower the level from now on."""
        self._fill()
        self._level[column] += by

    def ends(self) -> FloatArray:
        """Return the levels at the ends of the bins that have ended, shape (bins, columns)."""
        self._fill()
        return np.array(self._ends).reshape(len(self._ends), len(self._level))

    def means(self) -> FloatArray:
        """Return the mean levels, weighted by time, of the bins that have ended, shape (bins, columns)."""
        self._fill()
        return np.array(self._means).reshape(len(self._means), len(self._level))

    def highest(self) -> FloatArray:
        """Return the highest levels that lasted in each of the bins that have ended, shape (bins, columns)."""
        self._fill()
        return np.array(self._highs).reshape(len(self._highs), len(self._level))

    def _fill(self) -> None:
        """Carry the level on until now."""
        bins = _bin(self.env.now - self.start_s, self.bin_s)
        while len(self._ends) < bins:
            end_s = self.start_s + (len(self._ends) + 1) * self.bin_s
            self._means.append((self._area + self._level * (end_s - self._until_s)) / self.bin_s)
            self._highs.append(np.maximum(self._high, self._level) if end_s > self._until_s else self._high)
            self._high = np.full(len(self._level), -np.inf)
            self._ends.append(self._level.copy())
            self._area = np.zeros(len(self._level))
            self._until_s = end_s
        if self.env.now > self._until_s:
            self._high = np.maximum(self._high, self._level)
            self._area += self._level * (self.env.now - self._until_s)
        self._until_s = max(self._until_s, float(self.env.now))


def _bin(seconds: float, bin_s: float) -> int:
    """Return the bin of a moment; a billionth of a bin before its begin is its begin."""
    return int(np.floor(seconds / bin_s + 1e-9))
