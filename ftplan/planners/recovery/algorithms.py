"""The recovery planners by name: each makes one-step choices in its way, and the schedule is made the same way."""

from __future__ import annotations

from dataclasses import replace

from ftplan.errors import FtplanError
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.schedule.by_objective import by_objective
from ftplan.planners.recovery.schedule.construction import construct_schedule
from ftplan.planners.recovery.schedule.schedule import Decision, Policy, Schedule, State
from ftplan.planners.result import Result

#: Plans of a step that may be held at once to say what an order by operators could have restored: little work.
FEW_PLANS = 200_000


def operator_centric(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Recover the cheapest task whose upstream lives, step by step (:mod:`operator_centric`).

    The bound of a step is what dynamic programming restores at most, where that takes few plans.
    """
    from ftplan.planners.recovery.best_density import best_density as solver
    from ftplan.planners.recovery.operator_centric import operator_centric as policy

    budget = Budget.of(options)
    if options.objective == "priority":
        return construct_schedule(problem, options, bounded(policy))
    result = construct_schedule(problem, options, policy)
    left = replace(options, time_limit_s=budget.left_s)
    return replace(result, bound=by_objective(problem, left, solver, bound_only=True).bound)


def bounded(policy: Policy) -> Policy:
    """Return a policy that says besides what could be restored at most at each step, where few plans tell."""
    from ftplan.planners.recovery.dynamic_programming import dynamic_programming as solver

    def decide(state: State, budget: Budget, seed: int) -> Decision:
        decision, part = policy(state, budget, seed), budget.part(1.0)
        try:
            bound = solver(state.knapsack(), part, seed, plans=FEW_PLANS).bound
        except FtplanError:  # too many queries or plans: the fractional bound stays
            return decision
        budget.cut |= part.cut
        return replace(decision, bound=bound)

    return decide


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
