"""Recoveries as they were measured, with the curves in which they show; and what recoveries cost, as fitted on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ftplan.model.topology import FloatArray

#: The parts of a recovery that have estimates.
PARAMETERS = ("detection_s", "restart_s", "bandwidth_mb_s", "replay_share", "capacity_records_s")


class MeasuredRecovery(NamedTuple):
    """One measured recovery, or the parts of one; None is what was not measured.

    Attributes
    ----------
    where
        The place that messages name: a file with a row, a second or a line.
    recovery_s
        Seconds from the failure until the job has caught up.
    rate, interval_s
        Records per second into the job, seconds between its checkpoints.
    state_bytes
        Bytes that the largest restore fetched; restores of several tasks run side by side.
    local_bytes
        Bytes of state that were on the node already.
    detection_s, restart_s, transfer_s
        Parts that were measured by themselves: until the failure was noticed, start of the tasks without the fetching
        of their state, that fetching.
    stopped_s
        Seconds from the failure until tasks processed again.
    replayed_s
        How long before the failure the checkpoint began that tasks went back to.
    capacity
        Records per second that the job processed while it caught up.
    """

    where: str
    recovery_s: float | None = None
    rate: float | None = None
    interval_s: float | None = None
    state_bytes: float | None = None
    local_bytes: float | None = None
    detection_s: float | None = None
    restart_s: float | None = None
    transfer_s: float | None = None
    stopped_s: float | None = None
    replayed_s: float | None = None
    capacity: float | None = None


@dataclass(frozen=True, eq=False)
class Curve:
    """Signals of a job over time, each of shape (n,) or None; NaN where a sample is missing.

    Attributes
    ----------
    name
        What messages call it.
    time_s
        Ascending seconds.
    throughput
        Records per second that the job processed.
    lag
        Records that wait for it, of all partitions or of the slowest.
    latency
        How long records took, in any unit.
    interval_s
        Seconds between checkpoints, None where nobody says.
    """

    name: str
    time_s: FloatArray
    throughput: FloatArray | None = None
    lag: FloatArray | None = None
    latency: FloatArray | None = None
    interval_s: float | None = None


class Estimate(NamedTuple):
    """A fitted value and its confidence limits, None where unknown."""

    value: float
    low: float | None = None
    high: float | None = None


class FittedRange(NamedTuple):
    """From *low* to *high*: where the measured recoveries lie."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Return whether a value lies in the range."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class RecoveryCosts:
    """How long a recovery takes by its parts; a part without an estimate is None.

    Attributes
    ----------
    state
        Where state is when a task starts again: ``local``, on the node's own disk, or ``remote``, to be fetched.
    detection_s
        Seconds until a failure is noticed.
    restart_s
        Seconds that tasks take to start, without the restore of their state.
    bandwidth_mb_s
        What a restore gets, in units of 2^20 bytes per second.
    replay_share
        Part of a checkpoint interval whose records are processed again.
    capacity_records_s
        Records per second that the whole job can process.
    rates, intervals_s, state_bytes
        Records per second, checkpoint intervals and bytes of the largest restore of the recoveries that the estimates
        were fitted on.
    """

    state: Literal["local", "remote"]
    detection_s: Estimate | None = None
    restart_s: Estimate | None = None
    bandwidth_mb_s: Estimate | None = None
    replay_share: Estimate | None = None
    capacity_records_s: Estimate | None = None
    rates: FittedRange | None = None
    intervals_s: FittedRange | None = None
    state_bytes: FittedRange | None = None

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """The parts that have an estimate, by name."""
        known = {name: getattr(self, name) for name in PARAMETERS}
        return {name: item for name, item in known.items() if item is not None}
