"""What no recovery exceeds in output fidelity, for every capacity: a linear relaxation and its prices."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ftplan.metrics.fidelity import FidelityModel
from ftplan.model.task_graph import BoolArray
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.interrupts import solve_linear

#: Entries of the linear program up to which it is solved.
MOST_ENTRIES = 150_000
#: What bounds are raised by against rounding errors of their sums.
_RAISED = 1e-9


def fidelity_bounds(
    model: FidelityModel, down: BoolArray, wanted: BoolArray, cost: FloatArray, capacity: FloatArray, budget: Budget
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
    start = model.intact(~down)
    most = _outputs_alone(model, start, down, wanted, cost, capacity)
    if budget.over():
        return most
    program = _Program.of(model, start, down, wanted, cost)
    if len(program.value) > MOST_ENTRIES:
        return most
    return np.minimum(most, program.bounds(capacity, budget))


def _outputs_alone(
    model: FidelityModel, start: FloatArray, down: BoolArray, wanted: BoolArray, cost: FloatArray, capacity: FloatArray
) -> FloatArray:
    """Return the fractional knapsack over the output tasks, all of whose input is taken as intact."""
    outputs, weight = model.outputs, model.weight
    if len(outputs) == 0:
        return np.ones(len(capacity))
    free = (~down | (wanted & (cost <= 0.0)))[outputs]
    paid = wanted[outputs] & ~free
    base = float(weight[free].sum())
    price, worth = cost[outputs[paid]], weight[paid]
    order = np.argsort(-worth / price, kind="stable")
    reached = np.concatenate(([0.0], np.cumsum(price[order])))
    value = np.concatenate(([0.0], np.cumsum(worth[order])))
    return np.minimum(1.0, base + np.interp(capacity, reached, value) + _RAISED)


@dataclass(slots=True)
class _Program:
    """maximise gain · x, matrix · x ≤ limit, Σ cost x ≤ capacity, 0 ≤ x ≤ 1; entries as (row, column, value)."""

    constant: float
    gain: FloatArray
    cost: FloatArray
    limit: list[float] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)

    @staticmethod
    def of(model: FidelityModel, start: FloatArray, down: BoolArray, wanted: BoolArray, cost: FloatArray) -> _Program:
        """Return the program over the tasks that are not wholly intact now and can become so in part."""
        open_ = (start < 1.0 - 1e-12) & (~down | wanted)
        place = np.full(len(start), -1, dtype=np.int64)
        place[open_] = np.arange(int(open_.sum()))
        fixed = np.where(start >= 1.0 - 1e-12, 1.0, 0.0)
        gatherings = sum(level.gatherings for level in model.levels)
        columns = int(open_.sum())
        gain, price = np.zeros(columns + gatherings), np.zeros(columns + gatherings)
        known = model.outputs[place[model.outputs] >= 0]
        gain[place[known]] = model.weight[place[model.outputs] >= 0]
        price[: int(open_.sum())] = np.where(down, cost, 0.0)[open_]
        program = _Program(float(model.weight @ fixed[model.outputs]), gain, price)
        for level in model.levels:
            total = np.bincount(level.gathering, level.gather_weight, minlength=level.gatherings)
            senders: list[list[int]] = [[] for _ in range(level.gatherings)]
            for i, g in enumerate(level.gathering.tolist()):
                senders[g].append(i)
            for g in range(level.gatherings):
                part = [(int(level.gathered[i]), float(level.gather_weight[i] / total[g])) for i in senders[g]]
                program._below(columns + g, part, place, fixed)
            inputs: list[list[tuple[int, float]]] = [[] for _ in range(level.slots)]
            for slot, sender, weight in zip(
                level.slot.tolist(), level.sender.tolist(), level.weight.tolist(), strict=True
            ):
                inputs[slot].append((sender, weight))
            gathered: list[list[tuple[int, float]]] = [[] for _ in range(level.slots)]
            for slot, g, weight in zip(
                level.spread_slot.tolist(), level.spread.tolist(), level.spread_weight.tolist(), strict=True
            ):
                gathered[slot].append((columns + g, weight * float(total[g])))
            for slot, task in enumerate(level.task[level.owner].tolist()):
                if place[task] >= 0:
                    program._below(int(place[task]), inputs[slot], place, fixed, gathered[slot])
            columns += level.gatherings
        return program

    def _below(
        self,
        column: int,
        tasks: list[tuple[int, float]],
        place: np.ndarray[tuple[int], np.dtype[np.int64]],
        fixed: FloatArray,
        columns: list[tuple[int, float]] | None = None,
    ) -> None:
        """Add: a column is at most a weighted sum of tasks and columns."""
        row, limit = len(self.limit), 0.0
        entries = [(column, 1.0), *((at, -weight) for at, weight in columns or [])]
        for task, weight in tasks:
            if place[task] >= 0:
                entries.append((int(place[task]), -weight))
            else:
                limit += weight * float(fixed[task])
        for at, value in entries:
            self.row.append(row)
            self.column.append(at)
            self.value.append(value)
        self.limit.append(limit)

    def bounds(self, capacity: FloatArray, budget: Budget) -> FloatArray:
        """Return the best of the lines that the solved capacities give, at each capacity, shape (capacities,)."""
        from ortools.linear_solver import pywraplp

        most = np.full(len(capacity), self.constant + float(self.gain.sum()))
        solver = pywraplp.Solver.CreateSolver("GLOP")
        x = [solver.NumVar(0.0, 1.0, "") for _ in self.gain]
        rows = [solver.Constraint(-solver.infinity(), limit) for limit in self.limit]
        for row, column, value in zip(self.row, self.column, self.value, strict=True):
            rows[row].SetCoefficient(x[column], value)
        cores = solver.Constraint(-solver.infinity(), 0.0)
        for column in np.flatnonzero(self.cost).tolist():
            cores.SetCoefficient(x[column], float(self.cost[column]))
        for column in np.flatnonzero(self.gain).tolist():
            solver.Objective().SetCoefficient(x[column], float(self.gain[column]))
        solver.Objective().SetMaximization()
        for at in _spread_out(len(capacity)):
            if budget.over():
                break
            cores.SetUb(float(capacity[at]))
            status = solve_linear(solver, budget.left_s)
            if status is None:  # it runs on: neither it nor its prices can be asked any more
                budget.cut = True
                break
            if status != pywraplp.Solver.OPTIMAL:
                continue
            price = np.maximum([row.dual_value() for row in rows], 0.0)
            most = np.minimum(most, self._line(price, max(0.0, cores.dual_value()), capacity))
        return most + _RAISED

    def _line(self, price: FloatArray, core: float, capacity: FloatArray) -> FloatArray:
        """Return the bound of some prices: what the limits cost, and what each column gains beyond its entries."""
        row = np.array(self.row, dtype=np.int64)
        paid = np.bincount(
            np.array(self.column, dtype=np.int64), price[row] * np.array(self.value), minlength=len(self.gain)
        )
        excess = np.maximum(self.gain - paid - core * self.cost, 0.0)
        fixed = self.constant + float(price @ np.array(self.limit)) + float(excess.sum())
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
