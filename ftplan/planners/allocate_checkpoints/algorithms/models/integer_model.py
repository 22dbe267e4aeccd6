"""The allocation as an integer model for CP-SAT: is there a plan within the limits, and how far must a limit stretch?

``x[u, i]`` tells whether unit u has a copy on node i. Loads and bytes become integers such that the model is a
relaxation of the true one: what it calls infeasible is infeasible, and its bounds hold. What it finds is checked again
in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.models.failover_rows import (
    Pairs,
    add_to_sat,
    by_survivor,
    first_in_front,
    first_of_sat,
)
from ftplan.planners.budget import Budget
from ftplan.planners.solver import solve_sat

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

#: Integer weights of one row sum to about this: far from 2^63, and rounding far below the checker's tolerance.
WEIGHT_TOTAL = 2.0**46
#: The same where a limit may stretch by a variable.
STRETCH_TOTAL = 2.0**52
#: Variables above which no model is built: it would not fit into memory or time.
MOST_COLUMNS = 2_000_000
#: Columns that a model gains in a second while it is built, about, and so many that no clock matters.
COLUMNS_PER_SECOND = 25_000
ALWAYS_COLUMNS = 5_000


@dataclass(frozen=True, eq=False)
class SatResult:
    """What CP-SAT says. ``least`` is the proven least stretch, in the unit asked for; None for plain feasibility."""

    status: Literal["feasible", "infeasible", "unknown"]
    copies: IntArray | None = None
    least: float | None = None


class StretchedLimit(NamedTuple):
    """A limit that grows with a variable g, from ``least`` to ``most`` in steps of 1/``steps``.

    ``limit`` is the name of a limit on nodes, of which the upper ones become ``upper + g unit`` and the lower ones
    ``lower - g unit``, with ``unit`` (N,); or ``failover``, which becomes ``g unit``, with ``unit`` (L, N).
    """

    limit: str
    unit: FloatArray
    least: float
    most: float
    steps: float


class SatModel(NamedTuple):
    """A model, and its x by node: pairs of unit and variable."""

    sat: cp_model.CpModel
    by_node: list[list[tuple[int, Any]]]

    def first_copies(self, problem: CheckpointProblem, limits: Limits) -> Pairs:
        """Return y, which tells whether the first copy of u is on i; empty where no failover limit needs it."""
        chosen = {(u, node): variable for node, column in enumerate(self.by_node) for u, variable in column}
        return {} if limits.failover is None else first_of_sat(self.sat, problem, chosen)


def fits_into(problem: CheckpointProblem, budget: Budget) -> bool:
    """Return whether a model can be built before the clock ends; where it cannot, the work counts as cut short."""
    fits = int(problem.allowed.sum()) <= ALWAYS_COLUMNS + COLUMNS_PER_SECOND * budget.left_s
    budget.cut = budget.cut or not fits
    return fits


def find_feasible(problem: CheckpointProblem, limits: Limits, seed: int, budget: Budget) -> SatResult:
    """Find copies within all limits, or prove that there are none. Cost exponential in the worst case."""
    if int(problem.allowed.sum()) > MOST_COLUMNS or not fits_into(problem, budget):
        return SatResult("unknown")
    model = _assignment(problem)
    limits_on_nodes(model, problem, limits)
    first = model.first_copies(problem, limits)
    failover_limits(model, problem, limits, first)
    return _solve(model, first, problem, None, seed, budget)


def least_stretch(
    problem: CheckpointProblem,
    limits: Limits,
    stretch: StretchedLimit,
    hint: IntArray | None,
    seed: int,
    budget: Budget,
) -> SatResult:
    """Find the least g for which there is a plan when one limit stretches, with a proven lower bound of g.

    Of a failover limit that stretches, ``limits.failover`` gives the loads; its own limit does not count.
    """
    failover = stretch.limit == "failover"
    columns = int(problem.allowed.sum()) * (min(problem.copies, 2) if failover else 1)
    if columns > MOST_COLUMNS or not (failover or fits_into(problem, budget)):
        return SatResult("unknown")
    model = _assignment(problem)
    lowest, highest = floor(stretch.least * stretch.steps), int(np.ceil(stretch.most * stretch.steps))
    if failover:
        limits_on_nodes(model, problem, limits)
        first = model.first_copies(problem, limits)
        g = model.sat.new_int_var(lowest, highest, "limit")
        stretched_failover_limits(model, limits, stretch, first, g)
    else:
        g = model.sat.new_int_var(lowest, highest, "stretch")
        limits_on_nodes(model, problem, limits, stretch, g)
        first = model.first_copies(problem, limits)
        failover_limits(model, problem, limits, first)
    model.sat.minimize(g)
    return _solve(model, first, problem, hint, seed, budget, stretch.steps)


def _assignment(problem: CheckpointProblem) -> SatModel:
    """``sum over i of x[u, i] = c`` for each unit, and ``sum over i in d of x[u, i] <= 1`` for each domain d."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    by_node: list[list[tuple[int, Any]]] = [[] for _ in problem.nodes]
    for u in range(problem.load.size):
        nodes = np.flatnonzero(problem.allowed[u])
        row = [model.new_bool_var("") for _ in nodes]
        for node, variable in zip(nodes.tolist(), row, strict=True):
            by_node[node].append((u, variable))
        if problem.copies == 1:
            model.add_exactly_one(row)
            continue
        model.add(sum(row) == problem.copies)
        domains = problem.domain[nodes]
        for domain in np.unique(domains):
            members = [row[int(i)] for i in np.flatnonzero(domains == domain)]
            if len(members) > 1:
                model.add_at_most_one(members)
    return SatModel(model, by_node)


