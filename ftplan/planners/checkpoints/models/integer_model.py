"""The allocation as an integer model for CP-SAT: is there a plan within the limits, and how far must a limit stretch?

Loads and bytes become integers so that the model is a relaxation, never a restriction, of the true one: what it calls
infeasible is infeasible, and its bounds hold. What it finds is checked again in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import SOLVER_SECONDS_PER_ITERATION, Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.models.failover_rows import (
    Pairs,
    add_to_sat,
    by_survivor,
    first_in_front,
    first_of_sat,
)
from ftplan.planners.checkpoints.rules.limits import Limits
from ftplan.planners.interrupts import solve_sat

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

#: Integer weights of one row sum to about this: far from 2^63, and rounding far below the checker's tolerance.
WEIGHT_TOTAL = 2.0**46
#: The same where a limit may stretch by a variable.
STRETCH_TOTAL = 2.0**52
#: Allowed pairs of unit and node above which no model is built: it would not fit into memory or time.
MOST_COLUMNS = 2_000_000
#: Columns that a model gains in a second while it is built, about, and so many that no clock matters.
COLUMNS_PER_SECOND = 25_000
ALWAYS_COLUMNS = 5_000

Column = list[tuple[int, Any]]


@dataclass(frozen=True, eq=False)
class Answer:
    """What CP-SAT says. ``least`` is the proven least stretch, in the unit asked for; None for plain feasibility."""

    status: Literal["found", "infeasible", "unknown"]
    copies: IntArray | None = None
    least: float | None = None


def fits_into(problem: CheckpointProblem, budget: Budget) -> bool:
    """Return whether a model can be built before the clock ends; where it cannot, the work counts as cut short."""
    fits = int(problem.allowed.sum()) <= ALWAYS_COLUMNS + COLUMNS_PER_SECOND * budget.left_s
    budget.cut = budget.cut or not fits
    return fits


def find(problem: CheckpointProblem, limits: Limits, hint: IntArray | None, seed: int, budget: Budget) -> Answer:
    """Find copies within all limits, or prove that there are none. Cost exponential in the worst case."""
    if int(problem.allowed.sum()) > MOST_COLUMNS or not fits_into(problem, budget):
        return Answer("unknown")
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    variables = _assignment(model, problem)
    _add_node_limits(model, problem, limits, variables)
    first = _failover(model, problem, limits, variables)
    return _solve(model, problem, variables, hint, seed, budget, first=first)


def _add_node_limits(
    model: cp_model.CpModel, problem: CheckpointProblem, limits: Limits, variables: list[Column]
) -> None:
    """Add what the limits on nodes allow."""
    for r in range(len(limits.names)):
        factor, floors, ceilings = _integers(limits.weight[r], problem)
        for node, column in enumerate(variables):
            upper, lower = limits.upper[r, node], limits.lower[r, node]
            if np.isfinite(upper):
                model.add(_weighed(column, floors) <= floor(_within(upper * factor)))
            if np.isfinite(lower):
                model.add(_weighed(column, ceilings) >= -floor(_within(-lower * factor)))


def least_stretch(
    problem: CheckpointProblem,
    limits: Limits,
    row: str,
    unit: FloatArray,
    steps: float,
    most: float,
    hint: IntArray | None,
    seed: int,
    budget: Budget,
) -> Answer:
    """Find the least g in steps of 1/*steps*, at most *most*, for which there is a plan when one row's limits stretch.

    The upper limits of *row* become ``upper + g unit`` and the lower ones ``lower - g unit``, with *unit* of shape
    (N,). ``least`` is a proven lower bound of g.
    """
    if int(problem.allowed.sum()) > MOST_COLUMNS or not fits_into(problem, budget):
        return Answer("unknown")
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    variables = _assignment(model, problem)
    g = model.new_int_var(0, int(np.ceil(most * steps)), "stretch")
    for r, name in enumerate(limits.names):
        total = float(limits.weight[r].sum()) * problem.copies
        if name == row:  # neither the limits nor their stretch may overflow
            ends = np.concatenate([limits.upper[r], limits.lower[r]])
            total = max(total, float(np.abs(ends[np.isfinite(ends)]).max(initial=0.0)), float(unit.max()) * most)
        factor = STRETCH_TOTAL / total if total > 0 else 1.0
        floors, ceilings = np.floor(limits.weight[r] * factor), np.ceil(limits.weight[r] * factor)
        for node, column in enumerate(variables):
            upper, lower = limits.upper[r, node], limits.lower[r, node]
            stretch = int(np.ceil(unit[node] * factor / steps)) * g if name == row else 0
            if np.isfinite(upper):
                model.add(_weighed(column, floors) <= floor(_within(upper * factor)) + stretch)
            if np.isfinite(lower):
                model.add(_weighed(column, ceilings) >= -floor(_within(-lower * factor)) - stretch)
    first = _failover(model, problem, limits, variables)
    model.minimize(g)
    return _solve(model, problem, variables, hint, seed, budget, steps, first)


def least_failover_limit(
    problem: CheckpointProblem,
    limits: Limits,
    at_least: float,
    most: float,
    steps: float,
    hint: IntArray | None,
    seed: int,
    budget: Budget,
) -> Answer:
    """Find the least failover limit from *at_least* to *most*, in steps of 1/*steps*, for which there is a plan.

    ``limits.failover`` gives loads and fair shares, its own limit does not count. ``least`` is a proven lower bound.
    """
    failover = limits.failover
    if failover is None or int(problem.allowed.sum()) * min(problem.copies, 2) > MOST_COLUMNS:
        return Answer("unknown")
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    variables = _assignment(model, problem)
    _add_node_limits(model, problem, limits, variables)
    chosen = _pairs(variables)
    first = first_of_sat(model, problem, chosen)
    g = model.new_int_var(floor(at_least * steps), int(np.ceil(most * steps)), "limit")
    total = max(float(failover.load.sum()), float(failover.fair.max(initial=0.0)) * most)
    factor = STRETCH_TOTAL / total if total > 0 else 1.0
    floors, own = np.floor(failover.load * factor), np.floor(failover.own * factor)
    for (loss, node), column in by_survivor(failover, first).items():
        taken = cp_model.LinearExpr.weighted_sum([v for _, v in column], [int(floors[u]) for u, _ in column])
        model.add(taken + int(own[node]) <= int(np.ceil(failover.fair[loss, node] * factor / steps)) * g)
    model.minimize(g)
    return _solve(model, problem, variables, hint, seed, budget, steps, first)


def _pairs(variables: list[Column]) -> Pairs:
    return {(u, node): variable for node, column in enumerate(variables) for u, variable in column}


def _failover(
    model: cp_model.CpModel, problem: CheckpointProblem, limits: Limits, variables: list[Column]
) -> Pairs | None:
    """Add the failover rule where there is one, and return the variables of the first copies."""
    if limits.failover is None:
        return None
    first = first_of_sat(model, problem, _pairs(variables))
    factor, floors, _ = _integers(limits.failover.load, problem)
    add_to_sat(model, limits.failover, first, factor, floors)
    return first


def _within(limit: float) -> float:
    """Return a limit in integer units without overflow: beyond the total of all weights, its size says no more."""
    return min(max(limit, -8 * STRETCH_TOTAL), 8 * STRETCH_TOTAL)


def _integers(weight: FloatArray, problem: CheckpointProblem) -> tuple[float, FloatArray, FloatArray]:
    """Return a factor and the weights times it, rounded down and up.

    The number of windows turns mean numbers of records into integers; else a power of two makes rounding small.
    """
    total = float(weight.sum()) * problem.copies
    for factor in (1.0, float(max(problem.windows, 1))):
        scaled = weight * factor
        if total * factor < WEIGHT_TOTAL / 8 and np.all(np.abs(scaled - np.round(scaled)) <= 1e-7):
            return factor, np.round(scaled), np.round(scaled)
    power = float(2.0 ** np.floor(np.log2(WEIGHT_TOTAL / total)))
    return power, np.floor(weight * power), np.ceil(weight * power)


def _assignment(model: cp_model.CpModel, problem: CheckpointProblem) -> list[Column]:
    """Add a Boolean for each allowed unit and node: c copies each, at most one in a domain. Return them by node."""
    columns: list[Column] = [[] for _ in problem.nodes]
    for u in range(problem.load.size):
        nodes = np.flatnonzero(problem.allowed[u])
        row = [model.new_bool_var("") for _ in nodes]
        for node, variable in zip(nodes.tolist(), row, strict=True):
            columns[node].append((u, variable))
        if problem.copies == 1:
            model.add_exactly_one(row)
            continue
        model.add(sum(row) == problem.copies)
        domains = problem.domain[nodes]
        for domain in np.unique(domains):
            members = [row[int(i)] for i in np.flatnonzero(domains == domain)]
            if len(members) > 1:
                model.add_at_most_one(members)
    return columns


def _weighed(column: Column, weight: FloatArray) -> Any:
    """Return the weight that one node holds, as a linear expression."""
    from ortools.sat.python import cp_model

    return cp_model.LinearExpr.weighted_sum([v for _, v in column], [int(weight[u]) for u, _ in column])


def _solve(
    model: cp_model.CpModel,
    problem: CheckpointProblem,
    variables: list[Column],
    hint: IntArray | None,
    seed: int,
    budget: Budget,
    steps: float | None = None,
    first: Pairs | None = None,
) -> Answer:
    """Run CP-SAT with one worker (deterministic) and read the copies back."""
    from ortools.sat.python import cp_model

    if hint is not None:
        chosen = np.zeros(problem.cost.shape, dtype=np.bool_)
        np.put_along_axis(chosen, hint, True, axis=1)
        for node, column in enumerate(variables):
            for u, variable in column:
                model.add_hint(variable, bool(chosen[u, node]))
        if first is not None and problem.copies > 1:
            for (u, node), variable in first.items():
                model.add_hint(variable, bool(hint[u, 0] == node))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed % 2**31
    if budget.iterations is not None:
        solver.parameters.max_deterministic_time = budget.iterations * SOLVER_SECONDS_PER_ITERATION
    status = solve_sat(model, solver, budget.left_s)
    if status is None:
        budget.unfinished()
        return Answer("unknown")
    least = None if steps is None or status == cp_model.INFEASIBLE else max(solver.best_objective_bound, 0.0) / steps
    if status not in (cp_model.OPTIMAL, cp_model.INFEASIBLE):
        budget.unfinished()
    if status == cp_model.INFEASIBLE:
        return Answer("infeasible")
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer("unknown", None, least)
    found = sorted((u, node) for node, column in enumerate(variables) for u, v in column if solver.value(v))
    copies = np.array([node for _, node in found], dtype=np.int64).reshape(problem.load.size, problem.copies)
    if first is not None and problem.copies > 1:
        copies = first_in_front(copies, {u: node for (u, node), v in first.items() if solver.value(v)})
    return Answer("found", copies, least)
