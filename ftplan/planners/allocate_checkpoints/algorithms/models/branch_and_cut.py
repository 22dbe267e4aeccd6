"""Branch and cut by SCIP on chosen columns of the allocation problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.model.tolerances import TINY
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.models.failover_rows import Pairs, add_to_solver, first_in_front
from ftplan.planners.allocate_checkpoints.algorithms.models.linear_model import build
from ftplan.planners.allocate_checkpoints.algorithms.rules.limits import Limits
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.interrupts import solve_linear

#: Nodes of the search tree that one iteration buys.
TREE_NODES_PER_ITERATION = 1
#: Seconds below which the solver is not started: its set-up alone would overrun the clock.
LEAST_TIME_S = 0.05


# Eight parameters: a problem, its incumbent, and what bounds one search, of which the last serves neighbourhoods alone.
def branch_and_cut(
    problem: CheckpointProblem,
    limits: Limits,
    columns: BoolArray,
    best: IntArray,
    seed: int,
    budget: Budget,
    gap: float,
    tree_nodes: int | None = None,
) -> tuple[IntArray, float]:
    """Return the best copies on some columns and a bound for these columns alone, by SCIP.

    SCIP is used, one thread and so deterministic, since it closes generalised assignment problems that CP-SAT leaves
    at 0.1 to 0.3 percent. Its bound holds within its tolerances; 1e-10 of the random plan's loss is taken off for
    them. *best* is the incumbent, *gap* relative; *tree_nodes* bounds the search tree.
    """
    if budget.left_s < LEAST_TIME_S:
        budget.unfinished()
        return best, -np.inf
    from ortools.linear_solver import pywraplp

    if tree_nodes is None and budget.iterations is not None:
        tree_nodes = budget.iterations * TREE_NODES_PER_ITERATION
    solver = _solver(seed, tree_nodes)
    unit_cost, scaled = _unit_cost(problem), _in_whole_units(problem, limits)
    try:
        chosen = build(solver, problem, columns, scaled, unit_cost, lambda: solver.BoolVar(""), budget).chosen
    except OutOfTime:
        return best, -np.inf
    first: Pairs = chosen
    if limits.failover is not None:
        if bool((limits.failover.upper < 0).any()):
            return best, np.inf
        first = add_to_solver(solver, problem, limits.failover, chosen)
    _hint(solver, columns, best, chosen, first)
    parameters = pywraplp.MPSolverParameters()
    parameters.SetDoubleParam(parameters.RELATIVE_MIP_GAP, gap)
    status = solve_linear(solver, budget.left_s, parameters)
    if status == pywraplp.Solver.INFEASIBLE:
        return best, np.inf
    if status != pywraplp.Solver.OPTIMAL and (tree_nodes is None or budget.left_s < LEAST_TIME_S):
        budget.unfinished()
    if status not in (pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE):
        return best, -np.inf
    bound = solver.Objective().BestBound() * unit_cost
    bound -= 1e-10 * max(abs(problem.random_value - bound), TINY)
    return _incumbent(problem, limits, best, chosen, first), bound


def _solver(seed: int, tree_nodes: int | None) -> Any:
    """Return SCIP with its settings: deterministic, open to interrupts, with a search tree of at most so many nodes."""
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("SCIP")
    settings = "misc/catchctrlc = FALSE\n"
    settings += f"numerics/feastol = 1e-9\nrandomization/randomseedshift = {seed % 2**31}\n"
    if tree_nodes is not None:
        settings += f"limits/totalnodes = {tree_nodes}\n"
    solver.SetSolverSpecificParametersAsString(settings)
    return solver


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
    return copies if limits.kept(copies) and problem.value(copies) < problem.value(best) else best


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
