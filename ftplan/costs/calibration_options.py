"""What can be asked of ``ftplan calibrate``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ftplan.io.options.fields import (
    MOST,
    Check,
    Options,
    number,
    one_of,
    option,
    optional,
    seconds,
    speed,
    texts,
    whole,
)
from ftplan.model import ranges

#: What files may be.
FORMS = ("auto", "recoveries", "curves", "flink", "spark")
#: What a column may be.
ROLES = (
    "recovery", "rate", "interval", "bytes", "detection", "restart", "transfer", "stopped", "replayed",
    "capacity", "time", "throughput", "lag", "latency"
)  # fmt: skip


def _columns(value: Any) -> tuple[str, ...]:
    taken = texts(value)
    for item in taken:
        role, equals, column = item.partition("=")
        if role not in ROLES or not equals or not column:
            raise ValueError
    return taken


def _within(allowed: ranges.Range) -> Check:
    return optional(number(allowed.low, allowed.high))


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions(Options):
    """The options of ``ftplan calibrate``: how recoveries are read, and what is known of the parameters."""

    column: tuple[str, ...] = option(
        (),
        Check(f"ROLE=COLUMN with one of {', '.join(ROLES)} as role", _columns, "texts"),
        f"What a column is called where that is not clear; roles are {', '.join(ROLES)}; repeatable.",
        metavar="ROLE=COLUMN",
    )
    interval_s: float | None = seconds(
        None, _within(ranges.INTERVAL_S), "Between checkpoints, where a file does not say."
    )
    detection_s: float | None = seconds(
        None, _within(ranges.SECONDS), "Known: until a failure is noticed, such as Flink's heartbeat.timeout."
    )
    restart_s: float | None = seconds(None, _within(ranges.SECONDS), "Known: start of the tasks, without their state.")
    bandwidth: float | None = speed(
        None, _within(ranges.BANDWIDTH_MB_S), "Known: what a restore gets, such as 500MB/s."
    )
    replay_share: float | None = option(
        None,
        optional(number(0.0, 1.0)),
        "Known: part of a checkpoint interval that is processed again; 0.5 where failures come at random.",
        metavar="SHARE",
    )
    capacity: float | None = option(
        None,
        optional(number(0.0, ranges.RATE.high, above=True)),
        "Known: records per second that the whole job can process.",
        metavar="X",
    )
    state: Literal["local", "remote"] | None = option(
        None,
        optional(one_of("local", "remote")),
        "Where state is when a task starts: on its node, or to be fetched.  [default: as restores say, else remote]",
    )
    draws: int = option(
        200, whole(0, 100_000), "Fits to redrawn recoveries for confidence limits; 0: none.", metavar="N"
    )
    seed: int = option(0, whole(0, MOST), "Seed of these draws.")

    def fixed(self) -> dict[str, float]:
        """Return the parameters that are known."""
        known = {
            "detection_s": self.detection_s,
            "restart_s": self.restart_s,
            "bandwidth_mb_s": self.bandwidth,
            "replay_share": self.replay_share,
            "capacity_records_s": self.capacity,
        }
        return {name: float(value) for name, value in known.items() if value is not None}
