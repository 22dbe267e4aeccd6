"""Loads of key groups over time: how they differ in size, and how they rise and fall together or against each other."""

from __future__ import annotations

import numpy as np

from ftplan.generators.knobs import StatsKnobs
from ftplan.model.topology import FloatArray, IntArray

#: Variance over time of a wave between -1 and 1.
_VARIANCE = {"sine": 1 / 2, "ramp": 1 / 3}


def daily_loads(
    groups: int, windows: int, seed: int | np.random.Generator, records: float = 10.0, day: int = 144
) -> FloatArray:
    """Return Poisson loads of key groups with lognormal sizes that follow the day with random phases.

    Shape (windows, groups); *records* is the median size in a window, and *day* how many windows a day has.
    """
    knobs = StatsKnobs(windows=windows, records=records, window_s=86_400.0 / day)
    random = np.random.default_rng(seed)
    size = records * sizes(knobs, groups, random)
    return drawn(knobs, expected(knobs, size, phases(knobs, groups, 0, random), random), random)


def sizes(knobs: StatsKnobs, groups: int, random: np.random.Generator) -> FloatArray:
    """Return sizes of key groups: lognormal around 1 with sigma ``skew``, or rank^-skew, shuffled; shape (groups,)."""
    if knobs.sizes == "lognormal":
        return random.lognormal(0.0, knobs.skew, groups)
    return random.permutation(np.arange(1, groups + 1) ** -float(knobs.skew))


def phases(knobs: StatsKnobs, groups: int, operator: int, random: np.random.Generator) -> FloatArray:
    """Return where in the cycle each key group is, in radians, shape (groups,).

    Without camps phases are random. With some they are spread evenly over the cycle: key group g is in camp g modulo
    their number, or all of an operator are in one camp, by its place. Two camps rise and fall against each other.
    """
    by_operator = knobs.camps_by == "operator"
    if knobs.camps == 0:
        phase = random.uniform(0, 2 * np.pi, 1 if by_operator else groups)
        return np.asarray(np.broadcast_to(phase, groups))
    camp: IntArray = np.full(groups, operator) if by_operator else np.arange(groups)
    return 2 * np.pi * (camp % knobs.camps) / knobs.camps


def expected(knobs: StatsKnobs, size: FloatArray, phase: FloatArray, random: np.random.Generator) -> FloatArray:
    """Return expected loads, ``size (level + wave)``, at least 0, shape (windows, groups).

    The wave is a sine of ``cycle_s``, or a ramp from -1 to 1 over all windows, of which a share of ``strength`` in its
    variance is common and the rest each key group's own: two key groups of one camp correlate by ``strength``.
    """
    if knobs.over_time == "ramp":
        wave = np.linspace(-1.0, 1.0, knobs.windows)[:, None] * np.cos(phase)
    else:
        wave = np.sin(2 * np.pi * np.arange(knobs.windows)[:, None] / (knobs.cycle_s / knobs.window_s) + phase)
    if knobs.strength < 1.0:
        own = np.sqrt((1.0 - knobs.strength) * _VARIANCE[knobs.over_time])
        wave = np.sqrt(knobs.strength) * wave + own * random.standard_normal(wave.shape)
    if knobs.level + wave.min(initial=0.0) < 0.0:
        wave = np.maximum(wave, -knobs.level)
    return np.asarray(size * (knobs.level + wave), dtype=np.float64)


def drawn(knobs: StatsKnobs, loads: FloatArray, random: np.random.Generator) -> FloatArray:
    """Return counts with these means, or the means themselves without ``poisson``."""
    return random.poisson(loads).astype(np.float64) if knobs.poisson else loads
