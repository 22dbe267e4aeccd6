"""What every budget buys: the picture from which an operator chooses how many replicas to pay for."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ftplan.api.replication.choice import Choice, choose
from ftplan.api.replication.problem import Prepared
from ftplan.model.plan import Warn, sound_bound
from ftplan.planners import registry
from ftplan.planners.budget import Budget
from ftplan.planners.replication.exact import quick_bounds
from ftplan.planners.replication.problem import ReplicationOptions

#: The most budgets that a curve has.
POINTS = 100
#: Up to so many budgets are asked one by one.
FEW = 30


def budgets_of(prepared: Prepared) -> list[float]:
    """Return up to :data:`POINTS` budgets from little to a replica of every task that may fail, evenly apart."""
    problem = prepared.problem
    total = problem.cost(problem.fails)
    if (problem.weight[problem.fails] == 1.0).all():
        most = int(problem.fails.sum())
        count = min(most, POINTS)
        return sorted({float(math.floor(most * k / count + 0.5)) for k in range(1, count + 1)})
    return [] if total <= 0.0 else [float(f"{total * k / POINTS:.12g}") for k in range(1, POINTS)] + [total]


def curve(
    prepared: Prepared, row: registry.Row, options: ReplicationOptions
) -> tuple[list[dict[str, Any]], tuple[Warn, ...]]:
    """Return ``{budget, value, bound}`` for each budget, ascending, with the planner of *row*.

    A planner that has a ``curve`` of its own answers all budgets at once; one that has ``plans`` gives those of all
    budgets from one run, a little worse than a run for each. Others, and all on up to :data:`FEW` budgets, are asked
    budget by budget. A larger budget is never worth less, since the plan of a smaller one fits it too, and a smaller
    one's bound is never above a larger one's.
    """
    budgets = budgets_of(prepared)
    whole = registry.beside(row, "curve")
    clock = Budget.of(options)
    if whole is not None:
        points = whole(prepared.problem, budgets, options)
        said = () if len(points) == len(budgets) else (_cut(budgets, len(points), options),)
        return _monotone([(b, v, bound) for b, v, bound in points]), said
    plans = registry.beside(row, "plans")
    own_bounds: dict[float, float | None] = {}
    if plans is None or len(budgets) <= FEW:
        chosen, cut = _chosen(prepared, row, options, budgets)
        own_bounds = {b: choice.bound for b, choice in chosen.items()}
        found = {b: choice.replicated for b, choice in chosen.items() if choice.replicated is not None}
    else:
        cut = ()
        found = dict(zip(budgets, plans(prepared.problem, budgets, options), strict=False))
    worth: dict[float, float] = {}
    for budget, plan in found.items():
        if clock.over() and plans is not None and len(budgets) > FEW:
            break
        worth[budget] = prepared.problem.value(plan)
    if len(worth) < len(found) or (not cut and len(found) < len(budgets)):
        cut = (_cut(budgets, len(worth), options),)
    bounds = quick_bounds(prepared.problem, budgets, clock)
    for k, budget in enumerate(budgets):
        own = own_bounds.get(budget)
        bounds[k] = bounds[k] if own is None else min(bounds[k], own)
    return _monotone([(b, worth[b], bound) for b, bound in zip(budgets, bounds, strict=True) if b in worth]), cut


def _chosen(
    prepared: Prepared, row: registry.Row, options: ReplicationOptions, budgets: list[float]
) -> tuple[dict[float, Choice], tuple[Warn, ...]]:
    """Ask the planner for each budget, as long as the time limit allows."""
    clock = Budget.of(options)
    found: dict[float, Choice] = {}
    for k, budget in enumerate(budgets):
        left = clock.left_s
        if clock.over():
            return found, (_cut(budgets, k, options),)
        asked = replace(prepared, problem=replace(prepared.problem, budget=budget))
        part = replace(options, time_limit_s=max(left / (len(budgets) - k), 0.01))
        found[budget] = choose(asked, row, part)
    return found, ()


def _cut(budgets: list[float], answered: int, options: ReplicationOptions) -> Warn:
    """Return the warning of a curve whose last budgets are missing."""
    end = f"ends at a budget of {budgets[answered - 1]:g}" if answered else "is empty"
    return Warn("CURVE_CUT", f"the curve {end}: {options.time_limit_s:g} s are over")


def _monotone(found: list[tuple[float, float, float | None]]) -> list[dict[str, Any]]:
    points: list[dict[str, Any]] = []
    best = 0.0
    for budget, value, bound in sorted(found, key=lambda item: item[0]):
        best = max(best, value)
        points.append({"budget": budget, "value": best, "bound": bound})
    least: float | None = None
    for point in reversed(points):
        if point["bound"] is not None:
            least = point["bound"] if least is None else min(least, point["bound"])
        point["bound"] = None if least is None else sound_bound("max", point["value"], least)
    return points
