"""What every budget buys: the picture from which an operator chooses how many replicas to pay for."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

from ftplan.api.replication_choice import choose
from ftplan.api.replication_problem import Prepared
from ftplan.model.plan import Warn
from ftplan.planners import registry
from ftplan.planners.replication.problem import ReplicationOptions

#: The most budgets that a curve has.
POINTS = 100


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

    A planner that has a ``curve`` of its own answers all budgets at once; others are asked budget by budget, as long
    as the time limit allows. A larger budget is never worth less, since the plan of a smaller one fits it too, and a
    smaller one's bound is never above a larger one's.
    """
    budgets = budgets_of(prepared)
    whole = registry.beside(row, "curve")
    warnings: tuple[Warn, ...] = ()
    found: list[tuple[float, float, float | None]]
    if whole is not None:
        found = [(b, v, bound) for b, v, bound in whole(prepared.problem, budgets, options)]
    else:
        found, warnings = _one_by_one(prepared, row, options, budgets)
    return _monotone(found), warnings


def _one_by_one(
    prepared: Prepared, row: registry.Row, options: ReplicationOptions, budgets: list[float]
) -> tuple[list[tuple[float, float, float | None]], tuple[Warn, ...]]:
    started = time.monotonic()
    found: list[tuple[float, float, float | None]] = []
    for k, budget in enumerate(budgets):
        left = options.time_limit_s - (time.monotonic() - started)
        if left <= 0.0:
            text = f"the curve ends at a budget of {budgets[k - 1]:g}: {options.time_limit_s:g} s are over"
            return found, (Warn("CURVE_CUT", text),)
        asked = replace(prepared, problem=replace(prepared.problem, budget=budget))
        part = replace(options, time_limit_s=max(left / (len(budgets) - k), 0.01))
        choice = choose(asked, row, part)
        if choice.replicated is not None:
            found.append((budget, prepared.problem.value(choice.replicated), choice.bound))
    return found, ()


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
            point["bound"] = max(point["value"], least)
    return points
