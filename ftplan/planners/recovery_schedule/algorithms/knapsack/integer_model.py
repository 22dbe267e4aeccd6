"""The reduced set-union knapsack as an integer program for HiGHS, by OR-Tools' MathOpt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from ftplan.model.tolerances import ROUNDING, TINY
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.interrupts import solve_highs
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack

#: Entries of the matrix above which no model is built, and those that one second on the clock allows.
MOST_ENTRIES = 400_000
ENTRIES_PER_SECOND = 20_000
#: Seconds an entry by which HiGHS overruns its limit, about: building, presolve and probing do not look at the clock.
OVERRUN_S_PER_ENTRY = 5e-5
#: Seconds below which the solver is not started: its set-up alone would overrun the clock.
LEAST_TIME_S = 0.05
#: Weights that are whole multiples of a unit become integers up to this size, others are scaled to it.
LARGEST_WEIGHT = 2.0**20


@dataclass(frozen=True, eq=False)
class ProgramResult:
    """The solver's best choice, if any, and a bound on every choice."""

    queries: BoolArray | None
    bound: float


def too_large(knapsack: SetUnionKnapsack, budget: Budget) -> bool:
    """Return whether the model would take more memory or time than there is."""
    entries = len(knapsack.member)
    return budget.left_s < LEAST_TIME_S or entries > min(MOST_ENTRIES, ENTRIES_PER_SECOND * budget.left_s)


def solve(knapsack: SetUnionKnapsack, hint: BoolArray | None, unit: float, seed: int, budget: Budget) -> ProgramResult:
    """Maximise the priority of x, x_q <= y_b for each element of a query, w y <= capacity; x, y Boolean.

    An element of one query has no y: its weight stands with x. HiGHS runs in one thread, and so deterministically, for
    ``budget.iterations`` nodes of its tree. All values are multiples of *unit* (0 where there is none).
    """
    from ortools.math_opt.python import mathopt

    model, x = _model(knapsack)
    parameters = mathopt.SolveParameters(
        time_limit=timedelta(seconds=max(0.9 * budget.left_s - len(knapsack.member) * OVERRUN_S_PER_ENTRY, 0.01)),
        node_limit=budget.iterations,
        relative_gap_tolerance=0.1 * ROUNDING,
        absolute_gap_tolerance=0.5 * unit,
        random_seed=seed % 2**31,
    )
    at = mathopt.ModelSolveParameters()
    if hint is not None and hint.any():
        values = {variable: float(h) for variable, h in zip(x, hint.tolist(), strict=True)}
        at.solution_hints.append(mathopt.SolutionHint(variable_values=values))
    result = solve_highs(model, parameters, budget.left_s, at)
    if result is None:
        return ProgramResult(None, np.inf)
    bound = float(result.termination.objective_bounds.dual_bound)
    bound += ROUNDING * abs(bound)
    if not result.has_primal_feasible_solution():
        return ProgramResult(None, bound)
    return ProgramResult(np.array(result.variable_values(x)) > 0.5, bound)


def _model(knapsack: SetUnionKnapsack) -> tuple[Any, list[Any]]:
    """Return the model and its variables of the queries."""
    from ortools.math_opt.python import mathopt

    model = mathopt.Model()
    x = [model.add_binary_variable() for _ in range(knapsack.queries)]
    weight, capacity = in_integers(knapsack.weight, knapsack.limit)
    own = np.zeros(knapsack.queries)
    alone = knapsack.sharing[knapsack.member] == 1
    np.add.at(own, knapsack.row[alone], weight[knapsack.member[alone]])
    shared = np.flatnonzero(knapsack.sharing > 1).tolist()
    y = {b: model.add_binary_variable() for b in shared}
    for q, b in zip(knapsack.row[~alone].tolist(), knapsack.member[~alone].tolist(), strict=True):
        model.add_linear_constraint(x[q] - y[b] <= 0)
    terms = [float(own[q]) * x[q] for q in np.flatnonzero(own).tolist()] + [float(weight[b]) * y[b] for b in shared]
    model.add_linear_constraint(mathopt.LinearSum(terms) <= capacity)
    terms = [p * variable for p, variable in zip(knapsack.priority.tolist(), x, strict=True)]
    model.maximize(mathopt.LinearSum(terms))
    return model, x


def in_integers(weight: FloatArray, capacity: float) -> tuple[FloatArray, float]:
    """Return weights and capacity as integers where the weights are multiples of a decimal or binary unit.

    Others are scaled, with the capacity a little above the given one: a relaxation that no fitting choice violates.
    """
    unit = common_unit(weight, LARGEST_WEIGHT)
    if unit > 0.0:
        return np.round(weight / unit), float(np.floor(capacity / unit * (1 + ROUNDING) + ROUNDING))
    factor = LARGEST_WEIGHT / max(float(weight.max(initial=0.0)), TINY)
    return weight * factor, capacity * factor * (1 + ROUNDING)


def common_unit(numbers: FloatArray, largest: float = 2.0**40) -> float:
    """Return a unit of which all numbers are multiples: some 1, 1/2, 1/4, 1/10, ... 1/1000; 0 if there is none.

    A number of more than *largest* such fractions has none.
    """
    for factor in (1.0, 2.0, 4.0, 10.0, 20.0, 100.0, 1000.0):
        whole: IntArray = np.round(numbers * factor)
        rounding = ROUNDING * np.minimum(whole, 1.0)  # next to nothing is not nothing
        if len(whole) and bool((np.abs(numbers * factor - whole) <= rounding).all()) and whole.max() <= largest:
            return float(np.gcd.reduce(whole.astype(np.int64))) / factor
    return 0.0
