"""What the planners of peer rings look at beside the problem."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RingSearch:
    """Options of ``peer-ring`` that say how to search, named as on the command line.

    ``iterations`` bounds the work deterministically (a hundredth of a solver's deterministic second each); None leaves
    only the clock, ``time_limit_s``. ``ends`` is when the command has to end, see
    :class:`ftplan.planners.budget.Budget`.
    """

    seed: int = 0
    time_limit_s: float = 60.0
    iterations: int | None = None
    ends: float = math.inf
