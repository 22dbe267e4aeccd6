"""The set-union knapsack as an integer program for HiGHS, which is best where the linear relaxation is nearly tight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ftplan.model.tolerances import TINY
from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.solver import solve_program

if TYPE_CHECKING:
    from ortools.math_opt.python import mathopt

#: Entries of the matrix that one second on the clock allows: building and presolve alone take a tenth of it.
ENTRIES_PER_SECOND = 20_000


@dataclass(frozen=True, eq=False)
class ProgramChoice:
    """The best choice that HiGHS found, if any, and a bound on every choice."""

    queries: BoolArray | None
    bound: float


def solve(knapsack: SetUnionKnapsack, unit: float, seed: int, budget: Budget) -> ProgramChoice:
    """Maximise the priority of x, x_q <= y_b for each element of a query, w y <= capacity; x, y Boolean.

    An element of one query has no y: its weight stands with x. All values are multiples of *unit*, 0 where there is
    none. No known choice is given: with one HiGHS took a third longer. Cost: exponential at worst, within the budget.
    """
    if not budget.pays(len(knapsack.member) / ENTRIES_PER_SECOND):
        return ProgramChoice(None, np.inf)
    model, chosen = _model(knapsack)
    answer = solve_program(model, "HIGHS", budget, seed, least_step=unit)
    bound = np.inf if answer.bound is None else answer.bound
    return ProgramChoice(answer.values(chosen) > 0.5 if answer.found else None, bound)


def _model(knapsack: SetUnionKnapsack) -> tuple[mathopt.Model, list[mathopt.Variable]]:
    """Return the model, in weights relative to the largest, and its variables of the queries."""
    from ortools.math_opt.python import mathopt

    model = mathopt.Model()
    chosen = [model.add_binary_variable() for _ in range(knapsack.queries)]
    scale = 1.0 / max(float(knapsack.weight.max(initial=0.0)), TINY)
    weight = knapsack.weight * scale
    alone = knapsack.sharing[knapsack.member] == 1
    own = np.bincount(knapsack.row[alone], weight[knapsack.member[alone]], knapsack.queries)
    paid = {b: model.add_binary_variable() for b in np.flatnonzero(knapsack.sharing > 1).tolist()}
    for q, b in zip(knapsack.row[~alone].tolist(), knapsack.member[~alone].tolist(), strict=True):
        model.add_linear_constraint(chosen[q] <= paid[b])
    terms = [float(own[q]) * chosen[q] for q in np.flatnonzero(own).tolist()]
    terms += [float(weight[b]) * y for b, y in paid.items()]
    model.add_linear_constraint(mathopt.LinearSum(terms) <= knapsack.limit * scale)
    model.maximize(mathopt.LinearSum([p * x for p, x in zip(knapsack.priority.tolist(), chosen, strict=True)]))
    return model, chosen
