"""The default: what correlated places, improved and bounded by exact in the rest of the time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation, AllocationOptions
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.baselines import correlated
from ftplan.planners.allocate_checkpoints.algorithms.exact import exact
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result


def auto(problem: CheckpointProblem, options: AllocationOptions) -> Result[Allocation]:
    """Allocate checkpoints by correlated, then by exact under the same rules until the gap is closed or the time over.

    Guarantee: no worse than correlated; ``optimal`` where the gap is closed, else ``feasible`` with the proven gap.
    """
    budget = Budget.of(options)
    first = correlated(problem, options)
    if first.answer is None or first.status == "optimal" or budget.over():
        return first
    rules = first.answer.rules
    # what limits correlated found to be the least are those of exact too
    least: dict[str, Any] = {"balance": rules.balance, "failover_limit": rules.failover_limit, "minimise": None}
    settled = replace(options, **least, time_limit_s=budget.left_s)
    _, first_group = np.unique(problem.unit_of_group, return_index=True)
    result = exact(problem, settled, first.answer.copies[first_group])
    return replace(result, warnings=tuple(dict.fromkeys((*first.warnings, *result.warnings))))
