"""Solvers of programs: GLOP for prices, SCIP for whole numbers.

Both are called by MathOpt, which hands them rows and columns in the order of the program: the older interface of
OR-Tools orders the variables of a row by their addresses, so that SCIP does not go the same way twice.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ftplan.model.tolerances import TINY
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.interrupts import SolverStuck, interruptible
from ftplan.planners.rebalance.algorithms.models.program import Program

if TYPE_CHECKING:
    from ortools.math_opt.python import mathopt

#: Nodes of the search tree that one iteration buys.
TREE_NODES_PER_ITERATION = 10
#: Seconds below which no solver is started: its set-up alone would overrun the clock.
LEAST_TIME_S = 0.02
#: Part of the cost of all that may be chosen by which the bound of a tree search may err, within SCIP's tolerances.
DOUBT = 1e-11


class RowPrices(NamedTuple):
    """Prices of rows, (R,), and the bound that they prove."""

    prices: FloatArray
    bound: float


class BranchAndCutResult(NamedTuple):
    """What branch and cut says: values (V,) or None, and a bound, infinite where there is no solution."""

    x: FloatArray | None
    bound: float


def linear_prices(program: Program, budget: Budget) -> RowPrices:
    """Return prices of the linear relaxation by GLOP, and the bound at them, recomputed: it is sound whatever they are.

    Where GLOP does not end in time the prices are 0.
    """
    from ortools.math_opt.python import mathopt

    none = np.zeros(len(program.low))
    free = RowPrices(none, program.dual_bound(none))
    if budget.left_s < LEAST_TIME_S:
        budget.unfinished()
        return free
    model = _model(program, 1.0, False)
    result = _solved(model, mathopt.SolverType.GLOP, mathopt.SolveParameters(), None, budget)
    if result is None or result.termination.reason != mathopt.TerminationReason.OPTIMAL:
        return free
    prices = np.array(result.dual_values(list(model.linear_constraints())))
    wrong = ((prices > 0.0) & ~np.isfinite(program.low)) | ((prices < 0.0) & ~np.isfinite(program.high))
    prices = np.where(wrong, 0.0, prices)
    bound = program.dual_bound(prices)
    return RowPrices(prices, bound) if bound > free.bound else free


# Six parameters bound or start one search.
def branch_and_cut(
    program: Program,
    seed: int,
    budget: Budget,
    start: FloatArray | None = None,
    gap: float = 0.0,
    tree_nodes: int | None = None,
) -> BranchAndCutResult:
    """Minimise a program by SCIP, one thread and so deterministic, from a solution (V,) if there is one.

    The tree is bounded by *tree_nodes* or the budget's iterations; *gap* is relative. A search with *tree_nodes* of its
    own separates few cuts. The bound holds within SCIP's tolerances: :data:`DOUBT` is taken off for them.
    """
    from ortools.math_opt.python import mathopt

    if budget.left_s < LEAST_TIME_S:
        budget.unfinished()
        return BranchAndCutResult(None, -np.inf)
    if not len(program.cost):
        kept = bool((program.low <= 0.0).all() and (program.high >= 0.0).all())
        return BranchAndCutResult(np.zeros(0), 0.0) if kept else BranchAndCutResult(None, np.inf)
    unit = max(float(np.abs(program.cost).max(initial=0.0)), TINY)
    model = _model(program, unit, True)
    variables = list(model.variables())
    parameters = _parameters(seed, gap, tree_nodes, budget)
    result = _solved(model, mathopt.SolverType.GSCIP, parameters, start, budget)
    if result is None:
        budget.unfinished()
        return BranchAndCutResult(None, -np.inf)
    reason = result.termination.reason
    if reason in (mathopt.TerminationReason.INFEASIBLE, mathopt.TerminationReason.INFEASIBLE_OR_UNBOUNDED):
        return BranchAndCutResult(None, np.inf)
    ended = reason == mathopt.TerminationReason.OPTIMAL
    if not ended and (tree_nodes is None or budget.left_s < LEAST_TIME_S):
        budget.unfinished()
    bound = result.termination.objective_bounds.dual_bound * unit
    bound = max(bound - DOUBT * max(abs(bound), unit), program.dual_bound(np.zeros(len(program.low))))
    if not result.has_primal_feasible_solution():
        return BranchAndCutResult(None, bound)
    return BranchAndCutResult(np.array(result.variable_values(variables)), bound)


def _parameters(seed: int, gap: float, tree_nodes: int | None, budget: Budget) -> mathopt.SolveParameters:
    from ortools.math_opt.python import mathopt

    parameters = mathopt.SolveParameters(relative_gap_tolerance=gap, absolute_gap_tolerance=0.0, threads=1)
    settings = parameters.gscip
    settings.real_params["numerics/feastol"] = 1e-9
    settings.int_params["randomization/randomseedshift"] = seed % 2**31
    settings.bool_params["misc/catchctrlc"] = False
    if tree_nodes is not None:
        settings.int_params["separating/maxroundsroot"] = 5
        settings.int_params["separating/maxrounds"] = 1
    elif budget.iterations is not None:
        tree_nodes = budget.iterations * TREE_NODES_PER_ITERATION
    if tree_nodes is not None:
        settings.long_params["limits/totalnodes"] = max(1, tree_nodes)
    return parameters


def _solved(
    model: mathopt.Model,
    solver: mathopt.SolverType,
    parameters: mathopt.SolveParameters,
    start: FloatArray | None,
    budget: Budget,
) -> mathopt.SolveResult | None:
    """Run a solver until the budget ends; return None where it did not end in time and has no answer."""
    from ortools.math_opt.python import mathopt

    parameters.time_limit = timedelta(seconds=max(budget.left_s, LEAST_TIME_S))
    given = mathopt.ModelSolveParameters()
    if start is not None:
        values = dict(zip(model.variables(), start.tolist(), strict=True))
        given = mathopt.ModelSolveParameters(solution_hints=[mathopt.SolutionHint(variable_values=values)])
    # MathOpt cannot stop SCIP: after an interrupt it runs on in its thread until its limit, and nobody waits for it.
    try:
        return interruptible(
            lambda: mathopt.solve(model, solver, params=parameters, model_params=given), None, budget.left_s
        )
    except SolverStuck:
        return None


def _model(program: Program, unit: float, whole: bool) -> mathopt.Model:
    """Return a program as a model, with costs divided by *unit*; linear unless *whole*."""
    from ortools.math_opt import model_pb2
    from ortools.math_opt.python import mathopt

    proto: Any = model_pb2.ModelProto()
    count, rows = len(program.cost), len(program.low)
    proto.variables.ids.extend(range(count))
    proto.variables.lower_bounds.extend([0.0] * count)
    proto.variables.upper_bounds.extend(program.most.tolist())
    proto.variables.integers.extend((program.whole & whole).tolist())
    paid = np.flatnonzero(program.cost)
    proto.objective.linear_coefficients.ids.extend(paid.tolist())
    proto.objective.linear_coefficients.values.extend((program.cost[paid] / unit).tolist())
    proto.linear_constraints.ids.extend(range(rows))
    proto.linear_constraints.lower_bounds.extend(program.low.tolist())
    proto.linear_constraints.upper_bounds.extend(program.high.tolist())
    cells, where = np.unique(program.row * np.int64(max(count, 1)) + program.column, return_inverse=True)
    matrix = proto.linear_constraint_matrix
    matrix.row_ids.extend((cells // max(count, 1)).tolist())
    matrix.column_ids.extend((cells % max(count, 1)).tolist())
    matrix.coefficients.extend(np.bincount(where, program.entry, minlength=len(cells)).tolist())
    return mathopt.Model.from_model_proto(proto)
