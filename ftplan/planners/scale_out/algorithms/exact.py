"""The scale-out that sustains most load under all limits, with the fewest cores, and a proof.

It starts from what fits into the free cores when chosen one after the other (:func:`filled`). :class:`ScalingModel` is
an integer program of levels of jobs, parallelism of operators and nodes of their tasks, in two waves.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.result import Result
from ftplan.planners.scale_out.algorithms.free_cores import (
    UNITS,
    CoreUnits,
    FreeCores,
    JobLevel,
    Placed,
    ScalingChoices,
    Sizes,
)
from ftplan.planners.scale_out.algorithms.outcome import above_quota, outcome, scaling
from ftplan.planners.scale_out.problem import Scaling, ScalingProblem, extra_cpu
from ftplan.planners.solver import SatAnswer, solve_sat


class ChosenSizes(NamedTuple):
    """What was chosen: parallelism of operators that are scaled in and of others, and the nodes of their tasks.

    ``bound`` is proven: no more can be sustained. ``fewest`` says that no choice of the same value needs fewer cores.
    """

    smaller: Sizes
    others: Sizes
    placed: Placed
    bound: float
    fewest: bool


class Alike(NamedTuple):
    """Tasks that may change places: of one size in units of cores; with slots also of one operator, else -1."""

    size: int
    operator: int


class ScalingModel:
    """The choices of a problem, and how many tasks of each size go to each node in each wave.

    Variables: one level of each job; whether an operator is scaled in, gets leaner, or gets room for its state; tasks
    of each size, wave and node. Tasks of one size and wave are alike until they are dealt out to operators.
    """

    def __init__(self, choices: ScalingChoices, levels: list[list[JobLevel]], room: FreeCores) -> None:
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
        self.leaner = {i: self.model.new_bool_var("") for i in choices.leaner}
        for _, own, taken in self._by_job():
            for i in own.sizes.keys() & self.leaner.keys():
                self.model.add_at_most_one(taken, self.leaner[i])
        first = [(i, choices.smaller[i], taken) for i, taken in self.smaller.items()]
        second = [
            *((i, choices.roomier[i], taken) for i, taken in self.roomier.items()),
            *((i, choices.leaner[i], taken) for i, taken in self.leaner.items()),
            *((i, tasks, taken) for _, level, taken in self._by_job() for i, tasks in level.sizes.items()),
        ]
        self.first, self.second = self._tasks_by_size(first), self._tasks_by_size(second)
        if self.cores.most is not None:
            freed: Any = sum(
                (int(room.now[i]) - tasks) * self.size[i] * self.smaller[i] for i, tasks in choices.smaller.items()
            )
            self.model.add(_units(self.first) <= self.cores.most)
            self.model.add(_units(self.second) <= self.cores.most + freed)
        if np.isfinite(self.problem.slots):
            self._limit_slots([*first, *second])
        self.on_nodes: tuple[dict[tuple[int, Alike], Any], dict[tuple[int, Alike], Any]] = ({}, {})
        if self.problem.nodes:
            self._nodes_together()
            for node in range(len(self.problem.nodes)):
                self._add_node(node)
            for wave, tasks_of in enumerate((self.first, self.second)):
                for alike, tasks in tasks_of.items():
                    on = [variable for (_, own), variable in self.on_nodes[wave].items() if own == alike]
                    self.model.add(sum(on) == tasks)
        self.value: Any = sum(self._worth(level, job) * taken for job, level, taken in self._by_job())

    def _limit_slots(self, chosen: list[tuple[int, int, Any]]) -> None:
        """Limit slots: a slot sharing group of a job takes as many as its operator with most tasks has.

        *chosen*: each operator that may change, its tasks then, and whether it does.
        """
        added: dict[int, list[Any]] = {}
        for i, tasks, taken in chosen:
            added.setdefault(i, []).append((tasks - int(self.room.now[i])) * taken)
        most = int(self.problem.most_slots)
        groups: dict[tuple[int, str], Any] = {}
        for i, operator in enumerate(self.problem.operators):
            group = operator.job, operator.slot_group
            if group not in groups:
                groups[group] = self.model.new_int_var(0, most, "")
            self.model.add(groups[group] >= int(self.room.now[i]) + sum(added.get(i, ())))
        self.model.add(sum(groups.values()) <= most)

    def _by_job(self) -> list[tuple[int, JobLevel, Any]]:
        return [
            (job, level, taken)
            for job, (levels, variables) in enumerate(zip(self.levels, self.level, strict=True))
            for level, taken in zip(levels, variables, strict=True)
        ]

    def _worth(self, level: JobLevel, job: int) -> int:
        return int(np.floor(self.problem.weight[job] * level.share * UNITS))

    def _alike(self, operator: int) -> Alike:
        return Alike(self.size[operator], operator if self.problem.slotted else -1)

    def _tasks_by_size(self, choices: list[tuple[int, int, Any]]) -> dict[Alike, Any]:
        """Return how many tasks of each size above 0 are new, largest first; of each operator where there are slots."""
        terms: dict[Alike, list[tuple[int, Any]]] = {}
        for i, tasks, taken in choices:
            if self.size[i] > 0:
                terms.setdefault(self._alike(i), []).append((tasks, taken))
        return {alike: sum(tasks * taken for tasks, taken in terms[alike]) for alike in sorted(terms, reverse=True)}

    def _nodes_together(self) -> None:
        """Limit tasks of each size or larger by what all nodes have; the first wave is there in both."""
        for size in {alike.size for alike in (*self.first, *self.second)}:
            tasks, more = self.cores.tasks_at_least(size)
            first = sum(count for own, count in self.first.items() if own.size >= size)
            second = sum(count for own, count in self.second.items() if own.size >= size)
            self.model.add(first <= tasks)
            self.model.add(first + second <= tasks + sum(count * self.smaller[i] for i, count in more.items()))

    def _add_node(self, node: int) -> None:
        """Make variables for the tasks on a node, and limit them by its cores and what is given back there."""
        cores, old = self.cores.free[node], self.cores.old[node]
        returned: Any = sum(count * self.size[i] * self.smaller[i] for i, count in old.items())
        first = self._tasks_on(0, node, cores)
        second = self._tasks_on(1, node, cores + sum(count * self.size[i] for i, count in old.items()))
        if first:
            self.model.add(sum(size * tasks for size, tasks in first) <= cores)
        if not second:
            return
        taken = sum(size * tasks for size, tasks in (*first, *second))
        if cores >= 0:
            self.model.add(taken <= cores + returned)
            return
        used = self.model.new_bool_var("")  # a node with less than nothing to give is no matter where it gets no task
        self.model.add(taken <= cores + returned).only_enforce_if(used)
        for _, tasks in second:
            self.model.add(tasks == 0).only_enforce_if(~used)

    def _tasks_on(self, wave: int, node: int, cores: int) -> list[tuple[int, Any]]:
        """Make variables for the tasks of each size on a node that has so many cores; return sizes and variables."""
        tasks = []
        for alike in (self.first, self.second)[wave]:
            if alike.size <= cores:
                most = int(min(cores // alike.size, self.problem.room_on(node)))
                self.on_nodes[wave][node, alike] = self.model.new_int_var(0, most, "")
                tasks.append((alike.size, self.on_nodes[wave][node, alike]))
        return tasks

    def solved(self, seed: int, budget: Budget, start: ChosenSizes, log: Incumbents[ChosenSizes]) -> ChosenSizes | None:
        """Return the best choice, None where none was seen in time: most value, then fewest cores, then fewest changes.

        Between value and cores stands the number of operators that get room for their state. *start* is one that fits.
        """
        self._hint(start)
        self.model.maximize(self.value)
        found = solve_sat(self.model, budget, seed, log=log, unit=1.0 / UNITS)
        # Rounding down takes less than a unit of each job.
        bound = 1.0 if found.bound is None else (found.bound + len(self.levels)) / UNITS
        log.prove(bound, "CP-SAT")
        if not found.found:
            return None
        best = sum(self._worth(level, job) for job, level, taken in self._by_job() if found.value(taken))
        answer = self._answer(found, bound, False)
        if budget.over():
            return answer
        self.model.add(self.value >= max(best, found.objective - 1 if found.proven else 0))
        self._hint(answer)
        self.model.minimize(self._cores())
        found = solve_sat(self.model, budget, seed)
        return self._answer(found, bound, found.proven) if found.found else answer

    def _cores(self) -> Any:
        """Return extra cores, and behind them the number of changes; before them operators that lack memory."""
        counted = len(self.problem.operators) + 1

        def cost(sizes: Sizes) -> int:
            return len(sizes) + counted * sum(
                (tasks - int(self.room.now[i])) * self.size[i] for i, tasks in sizes.items()
            )

        terms = [(cost({i: self.choices.smaller[i]}), taken) for i, taken in self.smaller.items()]
        terms += [(cost({i: self.choices.leaner[i]}), taken) for i, taken in self.leaner.items()]
        terms += [(cost(level.sizes), taken) for _, level, taken in self._by_job()]
        roomier = [(cost({i: self.choices.roomier[i]}), taken) for i, taken in self.roomier.items()]
        above = 1 + sum(abs(own) for own, _ in (*terms, *roomier))
        return sum(own * taken for own, taken in terms) + sum((own - above) * taken for own, taken in roomier)

    def _hint(self, start: ChosenSizes) -> None:
        self.model.clear_hints()
        for i, variable in self.smaller.items():
            self.model.add_hint(variable, i in start.smaller)
        for i, variable in self.roomier.items():
            self.model.add_hint(variable, i in start.others)
        for i, variable in self.leaner.items():
            self.model.add_hint(variable, start.others.get(i) == self.choices.leaner[i])
        for levels, variables in zip(self.levels, self.level, strict=True):
            reached = [place for place, level in enumerate(levels) if level.sizes.items() <= start.others.items()]
            for place, variable in enumerate(variables):
                self.model.add_hint(variable, place == reached[-1])

    def _answer(self, found: SatAnswer, bound: float, fewest: bool) -> ChosenSizes:
        smaller = {i: self.choices.smaller[i] for i in found.chosen(self.smaller)}
        others = {i: self.choices.roomier[i] for i in found.chosen(self.roomier)}
        others |= {i: self.choices.leaner[i] for i in found.chosen(self.leaner)}
        for _, level, taken in self._by_job():
            if found.value(taken):
                others |= level.sizes
        placed = self.room.placed(smaller, others)
        if placed is None:
            placed = self._dealt(found, smaller, 0) | self._dealt(found, others, 1)
        return ChosenSizes(smaller, others, placed, bound, fewest)

    def _dealt(self, found: SatAnswer, sizes: Sizes, wave: int) -> Placed:
        """Return the nodes of the tasks of each operator, from how many of each size a node has; none without nodes."""
        if not self.problem.nodes:
            return dict.fromkeys(sizes, ())
        counts = {key: found.value(variable) for key, variable in self.on_nodes[wave].items()}
        placed: Placed = {}
        for alike in sorted({self._alike(i) for i in sizes}):
            of_size = [(node, tasks) for (node, own), tasks in counts.items() if own == alike]
            places = sorted((turn, node) for node, tasks in of_size for turn in range(tasks))
            for i in sorted(i for i in sizes if self._alike(i) == alike):
                mine = places[: sizes[i]] if alike.size > 0 else self._anywhere(sizes[i])
                placed[i] = tuple(node for _, node in mine)
                places = places[sizes[i] :]
        return placed

    def _anywhere(self, tasks: int) -> list[tuple[int, int]]:
        """Return nodes for tasks that take no cores, in turns."""
        turns = ((turn, node) for turn in range(tasks) for node in range(len(self.problem.nodes)))
        return list(islice((place for place in turns if place[0] < self.problem.room_on(place[1])), tasks))


def _units(tasks: dict[Alike, Any]) -> Any:
    return sum(alike.size * count for alike, count in tasks.items())


def filled(choices: ScalingChoices, levels: list[list[JobLevel]], room: FreeCores) -> ChosenSizes:
    """Return a choice that fits: scale-ins, the level of each job by what it gains for its cores, then all others.

    The highest level of a job that fits is searched by bisection. Cost O(jobs x log levels) placements.
    """
    smaller: Sizes = {}
    for i in sorted(choices.smaller, key=lambda i: (-room.freed({i: choices.smaller[i]}), i)):
        more = smaller | {i: choices.smaller[i]}
        smaller = more if room.placed(more, {}) is not None else smaller
    others: Sizes = {}

    def gain(job: int) -> tuple[float, int]:
        highest, lowest = levels[job][-1], levels[job][0]
        cores = sum(tasks * float(room.cpu[i]) for i, tasks in highest.sizes.items())
        gained = float(choices.problem.weight[job]) * (highest.share - lowest.share)
        return -gained / max(cores, room.total * 1e-12, 1e-300), job

    for job in sorted(range(len(levels)), key=gain):
        low, high = 0, len(levels[job]) - 1
        while low < high:
            middle = (low + high + 1) // 2
            fits = room.placed(smaller, others | levels[job][middle].sizes) is not None
            low, high = (middle, high) if fits else (low, middle - 1)
        others |= levels[job][low].sizes
    for i, tasks in {**choices.roomier, **choices.leaner, **others}.items():
        more = others | {i: tasks}
        others = more if i in others or room.placed(smaller, more) is not None else others
    placed = room.placed(smaller, others)
    assert placed is not None  # each step was tried
    return ChosenSizes(smaller, others, placed, 1.0, False)


def exact(problem: ScalingProblem, search: SearchOptions) -> Result[Scaling]:
    """Give operators the fewest tasks with which their jobs sustain as much of their demand as can be.

    Every parallelism up to the most is tried, with ranges by load whose largest use is least ([Pinar2004]) or even
    ones. Where all that jobs could use fits into the free cores, that is the answer, without a solver. Otherwise one
    integer program chooses the level that each job sustains, with the fewest tasks for it, the operators that are
    scaled in, and the nodes of new tasks, in two waves; a second run takes the fewest cores, then the fewest changes.
    Operators that lack tasks change where the level of their job needs it, or where fewer tasks, divided anew, are no
    busier than now.

    Guarantee: ``optimal``, or ``feasible`` with the proven gap at the time limit; ``least_extra_cpu`` of the answer is
    set where the fewest cores are proven, without those that only give room to state. More free cores, quota, nodes or
    tasks are never worse where it is optimal. Deterministic unless the clock cuts it short (warning ``TIME_LIMIT``).
    Cost: milliseconds where all fits; exponential in the worst case.
    """
    budget = Budget.of(search)
    room, choices = FreeCores(problem), ScalingChoices(problem)
    why = above_quota(problem, room.total)
    if why is not None:
        return why
    levels = {i: tasks for level in choices.best for i, tasks in level.sizes.items()}
    wanted: Sizes = choices.roomier | choices.leaner | levels
    best = float(sum(weight * level.share for weight, level in zip(problem.weight, choices.best, strict=True)))
    placed = room.placed(choices.smaller, wanted)
    if placed is not None:
        chosen = ChosenSizes(choices.smaller, wanted, placed, best, True)
    else:
        chosen = _chosen(choices, room, search, budget)
    answer = scaling(problem, choices.sizings, chosen.smaller | chosen.others, chosen.placed)
    needed = Scaling(tuple(item for item in answer.operators if item.operator not in choices.roomier))
    # Room for state takes cores that the load does without; where cores are short it may also decide who gets them.
    if placed is not None or (chosen.fewest and len(needed.operators) == len(answer.operators)):
        answer = replace(answer, least_extra_cpu=extra_cpu(problem, needed))
    return outcome(problem, choices.sizings, answer, min(best, chosen.bound), budget)


def _chosen(choices: ScalingChoices, room: FreeCores, search: SearchOptions, budget: Budget) -> ChosenSizes:
    """Return the best choice that fits, or what was filled in one after the other where the clock left that better."""
    levels = choices.levels(room.most(choices.smaller))
    start, log = filled(choices, levels, room), Incumbents[ChosenSizes]("max", "sustained-load")
    log.offer(start, choices.value(start.others), "filling of free cores")
    chosen = None if budget.over() else ScalingModel(choices, levels, room).solved(search.seed, budget, start, log)
    if chosen is not None and choices.value(chosen.others) >= choices.value(start.others) * (1.0 - ROUNDING):
        return chosen
    return start._replace(bound=min(1.0, log.bound))
