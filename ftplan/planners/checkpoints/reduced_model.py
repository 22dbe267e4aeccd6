"""Branch and cut on what reduced costs leave open."""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.checkpoints.arrays import BoolArray, CheckpointProblem
from ftplan.planners.checkpoints.budget import Budget
from ftplan.planners.checkpoints.lagrangian import Dual, priced
from ftplan.planners.checkpoints.limits import Limits
from ftplan.planners.checkpoints.separate import cheapest

#: Columns above which the model is left out: building it alone would take too long.
MOST_COLUMNS = 2_000_000
#: Nodes of the search tree that one iteration buys.
TREE_NODES_PER_ITERATION = 1


def open_columns(problem: CheckpointProblem, limits: Limits, dual: Dual, value: float) -> BoolArray:
    """Return which pairs of unit and node may be in an allocation cheaper than *value*, shape (U, N).

    With a copy of u on i the Lagrangian is at least the bound plus what i costs more, at the dual's prices, than the
    dearest node that it would replace; where that reaches *value*, no better plan has it.
    """
    cost = priced(problem, limits, dual.prices)
    chosen, _ = cheapest(cost, problem.domain, problem.copies)
    # One copy moves to i: the dearest of the chosen is the one to give up, or the one in the domain of i. Taking the
    # dearest in both cases makes the estimate lower, so it stays a valid one.
    dearest = np.take_along_axis(cost, chosen, axis=1).max(axis=1)
    return np.asarray(
        problem.allowed & (dual.bound + (cost - dearest[:, None]) <= value + 1e-9 * max(abs(value), 1e-300))
    )


def close_gap(
    problem: CheckpointProblem, limits: Limits, best: IntArray, dual: Dual, seed: int, budget: Budget
) -> tuple[IntArray, float]:
    """Return the best copies (U, c) found and a bound, by SCIP on the columns that reduced costs leave open.

    SCIP is used, one thread and so deterministic, since it closes generalised assignment problems that CP-SAT and
    reduced costs leave at 0.1 to 0.3 percent. Its bound holds within its tolerances; 1e-10 of the random plan's loss
    is taken off for them. Allocations that were ruled out cost at least as much as *best*, so the bound never exceeds
    its value.
    """
    from ortools.linear_solver import pywraplp

    value = problem.value(best)
    columns = open_columns(problem, limits, dual, value)
    if int(columns.sum()) > MOST_COLUMNS:
        return best, dual.bound
    solver = pywraplp.Solver.CreateSolver("SCIP")
    solver.SetTimeLimit(max(int(budget.left_s * 1000), 10))
    settings = f"numerics/feastol = 1e-9\nrandomization/randomseedshift = {seed % 2**31}\n"
    if budget.iterations is not None:
        settings += f"limits/totalnodes = {budget.iterations * TREE_NODES_PER_ITERATION}\n"
    solver.SetSolverSpecificParametersAsString(settings)
    variables = _model(solver, problem, limits, columns)
    chosen = np.zeros(columns.shape, dtype=np.bool_)
    np.put_along_axis(chosen, best, True, axis=1)
    pairs = [(u, i) for u, i in variables if chosen[u, i]]
    if len(pairs) == chosen.sum():
        solver.SetHint(list(variables.values()), [float(chosen[pair]) for pair in variables])
    parameters = pywraplp.MPSolverParameters()
    parameters.SetDoubleParam(parameters.RELATIVE_MIP_GAP, 0.0)
    status = solver.Solve(parameters)
    if status == pywraplp.Solver.INFEASIBLE:
        return best, value  # everything that was left out costs at least as much
    if status not in (pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE):
        budget.unfinished()
        return best, dual.bound
    if status == pywraplp.Solver.FEASIBLE:
        budget.unfinished()
    unit_cost = _unit_cost(problem)
    bound = solver.Objective().BestBound() * unit_cost
    bound -= 1e-10 * max(abs(problem.random_value - bound), 1e-300)
    found = np.array(sorted(pair for pair, v in variables.items() if v.solution_value() > 0.5), dtype=np.int64)
    if found.shape[0] == best.size:
        copies = found[:, 1].reshape(best.shape)
        if limits.kept(copies) and problem.value(copies) < value:
            best = copies
    return best, max(dual.bound, min(bound, value))


def _unit_cost(problem: CheckpointProblem) -> float:
    """Return the largest cost of an allowed pair: costs are divided by it, so that tolerances mean the same."""
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


def _model(solver: Any, problem: CheckpointProblem, limits: Limits, columns: BoolArray) -> dict[tuple[int, int], Any]:
    """Fill the solver: one Boolean a column, c of them a unit, at most one a domain, the limits of every node."""
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
