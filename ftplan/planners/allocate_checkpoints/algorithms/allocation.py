"""What planners of checkpoint allocations are given beside the problem, and the allocation that they return."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective
from ftplan.planners.allocate_checkpoints.rules import CheckpointRules

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

    Raises :class:`FtplanError` if the failover limit is 0: no survivor could keep its own primaries.
    """

    copies: int = 1
    balance: Balance = "auto"
    anti_affinity: AntiAffinity = "node"
    seed: int = 0
    time_limit_s: float = 10.0
    iterations: int | None = None
    bound: bool = False
    objective: CheckpointObjective = field(default_factory=CheckpointObjective)
    failover_limit: float | None = None
    minimise: Literal["failover"] | None = None
    ends: float = math.inf

    def __post_init__(self) -> None:
        if self.failover_limit is not None and not 0 < self.failover_limit < math.inf:
            raise FtplanError(f"--failover-limit: {self.failover_limit!r} is not a number above 0")


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
