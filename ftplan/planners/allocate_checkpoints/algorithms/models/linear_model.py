"""The allocation as a linear model of ``pywraplp``: what SCIP solves in whole numbers, and GLOP relaxed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.rules.limits import Limits
from ftplan.planners.budget import Budget


class LinearModel(NamedTuple):
    """The rows of the limits on nodes, R lists of N, and the variable of each pair (unit, node) with a column."""

    rows: list[list[Any]]
    chosen: dict[tuple[int, int], Any]


def build(
    solver: Any,
    problem: CheckpointProblem,
    columns: BoolArray,
    limits: Limits,
    unit_cost: float,
    new_variable: Callable[[], Any],
    budget: Budget,
) -> LinearModel:
    """Fill the solver with the pairs in *columns* (U, N): all constraints but failover, and the cost to minimise.

    *limits* are in the solver's units; costs are divided by *unit_cost*.

    Raises
    ------
    OutOfTime
        If the clock runs out.
    """
    rows = limits_on_nodes(solver, limits)
    objective = solver.Objective()
    chosen: dict[tuple[int, int], Any] = {}
    for u in range(problem.load.size):
        budget.check()
        by_node = {node: new_variable() for node in np.flatnonzero(columns[u]).tolist()}
        as_many_copies(solver, problem, by_node)
        one_a_domain(solver, problem, by_node)
        for node, variable in by_node.items():
            chosen[u, node] = variable
            objective.SetCoefficient(variable, float(problem.cost[u, node] / unit_cost))
            for r, row in enumerate(rows):
                row[node].SetCoefficient(variable, float(limits.weight[r, u]))
    return LinearModel(rows, chosen)


def limits_on_nodes(solver: Any, limits: Limits) -> list[list[Any]]:
    """``lower[r, i] <= sum over u of weight[r, u] x[u, i] <= upper[r, i]``, without coefficients yet."""
    infinity = solver.infinity()

    def finite(value: float) -> float:
        return float(value) if np.isfinite(value) else float(np.sign(value)) * infinity

    return [
        [solver.Constraint(finite(low), finite(up)) for low, up in zip(lows, ups, strict=True)]
        for lows, ups in zip(limits.lower, limits.upper, strict=True)
    ]


def as_many_copies(solver: Any, problem: CheckpointProblem, by_node: dict[int, Any]) -> None:
    """``sum over i of x[u, i] = c``, for the variables of one unit by node."""
    row = solver.Constraint(problem.copies, problem.copies)
    for variable in by_node.values():
        row.SetCoefficient(variable, 1.0)


def one_a_domain(solver: Any, problem: CheckpointProblem, by_node: dict[int, Any]) -> None:
    """``sum over i in d of x[u, i] <= 1`` for each domain d of several nodes, for the variables of one unit by node."""
    if problem.copies == 1 or problem.domain_kind != "zone":
        return
    rows: dict[int, Any] = {}
    for node, variable in by_node.items():
        domain = int(problem.domain[node])
        if domain not in rows:
            rows[domain] = solver.Constraint(0.0, 1.0)
        rows[domain].SetCoefficient(variable, 1.0)