def limits_on_nodes(
    model: SatModel, problem: CheckpointProblem, limits: Limits, stretch: StretchedLimit | None = None, g: Any = 0
) -> None:
    """``lower[r, i] - g unit[i] <= sum over u of weight[r, u] x[u, i] <= upper[r, i] + g unit[i]``, unit for one r."""
    for r, name in enumerate(limits.names):
        factor, floors, ceilings = _integers(limits.weight[r], problem)
        if stretch is not None:
            factor = _stretch_factor(problem, limits, r, stretch)
            floors, ceilings = np.floor(limits.weight[r] * factor), np.ceil(limits.weight[r] * factor)
        for node, column in enumerate(model.by_node):
            upper, lower, more = limits.upper[r, node], limits.lower[r, node], 0
            if stretch is not None and name == stretch.limit:
                more = int(np.ceil(stretch.unit[node] * factor / stretch.steps)) * g
            if np.isfinite(upper):
                model.sat.add(_weighed(column, floors) <= floor(_within(upper * factor)) + more)
            if np.isfinite(lower):
                model.sat.add(_weighed(column, ceilings) >= -floor(_within(-lower * factor)) - more)


def failover_limits(model: SatModel, problem: CheckpointProblem, limits: Limits, first: Pairs) -> None:
    """``sum over u with loss[u] = l of load[u] y[u, i] <= upper[l, i]``, where there is a failover limit."""
    if limits.failover is not None:
        factor, floors, _ = _integers(limits.failover.load, problem)
        add_to_sat(model.sat, limits.failover, first, factor, floors)


def stretched_failover_limits(model: SatModel, limits: Limits, stretch: StretchedLimit, first: Pairs, g: Any) -> None:
    """``own[i] + sum over u with loss[u] = l of load[u] y[u, i] <= g unit[l, i]``."""
    failover = limits.failover
    assert failover is not None
    total = max(float(failover.load.sum()), float(stretch.unit.max(initial=0.0)) * stretch.most)
    factor = STRETCH_TOTAL / total if total > 0 else 1.0
    floors, own = np.floor(failover.load * factor), np.floor(failover.own * factor)
    for (loss, node), column in by_survivor(failover, first).items():
        most = int(np.ceil(stretch.unit[loss, node] * factor / stretch.steps)) * g
        model.sat.add(_weighed(column, floors) + int(own[node]) <= most)


def _stretch_factor(problem: CheckpointProblem, limits: Limits, r: int, stretch: StretchedLimit) -> float:
    """Return what makes one row's weights large, where neither its limits nor their stretch may overflow."""
    total = float(limits.weight[r].sum()) * problem.copies
    if limits.names[r] == stretch.limit:
        ends = np.concatenate([limits.upper[r], limits.lower[r]])
        largest = float(np.abs(ends[np.isfinite(ends)]).max(initial=0.0))
        total = max(total, largest, float(stretch.unit.max()) * stretch.most)
    return STRETCH_TOTAL / total if total > 0 else 1.0


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


def _weighed(column: list[tuple[int, Any]], weight: FloatArray) -> Any:
    """Return the weight of a column's units, as a linear expression."""
    from ortools.sat.python import cp_model

    return cp_model.LinearExpr.weighted_sum([v for _, v in column], [int(weight[u]) for u, _ in column])


def _solve(
    model: SatModel,
    first: Pairs,
    problem: CheckpointProblem,
    hint: IntArray | None,
    seed: int,
    budget: Budget,
    steps: float | None = None,
) -> SatResult:
    """Run CP-SAT and read the copies back."""
    ordered = bool(first) and problem.copies > 1
    if hint is not None:
        chosen = np.zeros(problem.cost.shape, dtype=np.bool_)
        np.put_along_axis(chosen, hint, True, axis=1)
        for node, column in enumerate(model.by_node):
            for u, variable in column:
                model.sat.add_hint(variable, bool(chosen[u, node]))
        for (u, node), variable in first.items() if ordered else ():
            model.sat.add_hint(variable, bool(hint[u, 0] == node))
    answer = solve_sat(model.sat, budget, seed)
    if answer.ended == "infeasible":
        return SatResult("infeasible")
    least = None if steps is None or answer.bound is None else max(answer.bound, 0) / steps
    if not answer.found:
        return SatResult("unknown", None, least)
    pairs = sorted((u, node) for node, column in enumerate(model.by_node) for u, v in column if answer.value(v))
    copies = np.array([node for _, node in pairs], dtype=np.int64).reshape(problem.load.size, problem.copies)
    if ordered:
        copies = first_in_front(copies, dict(answer.chosen(first)))
    return SatResult("feasible", copies, least)
