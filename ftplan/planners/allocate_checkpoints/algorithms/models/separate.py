"""Without a limit that couples them the units are independent: each copy takes its cheapest allowed node."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem


def cheapest(cost: FloatArray, domain: IntArray, copies: int) -> tuple[IntArray, FloatArray]:
    """Return for each unit the *copies* cheapest nodes of different domains, and their total cost.

    *cost* has shape (U, N) and is infinite where no copy may be; ties go to the first node. Taking the cheapest node
    over and over, each time without the domains already used, is optimal: the cheapest nodes of the *copies* cheapest
    domains. Returns shapes (U, copies) and (U,); a total is infinite where there are too few domains. Cost
    O(U N copies).
    """
    units = np.arange(cost.shape[0])
    chosen = np.zeros((cost.shape[0], copies), dtype=np.int64)
    total = np.zeros(cost.shape[0])
    left = cost if copies == 1 else cost.copy()
    single = np.unique(domain).size == domain.size
    for k in range(copies):
        if cost.size == 0:
            break
        best = left.argmin(axis=1)
        chosen[:, k] = best
        total += left[units, best]
        if k + 1 < copies:
            if single:
                left[units, best] = np.inf
            else:
                left[domain[None, :] == domain[best][:, None]] = np.inf
    return chosen, total


def allowed_cost(problem: CheckpointProblem) -> FloatArray:
    """Return the cost matrix with infinity where a copy may not be, shape (U, N)."""
    return np.where(problem.allowed, problem.cost, np.inf)
