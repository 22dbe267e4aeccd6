"""Subgradient ascent on a Lagrangian dual, by steps of Polyak's length with momentum [Polyak1969].

Limits come in blocks, each of one shape: those on nodes (R, N), and with a failover limit those of survivors (L, N).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget

#: An array for each block of limits.
Blocks = tuple[FloatArray, ...]

#: Length, relative to Polyak's, below which the steps end.
SHORTEST = 1e-4


class Minimum(NamedTuple):
    """The minimum of a Lagrangian at some prices: its value, what its copies use of each limit, and the copies."""

    value: float
    used: Blocks
    copies: IntArray  # (U, c)


class LimitBlock(NamedTuple):
    """Limits ``lower <= used <= upper`` of one shape; ``scale`` is what a mean node uses of each."""

    lower: FloatArray
    upper: FloatArray
    scale: FloatArray


class Lagrangian(NamedTuple):
    """The dual function of some blocks of limits."""

    blocks: tuple[LimitBlock, ...]
    minimum: Callable[[Blocks], Minimum]


class StepRule(NamedTuple):
    """How steps are lengthened and shortened."""

    momentum: float  # part of the last direction that each step keeps
    patience: float  # steps without a rise after which their length is halved
    least_rise: float = 0.0  # what counts as a rise, as a part of the distance to the target
    small_rise: float = 0.0  # a rise below this part of the value counts as half a step without one
    return_passes: int = 0  # passes, and steps without a rise, that the return to the best prices counts as
    raised: float = 0.0  # how far beyond what is reached a target that may be too low is set


class Ascent(NamedTuple):
    """The best prices, the minimum at them, and the length, relative to Polyak's, that the steps have come to."""

    prices: Blocks
    minimum: Minimum
    theta: float


def subgradient_ascent(
    lagrangian: Lagrangian,
    start: Blocks,
    target: float,
    passes: int,
    budget: Budget,
    rule: StepRule,
    theta: float = 1.0,
) -> Ascent:
    """Return the best prices that *passes* steps from *start* reach; *target* is the value of a known plan.

    Each step is ``theta (target - value) / |direction|^2 * direction``, in units of what a mean node uses.
    Deterministic but for the clock. Cost of a minimum a pass.
    """
    best = current = start
    best_minimum = minimum = lagrangian.minimum(start)
    direction, stale, lowest = _none(start), 0.0, np.inf
    while passes > 0 and not budget.over() and np.isfinite(minimum.value):
        passes -= 1
        direction = tuple(
            supergradient(price, used, block.lower, block.upper) / block.scale + rule.momentum * old
            for price, used, block, old in zip(current, minimum.used, lagrangian.blocks, direction, strict=True)
        )
        norm = float(sum((part**2).sum() for part in direction))
        lowest = min(lowest, minimum.value)
        if rule.raised and minimum.value >= target - rule.raised * abs(minimum.value - lowest):
            target = minimum.value + rule.raised * (abs(minimum.value - lowest) + abs(minimum.value))
        if norm <= 1e-18 or target <= minimum.value:
            break
        length = theta * (target - minimum.value) / norm
        current = tuple(
            feasible_prices(price + length * part / block.scale, block.lower, block.upper)
            for price, part, block in zip(current, direction, lagrangian.blocks, strict=True)
        )
        minimum = lagrangian.minimum(current)
        reached = best_minimum.value
        if minimum.value > reached + rule.least_rise * abs(target - reached):
            stale = stale + 0.5 if minimum.value < reached + rule.small_rise * abs(reached) else 0.0
            best, best_minimum = current, minimum
        else:
            stale += 1.0
        if stale >= rule.patience:
            theta, current, minimum, direction = theta / 2, best, best_minimum, _none(start)
            stale, passes = float(rule.return_passes), passes - rule.return_passes
            if theta < SHORTEST:
                break
    return Ascent(best, best_minimum, theta)


def _none(blocks: Blocks) -> Blocks:
    return tuple(np.zeros_like(block) for block in blocks)


def paid(prices: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return price times limit: the upper limit where the price is positive, the lower where it is negative."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(prices > 0, prices * upper, np.where(prices < 0, prices * lower, 0.0)))


def supergradient(prices: FloatArray, used: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return a supergradient of the Lagrangian: by how much the limit that has a price is exceeded."""
    over, under = used - upper, used - lower
    at_zero = np.maximum(over, 0.0) + np.minimum(under, 0.0)
    return np.asarray(np.where(prices > 0, over, np.where(prices < 0, under, at_zero)))


def feasible_prices(prices: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the prices with those of missing limits set to 0."""
    prices = np.where((prices > 0) & np.isinf(upper), 0.0, prices)
    return np.where((prices < 0) & np.isinf(lower), 0.0, prices)
