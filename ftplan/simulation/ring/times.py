"""When what happens, how long it is simulated, and how finely."""

from __future__ import annotations

from typing import NamedTuple

from ftplan.errors import FtplanError
from ftplan.model.problem import Problem
from ftplan.planners.peer_ring.prepare import PreparedRing
from ftplan.simulation.recovery.times import resolution
from ftplan.simulation.ring.options import RingSimulationOptions

#: Checkpoints before something happens and after it, batches in an interval, and messages that take a few seconds.
BEFORE, AFTER, TICKS, MESSAGES = 3.0, 5.0, 100.0, 200_000.0
#: Most batches of a mapper.
MOST_TICKS = 1_000_000


class Times(NamedTuple):
    """All in seconds from the begin."""

    fail_at_s: float
    leave_at_s: float
    hot_at_s: float
    until_s: float
    tick_s: float
    every_s: float

    def batches(self, mappers: int) -> int:
        """Return how many batches all mappers send."""
        return mappers * round(self.until_s / self.tick_s)


def times_of(prepared: PreparedRing, problem: Problem, options: RingSimulationOptions, nodes: int) -> Times:
    """Return when what happens.

    Raises
    ------
    FtplanError
        If something happens after the end, or there would be too many batches.
    """
    interval_s = prepared.problem.setting.interval_s
    usual_s = BEFORE * interval_s
    at_s = [usual_s if given is None else given for given in (options.fail_at_s, options.leave_at_s, options.hot_at_s)]
    listed = () if problem.failure is None else problem.failure.fail
    file_s = max((entry.at_s for entry in listed), default=0.0)
    asked = bool(options.fail or listed or prepared.problem.fails.any())
    ends = [
        (what, seconds)
        for what, seconds, there in (
            ("the last failure", at_s[0] + file_s, asked),
            ("when the first node leaves", at_s[1], bool(options.leave)),
            ("when more records come", at_s[2], options.hot != 1.0),
        )
        if there
    ]
    last_s = max((seconds for _, seconds in ends), default=0.0)
    until_s = options.until_s or last_s + AFTER * interval_s * (6.0 if options.balance else 1.0)
    for what, seconds in ends:
        if seconds >= until_s:
            raise FtplanError(f"--until: {until_s:g} s is not after {what}, at {seconds:g} s")
    usual_tick_s = min(max(interval_s / TICKS, until_s * options.mappers * nodes / MESSAGES), until_s)
    tick_s = options.tick_s or usual_tick_s
    ticks = max(round(until_s / tick_s), 1)
    if ticks > MOST_TICKS:
        raise FtplanError(f"--tick: {tick_s:g} s makes {ticks:,} batches; at most {MOST_TICKS:,} are simulated")
    if tick_s > until_s:
        raise FtplanError(f"--tick: {tick_s:g} s is more than the {until_s:g} s that are simulated")
    return Times(at_s[0], at_s[1], at_s[2], ticks * tick_s, tick_s, resolution(until_s, options.every_s))
