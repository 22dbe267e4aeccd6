"""Loads of key groups over time: how they differ in size, and how they rise and fall together or against each other.

:func:`rows_of` makes series over windows the rows of Arrow tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ftplan.errors import FtplanError
from ftplan.generators.options import StatsKnobs
from ftplan.model.ranges import MEASURED
from ftplan.model.statistics import TABLES
from ftplan.model.topology import FloatArray, IntArray

#: The first window begins here, or just before, where windows do not divide the time since 1970: 2026-01-01.
START_S = 1_767_225_600

#: Variance over time of a wave between -1 and 1.
_VARIANCE = {"sine": 1 / 2, "square": 1.0, "ramp": 1 / 3}


def rows_of(
    knobs: StatsKnobs, kind: str, names: Mapping[str, str], numbers: Mapping[str, IntArray],
    columns: Mapping[str, FloatArray],
) -> Any:  # fmt: skip
    """Return the rows of one operator (or pair of operators): series by series, windows without any record left out.

    *columns* have shape (windows, series).
    """
    window_us, start_us = grid(knobs)
    values = {name: _held(name, column.T.ravel()) for name, column in columns.items()}
    records = [values[name] for name in ("records", "records_in", "records_out") if name in values]
    kept = np.flatnonzero(np.any(records, axis=0))
    filled: dict[str, Any] = {}
    for name, text in names.items():
        filled[name] = pa.array([text]).take(pa.array(np.zeros(len(kept), dtype=np.int32)))
    for name, number in numbers.items():
        filled[name] = pa.array(number[kept // knobs.windows].astype(np.int32))
    starts = start_us + window_us * (kept % knobs.windows)
    filled["window_start"] = pa.array(starts, pa.timestamp("us", tz="UTC"))
    filled |= {name: pa.array(column[kept]) for name, column in values.items()}
    if kind == "key_groups":
        filled["resolution"] = pa.array(["key_group"]).take(pa.array(np.zeros(len(kept), dtype=np.int32)))
        filled["estimated"] = pa.array(np.zeros(len(kept), dtype=np.bool_))
    return pa.table({c.name: filled.get(c.name, pa.nulls(len(kept), c.arrow)) for c in TABLES[kind]})


def _held(name: str, values: FloatArray) -> FloatArray:
    """Return values that files may hold; what is smaller is 0, what is larger refused."""
    most = float(values.max(initial=0.0))
    if most > MEASURED.high:
        raise FtplanError(
            f"{name}: {most:g} in a window is more than {MEASURED.high:g}: shorten --window, or less of it"
        )
    return np.where(values >= MEASURED.low, values, 0.0)


def joined(kind: str, parts: list[Any]) -> Any:
    """Return the table of a kind whose rows come in parts."""
    empty = pa.table({column.name: pa.nulls(0, column.arrow) for column in TABLES[kind]})
    return pa.concat_tables([empty, *parts]).combine_chunks()


def grid(knobs: StatsKnobs) -> tuple[int, int]:
    """Return the length of a window and the start of the first, in microseconds."""
    window_us = round(knobs.window_s * 1e6)
    return window_us, START_S * 1_000_000 // window_us * window_us


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

    The wave is a sine or a square of ``cycle_s``, or a ramp from -1 to 1 over all windows. A share of ``strength`` of
    its variance is common and the rest each key group's own: two key groups of one camp correlate by ``strength``.
    """
    if knobs.over_time == "ramp":
        wave = np.linspace(-1.0, 1.0, knobs.windows)[:, None] * np.cos(phase)
    else:
        angle = 2 * np.pi * np.arange(knobs.windows)[:, None] / (knobs.cycle_s / knobs.window_s) + phase
        wave = np.sin(angle)
        if knobs.over_time == "square":  # high first: where the sine is 0 up to rounding, it begins to rise or fall
            wave = np.where(np.sin(angle + 1e-9) >= 0.0, 1.0, -1.0)
    if knobs.strength < 1.0:
        own = np.sqrt((1.0 - knobs.strength) * _VARIANCE[knobs.over_time])
        wave = np.sqrt(knobs.strength) * wave + own * random.standard_normal(wave.shape)
    if knobs.level + wave.min(initial=0.0) < 0.0:
        wave = np.maximum(wave, -knobs.level)
    return np.asarray(size * (knobs.level + wave), dtype=np.float64)


def drawn(knobs: StatsKnobs, loads: FloatArray, random: np.random.Generator) -> FloatArray:
    """Return counts with these means, or the means themselves without ``poisson``."""
    return random.poisson(loads).astype(np.float64) if knobs.poisson else loads
