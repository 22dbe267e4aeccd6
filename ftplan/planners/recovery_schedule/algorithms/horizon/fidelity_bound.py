"""What no recovery exceeds in output fidelity, for every capacity: a linear relaxation and its prices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.solver import linear_solver, solve_linear

#: Entries of the linear program up to which it is solved.
MOST_ENTRIES = 150_000


def fidelity_bounds(
    model: FidelityModel,
    down: BoolArray,
    wanted: BoolArray,
    cost: FloatArray,
    capacity: FloatArray,
    budget: Budget,
    seed: int = 0,
) -> FloatArray:
    """Return an upper bound on the output fidelity for each capacity, shape (capacities,).

    maximise Σ weight[o] × intact[o] over the outputs, where intact[t] is at most the weighted mean of its input (of
    each stream of a join: the product is at most its least factor), 0 for what is down for good, and
    Σ cost[t] × intact[t] ≤ capacity over what is down: a task that is recovered is intact in part only. A full edge
    is one variable for the mean of its senders. Any prices of the rows give a bound that is a line in the capacity
    (weak duality), so each solution bounds all capacities, and rounding errors of the solver do no harm. Where the
    program is too large or the time is over, outputs alone: each intact output that is down costs its own cores.

    Parameters
    ----------
    down, wanted
        Shape (tasks,): what does not work now, and what of that can be recovered.
    """
    most = _outputs_alone(model, down, wanted, cost, capacity)
    if budget.over():
        return most
    program = _program(model, down, wanted, cost)
    if len(program.value) > MOST_ENTRIES:
        return most
    return np.minimum(most, _solved(program, capacity, budget, seed))


def _outputs_alone(
    model: FidelityModel, down: BoolArray, wanted: BoolArray, cost: FloatArray, capacity: FloatArray
) -> FloatArray:
    """Return the fractional knapsack over the output tasks, all of whose input is taken as intact."""
    outputs, weight = model.outputs, model.weight
    if len(outputs) == 0:
        return np.ones(len(capacity))
    free = (~down | (wanted & (cost <= 0.0)))[outputs]
    paid = wanted[outputs] & ~free
    price, gain = cost[outputs[paid]], weight[paid]
    order = np.argsort(-gain / price, kind="stable")
    reached = np.concatenate(([0.0], np.cumsum(price[order])))
    value = np.concatenate(([0.0], np.cumsum(gain[order])))
    return np.minimum(1.0, float(weight[free].sum()) + np.interp(capacity, reached, value) + ROUNDING)


class _FidelityRelaxation(NamedTuple):
    """maximise constant + gain · x, matrix · x ≤ limit, Σ cost x ≤ capacity, 0 ≤ x ≤ 1; the matrix as entries."""

    constant: float
    gain: FloatArray
    cost: FloatArray
    limit: FloatArray
    row: IntArray  # ascending
    column: IntArray
    value: FloatArray


_Entries = tuple[IntArray, IntArray, FloatArray]  # row, -1 for none; column or task; value


def _program(model: FidelityModel, down: BoolArray, wanted: BoolArray, cost: FloatArray) -> _FidelityRelaxation:
    """Return the program: a column for each task that can become more intact, and one for each mean of a full edge."""
    start = model.intact(~down)
    open_ = (start < 1.0 - NOISE) & (~down | wanted)
    fixed = np.where(start >= 1.0 - NOISE, 1.0, 0.0)
    place = np.where(open_, np.cumsum(open_) - 1, -1)
    columns, rows = int(open_.sum()), 0
    terms: list[_Entries] = []  # Σ value × column ≤ Σ weight × task in each row
    inputs: list[_Entries] = []
    for level in model.levels:
        total = np.bincount(level.gathering, level.gather_weight, minlength=level.gatherings)
        mean_row, mean = rows + np.arange(level.gatherings), columns + np.arange(level.gatherings)
        receiver = place[level.task[level.owner]]
        slot_row = np.where(receiver >= 0, rows + level.gatherings + np.cumsum(receiver >= 0) - 1, -1)
        terms += [(mean_row, mean, np.ones(len(mean))), (slot_row, receiver, np.ones(len(receiver)))]
        spread = -level.spread_weight * total[level.spread]
        terms += [(slot_row[level.spread_slot], columns + level.spread, spread)]
        inputs += [(mean_row[level.gathering], level.gathered, level.gather_weight / total[level.gathering])]
        inputs += [(slot_row[level.slot], level.sender, level.weight)]
        rows += level.gatherings + int((receiver >= 0).sum())
        columns += level.gatherings
    row, task, weight = _joined(inputs)
    known = place[task] < 0
    limit = np.bincount(row[known], weight[known] * fixed[task[known]], minlength=rows)
    row, column, value = _joined([*terms, (row[~known], place[task[~known]], -weight[~known])])
    order = np.argsort(row, kind="stable")
    gain, price = np.zeros(columns), np.zeros(columns)
    outputs = place[model.outputs]
    gain[outputs[outputs >= 0]] = model.weight[outputs >= 0]
    price[: int(open_.sum())] = np.where(down, cost, 0.0)[open_]
    constant = float(model.weight @ fixed[model.outputs])
    return _FidelityRelaxation(
        constant, gain, price, np.asarray(limit, dtype=np.float64), row[order], column[order], value[order]
    )


def _joined(parts: Iterable[_Entries]) -> _Entries:
    """Return all entries that have a row."""
    none = np.zeros(0, dtype=np.int64)
    row, column, value = (np.concatenate(arrays) for arrays in zip((none, none, np.zeros(0)), *parts, strict=True))
    kept = row >= 0
    return row[kept], column[kept], value[kept]


def _solved(program: _FidelityRelaxation, capacity: FloatArray, budget: Budget, seed: int) -> FloatArray:
    """Return the best of the lines that the solved capacities give, at each capacity, shape (capacities,)."""
    most = np.full(len(capacity), program.constant + float(program.gain.sum()))
    solver = linear_solver("GLOP", seed)
    x = [solver.NumVar(0.0, 1.0, "") for _ in program.gain]
    rows = [solver.Constraint(-solver.infinity(), limit) for limit in program.limit.tolist()]
    for row, column, value in zip(program.row.tolist(), program.column.tolist(), program.value.tolist(), strict=True):
        rows[row].SetCoefficient(x[column], value)
    cores = solver.Constraint(-solver.infinity(), 0.0)
    for column in np.flatnonzero(program.cost).tolist():
        cores.SetCoefficient(x[column], float(program.cost[column]))
    for column in np.flatnonzero(program.gain).tolist():
        solver.Objective().SetCoefficient(x[column], float(program.gain[column]))
    solver.Objective().SetMaximization()
    for at in _spread_out(len(capacity)):
        if budget.over():
            break
        cores.SetUb(float(capacity[at]))
        ended = solve_linear(solver, budget)
        if ended is None:  # neither it nor its prices can be asked any more
            break
        if ended != "optimal":
            continue
        price = np.maximum([row.dual_value() for row in rows], 0.0)
        most = np.minimum(most, _line(program, price, max(0.0, cores.dual_value()), capacity))
    return most + ROUNDING


def _line(program: _FidelityRelaxation, price: FloatArray, core: float, capacity: FloatArray) -> FloatArray:
    """Return the bound of some prices: what the limits cost, and what each column gains beyond its entries."""
    paid = np.bincount(program.column, price[program.row] * program.value, minlength=len(program.gain))
    excess = np.maximum(program.gain - paid - core * program.cost, 0.0)
    fixed = program.constant + float(price @ program.limit) + float(excess.sum())
    return np.asarray(fixed + core * capacity, dtype=np.float64)


def _spread_out(count: int) -> list[int]:
    """Return 0..count - 1, the ends first, then the middles of what lies between."""
    order: list[int] = [0, count - 1][: min(count, 2)]
    spans = [(0, count - 1)]
    while spans:
        low, high = spans.pop(0)
        if high - low > 1:
            middle = (low + high) // 2
            order.append(middle)
            spans += [(low, middle), (middle, high)]
    return order
