"""The cheapest rebalance, with a proof."""

from __future__ import annotations

import math
from dataclasses import replace

from ftplan.metrics.rebalance_problem import Migration, Rebalance, RebalanceProblem
from ftplan.model.plan import Status
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.adaptive import adaptive
from ftplan.planners.rebalance.models.choices import ChoiceTable
from ftplan.planners.rebalance.models.least_cost import least_cost
from ftplan.planners.rebalance.models.node_model import Goal
from ftplan.planners.rebalance.options import RebalanceSearch
from ftplan.planners.rebalance.outcome import outcome
from ftplan.planners.result import Result

#: Share of the time for the first moves.
FIRST = 0.2


def exact(problem: RebalanceProblem, search: RebalanceSearch) -> Result[Rebalance]:
    """Rebalance at least cost under all rules, with a proven bound."""
    budget = Budget.of(search)
    first = budget.part(FIRST)
    known = adaptive(problem, replace(search, time_limit_s=first.time_limit_s))
    if known.status == "infeasible":
        return known
    start: tuple[Migration, ...] | None = None if known.answer is None else known.answer.moves
    table = ChoiceTable(problem)
    proven = least_cost(table, start, Goal(search.seed), budget)
    bound = proven.bound + problem.value(())
    if proven.moves is None:
        status: Status = "infeasible" if bound == math.inf else "no-plan-in-time"
        return Result(status, None, known.rules, warnings=(*problem.warnings, *budget.warnings()))
    return outcome(problem, proven.moves, max(bound, known.bound or bound), budget)
