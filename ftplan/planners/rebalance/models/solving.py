"""Solvers of programs: GLOP for prices, SCIP for whole numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ftplan.model.tolerances import TINY
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.interrupts import solve_linear
from ftplan.planners.rebalance.models.program import Program

#: Nodes of the search tree that one iteration buys, and simplex steps.
TREE_NODES_PER_ITERATION, STEPS_PER_ITERATION = 10, 1000
#: Seconds below which no solver is started: its set-up alone would overrun the clock.
LEAST_TIME_S = 0.02
#: Part of the cost of all that may be chosen by which the bound of a tree search may err, within SCIP's tolerances.
DOUBT = 1e-11


class Prices(NamedTuple):
    """Prices of rows, (R,), the bound that they prove, and whether the relaxation has no solution."""

    prices: FloatArray
    bound: float


class Searched(NamedTuple):
    """What branch and cut says: values (V,) or None, a bound (inf: there is no solution), and whether it ended."""

    x: FloatArray | None
    bound: float
    ended: bool


def linear_prices(program: Program, budget: Budget) -> Prices:
    """Return prices of the linear relaxation by GLOP, and the bound at them, recomputed: it is sound whatever they are.

    Where GLOP does not end in time the prices are 0.
    """
    from ortools.linear_solver import pywraplp

    none = np.zeros(len(program.low))
    free = Prices(none, program.dual_bound(none))
    if budget.left_s < LEAST_TIME_S:
        budget.unfinished()
        return free
    solver = pywraplp.Solver.CreateSolver("GLOP")
    rows = _fill(solver, program, 1.0, np.zeros(len(program.whole), dtype=np.bool_))[1]
    if solve_linear(solver, budget.left_s) != pywraplp.Solver.OPTIMAL:
        return free
    prices = np.array([row.dual_value() for row in rows])
    wrong = ((prices > 0.0) & ~np.isfinite(program.low)) | ((prices < 0.0) & ~np.isfinite(program.high))
    prices = np.where(wrong, 0.0, prices)
    bound = program.dual_bound(prices)
    return Prices(prices, bound) if bound > free.bound else free


def branch_and_cut(
    program: Program,
    seed: int,
    budget: Budget,
    start: FloatArray | None = None,
    gap: float = 0.0,
    tree_nodes: int | None = None,
) -> Searched:
    """Minimise a program by SCIP, one thread and so deterministic, from a solution (V,) if there is one.

    The tree is bounded by *tree_nodes* or the budget's iterations; *gap* is relative. A search with *tree_nodes* of its
    own separates few cuts. The bound holds within SCIP's tolerances: :data:`DOUBT` is taken off for them.
    """
    from ortools.linear_solver import pywraplp

    if budget.left_s < LEAST_TIME_S:
        budget.unfinished()
        return Searched(None, -np.inf, False)
    if not len(program.cost):
        kept = bool((program.low <= 0.0).all() and (program.high >= 0.0).all())
        return Searched(np.zeros(0), 0.0, True) if kept else Searched(None, np.inf, True)
    quick = tree_nodes is not None
    if tree_nodes is None and budget.iterations is not None:
        tree_nodes = budget.iterations * TREE_NODES_PER_ITERATION
    solver = pywraplp.Solver.CreateSolver("SCIP")
    settings = f"misc/catchctrlc = FALSE\nnumerics/feastol = 1e-9\nrandomization/randomseedshift = {seed % 2**31}\n"
    if quick:
        settings += "separating/maxroundsroot = 5\nseparating/maxrounds = 1\n"
    if tree_nodes is not None:
        settings += f"limits/totalnodes = {tree_nodes}\n"
    solver.SetSolverSpecificParametersAsString(settings)
    unit = max(float(np.abs(program.cost).max(initial=0.0)), TINY)
    variables, _ = _fill(solver, program, unit, program.whole)
    if start is not None:
        solver.SetHint(variables, start.tolist())
    parameters = pywraplp.MPSolverParameters()
    parameters.SetDoubleParam(parameters.RELATIVE_MIP_GAP, gap)
    status = solve_linear(solver, budget.left_s, parameters)
    if status == pywraplp.Solver.INFEASIBLE:
        return Searched(None, np.inf, True)
    ended = status == pywraplp.Solver.OPTIMAL
    if not ended and (tree_nodes is None or budget.left_s < LEAST_TIME_S):
        budget.unfinished()
    if status not in (pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE):
        return Searched(None, -np.inf, False)
    bound = solver.Objective().BestBound() * unit
    bound = max(bound - DOUBT * max(abs(bound), unit), program.dual_bound(np.zeros(len(program.low))))
    return Searched(np.array([variable.solution_value() for variable in variables]), bound, ended)


def _fill(solver: Any, program: Program, unit: float, whole: BoolArray) -> tuple[list[Any], list[Any]]:
    """Hand a program to a solver, with costs divided by *unit*; return its variables and rows."""
    infinity = solver.infinity()
    variables = [
        solver.IntVar(0.0, most, "") if integral else solver.NumVar(0.0, most, "")
        for most, integral in zip(program.most.tolist(), whole.tolist(), strict=True)
    ]
    objective = solver.Objective()
    for variable, cost in zip(variables, (program.cost / unit).tolist(), strict=True):
        if cost:
            objective.SetCoefficient(variable, cost)
    objective.SetMinimization()
    low, high = (np.clip(side, -infinity, infinity).tolist() for side in (program.low, program.high))
    rows = [solver.Constraint(down, up) for down, up in zip(low, high, strict=True)]
    for row, column, entry in zip(program.row.tolist(), program.column.tolist(), program.entry.tolist(), strict=True):
        rows[row].SetCoefficient(variables[column], entry)
    return variables, rows
