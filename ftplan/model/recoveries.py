"""Recoveries as they were measured, and the curves in which they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ftplan.model.topology import FloatArray


class Recovery(NamedTuple):
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
