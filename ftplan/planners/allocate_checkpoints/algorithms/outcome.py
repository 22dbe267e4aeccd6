"""The result of a planner that looks for cheap allocations."""

from __future__ import annotations

from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation
from ftplan.planners.allocate_checkpoints.algorithms.rules.feasibility import RulesInForce
from ftplan.planners.budget import Budget
from ftplan.planners.result import Result

#: A gap, relative to what a random plan loses, that counts as closed: the rounding of sums of thousands of numbers.
CLOSED = 1e-9


def outcome(in_force: RulesInForce, answer: Allocation, bound: float | None, budget: Budget) -> Result[Allocation]:
    """Return the result with its status by the gap: ``optimal`` where a bound closes it, else ``feasible``."""
    problem, closed = answer.problem, False
    if bound is not None:
        bound = problem.bound_below(answer.value, bound)
        closed = problem.gap(answer.value, bound) <= CLOSED
    warnings = problem.warnings + in_force.warnings + budget.warnings()
    return Result("optimal" if closed else "feasible", answer, in_force.rules.names(), bound, warnings=warnings)
