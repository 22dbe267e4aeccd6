"""Branch and cut by SCIP on chosen columns of the allocation problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.checkpoints.arrays import BoolArray, CheckpointProblem
from ftplan.planners.checkpoints.models.failover_rows import add_to_solver, first_in_front
from ftplan.planners.checkpoints.rules.limits import Limits
from ftplan.planners.interrupts import solve_linear

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
    gap: float,
    tree_nodes: int | None = None,
) -> tuple[IntArray, float]:
    """Return the best copies on some columns and a bound for these columns alone, by SCIP.

    SCIP is used, one thread and so deterministic, since it closes generalised assignment problems that CP-SAT leaves
    at 0.1 to 0.3 percent. Its bound holds within its tolerances; 1e-10 of the random plan's loss is taken off for
    them. *gap* is relative; *tree_nodes* bounds the search tree.
    """
    if budget.left_s < LEAST_TIME_S:
        budget.unfinished()
        return best, -np.inf
    from ortools.linear_solver import pywraplp

    value = problem.value(best)
    solver = pywraplp.Solver.CreateSolver("SCIP")
    settings = "misc/catchctrlc = FALSE\n"
    settings += f"numerics/feastol = 1e-9\nrandomization/randomseedshift = {seed % 2**31}\n"
    if tree_nodes is None and budget.iterations is not None:
        tree_nodes = budget.iterations * TREE_NODES_PER_ITERATION
    if tree_nodes is not None:
        settings += f"limits/totalnodes = {tree_nodes}\n"
    solver.SetSolverSpecificParametersAsString(settings)
    try:
        variables = _model(solver, problem, limits, columns, budget)
    except OutOfTime:
        return best, -np.inf
    first, ordered = variables, limits.failover is not None and problem.copies > 1
    if limits.failover is not None:
        if bool((limits.failover.upper < 0).any()):
            return best, np.inf
        first = dict(add_to_solver(solver, problem, limits.failover, variables))
    chosen = np.zeros(columns.shape, dtype=np.bool_)
    np.put_along_axis(chosen, best, True, axis=1)
    if bool((columns | ~chosen).all()):
        hint = {variable: float(chosen[pair]) for pair, variable in variables.items()}
        hint |= {variable: float(best[u, 0] == node) for (u, node), variable in first.items()} if ordered else {}
        solver.SetHint(list(hint), list(hint.values()))
    parameters = pywraplp.MPSolverParameters()
    parameters.SetDoubleParam(parameters.RELATIVE_MIP_GAP, gap)
    status = solve_linear(solver, budget.left_s, parameters)
    if status == pywraplp.Solver.INFEASIBLE:
        return best, np.inf
    if status != pywraplp.Solver.OPTIMAL and (tree_nodes is None or budget.left_s < LEAST_TIME_S):
        budget.unfinished()
    if status not in (pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE):
        return best, -np.inf
    bound = solver.Objective().BestBound() * _unit_cost(problem)
    bound -= 1e-10 * max(abs(problem.random_value - bound), 1e-300)
    found = np.array(sorted(pair for pair, v in variables.items() if v.solution_value() > 0.5), dtype=np.int64)
    if found.shape[0] == best.size:
        copies = found[:, 1].reshape(best.shape)
        if ordered:
            front = {u: node for (u, node), v in first.items() if v.solution_value() > 0.5}
            copies = first_in_front(copies, front)
        if limits.kept(copies) and problem.value(copies) < value:
            best = copies
    return best, bound


def _unit_cost(problem: CheckpointProblem) -> float:
    """Return the largest cost of an allowed pair: costs are divided by it, so that tolerances mean the same.

    Whole costs stay as they are: the solver then rounds its bounds by itself.
    """
    if problem.integral:
        return 1.0
    return max(float(np.abs(problem.cost[problem.allowed]).max(initial=0.0)), 1e-300)


def _rows(problem: CheckpointProblem, limits: Limits) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights, lower and upper limits in the solver's units: integers by the number of windows, else scaled."""
    weight, lower, upper = limits.weight.copy(), limits.lower.copy(), limits.upper.copy()
    for r in range(len(limits.names)):
        whole = weight[r] * max(problem.windows, 1)
        if whole.sum() < 1e9 and np.all(np.abs(whole - np.round(whole)) <= 1e-7):
            factor = float(max(problem.windows, 1))
            weight[r] = np.round(whole)
            lower[r], upper[r] = np.ceil(lower[r] * factor), np.floor(upper[r] * factor)
        else:
            factor = len(problem.nodes) / max(float(weight[r].sum()), 1e-300)
            weight[r] *= factor
            lower[r], upper[r] = lower[r] * factor, upper[r] * factor
    return weight, lower, upper


def _model(
    solver: Any, problem: CheckpointProblem, limits: Limits, columns: BoolArray, budget: Budget
) -> dict[tuple[int, int], Any]:
    """Fill the solver: one Boolean a column, c of them a unit, at most one a domain, the limits of every node.

    Raises
    ------
    OutOfTime
        If the clock runs out.
    """
    weight, lower, upper = _rows(problem, limits)
    infinity = solver.infinity()

    def finite(value: float) -> float:
        return float(value) if np.isfinite(value) else float(np.sign(value)) * infinity

    rows = [
        [solver.Constraint(finite(low), finite(up)) for low, up in zip(lows, ups, strict=True)]
        for lows, ups in zip(lower, upper, strict=True)
    ]
    objective, unit_cost = solver.Objective(), _unit_cost(problem)
    variables = {}
    for u in range(problem.load.size):
        budget.check()
        once = solver.Constraint(problem.copies, problem.copies)
        domains: dict[int, Any] = {}
        for node in np.flatnonzero(columns[u]).tolist():
            variable = variables[u, node] = solver.BoolVar("")
            once.SetCoefficient(variable, 1.0)
            objective.SetCoefficient(variable, float(problem.cost[u, node] / unit_cost))
            for r, row in enumerate(rows):
                row[node].SetCoefficient(variable, float(weight[r, u]))
            if problem.copies > 1 and problem.domain_kind == "zone":
                domain = int(problem.domain[node])
                if domain not in domains:
                    domains[domain] = solver.Constraint(0.0, 1.0)
                domains[domain].SetCoefficient(variable, 1.0)
    return variables
