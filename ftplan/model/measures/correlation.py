"""How key groups rise and fall together ([Madsen2015], section 6).

Everything rests on standardised series Z, whose inner products are Pearson's correlations: the correlation of a key
group with all groups of a node is one product with the sum of their columns, so no groups-by-groups matrix is needed.
Shapes: W windows, K key groups, N nodes.

What is correlated (:func:`adjusted`) are raw loads, shares of the total, or loads without their daily profile. Raw
loads that all follow the day correlate positively with each other: the least sum is then on nodes with few groups.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import FloatArray, IntArray

Correlate = Literal["raw", "share", "residual"]
DAY_S = 86_400.0

#: Numbers of one block of correlations: 4 million, 32 MB.
BLOCK = 1 << 22
Name = tuple[str, int]


def adjusted(loads: FloatArray, window_s: float, correlate: Correlate) -> FloatArray:
    """Return the series to correlate, shape (W, K) like *loads*; cost O(W K).

    ``share``: each window's loads divided by their total, 0 where that is 0. ``residual``: each load less the mean
    over all windows at the same time of day; windows of a day or longer, and traces of at most a day, have no daily
    profile to remove and stay raw.
    """
    if correlate == "share":
        total = loads.sum(axis=1, keepdims=True)
        share = np.divide(loads, total, out=np.zeros_like(loads), where=total > 0)
        return _steadied(share, share)
    if correlate == "residual":
        phase = (np.arange(loads.shape[0]) * window_s % DAY_S // window_s).astype(np.int64)
        count = np.bincount(phase)
        if len(count) <= 1 or loads.shape[0] <= len(count):
            return loads
        mean = np.zeros((len(count), loads.shape[1]))
        np.add.at(mean, phase, loads)
        mean /= np.maximum(count, 1)[:, None]
        rest = loads - mean[phase]
        return _steadied(rest, loads)
    return loads


def _steadied(series: FloatArray, scale: FloatArray) -> FloatArray:
    """Make columns of *series* constant that vary by no more than the rounding of *scale*; both (W, K)."""
    if series.size:
        noise = np.ptp(series, axis=0) <= NOISE * np.abs(scale).max(axis=0)
        series[:, noise] = series[0, noise]
    return series


def standardised(loads: FloatArray) -> FloatArray:
    """Return series of mean 0 and length 1, shape (W, K); a constant series becomes zero.

    The product of two columns is their correlation, 0 where either is constant. Constant is what has max == min:
    a variance that is only rounding noise must not become a correlation. Cost O(W K).
    """
    if loads.shape[0] == 0 or loads.shape[1] == 0:
        return np.zeros(loads.shape)
    constant = loads.max(axis=0) == loads.min(axis=0)
    # Scaling by the largest load first keeps the squares of huge and of tiny loads within range.
    largest = np.abs(loads).max(axis=0)
    z = loads / np.where(largest > 0, largest, 1.0)
    z -= z.mean(axis=0)
    length = np.sqrt(np.einsum("wk,wk->k", z, z))
    z /= np.where(constant | (length == 0), 1.0, length)
    z[:, constant | (length == 0)] = 0.0
    return z


def node_sums(z: FloatArray, home: IntArray, nodes: int) -> FloatArray:
    """Return the sum of the series of the groups whose primary is on each node, shape (W, N).

    *z* holds standardised series, or any others, as columns (W, K); *home* holds the node position of each group's
    primary, shape (K,). Cost O(W (K + N)).
    """
    sums = np.zeros((z.shape[0], nodes))
    order = np.argsort(home, kind="stable")
    ends = np.searchsorted(home[order], np.arange(nodes + 1))
    for node in range(nodes):
        members = order[ends[node] : ends[node + 1]]
        if members.size:
            sums[:, node] = z[:, members].sum(axis=1)
    return sums


def expected_random(cost: FloatArray, home: IntArray, accepts: npt.NDArray[np.bool_], copies: int) -> float:
    """Return the expected total cost of a random plan: copies on different nodes, none with the primary.

    Each copy alone is uniform over the nodes that accept checkpoints, but its primary's; rows without such a node
    count nothing. *cost* has shape (K, N), *home* (K,), *accepts* (N,).
    """
    if cost.size == 0:
        return 0.0
    rows = np.arange(cost.shape[0])
    step = max(1, BLOCK // cost.shape[1])
    parts = [cost[start : start + step, accepts].sum(axis=1) for start in range(0, cost.shape[0], step)]
    total = np.concatenate(parts) - np.where(accepts[home], cost[rows, home], 0.0)
    return float(copies * np.sum(mean_elsewhere(total, home, accepts)))


def mean_elsewhere(total: FloatArray, home: IntArray, accepts: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the mean over the nodes that accept checkpoints but the primary's, 0 where there are none, shape (K,).

    *total* (K,) is the sum over these nodes; *home* (K,), *accepts* (N,).
    """
    places = int(accepts.sum()) - accepts[home].astype(np.int64)
    return np.asarray(np.where(places > 0, total / np.maximum(places, 1), 0.0))


class CorrelatedPair(NamedTuple):
    """Two key groups, the smaller name first, and their correlation in [-1, 1]."""

    first: Name
    second: Name
    correlation: float


def strongest_pairs(series: KeyGroupSeries, k: int) -> tuple[tuple[CorrelatedPair, ...], tuple[CorrelatedPair, ...]]:
    """Return the *k* most negative and the *k* most positive pairs of key groups, strongest first.

    Correlations are compared after rounding to 12 digits and ties end at the names, so that rounding noise decides
    nothing. Only negative (positive) correlations are listed; fewer than *k* where there are no more. Cost O(W K²)
    time, O(W K + block) memory.
    """
    z = standardised(series.loads)
    groups = z.shape[1]
    values = np.zeros(0)
    index = np.zeros(0, dtype=np.int64)
    kept = [(values, index), (values, index)]
    step = max(1, BLOCK // max(groups, 1))
    for start in range(0, groups if k > 0 else 0, step):
        stop = min(start + step, groups)
        block = np.round(z[:, start:stop].T @ z[:, start:], 12)
        row, column = np.triu_indices(stop - start, 1, groups - start)
        flat = block[row, column]
        place = (row + start) * groups + column + start
        for side, sign in enumerate((1.0, -1.0)):
            signed = sign * flat
            hit = signed < 0
            old_values, old_index = kept[side]
            kept[side] = _least(np.concatenate([old_values, signed[hit]]), np.concatenate([old_index, place[hit]]), k)
    names = series.names

    def pairs(side: int, sign: float) -> tuple[CorrelatedPair, ...]:
        return tuple(
            CorrelatedPair(names[int(i) // groups], names[int(i) % groups], min(1.0, max(-1.0, sign * float(v))))
            for v, i in zip(*kept[side], strict=True)
        )

    return pairs(0, 1.0), pairs(1, -1.0)


def _least(values: FloatArray, index: IntArray, k: int) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Return the *k* least values with their indices, sorted by (value, index)."""
    if values.size > k:
        threshold = np.partition(values, k - 1)[k - 1]
        candidates = values <= threshold
        values, index = values[candidates], index[candidates]
    order = np.lexsort((index, values))[:k]
    return values[order], index[order]
