"""What recoveries of a job cost, as fitted on measured ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

#: The parts of a recovery that have estimates.
PARAMETERS = ("detection_s", "restart_s", "bandwidth_mb_s", "replay_share", "capacity_records_s")


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
