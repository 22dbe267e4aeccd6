"""Measured recoveries as arrays, which fits and their repetitions take rows of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ftplan.model.recovery_costs import MeasuredRecovery
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB

#: Rates (and intervals) that differ by less than this share are one.
SAME = 0.02


class Sample(NamedTuple):
    """Recoveries by column, each of shape (n,); NaN is what was not measured.

    Units are those of :class:`~ftplan.model.recovery_costs.MeasuredRecovery`.
    """

    recovery_s: FloatArray
    rate: FloatArray
    interval_s: FloatArray
    state_bytes: FloatArray
    detection_s: FloatArray
    restart_s: FloatArray
    bandwidth_mb_s: FloatArray
    replay_share: FloatArray
    stopped_s: FloatArray
    replayed_s: FloatArray
    capacity: FloatArray

    @classmethod
    def of(cls, recoveries: Sequence[MeasuredRecovery]) -> Self:
        """Return recoveries as columns."""

        def column(name: str) -> FloatArray:
            return np.array([np.nan if getattr(r, name) is None else getattr(r, name) for r in recoveries], float)

        size, took = column("state_bytes"), column("transfer_s")
        speed = np.divide(size, took * MB, out=np.full(len(size), np.nan), where=(took > 0.0) & (size > 0.0))
        interval, replayed = column("interval_s"), column("replayed_s")
        return cls(
            column("recovery_s"), column("rate"), interval, size, column("detection_s"), column("restart_s"), speed,
            replayed / interval, column("stopped_s"), replayed, column("capacity"),
        )  # fmt: skip

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Sample:
        """Return some of the rows."""
        return Sample(*(column[rows] for column in self))

    @property
    def timed(self) -> NDArray[np.bool_]:
        """Whether each was measured from the failure until the job had caught up."""
        return np.isfinite(self.recovery_s)


def groups(values: FloatArray, same: float = SAME) -> NDArray[np.int64]:
    """Return the number of the group of each value: neighbours in order that differ by less than a share are together.

    Unknown values (NaN) are group -1.
    """
    group = np.full(len(values), -1, dtype=np.int64)
    known = np.flatnonzero(np.isfinite(values))
    if len(known):
        order = known[np.argsort(values[known], kind="stable")]
        ascending = values[order]
        group[order] = np.concatenate(([0], np.cumsum(ascending[1:] > ascending[:-1] * (1.0 + same))))
    return group


def distinct(values: FloatArray, same: float = SAME) -> int:
    """Return how many different values there are, but for a share."""
    return int(groups(values, same).max(initial=-1)) + 1
