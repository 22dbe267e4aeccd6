"""The recovery planners by name: each makes one-step choices in its way, and the schedule is made the same way."""

from __future__ import annotations

from dataclasses import replace

from ftplan.planners.budget import Budget
from ftplan.planners.recovery.by_objective import by_objective
from ftplan.planners.recovery.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.run import run
from ftplan.planners.recovery.schedule import Schedule
from ftplan.planners.result import Result


def operator_centric(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Recover the cheapest task whose upstream lives, step by step (:mod:`operator_centric`)."""
    from ftplan.planners.recovery.best_density import best_density as solver
    from ftplan.planners.recovery.operator_centric import operator_centric as policy

    budget = Budget.of(options)
    result = run(problem, options, policy)
    if options.objective == "priority":
        return result
    left = replace(options, time_limit_s=budget.left_s)
    return replace(result, bound=by_objective(problem, left, solver, bound_only=True).bound)


def best_density(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Grow every fitting query and pair of queries by density at each step (:mod:`best_density`)."""
    from ftplan.planners.recovery.best_density import best_density as solver

    return by_objective(problem, options, solver)


def dynamic_programming(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Solve each step exactly by covered sets, for few queries (:mod:`dynamic_programming`)."""
    from ftplan.planners.recovery.dynamic_programming import dynamic_programming as solver

    return by_objective(problem, options, solver)


def local_search(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Search each step's choice until nothing better comes or the time is over (:mod:`local_search`)."""
    from ftplan.planners.recovery.local_search import local_search as solver

    return by_objective(problem, options, solver)


def exact(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Solve each step exactly, or to a proven gap (:mod:`exact`)."""
    from ftplan.planners.recovery.exact import exact as solver

    return by_objective(problem, options, solver)


def auto(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Take the best of what fits into the time, with the best bound (:mod:`auto`)."""
    from ftplan.planners.recovery.auto import auto as solver

    return by_objective(problem, options, solver)
