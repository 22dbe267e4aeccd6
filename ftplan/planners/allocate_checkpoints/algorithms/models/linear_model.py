"""The allocation as a linear model of ``pywraplp``: what SCIP solves in whole numbers, and GLOP relaxed.

:func:`branch_and_cut` solves it by SCIP on chosen columns, that is, pairs of a unit and a node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.tolerances import TINY
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.models.failover_rows import Pairs, add_to_solver, first_in_front
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.solver import linear_bound, linear_solver, solve_linear

#: Nodes of the search tree that one iteration buys.
TREE_NODES_PER_ITERATION = 1
#: Seconds below which the solver is not started: its set-up alone would overrun the clock.
LEAST_TIME_S = 0.05


def branch_and_cut(
    problem: CheckpointProblem,
    limits: Limits,
    columns: BoolArray,
    best: IntArray,
    seed: int,
    budget: Budget,
    gap: float = 0.0,
    tree_nodes: int | None = None,
) -> tuple[IntArray, float]:
    """Return the best copies on some columns and a bound for these columns alone, by SCIP.

    SCIP is used since it closes generalised assignment problems that CP-SAT leaves at 0.1 to 0.3 percent. *best* is
    the incumbent; the search ends at a relative gap, or after so many nodes of its tree.
    """
    if budget.left_s < LEAST_TIME_S:
        budget.unfinished()
        return best, -np.inf
    if tree_nodes is None and budget.iterations is not None:
        tree_nodes = budget.iterations * TREE_NODES_PER_ITERATION
    solver = linear_solver("SCIP", seed, tree_nodes)
    unit_cost, scaled = _unit_cost(problem), _in_whole_units(problem, limits)
    try:
        chosen = build(solver, problem, columns, scaled, unit_cost, lambda: solver.BoolVar(""), budget)[1]
    except OutOfTime:
        return best, -np.inf
    first: Pairs = chosen
    if limits.failover is not None:
        if bool((limits.failover.upper < 0).any()):
            return best, np.inf
        first = add_to_solver(solver, problem, limits.failover, chosen)
    _hint(solver, columns, best, chosen, first)
    ended = solve_linear(solver, budget, gap=gap, own_limit=tree_nodes is not None)
    if ended == "infeasible":
        return best, np.inf
    if ended not in ("optimal", "feasible"):
        return best, -np.inf
    largest = float(np.abs(problem.cost[problem.allowed]).max(initial=0.0)) / unit_cost
    return _incumbent(problem, limits, best, chosen, first), linear_bound(solver, size=largest) * unit_cost


def _hint(solver: Any, columns: BoolArray, best: IntArray, chosen: Pairs, first: Pairs) -> None:
    """Start from the incumbent, where its pairs have columns."""
    there = np.zeros(columns.shape, dtype=np.bool_)
    np.put_along_axis(there, best, True, axis=1)
    if bool((columns | ~there).all()):
        hint = {variable: float(there[pair]) for pair, variable in chosen.items()}
        if first is not chosen:
            hint |= {variable: float(best[u, 0] == node) for (u, node), variable in first.items()}
        solver.SetHint(list(hint), list(hint.values()))


def _incumbent(problem: CheckpointProblem, limits: Limits, best: IntArray, chosen: Pairs, first: Pairs) -> IntArray:
    """Return the solver's copies (U, c) where they keep the limits and cost less than *best*, else *best*."""
    pairs = np.array(sorted(pair for pair, v in chosen.items() if v.solution_value() > 0.5), dtype=np.int64)
    if pairs.shape[0] != best.size:
        return best
    copies = pairs[:, 1].reshape(best.shape)
    if first is not chosen:
        copies = first_in_front(copies, {u: node for (u, node), v in first.items() if v.solution_value() > 0.5})
    return copies if limits.satisfied_by(copies) and problem.value(copies) < problem.value(best) else best


def _unit_cost(problem: CheckpointProblem) -> float:
    """Return the largest cost of an allowed pair: costs are divided by it, so that tolerances mean the same.

    Whole costs stay as they are: the solver then rounds its bounds by itself.
    """
    if problem.integral:
        return 1.0
    return max(float(np.abs(problem.cost[problem.allowed]).max(initial=0.0)), TINY)


def _in_whole_units(problem: CheckpointProblem, limits: Limits) -> Limits:
    """Return the limits in the solver's units: integers by the number of windows, else scaled."""
    weight, lower, upper = limits.weight.copy(), limits.lower.copy(), limits.upper.copy()
    for r in range(len(limits.names)):
        factor = float(max(problem.windows, 1))
        whole = weight[r] * factor
        if whole.sum() < 1e9 and np.all(np.abs(whole - np.round(whole)) <= 1e-7):
            weight[r], lower[r], upper[r] = np.round(whole), np.ceil(lower[r] * factor), np.floor(upper[r] * factor)
        else:
            factor = len(problem.nodes) / max(float(weight[r].sum()), TINY)
            weight[r], lower[r], upper[r] = weight[r] * factor, lower[r] * factor, upper[r] * factor
    return replace(limits, weight=weight, lower=lower, upper=upper)


def build(
    solver: Any,
    problem: CheckpointProblem,
    columns: BoolArray,
    limits: Limits,
    unit_cost: float,
    new_variable: Callable[[], Any],
    budget: Budget,
) -> tuple[list[list[Any]], dict[tuple[int, int], Any]]:
    """Fill the solver with the pairs in *columns* (U, N): all constraints but failover, and the cost to minimise.

    *limits* are in the solver's units; costs are divided by *unit_cost*. Returns the rows of the limits on nodes, R
    lists of N, and the variable of each pair (unit, node).

    Raises :class:`OutOfTime` if the clock runs out.
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
    return rows, chosen


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
