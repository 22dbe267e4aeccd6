"""Tentative output ([SuZhou2016], section VI-B): which records still arrive, and which measure foretells that."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, FloatArray, IntArray

#: The measures that are compared.
MEASURES = ("output_fidelity", "key_aligned_fidelity", "internal_completeness")
#: Replica sets that a rank correlation needs.
LEAST_SETS = 3


@dataclass(frozen=True)
class QueryShape:
    """A query's operators, and which of them the records of its streams pass.

    Attributes
    ----------
    operators
        Tasks of each operator.
    streams
        By stream, the operators on its way to the output.
    lanes
        Parts of the keys that no operator divides: lane l of L is with task ``floor(l * parallelism / L)`` of each.
    """

    operators: Mapping[str, int]
    streams: Mapping[str, tuple[str, ...]]
    lanes: int

    def tasks_of(self, operator: str) -> IntArray:
        """Return the task of an operator that has each lane, shape (lanes,)."""
        return np.arange(self.lanes, dtype=np.int64) * self.operators[operator] // self.lanes

    def live(self, replicated: Mapping[str, BoolArray]) -> dict[str, BoolArray]:
        """Return by stream on which lanes all tasks of the way are *replicated*, shape (lanes,).

        In the worst case all tasks without a replica fail: a record gets through where its whole way lives.
        """
        return {
            stream: np.logical_and.reduce([replicated[operator][self.tasks_of(operator)] for operator in way])
            for stream, way in self.streams.items()
        }


def accuracy(kept: IntArray, outputs: IntArray) -> FloatArray:
    """Return which part of the output without failure each plan keeps, (plans,): entries of all windows together.

    *kept* is (plans, windows), *outputs* (windows,). Where there is no output nothing is lost.
    """
    total = int(outputs.sum())
    return np.ones(len(kept)) if total == 0 else kept.sum(axis=1) / total


class MeasurePrediction(NamedTuple):
    """How well a measure foretells accuracies.

    Rank correlations, None where all values of one side are equal; ``error`` is the mean absolute difference, ``bias``
    the mean one: above 0 the measure promises too much.
    """

    measure: str
    spearman: float | None
    kendall: float | None
    error: float
    bias: float


def prediction(measure: str, predicted: Sequence[float], actual: Sequence[float]) -> MeasurePrediction:
    """Hold a measure against the accuracies of the same replica sets, each once."""
    from scipy.stats import kendalltau, spearmanr

    values, accuracies = np.asarray(predicted, dtype=np.float64), np.asarray(actual, dtype=np.float64)
    apart = values - accuracies
    ranked = len(values) >= LEAST_SETS and np.ptp(values) > NOISE and np.ptp(accuracies) > NOISE
    ranks = [_ranks(side) for side in (values, accuracies)]
    spearman, kendall = (float(f(*ranks).statistic) if ranked else None for f in (spearmanr, kendalltau))
    return MeasurePrediction(measure, spearman, kendall, float(np.abs(apart).mean()), float(apart.mean()))


def _ranks(values: FloatArray) -> IntArray:
    """Return ranks in which values that differ by rounding errors only are equal."""
    return np.unique(np.round(values, 9), return_inverse=True)[1]


def best_by(predictions: Sequence[MeasurePrediction], statistic: str) -> tuple[str, ...]:
    """Return the measures that foretell best by ``spearman``, ``kendall`` or ``error``; several where they tie."""
    sign = -1.0 if statistic == "error" else 1.0
    stated = [(item.measure, getattr(item, statistic)) for item in predictions]
    known = [(measure, sign * value) for measure, value in stated if value is not None]
    most = max((value for _, value in known), default=math.nan)
    return tuple(measure for measure, value in known if value >= most - NOISE)
