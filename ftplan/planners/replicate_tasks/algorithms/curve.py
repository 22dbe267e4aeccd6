"""What every budget buys: the picture from which an operator chooses how many replicas to pay for."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from ftplan.model.plan import Warn, sound_bound
from ftplan.planners.budget import Budget
from ftplan.planners.replicate_tasks.algorithms.bounds import quick_bounds
from ftplan.planners.replicate_tasks.algorithms.planner import ReplicationOptions, ReplicationPlanner, climber
from ftplan.planners.replicate_tasks.problem import ReplicationProblem

#: The most budgets that a curve has.
POINTS = 100
#: Seconds that a budget has at least.
LEAST_TIME_S = 0.01


class CurvePoint(NamedTuple):
    """A budget, the value of replicas within it, and a proven bound of any."""

    budget: float
    value: float
    bound: float | None


def curve_budgets(problem: ReplicationProblem) -> list[float]:
    """Return up to :data:`POINTS` budgets from little to a replica of every task that may fail, evenly apart."""
    total = problem.cost(problem.fails)
    if (problem.weight[problem.fails] == 1.0).all():
        most = int(problem.fails.sum())
        count = min(most, POINTS)
        return sorted({float(math.floor(most * k / count + 0.5)) for k in range(1, count + 1)})
    return [] if total <= 0.0 else [float(f"{total * k / POINTS:.12g}") for k in range(1, POINTS)] + [total]


def curve(
    problem: ReplicationProblem, planner: ReplicationPlanner, options: ReplicationOptions, budgets: list[float]
) -> tuple[list[CurvePoint], tuple[Warn, ...]]:
    """Return what a planner reaches with each of some ascending budgets, and a warning where the last are missing.

    A planner with a ``curve`` answers all budgets at once where it can; one with ``plans`` climbs once through all of
    them. Else budget by budget is asked, for ``exact`` after a climb of ``structure-aware``. A larger budget is never
    worth less, since the plan of a smaller one fits it too, and a smaller one's bound is never above a larger one's.
    Limits on changes do not count here.
    """
    problem = replace(problem, current=None, max_changes=None)
    clock = Budget.of(options)
    whole = planner.curve(problem, budgets, clock) if planner.curve and budgets and problem.hosts is None else None
    if whole is not None:
        return _monotone([CurvePoint(budget, *point) for budget, point in zip(budgets, whole, strict=True)]), ()
    points: list[CurvePoint] = []
    if (first := climber(planner)) is not None and first.plans is not None:
        plans = first.plans(problem, budgets, options)
        points = [CurvePoint(b, problem.value_at(node), None) for b, node in zip(budgets, plans, strict=True)]
    if planner.plans is None:
        own = _one_by_one(problem, planner, options, budgets, clock)
        points = [_better(point, own.get(point.budget)) for point in points] if points else [*own.values()]
    bounds = dict(zip(budgets, quick_bounds(problem, budgets, clock), strict=True))
    points = [CurvePoint(b, v, bounds[b] if own is None else min(bounds[b], own)) for b, v, own in points]
    if len(points) == len(budgets):
        return _monotone(points), ()
    end = f"ends at a budget of {points[-1].budget:g}" if points else "is empty"
    return _monotone(points), (Warn("CURVE_CUT", f"the curve {end}: {options.time_limit_s:g} s are over"),)


def _better(first: CurvePoint, second: CurvePoint | None) -> CurvePoint:
    """Return the larger value of two at one budget, with the bound that one of them has."""
    return first if second is None else second._replace(value=max(first.value, second.value))


def _one_by_one(
    problem: ReplicationProblem,
    planner: ReplicationPlanner,
    options: ReplicationOptions,
    budgets: list[float],
    clock: Budget,
) -> dict[float, CurvePoint]:
    """Ask the planner for each budget in an equal part of the time, as long as there is any."""
    solve = planner.choose if planner.curve is None else planner.plan
    points = {}
    for k, budget in enumerate(budgets):
        if clock.over():
            break
        part = max(clock.left_s / (len(budgets) - k), LEAST_TIME_S)
        result = solve(replace(problem, budget=budget), replace(options, time_limit_s=part))
        if result.answer is not None:
            points[budget] = CurvePoint(budget, problem.value_at(result.answer.nodes()), result.bound)
    return points


def _monotone(points: list[CurvePoint]) -> list[CurvePoint]:
    """Return the points with the largest value of any smaller budget and the least bound of any larger one."""
    values = accumulate((point.value for point in points), max)
    bounds = list(accumulate((point.bound for point in reversed(points)), _least))[::-1]
    return [
        CurvePoint(point.budget, value, None if bound is None else sound_bound("max", value, bound))
        for point, value, bound in zip(points, values, bounds, strict=True)
    ]


def _least(first: float | None, second: float | None) -> float | None:
    return min((bound for bound in (first, second) if bound is not None), default=None)
