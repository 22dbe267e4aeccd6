"""What the planners of drain schedules look at beside the problem."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DrainOptions:
    """Options of ``drain-schedule`` that say how to search, named as on the command line.

    ``iterations`` bounds the work deterministically: restarts of the search, rounds of column generation, and a
    hundredth of a solver's deterministic second each; None leaves only the clock, ``time_limit_s``. With ``partial``
    nodes that may not restart even alone are left out, and named as unplaced; without it they make the problem
    infeasible. ``ends`` is when the command has to end, see :class:`ftplan.planners.budget.Budget`.
    """

    seed: int = 0
    time_limit_s: float = 60.0
    iterations: int | None = None
    partial: bool = False
    ends: float = math.inf
