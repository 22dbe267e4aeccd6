"""The answer to an allocation problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules


@dataclass(frozen=True, eq=False)
class Allocation:
    """Where the copies of every key group go, and the rules that this keeps.

    ``copies`` has shape (key groups, copies): node positions, ascending within a row; with a failover limit the copy
    that takes over stands in front of the others. ``rules.balance`` is the Δ in force, ``count``, ``even-count`` or
    ``none``, never ``auto``. Maintenance with few moves may leave a key group with fewer copies than the problem asks
    for: -1 stands for none.
    """

    problem: CheckpointProblem
    copies: IntArray
    rules: CheckpointRules

    @property
    def value(self) -> float:
        """Cost of the allocation, in load units."""
        problem = self.problem.by_group
        if bool((self.copies >= 0).all()):
            return problem.value(self.copies)
        cost = np.take_along_axis(problem.cost, np.maximum(self.copies, 0), axis=1)
        return float(cost[self.copies >= 0].sum())

    @property
    def assignments(self) -> list[dict[str, Any]]:
        """The plan's ``assignments``, sorted by operator and key group."""
        p = self.problem
        return [
            {
                "operator": p.operators[g],
                "key_group": int(p.key_group[g]),
                "primary": p.nodes[int(p.group_home[g])],
                "checkpoints": [p.nodes[int(i)] for i in self.copies[g] if i >= 0],
            }
            for g in range(len(p.operators))
        ]


def allocation(problem: CheckpointProblem, unit_copies: IntArray, rules: CheckpointRules) -> Allocation:
    """Return the allocation that gives every group the copies of its unit, *unit_copies* of shape (units, copies)."""
    kept = 0 if rules.failover_limit is None else 1  # the order counts: the first copy takes over
    ordered = np.column_stack([unit_copies[:, :kept], np.sort(unit_copies[:, kept:], axis=1)])
    rows = ordered.astype(np.int64)[problem.unit_of_group]
    return Allocation(problem, np.asarray(rows.reshape(len(problem.operators), problem.copies)), rules)
