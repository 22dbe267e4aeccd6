"""How much work a planner may do: a clock, and a deterministic count."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from ftplan.compiled import seconds_apart
from ftplan.model.plan import Warn

#: Deterministic solver seconds that one iteration buys.
SOLVER_SECONDS_PER_ITERATION = 0.01
#: Share of the time limit that may be left where a search counts as stopped by the clock, not only a part of it.
ENDED = 0.1


class OutOfTime(Exception):
    """The clock ran out in the midst of work that is of no use before its end; whoever began it does without."""


def now() -> float:
    """Return the seconds of the one clock that everything looks at; it stands still while functions are compiled."""
    return time.monotonic() - seconds_apart()


class WorkLimits(Protocol):
    """Options that say how much work a planner may do.

    ``ends``, where options have it, is when the whole command has to end, as a time of :func:`now`.
    """

    @property
    def time_limit_s(self) -> float:
        """Seconds on the clock."""

    @property
    def iterations(self) -> int | None:
        """Rounds of deterministic work, None for no limit but the clock."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Options that say how to search where a kind of plan has no others, named as on the command line.

    ``iterations`` bounds the work deterministically (a hundredth of a solver's deterministic second each); None leaves
    only the clock, ``time_limit_s``.
    """

    seed: int = 0
    time_limit_s: float = 10.0
    iterations: int | None = None


@dataclass(slots=True)
class Budget:
    """The limits of one planner run. ``cut`` tells that the clock, not the work, ended some part of it.

    ``ends`` is when the command that the run is a part of has to end, as a time of :func:`now`: there is one deadline,
    set where a command begins and handed down, however many runs it takes.
    """

    time_limit_s: float
    iterations: int | None = None
    cut: bool = False
    started: float = field(default_factory=lambda: now())
    ends: float = math.inf

    @staticmethod
    def of(options: WorkLimits) -> Budget:
        """Return a budget that starts now, and ends with the command at the latest."""
        return Budget(options.time_limit_s, options.iterations, ends=getattr(options, "ends", math.inf))

    @property
    def left_s(self) -> float:
        """Seconds left on the clock, at least 0."""
        return max(0.0, min(self.started + self.time_limit_s, self.ends) - now())

    def over(self) -> bool:
        """Return whether the clock has run out, and remember it."""
        out = self.left_s <= 0.0
        self.cut = self.cut or out
        return out

    def check(self) -> None:
        """Go on while there is time.

        Raises
        ------
        OutOfTime
            If the clock has run out.
        """
        if self.over():
            raise OutOfTime

    def pays(self, seconds: float) -> bool:
        """Return whether work of about so many seconds fits, which cannot be stopped; where not it counts as cut."""
        fits = seconds <= self.left_s
        self.cut = self.cut or not fits
        return fits

    def unfinished(self) -> None:
        """Note that a solver stopped before its end: by the clock, unless its work was bounded and time is left."""
        self.cut = self.cut or self.iterations is None or self.left_s <= 0.02 * self.time_limit_s

    def passes(self, usual: int, each: int = 1) -> int:
        """Return how many passes of some method may be made where *usual* are sensible; an iteration buys *each*."""
        return usual if self.iterations is None else min(usual, self.iterations * each)

    def part(self, share: float) -> Budget:
        """Return a budget that ends when *share* of the time that is left here has gone.

        Where the work is bounded a part may take all of it: a busy machine then ends no part early, and answers alike.
        """
        return Budget(self.left_s * (share if self.iterations is None else 1.0), self.iterations, ends=self.ends)

    def warnings(self) -> tuple[Warn, ...]:
        """Return ``TIME_LIMIT`` where the clock cut the work short: a second run may then end elsewhere."""
        if not self.cut:
            return ()
        if self.left_s <= ENDED * self.time_limit_s:
            return (stopped(self.time_limit_s),)
        return (part_ended(self.time_limit_s),)


def part_ended(limit_s: float) -> Warn:
    """Return the warning that the clock ended a part of a search that had some of so many seconds."""
    how = f"the clock ended a part of the search that had a share of the {limit_s:g} s"
    return Warn("TIME_LIMIT", f"{how}: another run may differ")


def stopped(limit_s: float) -> Warn:
    """Return the warning that the clock ended a search, or a whole command, of so many seconds."""
    return Warn("TIME_LIMIT", f"stopped by the clock after {limit_s:g} s: another run may differ")


def of_command(warnings: Iterable[Warn], limit_s: float) -> tuple[Warn, ...]:
    """Return each warning once; ``TIME_LIMIT`` names the limit of the command, not that of a part of it.

    Where a part was stopped, and others had a share that was too short, the former is said.
    """
    given = tuple(warnings)
    ended = [w.message.startswith("stopped") for w in given if w.code == "TIME_LIMIT"]
    said = stopped(limit_s) if any(ended) else part_ended(limit_s)
    return tuple(dict.fromkeys(said if w.code == "TIME_LIMIT" else w for w in given))
