"""Level of each job, parallelism and nodes in two waves at once: an integer program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import SOLVER_SECONDS_PER_ITERATION, Budget
from ftplan.planners.interrupts import solve_sat
from ftplan.planners.scale_out.choices import Choices, Level, Sizes
from ftplan.planners.scale_out.options import ScalingSearch
from ftplan.planners.scale_out.room import Placed, Room

#: Units in which the value of all output is counted, and cores where they are no multiples of a decimal.
UNITS = 2.0**40
#: Parts of a core that are tried as units, so that small numbers do.
PARTS = (1, 2, 4, 5, 8, 10, 16, 20, 40, 50, 100, 1000, 10_000, 100_000, 1_000_000)


class Chosen(NamedTuple):
    """What the model chose: parallelism of operators that are scaled in and of others, and the nodes of their tasks.

    ``bound`` is proven: no more can be sustained. ``fewest`` says that no choice of the same value needs fewer cores.
    """

    smaller: Sizes
    others: Sizes
    placed: Placed
    bound: float
    fewest: bool


class ScalingModel:
    """The model of all choices of a problem.

    Variables: one level of each job; whether an operator is scaled in, or gets room for its state; and how many tasks
    of each size in cores go to each node in each wave: tasks of one size and wave are alike until they are dealt out.
    """

    def __init__(self, choices: Choices, levels: list[list[Level]], room: Room) -> None:
        from ortools.sat.python import cp_model

        self.choices, self.levels, self.room, self.problem = choices, levels, room, choices.problem
        self.model = cp_model.CpModel()
        self._count_cores()
        self.level = [[self.model.new_bool_var("") for _ in levels] for levels in self.levels]
        for level in self.level:
            self.model.add_exactly_one(level)
        self.smaller = {i: self.model.new_bool_var("") for i in choices.smaller}
        self.roomier = {i: self.model.new_bool_var("") for i in choices.roomier}
        self.freed: Any = sum(
            (int(room.now[i]) - tasks) * self.size[i] * self.smaller[i] for i, tasks in choices.smaller.items()
        )
        self.first = self._tasks_by_size([(i, choices.smaller[i], taken) for i, taken in self.smaller.items()])
        self.second = self._tasks_by_size(
            [(i, choices.roomier[i], taken) for i, taken in self.roomier.items()]
            + [
                (i, tasks, taken)
                for levels, variables in zip(self.levels, self.level, strict=True)
                for level, taken in zip(levels, variables, strict=True)
                for i, tasks in level.sizes.items()
            ]
        )
        if np.isfinite(room.cores):
            most = self._within(room.cores, self.room.total)
            self.model.add(sum(size * tasks for size, tasks in self.first.items()) <= most)
            self.model.add(sum(size * tasks for size, tasks in self.second.items()) <= most + self.freed)
        self.on_nodes: tuple[dict[tuple[int, int], Any], dict[tuple[int, int], Any]] = ({}, {})
        if self.problem.nodes:
            self._nodes()

    def _count_cores(self) -> None:
        """Set the cores of a task in whole units, by operator; by the last digits too small where none are whole."""
        cpu = self.room.cpu
        for parts in PARTS:
            if np.allclose(cpu * parts, np.round(cpu * parts), rtol=0.0, atol=ROUNDING):
                self.unit = 1.0 / parts
                self.size = np.round(cpu * parts).astype(np.int64).tolist()
                return
        most = [sizing.most for sizing in self.choices.sizings]
        self.unit = float(cpu @ most) / UNITS
        self.size = np.floor(cpu / self.unit).astype(np.int64).tolist()

    def _within(self, cores: float, scale: float) -> int:
        """Return the units that fit into so many cores, with what rounding may add."""
        return int(np.floor((cores + ROUNDING * max(1.0, scale)) / self.unit))

    def _tasks_by_size(self, choices: list[tuple[int, int, Any]]) -> dict[int, Any]:
        """Return how many tasks of each size above 0 are new."""
        terms: dict[int, list[tuple[int, Any]]] = {}
        for i, tasks, taken in choices:
            if self.size[i] > 0:
                terms.setdefault(self.size[i], []).append((tasks, taken))
        return {size: sum(tasks * taken for tasks, taken in terms[size]) for size in sorted(terms, reverse=True)}

    def _nodes(self) -> None:
        free = [self._within(cores, abs(cores)) for cores in self.problem.free.tolist()]
        old = self._old_tasks()
        for node, cores in enumerate(free):
            returned: Any = sum(count * self.size[i] * self.smaller[i] for i, count in old.get(node, {}).items())
            most = cores + sum(count * self.size[i] for i, count in old.get(node, {}).items())
            first = self._on_node(0, node, cores)
            second = self._on_node(1, node, most)
            if first:
                self.model.add(sum(size * tasks for size, tasks in first) <= cores)
            if second:
                taken = sum(size * tasks for size, tasks in (*first, *second))
                if cores >= 0:
                    self.model.add(taken <= cores + returned)
                else:  # it has less than nothing to give, which is no matter where it gets no task
                    used = self.model.new_bool_var("")
                    self.model.add(taken <= cores + returned).only_enforce_if(used)
                    for _, tasks in second:
                        self.model.add(tasks == 0).only_enforce_if(~used)
        for wave, tasks_of in enumerate((self.first, self.second)):
            for size, tasks in tasks_of.items():
                on = [variable for (_, own), variable in self.on_nodes[wave].items() if own == size]
                self.model.add(sum(on) == tasks)

    def _on_node(self, wave: int, node: int, cores: int) -> list[tuple[int, Any]]:
        """Make variables for the tasks of each size on a node; return sizes and variables."""
        tasks = []
        for size in (self.first, self.second)[wave]:
            if size <= cores:
                variable = self.model.new_int_var(0, cores // size, "")
                self.on_nodes[wave][node, size] = variable
                tasks.append((size, variable))
        return tasks

    def _old_tasks(self) -> dict[int, dict[int, int]]:
        """Return how many tasks of operators that may be scaled in each node has."""
        old: dict[int, dict[int, int]] = {}
        for i in self.choices.smaller:
            for node in self.problem.now[i]:
                of = old.setdefault(node, {})
                of[i] = of.get(i, 0) + 1
        return old

    def solved(self, search: ScalingSearch, budget: Budget, start: tuple[Sizes, Sizes]) -> Chosen | None:
        """Return the best choice, None where none was seen in time: most value, then fewest cores, then fewest changes.

        Between value and cores stands the number of operators that get room for their state. *start* are parallelisms
        that fit, of operators that are scaled in and of others.
        """
        worth = {
            variable: int(np.floor(weight * level.share * UNITS))
            for weight, levels, variables in zip(self.problem.weight, self.levels, self.level, strict=True)
            for level, variable in zip(levels, variables, strict=True)
        }
        value: Any = sum(units * variable for variable, units in worth.items())
        self._hint(*start)
        self.model.maximize(value)
        solver, proven = self._run(search, budget)
        if solver is None:
            return None
        # Rounding down takes less than a unit of each job.
        bound = (solver.best_objective_bound + len(self.levels)) / UNITS
        best = int(solver.objective_value) if proven else sum(worth[v] for v in worth if solver.value(v))
        answer = self._answer(solver, bound, False)
        self.model.add(value >= best)
        self.model.clear_hints()
        self._hint(*answer[:2])
        self.model.minimize(self._cores())
        solver, fewest = self._run(search, budget)
        return answer if solver is None else self._answer(solver, bound, fewest)

    def _cores(self) -> Any:
        """Return extra cores, and behind them the number of changes; before them operators that lack memory."""
        room, changed = self.room, len(self.problem.operators) + 1
        terms: list[tuple[int, Any]] = []
        for i, tasks in self.choices.smaller.items():
            terms.append(((tasks - int(room.now[i])) * self.size[i] * changed + 1, self.smaller[i]))
        for levels, variables in zip(self.levels, self.level, strict=True):
            for level, taken in zip(levels, variables, strict=True):
                cores = sum((tasks - int(room.now[i])) * self.size[i] for i, tasks in level.sizes.items())
                terms.append((cores * changed + len(level.sizes), taken))
        lexical = 1 + sum(abs(cores) for cores, _ in terms)
        for i, tasks in self.choices.roomier.items():
            lexical += abs((tasks - int(room.now[i])) * self.size[i]) * changed + 1
        for i, tasks in self.choices.roomier.items():
            terms.append(((tasks - int(room.now[i])) * self.size[i] * changed + 1 - lexical, self.roomier[i]))
        return sum(cost * variable for cost, variable in terms)

    def _hint(self, smaller: Sizes, others: Sizes) -> None:
        for i, variable in self.smaller.items():
            self.model.add_hint(variable, i in smaller)
        for i, variable in self.roomier.items():
            self.model.add_hint(variable, i in others)
        for levels, variables in zip(self.levels, self.level, strict=True):
            highest = _highest(levels, others)
            for place, variable in enumerate(variables):
                self.model.add_hint(variable, place == highest)

    def _run(self, search: ScalingSearch, budget: Budget) -> tuple[Any, bool]:
        """Return the solver, None where it saw no choice, and whether what it saw is proven to be the best."""
        from ortools.sat.python import cp_model

        if budget.over():
            return None, False
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = search.seed % 2**31
        if search.iterations is not None:
            solver.parameters.max_deterministic_time = search.iterations * SOLVER_SECONDS_PER_ITERATION
        status = solve_sat(self.model, solver, budget.left_s)
        if status != cp_model.OPTIMAL:
            budget.unfinished()
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None, False
        return solver, status == cp_model.OPTIMAL

    def _answer(self, solver: Any, bound: float, fewest: bool) -> Chosen:
        smaller = {i: self.choices.smaller[i] for i, taken in self.smaller.items() if solver.value(taken)}
        others = {i: self.choices.roomier[i] for i, taken in self.roomier.items() if solver.value(taken)}
        for levels, variables in zip(self.levels, self.level, strict=True):
            for level, taken in zip(levels, variables, strict=True):
                if solver.value(taken):
                    others |= level.sizes
        placed = self.room.placed(smaller, others)
        if placed is None:
            counts = [{key: solver.value(v) for key, v in variables.items()} for variables in self.on_nodes]
            placed = self._dealt(smaller, counts[0]) | self._dealt(others, counts[1])
        return Chosen(smaller, others, placed, bound, fewest)

    def _dealt(self, sizes: Sizes, counts: dict[tuple[int, int], int]) -> Placed:
        """Return the nodes of the tasks of each operator, from how many of each size a node has."""
        placed: Placed = {}
        for size in sorted({self.size[i] for i in sizes}):
            of_size = [(node, tasks) for (node, own), tasks in counts.items() if own == size]
            slots = sorted((turn, node) for node, tasks in of_size for turn in range(tasks))
            for i in sorted(i for i in sizes if self.size[i] == size):
                mine = slots[: sizes[i]] if size > 0 else [(0, 0)] * sizes[i]
                placed[i] = tuple(node for _, node in mine)
                slots = slots[sizes[i] :]
        return placed


def _highest(levels: Sequence[Level], others: Sizes) -> int:
    """Return the place of the highest level that parallelisms reach."""
    return max(place for place, level in enumerate(levels) if level.sizes.items() <= others.items())
