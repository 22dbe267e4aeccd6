"""Level of each job and parallelism of all operators at once: an integer program, and with it the nodes of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ftplan.planners.budget import SOLVER_SECONDS_PER_ITERATION, Budget, SearchOptions
from ftplan.planners.interrupts import solve_sat
from ftplan.planners.scale_out.algorithms.choices import JobLevel, ScalingChoices, Sizes
from ftplan.planners.scale_out.algorithms.free_cores import UNITS, CoreUnits, FreeCores, Placed


class ChosenSizes(NamedTuple):
    """What a model chose: parallelism of operators that are scaled in and of others, and the nodes of their tasks.

    ``placed`` is None where the model left nodes out and none were seen. ``bound`` is proven: no more can be sustained.
    ``fewest`` says that no choice of the same value needs fewer cores.
    """

    smaller: Sizes
    others: Sizes
    placed: Placed | None
    bound: float
    fewest: bool


class ScalingModel:
    """The choices of a problem; what all nodes together can take stands for the nodes.

    Variables: one level of each job; whether an operator is scaled in, or gets room for its state.

    Parameters
    ----------
    cuts
        Choices that no nodes can take: none with the same scale-ins and as many tasks of each size is taken.
    """

    def __init__(
        self,
        choices: ScalingChoices,
        levels: list[list[JobLevel]],
        room: FreeCores,
        cuts: Sequence[ChosenSizes] = (),
        most: float = np.inf,
    ) -> None:
        from ortools.sat.python import cp_model

        self.choices, self.levels, self.room, self.problem = choices, levels, room, choices.problem
        self.cores = CoreUnits(choices, room)
        self.size = self.cores.size
        self.model = cp_model.CpModel()
        self.level = [[self.model.new_bool_var("") for _ in levels] for levels in self.levels]
        for level in self.level:
            self.model.add_exactly_one(level)
        self.smaller = {i: self.model.new_bool_var("") for i in choices.smaller}
        self.roomier = {i: self.model.new_bool_var("") for i in choices.roomier}
        self.first = self._tasks_by_size([(i, choices.smaller[i], taken) for i, taken in self.smaller.items()])
        self.second = self._tasks_by_size(
            [(i, choices.roomier[i], taken) for i, taken in self.roomier.items()]
            + [(i, tasks, taken) for level, taken in self._taken() for i, tasks in level.sizes.items()]
        )
        if self.cores.most is not None:
            freed: Any = sum(
                (int(room.now[i]) - tasks) * self.size[i] * self.smaller[i] for i, tasks in choices.smaller.items()
            )
            self.model.add(_units(self.first) <= self.cores.most)
            self.model.add(_units(self.second) <= self.cores.most + freed)
        if self.problem.nodes:
            self._nodes_together()
        for cut in cuts:
            self._cut(cut)
        self.value: Any = sum(self._worth(level, job) * taken for job, level, taken in self._by_job())
        if np.isfinite(most):
            self.model.add(self.value <= int(np.ceil(most * UNITS)))

    def _by_job(self) -> list[tuple[int, JobLevel, Any]]:
        return [
            (job, level, taken)
            for job, (levels, variables) in enumerate(zip(self.levels, self.level, strict=True))
            for level, taken in zip(levels, variables, strict=True)
        ]

    def _taken(self) -> list[tuple[JobLevel, Any]]:
        return [(level, taken) for _, level, taken in self._by_job()]

    def _worth(self, level: JobLevel, job: int) -> int:
        return int(np.floor(self.problem.weight[job] * level.share * UNITS))

    def _tasks_by_size(self, choices: list[tuple[int, int, Any]]) -> dict[int, Any]:
        """Return how many tasks of each size above 0 are new, largest first."""
        terms: dict[int, list[tuple[int, Any]]] = {}
        for i, tasks, taken in choices:
            if self.size[i] > 0:
                terms.setdefault(self.size[i], []).append((tasks, taken))
        return {size: sum(tasks * taken for tasks, taken in terms[size]) for size in sorted(terms, reverse=True)}

    def _nodes_together(self) -> None:
        """Limit tasks of each size or larger, and cores, by what all nodes have; the first wave is there in both."""
        for size in {*self.first, *self.second}:
            tasks, more = self.cores.tasks_at_least(size)
            first = sum(count for own, count in self.first.items() if own >= size)
            second = sum(count for own, count in self.second.items() if own >= size)
            self.model.add(first <= tasks)
            self.model.add(first + second <= tasks + sum(count * self.smaller[i] for i, count in more.items()))
        units, more = self.cores.units_of(self.first)
        self.model.add(_units(self.first) <= units)
        units, more = self.cores.units_of({*self.first, *self.second})
        returned: Any = sum(count * self.smaller[i] for i, count in more.items())
        self.model.add(_units(self.first) + _units(self.second) <= units + returned)

    def _cut(self, cut: ChosenSizes) -> None:
        others = [~taken if i in cut.smaller else taken for i, taken in self.smaller.items()]
        for size, tasks in self.second.items():
            fewer = self.model.new_bool_var("")
            most = sum(count for i, count in cut.others.items() if self.size[i] == size) - 1
            self.model.add(tasks <= most).only_enforce_if(fewer)
            others.append(fewer)
        self.model.add_bool_or(others)

    def solved(self, search: SearchOptions, budget: Budget, start: ChosenSizes) -> ChosenSizes | None:
        """Return the best choice, None where none was seen in time: most value, then fewest cores, then fewest changes.

        Between value and cores stands the number of operators that get room for their state. *start* is one that fits.
        """
        self._hint(start)
        self.model.maximize(self.value)
        solver, proven = self._run(search, budget)
        if solver is None:
            return None
        # Rounding down takes less than a unit of each job.
        bound = (solver.best_objective_bound + len(self.levels)) / UNITS
        best = round(solver.objective_value) if proven else 0
        best = max(best - 1, sum(self._worth(level, job) for job, level, v in self._by_job() if solver.value(v)))
        answer = self._answer(solver, bound, False)
        self.model.add(self.value >= best)
        self._hint(answer)
        self.model.minimize(self._cores())
        solver, fewest = self._run(search, budget)
        return answer if solver is None else self._answer(solver, bound, fewest)

    def _cores(self) -> Any:
        """Return extra cores, and behind them the number of changes; before them operators that lack memory."""
        counted = len(self.problem.operators) + 1

        def cost(sizes: Sizes) -> int:
            return len(sizes) + counted * sum(
                (tasks - int(self.room.now[i])) * self.size[i] for i, tasks in sizes.items()
            )

        terms = [(cost({i: self.choices.smaller[i]}), taken) for i, taken in self.smaller.items()]
        terms += [(cost(level.sizes), taken) for level, taken in self._taken()]
        roomier = [(cost({i: self.choices.roomier[i]}), taken) for i, taken in self.roomier.items()]
        above = 1 + sum(abs(own) for own, _ in (*terms, *roomier))
        return sum(own * taken for own, taken in terms) + sum((own - above) * taken for own, taken in roomier)

    def _hint(self, start: ChosenSizes) -> None:
        self.model.clear_hints()
        for i, variable in self.smaller.items():
            self.model.add_hint(variable, i in start.smaller)
        for i, variable in self.roomier.items():
            self.model.add_hint(variable, i in start.others)
        for levels, variables in zip(self.levels, self.level, strict=True):
            reached = [place for place, level in enumerate(levels) if level.sizes.items() <= start.others.items()]
            for place, variable in enumerate(variables):
                self.model.add_hint(variable, place == reached[-1])

    def _run(self, search: SearchOptions, budget: Budget, hinted: bool = False) -> tuple[Any, bool]:
        """Return the solver, None where it saw no choice, and whether its answer is proven to be the best, or none is.

        *hinted* takes what was hinted as given.
        """
        from ortools.sat.python import cp_model

        if budget.over():
            return None, False
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = search.seed % 2**31
        solver.parameters.fix_variables_to_their_hinted_value = hinted
        if search.iterations is not None:
            solver.parameters.max_deterministic_time = search.iterations * SOLVER_SECONDS_PER_ITERATION
        status = solve_sat(self.model, solver, budget.left_s)
        proven = status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
        if not proven:
            budget.unfinished()
        return (solver if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None), proven

    def _answer(self, solver: Any, bound: float, fewest: bool) -> ChosenSizes:
        smaller = {i: self.choices.smaller[i] for i, taken in self.smaller.items() if solver.value(taken)}
        others = {i: self.choices.roomier[i] for i, taken in self.roomier.items() if solver.value(taken)}
        for level, taken in self._taken():
            if solver.value(taken):
                others |= level.sizes
        placed = self.room.placed(smaller, others)
        if placed is None:
            placed = self._placed(solver, smaller, others)
        return ChosenSizes(smaller, others, placed, bound, fewest)

    def _placed(self, solver: Any, smaller: Sizes, others: Sizes) -> Placed | None:
        """Return the nodes that a solver chose, None where the model has none."""
        return None


def _units(tasks: dict[int, Any]) -> Any:
    return sum(size * count for size, count in tasks.items())
