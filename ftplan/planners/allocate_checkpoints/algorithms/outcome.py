"""The result of a planner that looks for cheap allocations, and where it puts the copies of idle key groups.

Those go evenly, since nothing else speaks for any node.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.rules.feasibility import RulesInForce
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result


def spread_idle(problem: CheckpointProblem, limits: Limits, copies: IntArray) -> IntArray:
    """Return copies (U, c) in which those of idle units are spread over the nodes by number; the value stays.

    A unit is idle when it has no load and costs nothing anywhere. Algorithm 3 breaks ties by checkpointed load, which
    an idle unit does not add to, so that all of them would lie on one node (a departure from [Madsen2015]).
    Each copy goes where the fewest are, ties to the first node, within all limits; where that fails, nothing changes.
    Cost O(idle units × c × N).
    """
    idle = np.flatnonzero((problem.load == 0) & ~np.where(problem.allowed, problem.cost, 0.0).any(axis=1))
    if not idle.size or "count" in limits.names:
        return copies
    busy = np.delete(copies, idle, axis=0)
    sizes = np.delete(problem.size, idle)
    held = np.bincount(busy.ravel(), np.repeat(sizes, problem.copies), len(problem.nodes))
    used = limits.used(copies)
    spread = copies.copy()
    for u in idle.tolist():
        used[:, spread[u]] -= limits.weight[:, [u]]
        free = problem.allowed[u] & np.all(used + limits.weight[:, [u]] <= limits.upper, axis=0)
        for k in range(problem.copies):
            if not free.any():
                return copies
            node = int(np.where(free, held, np.inf).argmin())
            spread[u, k] = node
            held[node] += problem.size[u]
            free &= problem.domain != problem.domain[node]
        used[:, spread[u]] += limits.weight[:, [u]]
    return spread if limits.satisfied_by(spread) else copies


def outcome(in_force: RulesInForce, answer: Allocation, bound: float | None, budget: Budget) -> Result[Allocation]:
    """Return the result with its status by the gap: ``optimal`` where a bound closes it, else ``feasible``."""
    problem = answer.problem
    status, bound = problem.judged(answer.value, bound)
    warnings = problem.warnings + in_force.warnings + budget.warnings()
    return Result(status, answer, in_force.rules.names(), bound, warnings=warnings)
