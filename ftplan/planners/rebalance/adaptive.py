"""Adaptive rebalancing: pair the most with the least loaded node, then make the moves cheaper."""

from __future__ import annotations

import numpy as np

from ftplan.metrics.rebalance_problem import Rebalance, RebalanceProblem
from ftplan.planners.budget import Budget
from ftplan.planners.rebalance.candidates import Candidates
from ftplan.planners.rebalance.choice_model import WHOLE, Goal, choices, chosen
from ftplan.planners.rebalance.options import RebalanceSearch
from ftplan.planners.rebalance.outcome import outcome, rules
from ftplan.planners.rebalance.pairing import pairing
from ftplan.planners.rebalance.working_placement import WorkingPlacement
from ftplan.planners.result import Result


def adaptive(problem: RebalanceProblem, search: RebalanceSearch) -> Result[Rebalance]:
    """Return a cheap rebalance: the better of two pairings, improved."""
    budget = Budget.of(search)
    candidates = Candidates(problem)
    feasible = [now for prefer in (True, False) if (now := pairing(candidates, prefer)).feasible()]
    base = 0.0 if problem.traffic is None else float(problem.traffic[np.arange(candidates.groups), problem.home].sum())
    bound: float | None = None
    best: WorkingPlacement | None = min(feasible, key=lambda now: problem.value(now.moves), default=None)
    if choices(candidates) <= WHOLE:
        answer = chosen(best or WorkingPlacement(candidates), np.arange(candidates.groups), Goal(), budget, 2.0)
        if answer.placement is None and answer.proven:
            return Result("infeasible", None, rules(problem), reason="no placement keeps all limits")
        best = answer.placement or best
        bound = None if answer.bound is None else answer.bound + base
    if best is None:
        return Result("no-plan-in-time", None, rules(problem), reason="no plan was seen in time")
    return outcome(problem, best.moves, bound, budget)
