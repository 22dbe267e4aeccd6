"""What most systems do: wait until everything fits, then bring it all back at once."""

from __future__ import annotations

import numpy as np

from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import fits
from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import Decision, State


def blocking(state: State, budget: Budget, seed: int) -> Decision:
    """Recover all that is down, or nothing: the blocking approach of [SuZhouTR], section 7; a yardstick, no planner.

    Where the tasks fit in sum but not onto the nodes one by one, the queries that fit go first.
    """
    tasks = state.queries.task
    everything = fits(float(state.cost[tasks].sum()), state.fillable) and not state.too_large[tasks].any()
    return Decision(tasks if everything else np.zeros(0, dtype=np.int64), prefetch=False)
