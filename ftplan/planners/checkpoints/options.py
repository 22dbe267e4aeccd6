"""What a user can ask of a checkpoint allocation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from ftplan.errors import FtplanError
from ftplan.metrics.checkpoint_objective import CheckpointObjective
from ftplan.model.measures import Measure

Balance = float | Literal["auto", "count", "none"]
AntiAffinity = Literal["node", "zone"]

#: The smallest balance Δ that ``auto`` asks for.
LEAST_AUTO_BALANCE = 0.05


@dataclass(frozen=True, slots=True)
class AllocationOptions:
    """Options of ``allocate-checkpoints``, named as on the command line.

    ``balance`` is Δ (a number >= 0, relative to the fair share), ``auto``, ``count`` or ``none``. ``iterations``
    bounds the work deterministically: passes of the dual and of the local search, and a hundredth of the solver's
    deterministic second each; None leaves only the clock, ``time_limit_s``. ``bound`` asks the heuristics for a
    proven bound; ``exact`` always gives one. ``failover_limit`` is the largest load of a survivor relative to its fair
    share, after the loss of any one node or zone; ``minimise`` failover finds the smallest one first. ``ends`` is when
    the command has to end, see :class:`ftplan.planners.budget.Budget`.

    Raises
    ------
    FtplanError
        If a value is out of range.
    """

    copies: int = 1
    balance: Balance = "auto"
    anti_affinity: AntiAffinity = "node"
    seed: int = 0
    time_limit_s: float = 60.0
    iterations: int | None = None
    bound: bool = False
    measure: Measure = "records"
    objective: CheckpointObjective = field(default_factory=CheckpointObjective)
    failover_limit: float | None = None
    minimise: Literal["failover"] | None = None
    ends: float = math.inf

    def __post_init__(self) -> None:
        if self.copies < 1:
            raise FtplanError(f"--copies: {self.copies} is not at least 1")
        if isinstance(self.balance, str):
            if self.balance not in ("auto", "count", "none"):
                raise FtplanError(f"--balance: {self.balance!r} is none of auto, count, none and is no number")
        elif not 0 <= self.balance < float("inf"):
            raise FtplanError(f"--balance: {self.balance!r} is not a number of at least 0")
        if self.anti_affinity not in ("node", "zone"):
            raise FtplanError(f"--anti-affinity: {self.anti_affinity!r} is neither node nor zone")
        if not self.time_limit_s > 0:
            raise FtplanError(f"--time-limit: {self.time_limit_s!r} is not more than 0 seconds")
        if self.iterations is not None and self.iterations < 1:
            raise FtplanError(f"--iterations: {self.iterations} is not at least 1")
        if self.failover_limit is not None and not 0 < self.failover_limit < float("inf"):
            raise FtplanError(f"--failover-limit: {self.failover_limit!r} is not a number above 0")
        if self.minimise not in (None, "failover"):
            raise FtplanError(f"--minimise: {self.minimise!r} is not failover, the only one there is")
        if self.minimise and self.failover_limit is not None:
            raise FtplanError("--minimise failover finds the failover limit itself: leave out --failover-limit")
        if self.seed < 0:
            raise FtplanError(f"--seed: {self.seed} is negative")
