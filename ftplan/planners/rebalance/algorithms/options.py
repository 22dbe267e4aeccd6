"""What the planners of rebalances look at beside the problem."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RebalanceSearch:
    """Options of ``rebalance`` that say how to search, named as on the command line.

    ``iterations`` bounds the work deterministically: passes of the local search, and a hundredth of a solver's
    deterministic second each; None leaves only the clock, ``time_limit_s``. ``ends`` is when the command has to end,
    see :class:`ftplan.planners.budget.Budget`. ``explain`` says whether it matters why there is no plan, which takes
    longer than to see that there is none.
    """

    seed: int = 0
    time_limit_s: float = 60.0
    iterations: int | None = None
    ends: float = math.inf
    explain: bool = True
