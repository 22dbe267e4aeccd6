"""The program of :mod:`.time_expanded` for some pieces of time, and its solver."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.priced_bound import Entries
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.step_function import StepFunctionBound, waiting_queries
from ftplan.planners.recovery_schedule.algorithms.repair.clairvoyant import Epoch
from ftplan.planners.recovery_schedule.algorithms.repair.host_groups import HostGroups
from ftplan.planners.solver import on_safe_side, solve_program

#: What is whole in a program: nothing, where tasks run, and when they have caught up too.
RELAXED, PLACED, ALL = 0, 1, 2
#: Seconds below which no solver is started.
LEAST_TIME_S = 0.05
#: Nodes of the solver's tree for one iteration.
NODES_PER_ITERATION = 10
#: What ends by so many seconds before the end of a piece only counts in the next; once for each query and epoch.
OPEN_S = 1e-4
#: Size of the objective, of which a margin is taken off the bound, for each column: rounding adds up over them.
DOUBT_PER_COLUMN = 0.1


@dataclass(frozen=True, eq=False)
class TimeExpandedRepair:
    """A lower bound on what is lost, and how much priority a best solution has up in each piece that was asked."""

    lost: float
    up: FloatArray  # (pieces,)
    solved: bool


@dataclass(eq=False)
class ProgramRows:
    """A linear program in the making: minimise cost · x, each row Σ ≤ limit, 0 ≤ x ≤ 1."""

    cost: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    row: list[list[tuple[int, float]]] = field(default_factory=list)
    limit: list[float] = field(default_factory=list)

    def column(self, whole: int, cost: float = 0.0) -> int:
        """Add a column and return its number; *whole*: the least of the kinds of programs in which it is whole."""
        self.cost.append(cost)
        self.whole.append(whole)
        return len(self.cost) - 1

    def at_most(self, terms: list[tuple[int, float]], limit: float) -> None:
        """Add a row."""
        if terms:
            self.row.append(terms)
            self.limit.append(limit)


class TimeExpandedProgram:
    """The program of some pieces of time."""

    def __init__(self, groups: HostGroups, at_s: FloatArray, stairs: StepFunctionBound) -> None:
        self.rows = ProgramRows()
        self._repair, self._groups, self._at_s = groups.repair, groups, at_s
        self._ends = np.append(at_s[1:], stairs.end_s)
        starts = np.array([epoch.from_s for epoch in self._repair.epochs])
        self._epoch = (np.searchsorted(starts, at_s, side="right") - 1).tolist()
        self.asked = 0.0
        self.open = OPEN_S * len(starts) * float(self._repair.priority.sum())
        self._x: list[dict[tuple[int, int], int]] = []
        self._y: list[dict[tuple[int, int], int]] = []
        self.priorities: list[list[tuple[int, float]]] = []
        self._place()
        self._catch_up()
        self._lanes()
        self._count(stairs)

    def _place(self) -> None:
        """Σ_h x ≤ 1; x stays while its host lives and its task does not fail."""
        repair, rows = self._repair, self.rows
        for e, epoch in enumerate(repair.epochs):
            begins = self._groups.begins(epoch)
            here: dict[tuple[int, int], int] = {}
            kept = self._kept_columns(e) if e else {}
            for j, g in np.argwhere(np.isfinite(begins) & epoch.needed[:, None]).tolist():
                if (j, g) in kept:
                    here[j, g] = kept[j, g]
                    continue
                here[j, g] = rows.column(PLACED)
                if e and (j, g) in self._x[e - 1] and self._stays(e, j, g):
                    rows.at_most([(self._x[e - 1][j, g], 1.0), (here[j, g], -1.0)], 0.0)
            self._x.append(here)
        for e, (epoch, here) in enumerate(zip(repair.epochs, self._x, strict=True)):
            if e + 1 < len(self._x) and here.items() <= self._x[e + 1].items():
                continue  # the next epoch says the same of them
            by_task = defaultdict(list)
            for (j, _), column in here.items():
                by_task[j].append((column, 1.0))
            for terms in by_task.values():
                rows.at_most(terms, 1.0)
            self._fit(epoch, here, epoch.until_s)

    def _kept_columns(self, e: int) -> dict[tuple[int, int], int]:
        """Return the columns of the epoch before that stand for this one too.

        Starting earlier costs nothing then: no room is freed, and the task was on no host that failed.
        """
        groups, epoch, before = self._groups, self._repair.epochs[e], self._repair.epochs[e - 1]
        again = before.struck & (epoch.since_s > before.since_s)
        lost = [j for j, g in self._x[e - 1] if not groups.lives(epoch, g)]
        moved = again | np.isin(np.arange(len(again)), lost)
        freed = {g for j, g in self._x[e - 1] if again[j]}
        same = {g for _, g in self._x[e - 1] if groups.lives(epoch, g) and groups.same_room(before, epoch, g)}
        return {
            (j, g): column for (j, g), column in self._x[e - 1].items() if g in same and g not in freed and not moved[j]
        }

    def _fit(self, epoch: Epoch, here: dict[tuple[int, int], int], end_s: float) -> None:
        """Σ cost ≤ the cores of each group, and of the pool."""
        cost = self._repair.cost
        by_group = defaultdict(list)
        for (j, g), column in here.items():
            by_group[g].append((column, float(cost[j])))
        pooled: list[tuple[int, float]] = []
        for g, terms in by_group.items():
            sizes = np.array([size for _, size in terms])
            self.rows.at_most(terms, self._groups.cores(epoch, g, end_s, sizes))
            pooled += terms if self._groups.pooled(g) else []
        if self._repair.pool is not None:
            self.rows.at_most(pooled, self._repair.pool * (1.0 + ROUNDING) + ROUNDING)

    def _catch_up(self) -> None:
        """y ≤ x, and y stays while x does; alone on its host a task without a restore is up as soon as it can be."""
        repair, groups, rows = self._repair, self._groups, self.rows
        last = len(self._epoch) - 1
        for k, e in enumerate(self._epoch):
            epoch = repair.epochs[e]
            until = repair.ready_by(epoch, self._ends[k : k + 1])[:, 0]
            ready = groups.ready(epoch)
            here: dict[tuple[int, int], int] = {}
            for (j, g), x in self._x[e].items():
                if ready[j, g] > until[j] - OPEN_S:
                    continue
                if k == last or (groups.seconds[j, g] <= 0.0 and groups.alone(g)):
                    here[j, g] = x
                else:
                    here[j, g] = rows.column(ALL)
                    rows.at_most([(here[j, g], 1.0), (x, -1.0)], 0.0)
                old = self._y[k - 1].get((j, g)) if k else None
                if old not in (None, x) and (e == self._epoch[k - 1] or self._stays(e, j, g)):
                    rows.at_most([(old, 1.0), (here[j, g], -1.0)], 0.0)
            self._y.append(here)
            several = {key: column for key, column in here.items() if not groups.alone(key[1])}
            self._fit(epoch, several, float(self._ends[k]))

    def _stays(self, e: int, j: int, g: int) -> bool:
        """Return whether a task that ran in a group before an epoch still does in it."""
        before, epoch = self._repair.epochs[e - 1], self._repair.epochs[e]
        lives = self._groups.lives(before, g) and self._groups.lives(epoch, g)
        return lives and not bool(epoch.since_s[j] > before.since_s[j])

    def _lanes(self) -> None:
        """Σ seconds y ≤ seconds in the lanes of a group since the earliest of these tasks can start."""
        repair, groups = self._repair, self._groups
        for k, e in enumerate(self._epoch):
            epoch = repair.epochs[e]
            until = repair.ready_by(epoch, self._ends[k : k + 1])[:, 0]
            by_group = defaultdict(list)
            for (j, g), column in self._y[k].items():
                if groups.seconds[j, g] > 0.0:
                    by_group[g].append((j, column))
            for g, items in by_group.items():
                there_s = float(repair.there_s[groups.members[g]].min())
                for since_s in sorted({max(there_s, float(epoch.since_s[j])) for j, _ in items}):
                    mine = [(j, y) for j, y in items if max(there_s, float(epoch.since_s[j])) >= since_s]
                    lanes_s = groups.lanes_s(epoch, g, max(float(until[j]) for j, _ in mine), since_s)
                    terms = [(y, float(groups.seconds[j, g])) for j, y in mine]
                    self.rows.at_most(terms, max(lanes_s - OPEN_S, 0.0))

    def _count(self, stairs: StepFunctionBound) -> None:
        """w ≤ Σ_h y for each task; what is up for a whole piece is not lost."""
        repair, rows, queries = self._repair, self.rows, self._repair.queries
        tasks: list[list[int]] = [[] for _ in range(queries.bundles)]
        for j, bundle in enumerate(queries.bundle.tolist()):
            tasks[bundle].append(j)
        members = [[j for b in queries.members(q).tolist() for j in tasks[b]] for q in range(queries.queries)]
        wait = [waiting_queries(repair, epoch) for epoch in repair.epochs]
        for k, e in enumerate(self._epoch):
            up = defaultdict(list)
            for (j, _), column in self._y[k].items():
                up[j].append(column)
            lasts_s = float(self._ends[k] - self._at_s[k])
            needed = repair.epochs[e].needed
            here: list[tuple[int, float]] = []
            for q in np.flatnonzero(wait[e]).tolist():
                worth = float(repair.priority[q])
                self.asked += worth * lasts_s
                missing = [j for j in members[q] if needed[j]]
                if all(j in up for j in missing):
                    w = rows.column(RELAXED, -worth * lasts_s)
                    here.append((w, worth))
                    for j in missing:
                        rows.at_most([(w, 1.0), *((y, -1.0) for y in up[j])], 0.0)
            place = int(np.searchsorted(stairs.at_s, self._ends[k], side="left")) - 1
            if sum(worth for _, worth in here) > stairs.most[place]:
                rows.at_most(here, float(stairs.most[place]) * (1.0 + ROUNDING))
            self.priorities.append(here)


def solve(program: TimeExpandedProgram, budget: Budget, whole: int, seed: int) -> TimeExpandedRepair | None:
    """Return the bound of a program, or of its linear relaxation; None where the solver has none in time."""
    from ortools.math_opt.python import mathopt

    rows = program.rows
    if not budget.pays(LEAST_TIME_S):
        return None
    model = mathopt.Model()
    columns = [model.add_variable(lb=0.0, ub=1.0, is_integer=0 < kind <= whole) for kind in rows.whole]
    for terms, limit in zip(rows.row, rows.limit, strict=True):
        constraint = model.add_linear_constraint(ub=limit)
        for column, value in terms:
            constraint.set_coefficient(columns[column], value)
    scale = max(program.asked, 1e-9)
    for column, cost in zip(columns, rows.cost, strict=True):
        if cost:
            model.objective.set_linear_coefficient(column, cost / scale)
    per_iteration = NODES_PER_ITERATION
    size = max(1.0, DOUBT_PER_COLUMN * len(columns))
    answer = solve_program(model, "HIGHS", budget, seed, size=size, nodes_per_iteration=per_iteration, only_bound=True)
    solved = answer.ended == "optimal"
    prices = None if whole else answer.prices(list(model.linear_constraints()))
    bound = answer.bound if prices is None else _bound_at(prices, rows, scale)
    if bound is None or not (solved or whole):
        return None
    up = np.zeros(len(program.priorities))
    if answer.found:
        values = answer.values(columns)
        up = np.array([sum(worth * values[w] for w, worth in here) for here in program.priorities])
    return TimeExpandedRepair((1.0 + bound) * scale - program.open, up, solved)


def _bound_at(prices: FloatArray, rows: ProgramRows, scale: float) -> float:
    """Return the bound of a linear program at the prices of its rows, whatever tolerance found them."""
    cost, entries = np.array(rows.cost) / scale, Entries.of(rows.row)
    bound = entries.bound(cost, np.ones(len(cost)), np.array(rows.limit), np.minimum(prices, 0.0))
    return on_safe_side("min", bound)
