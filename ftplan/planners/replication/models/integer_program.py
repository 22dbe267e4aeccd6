"""Choose tasks by an integer program over products of what is kept intact, solved by HiGHS."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.interrupts import SolverStuck, interruptible
from ftplan.planners.replication.models.bundles import bundles
from ftplan.planners.replication.models.circuit import Circuit
from ftplan.planners.replication.models.monomials import ProductRows, rows

if TYPE_CHECKING:
    from ortools.math_opt.python import mathopt

#: Variables above which products are no longer expanded, and no program is solved at all.
MOST_PRODUCTS, MOST_VARIABLES = 60_000, 400_000
#: Seconds below which the solver is not started.
LEAST_TIME_S = 0.02
#: Nodes of the search tree that one iteration buys.
TREE_NODES_PER_ITERATION = 10
#: What is added to the solver's bound for its tolerances, of the value.
RAISED = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class IntegerSolution:
    """What the integer program says; ``replicated`` is None without a plan."""

    replicated: BoolArray | None
    bound: float


def integer_program(
    circuits: list[Circuit],
    weights: list[float],
    cost: FloatArray,
    limit: float,
    budget: Budget,
    hint: BoolArray,
    scale: float,
) -> IntegerSolution:
    """Maximise the weighted sum of some circuits' outputs over the tasks that they share.

    Binary replicate[t], one for tasks that are of use only together; each product of intact streams is at most
    replicate[t] and at most the weighted mean of the products upstream. Without joins this is the compact program of
    single streams; joins expand into pairs of streams as long as there are not too many. *scale* is about the optimum:
    the solver's tolerances are relative to it.
    Exponential in the worst case; one thread, so that the same work gives the same answer. Raises :class:`OutOfTime`
    where the clock runs out before the program is built.
    """
    if budget.left_s < LEAST_TIME_S:
        budget.unfinished()
        return IntegerSolution(None, np.inf)
    products, outputs = rows(circuits, len(cost), MOST_PRODUCTS, budget)
    if products.variables > MOST_VARIABLES:
        return IntegerSolution(None, np.inf)
    from ortools.math_opt.python import mathopt

    model = mathopt.Model()
    together = bundles(circuits[0], len(cost)) if len(circuits) == 1 else np.arange(len(cost))
    variables = _model(model, products, together, cost, limit, budget)
    goal = [(variables[k], w / scale) for k, w in zip(outputs, weights, strict=True)]
    for variable, weight in goal:
        model.objective.set_linear_coefficient(variable, weight)
    model.objective.is_maximize = True
    parameters, start = _parameters(budget), _hint(variables, hint)
    try:  # HiGHS has no way to be stopped: an interrupt leaves it behind
        answer = interruptible(
            lambda: mathopt.solve(model, mathopt.SolverType.HIGHS, params=parameters, model_params=start),
            time_limit_s=budget.left_s,
        )
    except SolverStuck:
        budget.unfinished()
        return IntegerSolution(None, np.inf)
    if answer.termination.reason != mathopt.TerminationReason.OPTIMAL:
        budget.unfinished()
    bound = float(answer.termination.objective_bounds.dual_bound) * scale * (1.0 + RAISED)
    if not answer.has_primal_feasible_solution():
        return IntegerSolution(None, bound)
    values = answer.variable_values(variables[: len(cost)])
    return IntegerSolution(np.array(values) > 0.5, bound)


def _parameters(budget: Budget) -> mathopt.SolveParameters:
    from ortools.math_opt.python import mathopt
    from ortools.math_opt.solvers import highs_pb2

    highs = highs_pb2.HighsOptionsProto()
    highs.double_options["mip_feasibility_tolerance"] = 1e-9
    highs.double_options["primal_feasibility_tolerance"] = 1e-9
    highs.double_options["mip_abs_gap"] = 1e-9
    nodes = None if budget.iterations is None else TREE_NODES_PER_ITERATION * budget.iterations
    return mathopt.SolveParameters(
        time_limit=datetime.timedelta(seconds=budget.left_s),
        relative_gap_tolerance=1e-9,
        node_limit=nodes,
        highs=highs,
    )


def _hint(variables: list[Any], hint: BoolArray) -> mathopt.ModelSolveParameters:
    """Return a start: of tasks with a variable in common, all must be in it."""
    from ortools.math_opt.python import mathopt

    values: dict[Any, float] = {}
    for task, taken in enumerate(hint.tolist()):
        values[variables[task]] = min(values.get(variables[task], 1.0), float(taken))
    return mathopt.ModelSolveParameters(solution_hints=[mathopt.SolutionHint(variable_values=values)])


def _model(
    model: mathopt.Model, products: ProductRows, together: IntArray, cost: FloatArray, limit: float, budget: Budget
) -> list[Any]:
    """Fill the model and return its variables; the tasks of a bundle have one variable in common."""
    own = {t: model.add_variable(lb=0.0, ub=1.0, is_integer=True) for t in np.unique(together).tolist()}
    variables = [own[t] for t in together.tolist()]
    variables += [model.add_variable(lb=0.0, ub=1.0) for _ in range(products.variables - products.tasks)]
    for left, right in zip(products.left, products.right, strict=True):
        budget.check()
        row = model.add_linear_constraint(ub=sum(w for k, w in right if k < 0))
        row.set_coefficient(variables[left], 1.0)
        for k, weight in right:
            if k >= 0:
                row.set_coefficient(variables[k], -weight)
    once = model.add_linear_constraint(ub=limit)
    paid = np.bincount(together, cost)
    for task in np.flatnonzero(paid > 0.0).tolist():
        once.set_coefficient(own[task], float(paid[task]))
    return variables
