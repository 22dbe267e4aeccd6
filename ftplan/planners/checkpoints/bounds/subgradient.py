"""Subgradient steps on a part of the Lagrangian dual: some units, or some nodes of each unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget

#: Steps without a better value after which their length is halved.
PATIENCE = 8
#: Part of the last direction that each step keeps.
MOMENTUM = 0.7
#: Length, relative to Polyak's, below which the steps end.
SHORTEST = 1e-4
#: How far beyond what is reached a target that proved too low is set.
RAISED = 0.05


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the problem. Shapes: S units, k columns each, R rows of limits, N nodes.

    ``nodes`` is None where the columns are all nodes, in order. ``cost`` is infinite where a copy may not be.
    """

    cost: FloatArray  # (S, k)
    nodes: IntArray | None  # (S, k)
    weight: FloatArray  # (R, S)
    lower: FloatArray  # (R, N)
    upper: FloatArray  # (R, N)
    domain: IntArray  # (N,)
    copies: int

    def value(self, prices: FloatArray, out: FloatArray) -> tuple[float, FloatArray]:
        """Return the Lagrangian of the part, and what its cheapest copies use of each limit, shape (R, N)."""
        np.copyto(out, self.cost)
        for weight, price in zip(self.weight, prices, strict=True):
            if price.any():
                out += weight[:, None] * (price[None, :] if self.nodes is None else price[self.nodes])
        total, used = 0.0, np.zeros_like(self.lower)
        nodes = self.lower.shape[1]
        rows = np.arange(len(self.cost))
        for k in range(self.copies):
            column = out.argmin(axis=1)
            at = column if self.nodes is None else self.nodes[rows, column]
            total += float(out[rows, column].sum())
            for r in range(len(used)):
                used[r] += np.bincount(at, self.weight[r], nodes)
            if k + 1 < self.copies:
                domains = self.domain[None, :] if self.nodes is None else self.domain[self.nodes]
                out[domains == self.domain[at][:, None]] = np.inf
        return total - float(paid(prices, self.lower, self.upper).sum()), used


def paid(prices: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return what the limits are worth at the prices, (R, N): upper limits where positive, lower where negative."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(prices > 0, prices * upper, np.where(prices < 0, prices * lower, 0.0)))


def slope(prices: FloatArray, used: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return a supergradient of the Lagrangian, (R, N)."""
    over, under = used - upper, used - lower
    at_zero = np.maximum(over, 0.0) + np.minimum(under, 0.0)
    return np.asarray(np.where(prices > 0, over, np.where(prices < 0, under, at_zero)))


def climb(
    part: Part, start: FloatArray, target: float, passes: int, theta: float, budget: Budget, patience: float = PATIENCE
) -> tuple[FloatArray, float]:
    """Return the best prices that *passes* steps from *start* find, and the length that the steps have come to.

    Polyak's step towards *target* times theta, in units of a mean node's use. Deterministic but for the clock.
    """
    nodes = part.lower.shape[1]
    scale = np.maximum(part.weight.sum(axis=1, keepdims=True) * part.copies, 1e-300) / max(nodes, 1)
    out = np.empty_like(part.cost)
    best_value, best, first = -np.inf, start, np.inf
    current, direction, stale = start, np.zeros_like(start), 0.0
    for _ in range(passes):
        if budget.over():
            break
        value, used = part.value(current, out)
        if not np.isfinite(value):
            break
        if value > best_value:
            little = best_value > -np.inf and value < best_value + 1e-5 * abs(best_value)
            stale = stale + 0.5 if little else 0.0
            best_value, best = value, current
        else:
            stale += 1.0
        if stale >= patience:
            theta, stale, current, direction = theta / 2, 0.0, best, np.zeros_like(direction)
            if theta < SHORTEST:
                break
            continue
        direction = slope(current, used, part.lower, part.upper) / scale + MOMENTUM * direction
        norm = float((direction**2).sum())
        first = min(first, value)
        if part.nodes is None and value >= target - RAISED * abs(value - first):
            # All nodes of a sample: its optimum is not known, and a plan that breaks limits may lie below it.
            target = value + RAISED * (abs(value - first) + abs(value))
        if norm <= 1e-18 or target <= value:
            break
        step = current + theta * (target - value) / norm * direction / scale
        step = np.where((step > 0) & np.isinf(part.upper), 0.0, step)
        current = np.where((step < 0) & np.isinf(part.lower), 0.0, step)
    return best, theta
