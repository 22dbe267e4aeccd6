"""From prices to copies: a linear relaxation of the few choices that are nearly ties, rounded."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import Scan
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import mean_use
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.models.linear_model import (
    as_many_copies,
    limits_on_nodes,
    one_a_domain,
)
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget
from ftplan.planners.solver import linear_solver, solve_linear

#: Columns beside the chosen ones, for each node, that stay open; about one in ten is then used in part.
OPEN_PER_NODE = 30
MOST_OPEN = 40_000
#: What breaking a limit costs, in multiples of the highest price.
PENALTY = 4.0
#: Relaxations solved at most; after each, this part of the split units, the largest ones, is fixed.
MOST_DIVES = 10
FIXED_SHARE = 0.5
#: Part of what is left of the time for one relaxation.
RELAXATION_SHARE = 0.3
#: Values of the relaxation that differ from 0 or 1 by less are whole.
WHOLE_WITHIN = 1e-6


class OpenRelaxation(NamedTuple):
    """A linear program over the open ``columns`` (U, k) of a scan, with a variable for each (unit, column)."""

    solver: Any
    variables: dict[tuple[int, int], Any]
    columns: BoolArray
    weight: FloatArray  # (R, U) in the solver's units


def rounded(
    problem: CheckpointProblem, limits: Limits, candidates: Scan, prices: FloatArray, seed: int, budget: Budget
) -> IntArray:
    """Return copies (U, c) that nearly keep the limits, and nearly cost what the linear relaxation does.

    At good prices most units have one clear place; which of the others goes where decides whether the limits hold.
    The relaxation over these others alone is small; its basic solution splits at most one unit a limit, and those go
    where least is broken, the largest first; the relaxation is solved again in between, so that the others make up
    for it. *candidates* is a scan at *prices* (R, N). Cost of a few simplex runs.
    """
    copies = candidates.copies
    columns = _open_columns(problem, limits, candidates, prices)
    if not columns.any():
        return copies
    relaxation = _relaxation(problem, limits, candidates, columns, np.abs(prices).max(axis=1, initial=0.0), seed)
    part = _dive(problem, candidates.nodes, relaxation, budget)
    if not (part >= 0).any():
        return copies
    result, none = copies.copy(), np.zeros(limits.lower.shape)
    for u in np.flatnonzero(columns.any(axis=1)).tolist():
        mine = _rounded_unit(problem, candidates.nodes[u], part[u], none, relaxation.weight[:, u])
        if len(mine) == problem.copies:
            result[u] = candidates.nodes[u, mine]
    # A clock that ends the dive early may leave it worse than it began.
    after, before = (WorkingAllocation.of(problem, limits, some) for some in (result, copies))
    return result if after.total_breach < before.total_breach else copies


def _open_columns(problem: CheckpointProblem, limits: Limits, candidates: Scan, prices: FloatArray) -> BoolArray:
    """Return the columns (U, k) of the units that have nearly a tie: the chosen nodes, and those nearly as good."""
    priced = candidates.cost.copy()
    for weight, price in zip(limits.weight, prices, strict=True):
        if price.any():
            priced += weight[:, None] * price[candidates.nodes]
    copies = candidates.copies
    if problem.copies > 1:  # the chosen nodes stand first and once more among the others
        for k in range(problem.copies):
            priced[:, problem.copies :][candidates.nodes[:, problem.copies :] == copies[:, [k]]] = np.inf
    chosen = (candidates.nodes[:, :, None] == copies[:, None, :]).any(axis=2) & np.isfinite(priced)
    dearest = np.where(chosen, priced, -np.inf).max(axis=1)
    # By what each would cost for the load it shifts: small units are no better at that than large ones.
    size = np.maximum((limits.weight / np.maximum(limits.weight.mean(axis=1, keepdims=True), 1e-300)).max(axis=0), 1e-3)
    excess = np.where(chosen, np.inf, (priced - dearest[:, None]) / size[:, None])
    near = np.zeros(excess.size, dtype=np.bool_)
    count = min(OPEN_PER_NODE * len(problem.nodes), MOST_OPEN, int(np.isfinite(excess).sum()))
    if count:
        near[np.argpartition(excess.ravel(), count - 1)[:count]] = True
    near = near.reshape(excess.shape) & np.isfinite(excess)
    loose = near.any(axis=1) & (chosen.sum(axis=1) == problem.copies)
    return np.asarray((near | chosen) & loose[:, None])


def _relaxation(
    problem: CheckpointProblem, limits: Limits, candidates: Scan, columns: BoolArray, prices: FloatArray, seed: int
) -> OpenRelaxation:
    """Return the linear program: elastic limits at a penalty above the largest *prices* (R,), c columns a unit.

    What units without open columns use is taken off the limits.
    """
    solver = linear_solver("GLOP", seed)
    objective, scale, unit_cost = solver.Objective(), mean_use(limits), max(problem.largest_cost, 1e-300)
    loose, copies = columns.any(axis=1), candidates.copies
    fixed = limits.used(copies) - replace(limits, weight=limits.weight[:, loose]).used(copies[loose])
    weight = limits.weight / scale
    rest = replace(limits, weight=weight, lower=(limits.lower - fixed) / scale, upper=(limits.upper - fixed) / scale)
    rows = limits_on_nodes(solver, rest)
    for line, price, use in zip(rows, prices.tolist(), scale[:, 0].tolist(), strict=True):
        penalty = PENALTY * (price * use + 1e-3 * unit_cost) / unit_cost
        for row, sign in itertools.product(line, (1.0, -1.0)):
            elastic = solver.NumVar(0.0, solver.infinity(), "")
            row.SetCoefficient(elastic, sign)
            objective.SetCoefficient(elastic, penalty)
    variables: dict[tuple[int, int], Any] = {}
    for u in np.flatnonzero(loose).tolist():
        mine = {k: solver.NumVar(0.0, 1.0, "") for k in np.flatnonzero(columns[u]).tolist()}
        by_node = {int(candidates.nodes[u, k]): variable for k, variable in mine.items()}
        as_many_copies(solver, problem, by_node)
        one_a_domain(solver, problem, by_node)
        for k, variable in mine.items():
            variables[u, k] = variable
            objective.SetCoefficient(variable, float(candidates.cost[u, k] / unit_cost))
            for r, line in enumerate(rows):
                line[candidates.nodes[u, k]].SetCoefficient(variable, float(weight[r, u]))
    return OpenRelaxation(solver, variables, columns, weight)


def _dive(problem: CheckpointProblem, nodes: IntArray, relaxation: OpenRelaxation, budget: Budget) -> FloatArray:
    """Solve the relaxation and fix the largest split units, again and again; return its values (U, k), -1 without any.

    *nodes* (U, k) are those of the columns.
    """
    solver, variables, columns, weight = relaxation
    part = np.full(columns.shape, -1.0)
    fixed = np.zeros(len(columns), dtype=np.bool_)
    for _ in range(MOST_DIVES):
        if solve_linear(solver, budget.part(RELAXATION_SHARE)) != "optimal":
            break
        part[columns] = [variable.solution_value() for variable in variables.values()]
        split = np.flatnonzero(((part > WHOLE_WITHIN) & (part < 1 - WHOLE_WITHIN)).any(axis=1) & ~fixed)
        if not split.size or budget.over():
            break
        used = np.zeros((len(weight), len(problem.nodes)))  # what fixing has put on each node beyond the values
        order = split[np.argsort(-weight[:, split].max(axis=0), kind="stable")]
        for u in order[: max(1, int(np.ceil(FIXED_SHARE * order.size)))].tolist():
            open_columns = np.flatnonzero(columns[u]).tolist()
            for k in open_columns:
                used[:, nodes[u, k]] -= weight[:, u] * part[u, k]
            mine = _rounded_unit(problem, nodes[u], part[u], used, weight[:, u])
            for k in open_columns:
                value = float(k in mine)
                variables[u, k].SetBounds(value, value)
                used[:, nodes[u, k]] += weight[:, u] * value
            fixed[u] = True
    return part


def _rounded_unit(
    problem: CheckpointProblem, nodes: IntArray, part: FloatArray, used: FloatArray, weight: FloatArray
) -> list[int]:
    """Return the columns (k,) of one unit that its copies take: whole ones first, then where least is put too much."""
    columns = np.flatnonzero(part > WHOLE_WITHIN)
    split = part[columns] < 1 - WHOLE_WITHIN
    beyond = (used[:, nodes[columns]] + weight[:, None] * split).max(axis=0, initial=0.0)
    mine: list[int] = []
    for k in columns[np.lexsort((columns, -part[columns], beyond, split))].tolist():
        if problem.domain[nodes[k]] not in problem.domain[nodes[mine]]:
            mine.append(k)
        if len(mine) == problem.copies:
            break
    return mine
