"""What every budget buys: the picture from which an operator chooses how many replicas to pay for."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.api.replication_choice import Choice, choose, quick_bound
from ftplan.api.replication_problem import Prepared
from ftplan.model.plan import Warn
from ftplan.model.task_graph import BoolArray
from ftplan.planners import registry
from ftplan.planners.replication.problem import ReplicationOptions

#: The most budgets that a curve has.
POINTS = 100
#: So many budgets are all asked of the planner; where there are more, it is asked at these shares of the largest.
FEW, ANCHORS = 30, (0.03, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: About so many budgets get a bound of their own; the others take the one of the next larger.
BOUNDS = 25
#: A plan gives up replicas worth this part of what it has too much before it is looked at again, at least one.
TRIMMED = 0.05


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

    A planner that has a ``curve`` of its own answers all budgets at once. Exact ones, and all on up to :data:`FEW`
    budgets, are asked budget by budget; other planners at :data:`ANCHORS`, and between these the plan of the next
    larger one gives up what it loses least by, so that the whole curve costs a few runs. A larger budget is never
    worth less, since the plan of a smaller one fits it too, and a smaller one's bound is never above a larger one's.
    """
    budgets = budgets_of(prepared)
    whole = registry.beside(row, "curve")
    if whole is not None:
        return _monotone([(b, v, bound) for b, v, bound in whole(prepared.problem, budgets, options)]), ()
    asked = budgets if row.exact or len(budgets) <= FEW else _anchors(budgets)
    chosen, cut = _chosen(prepared, row, options, asked)
    bounds = {budget: choice.bound for budget, choice in chosen.items()}
    values = {b: prepared.problem.value(c.replicated) for b, c in chosen.items() if c.replicated is not None}
    for budget in [] if cut else budgets[:: max(1, len(budgets) // BOUNDS)]:
        if budget not in bounds:
            bounds[budget] = quick_bound(replace(prepared.problem, budget=budget))
    if not cut:
        _fill(prepared, budgets, {b: c.replicated for b, c in chosen.items() if c.replicated is not None}, values)
    return _monotone([(b, values[b], bounds.get(b)) for b in budgets if b in values]), cut


def _anchors(budgets: list[float]) -> list[float]:
    return sorted({budgets[max(0, math.ceil(share * len(budgets)) - 1)] for share in ANCHORS})


def _chosen(
    prepared: Prepared, row: registry.Row, options: ReplicationOptions, budgets: list[float]
) -> tuple[dict[float, Choice], tuple[Warn, ...]]:
    """Ask the planner for each budget, as long as the time limit allows."""
    started = time.monotonic()
    found: dict[float, Choice] = {}
    for k, budget in enumerate(budgets):
        left = options.time_limit_s - (time.monotonic() - started)
        if left <= 0.0:
            text = f"the curve ends at a budget of {budgets[k - 1]:g}: {options.time_limit_s:g} s are over"
            return found, (Warn("CURVE_CUT", text),)
        asked = replace(prepared, problem=replace(prepared.problem, budget=budget))
        part = replace(options, time_limit_s=max(left / (len(budgets) - k), 0.01))
        found[budget] = choose(asked, row, part)
    return found, ()


def _fill(
    prepared: Prepared, budgets: list[float], plans: Mapping[float, BoolArray], values: dict[float, float]
) -> None:
    """Add the values of the other budgets, from the largest down: the plan above them without its least replicas."""
    plan = np.zeros(prepared.graph.tasks, dtype=np.bool_)
    for budget in reversed(budgets):
        if budget in plans:
            plan = plans[budget]
            continue
        plan = _trimmed(prepared, plan, budget)
        values[budget] = prepared.problem.value(plan)


def _trimmed(prepared: Prepared, plan: BoolArray, budget: float) -> BoolArray:
    """Return a plan without the replicas that lose least for their cost, until the rest fits a budget."""
    problem = replace(prepared.problem, budget=budget)
    plan = prepared.useful(plan)
    while not problem.fits(problem.cost(plan)):
        task = np.flatnonzero(plan & (problem.weight > 0.0))
        density = np.round(prepared.losses(plan)[task] / problem.weight[task], 12)
        excess = problem.cost(plan) - budget
        least = task[np.lexsort((task, density))]
        count = np.searchsorted(np.cumsum(problem.weight[least]), excess * TRIMMED) + 1
        plan = plan.copy()
        plan[least[:count]] = False
        plan = prepared.useful(plan)
    return plan


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
        point["bound"] = None if least is None else max(point["value"], least)
    return points
