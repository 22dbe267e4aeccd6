"""What a user can ask of a checkpoint allocation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from ftplan.errors import FtplanError
from ftplan.model.units import Measure
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective

Balance = float | Literal["auto", "count", "none"]
AntiAffinity = Literal["node", "zone"]

#: The smallest balance Δ that ``auto`` asks for.
LEAST_AUTO_BALANCE = 0.05


@dataclass(frozen=True, slots=True)
class AllocationOptions:
    """Options of ``allocate-checkpoints`` that planners look at, named as on the command line, in range.

    ``balance`` is Δ (a number >= 0, relative to the fair share), ``auto``, ``count`` or ``none``. ``iterations``
    bounds the work deterministically: passes of the dual and of the local search, and a hundredth of the solver's
    deterministic second each; None leaves only the clock, ``time_limit_s``. ``bound`` asks the heuristics for a
    proven bound; ``exact`` always gives one. ``failover_limit`` is the largest load of a survivor relative to its fair
    share, after the loss of any one node or zone; ``minimise`` failover finds the smallest one first. ``ends`` is when
    the command has to end, see :class:`ftplan.planners.budget.Budget`.

    Raises
    ------
    FtplanError
        If the failover limit is 0: no survivor could keep its own primaries.
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
        if self.failover_limit is not None and not 0 < self.failover_limit < math.inf:
            raise FtplanError(f"--failover-limit: {self.failover_limit!r} is not a number above 0")
