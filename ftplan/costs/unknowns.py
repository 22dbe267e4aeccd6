"""Measured recoveries as arrays, and which parameters they can tell, which are fixed, which are left out, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ftplan.model.plan import Warn
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


#: Sizes of state that differ by less say nothing of bandwidth.
LEAST_RATIO = 2.0


class Unknowns(NamedTuple):
    """What is to be found."""

    fixed: Mapping[str, float]  # parameters whose value was given
    #: Parameters that were measured by themselves: the median of their column of the sample counts
    medians: tuple[str, ...]
    #: Parameters that are fitted to whole recoveries, at most one of detection and restart among them
    fitted: tuple[str, ...]
    warnings: tuple[Warn, ...] = ()


def unknowns(sample: Sample, fixed: Mapping[str, float]) -> Unknowns:
    """Return what a sample can tell beside what is fixed.

    Whole recoveries with unknown inputs are of use only where the parameter that needs them is left out; see
    :func:`usable`.
    """
    whole = sample.take(sample.timed)
    medians = tuple(
        name
        for name in ("detection_s", "restart_s", "bandwidth_mb_s", "replay_share")
        if name not in fixed and np.isfinite(getattr(sample, name)).any()
    )
    if not len(whole.recovery_s):
        return Unknowns(fixed, medians, (), (_only_parts(fixed, medians),))
    warnings: list[Warn] = []
    known = {*fixed, *medians}
    fitted: list[str] = []
    if not {"detection_s", "restart_s"} <= known:
        fitted.append("detection_s" if "restart_s" in known else "restart_s")
        if not {"detection_s", "restart_s"} & known:
            text = "detection and restart cannot be told apart: restart_s holds both; --detection fixes the one"
            warnings.append(Warn("DETECTION_NOT_SEPARATED", text))
    rates, intervals = distinct(_of(whole.rate)), distinct(_of(whole.interval_s))
    if "capacity_records_s" not in known:
        shown = np.isfinite(whole.capacity).any()
        if rates > 1 or (rates == 1 and (shown or (intervals > 1 and "replay_share" in known))):
            fitted.append("capacity_records_s")
        else:
            why = "no rate is known" if rates == 0 else "all recoveries had the same rate"
            text = f"{why}: catching up is within the other parts; --capacity fixes what the job can process"
            warnings.append(Warn("CAPACITY_NOT_IDENTIFIED", text))
    rho = "capacity_records_s" in {*known, *fitted}
    if "replay_share" not in known:
        if rho and intervals > 1:
            fitted.append("replay_share")
        else:
            why = "no interval is known" if intervals == 0 else "all recoveries had the same checkpoint interval"
            why = why if rho else "the capacity is not known"
            text = f"{why}: what is processed again is within the other parts; --replay-share fixes it"
            warnings.append(Warn("REPLAY_NOT_IDENTIFIED", text))
    if "bandwidth_mb_s" not in known:
        sizes = _positive(whole.state_bytes)
        if len(sizes) and sizes.max() >= LEAST_RATIO * sizes.min():
            fitted.append("bandwidth_mb_s")
        else:
            why = "all recoveries had about the same state" if len(sizes) else "no size of state is known"
            text = f"{why}: fetching it is within the other parts; --bandwidth fixes it"
            warnings.append(Warn("BANDWIDTH_NOT_IDENTIFIED", text))
    while len(fitted) > 1 and len(fitted) >= len(whole.recovery_s):
        text = f"{len(whole.recovery_s)} recoveries are too few for it beside {', '.join(fitted[:-1])}"
        warnings.append(Warn("TOO_FEW_RECOVERIES", f"{fitted.pop()} is left out: {text}"))
    return Unknowns(fixed, medians, tuple(fitted), tuple(warnings))


def _only_parts(fixed: Mapping[str, float], medians: tuple[str, ...]) -> Warn:
    missing = [
        name
        for name in ("detection_s", "restart_s", "bandwidth_mb_s", "replay_share", "capacity_records_s")
        if name not in fixed and name not in medians
    ]
    text = "no recovery was measured from the failure to its end, only parts of some"
    return Warn("ONLY_PARTS", f"{text}: {', '.join(missing) or 'nothing'} left out")


def _of(values: FloatArray) -> FloatArray:
    return values[np.isfinite(values)]


def _positive(values: FloatArray) -> FloatArray:
    return values[np.isfinite(values) & (values > 0.0)]


def usable(sample: Sample, unknown: Unknowns) -> Sample:
    """Return the sample with the columns that no parameter needs put aside, NaN where one is needed and missing.

    A whole recovery counts where all that its prediction needs is known: the rate where a capacity is, the interval
    where a share of it is processed again, the state where there is a bandwidth.
    """
    have = {*unknown.fixed, *unknown.medians, *unknown.fitted}
    timed = sample.timed.copy()
    zeros = np.zeros(len(timed))
    columns = sample._asdict()
    for column, parameter in (
        ("rate", "capacity_records_s"),
        ("interval_s", "replay_share"),
        ("state_bytes", "bandwidth_mb_s"),
    ):
        if parameter in have and (np.isfinite(columns[column]) & timed).any():
            timed &= np.isfinite(columns[column])
        else:
            columns[column] = zeros
    return Sample(**{**columns, "recovery_s": np.where(timed, sample.recovery_s, np.nan)})
