"""From prices to copies: a linear relaxation of the few choices that are nearly ties, rounded."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.bounds.candidates import Scan
from ftplan.planners.checkpoints.rules.limits import Limits
from ftplan.planners.interrupts import solve_linear

#: Columns beside the chosen ones, for each node, that stay open; about one in ten is then used in part.
OPEN = 30
MOST_OPEN = 40_000
#: What breaking a limit costs, in multiples of the highest price.
PENALTY = 4.0
#: Relaxations solved at most; after each, this part of the split units, the largest ones, is settled.
DIVES = 10
SETTLED = 0.5


def rounded(problem: CheckpointProblem, limits: Limits, found: Scan, prices: FloatArray, budget: Budget) -> IntArray:
    """Return copies (U, c) that nearly keep the limits, and nearly cost what the linear relaxation does.

    At good prices most units have one clear place; which of the others goes where decides whether the limits hold.
    The relaxation over these others alone is small; its basic solution splits at most one unit a limit, and those go
    where least is broken, the largest first; the relaxation is solved again in between, so that the others make up
    for it. *found* is a scan at *prices* (R, N). Cost of a few simplex runs.
    """
    priced = found.cost.copy()
    for weight, price in zip(limits.weight, prices, strict=True):
        if price.any():
            priced += weight[:, None] * price[found.nodes]
    if problem.copies > 1:  # the chosen nodes stand first and once more among the others
        for k in range(problem.copies):
            priced[:, problem.copies :][found.nodes[:, problem.copies :] == found.copies[:, [k]]] = np.inf
    copies = found.copies
    from ortools.linear_solver import pywraplp

    chosen = (found.nodes[:, :, None] == copies[:, None, :]).any(axis=2) & np.isfinite(priced)
    dearest = np.where(chosen, priced, -np.inf).max(axis=1)
    # By what each would cost for the load it shifts: small units are no better at that than large ones.
    size = np.maximum((limits.weight / np.maximum(limits.weight.mean(axis=1, keepdims=True), 1e-300)).max(axis=0), 1e-3)
    excess = np.where(chosen, np.inf, (priced - dearest[:, None]) / size[:, None])
    count = min(OPEN * len(problem.nodes), MOST_OPEN, int(np.isfinite(excess).sum()))
    if count == 0:
        return copies
    near = np.zeros(excess.size, dtype=np.bool_)
    near[np.argpartition(excess.ravel(), count - 1)[:count]] = True
    near = near.reshape(excess.shape) & np.isfinite(excess)
    loose = near.any(axis=1) & (chosen.sum(axis=1) == problem.copies)
    columns = (near | chosen) & loose[:, None]
    fixed = limits.used(copies) - Limits(limits.names, limits.weight[:, loose], limits.lower, limits.upper).used(
        copies[loose]
    )

    solver = pywraplp.Solver.CreateSolver("GLOP")
    scale = np.maximum(limits.weight.sum(axis=1), 1e-300) / max(len(problem.nodes), 1)
    unit_cost = max(problem.largest_cost, 1e-300)
    infinity, objective = solver.infinity(), solver.Objective()
    penalty = PENALTY * (np.abs(prices).max(axis=1, initial=0.0) * scale + 1e-3 * unit_cost) / unit_cost
    rows: list[list[object]] = []
    for r in range(len(limits.names)):
        line: list[object] = []
        for node in range(len(problem.nodes)):
            low, up = limits.lower[r, node] - fixed[r, node], limits.upper[r, node] - fixed[r, node]
            row = solver.Constraint(
                float(low / scale[r]) if np.isfinite(low) else -infinity,
                float(up / scale[r]) if np.isfinite(up) else infinity,
            )
            for sign in (1.0, -1.0):
                elastic = solver.NumVar(0.0, infinity, "")
                row.SetCoefficient(elastic, sign)
                objective.SetCoefficient(elastic, float(penalty[r]))
            line.append(row)
        rows.append(line)
    weights = limits.weight / scale[:, None]
    at, column = np.nonzero(columns)
    variables = []
    once: dict[int, object] = {}
    apart: dict[tuple[int, int], object] = {}
    for u, k in zip(at.tolist(), column.tolist(), strict=True):
        node = int(found.nodes[u, k])
        variable = solver.NumVar(0.0, 1.0, "")
        variables.append(variable)
        if u not in once:
            once[u] = solver.Constraint(problem.copies, problem.copies)
        once[u].SetCoefficient(variable, 1.0)  # type: ignore[attr-defined]
        objective.SetCoefficient(variable, float(found.cost[u, k] / unit_cost))
        for r, line in enumerate(rows):
            line[node].SetCoefficient(variable, float(weights[r, u]))  # type: ignore[attr-defined]
        if problem.copies > 1 and problem.domain_kind == "zone":
            key = (u, int(problem.domain[node]))
            if key not in apart:
                apart[key] = solver.Constraint(0.0, 1.0)
            apart[key].SetCoefficient(variable, 1.0)  # type: ignore[attr-defined]
    part = np.full(columns.shape, -1.0)
    settled = np.zeros(len(loose), dtype=np.bool_)
    by_unit: dict[int, list[int]] = {}
    for i, u in enumerate(at.tolist()):
        by_unit.setdefault(u, []).append(i)
    for _ in range(DIVES):
        if solve_linear(solver, 0.3 * budget.left_s) != pywraplp.Solver.OPTIMAL:
            break
        part[columns] = [v.solution_value() for v in variables]
        split = np.flatnonzero(((part > 1e-6) & (part < 1 - 1e-6)).any(axis=1) & ~settled)
        if not split.size or budget.over():
            break
        used = np.zeros(limits.lower.shape)  # what settling has put on each node beyond the relaxation's part
        order = split[np.argsort(-weights[:, split].max(axis=0), kind="stable")]
        for u in order[: max(1, int(np.ceil(SETTLED * order.size)))].tolist():
            for i in by_unit[u]:
                used[:, found.nodes[u, column[i]]] -= weights[:, u] * part[u, column[i]]
            mine = _settled(problem, found.nodes[u], part[u], used, weights[:, u])
            for i in by_unit[u]:
                value = float(column[i] in mine)
                variables[i].SetBounds(value, value)
                used[:, found.nodes[u, column[i]]] += weights[:, u] * value
            settled[u] = True
    if not (part >= 0).any():
        return copies
    result = copies.copy()
    none = np.zeros(limits.lower.shape)
    for u in np.flatnonzero(loose).tolist():
        mine = _settled(problem, found.nodes[u], part[u], none, weights[:, u])
        if len(mine) == problem.copies:
            result[u] = found.nodes[u, mine]
    # A clock that ends the dive early may leave it worse than it began.
    return result if _broken(limits, result, scale) < _broken(limits, copies, scale) else copies


def _broken(limits: Limits, copies: IntArray, scale: FloatArray) -> float:
    """Return by how much copies (U, c) break the limits, in units of *scale* (R,)."""
    used = limits.used(copies)
    over = np.maximum(used - limits.upper, 0.0) + np.maximum(limits.lower - used, 0.0)
    return float((over / scale[:, None]).sum())


def _settled(
    problem: CheckpointProblem, nodes: IntArray, part: FloatArray, used: FloatArray, weight: FloatArray
) -> list[int]:
    """Return the columns (k,) of one unit that its copies take: whole ones first, then where least is put too much."""
    open_columns = np.flatnonzero(part > 1e-6)
    beyond = (used[:, nodes[open_columns]] + weight[:, None] * (part[open_columns] < 1 - 1e-6)).max(axis=0, initial=0.0)
    order = np.lexsort((open_columns, -part[open_columns], beyond, part[open_columns] < 1 - 1e-6))
    mine: list[int] = []
    for k in open_columns[order].tolist():
        if problem.domain[nodes[k]] not in problem.domain[nodes[mine]]:
            mine.append(k)
        if len(mine) == problem.copies:
            break
    return mine
