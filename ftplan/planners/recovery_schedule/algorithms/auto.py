"""The default: what the others choose in the time there is, with the best bound that any of them proves."""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.best_density import best_density_step
from ftplan.planners.recovery_schedule.algorithms.by_objective import by_objective
from ftplan.planners.recovery_schedule.algorithms.dynamic_programming import optimum_where_few
from ftplan.planners.recovery_schedule.algorithms.exact import exact_step
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack, StepChoice, StepSolver
from ftplan.planners.recovery_schedule.algorithms.local_search import local_search_step
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import Method
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result

#: Solvers in an order, each with the share of the time left that it may take.
Solvers = tuple[tuple[StepSolver, float], ...]
#: What comes first: the seeds of best-density, and a first proof.
SOLVERS: Solvers = ((best_density_step, 0.05), (exact_step, 0.2))
#: What comes then: the long proof where the gap is small; else mostly the search, since more proof closes little of it.
NEAR: Solvers = ((exact_step, 0.85), (local_search_step, 1.0))
FAR: Solvers = ((local_search_step, 0.7), (exact_step, 1.0))
#: Gap, as a share of the value, from which it is large.
LARGE_GAP = 0.25


def auto(problem: RecoveryProblem, options: RecoveryOptions) -> Result[Schedule]:
    """Take the best of what fits into the time at each step, with the best bound; see :func:`auto_step`."""
    return by_objective(problem, options, Method(auto_step, search=True, model=True))


def auto_step(knapsack: SetUnionKnapsack, budget: Budget, seed: int = 0, hint: BoolArray | None = None) -> StepChoice:
    """Choose outright where sets are few; else by best-density, exactly, and at a gap by search and proof again.

    Which of these gets the time follows from the gap. Ends as soon as value and bound meet. Guarantee: at least that
    of best-density where its seeds are complete; the bound is the smallest of all. Bounded work
    (``budget.iterations``) bounds each part.
    """
    optimum = optimum_where_few(knapsack)
    if optimum is not None:
        return optimum
    incumbent = StepChoice(np.zeros(knapsack.queries, dtype=np.bool_) if hint is None else hint)
    part = budget
    for first in (True, False):
        for solver, share in SOLVERS if first else _by_gap(knapsack, incumbent):
            part = budget.part(share)
            incumbent = _better(knapsack, incumbent, solver(knapsack, part, seed, incumbent.queries))
            if incumbent.optimal:
                return incumbent
            if budget.over():  # the rest could begin nothing
                return incumbent
    budget.cut |= part.cut
    return incumbent


def _by_gap(knapsack: SetUnionKnapsack, incumbent: StepChoice) -> Solvers:
    """Return how the time goes on."""
    value = knapsack.value(incumbent.queries)
    return FAR if incumbent.bound is None or incumbent.bound - value > LARGE_GAP * value else NEAR


def _better(knapsack: SetUnionKnapsack, old: StepChoice, new: StepChoice) -> StepChoice:
    """Return the better choice of two, the new one of equals, with the smaller bound."""
    bound = min((choice.bound for choice in (old, new) if choice.bound is not None), default=None)
    queries = new.queries if knapsack.value(new.queries) >= knapsack.value(old.queries) else old.queries
    closed = bound is not None and knapsack.value(queries) >= bound - ROUNDING * max(1.0, abs(bound))
    return StepChoice(queries, bound, closed or new.optimal or old.optimal, new.note or old.note)
