"""Where not every chosen replica finds a node: another choice that does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ftplan.api.replication.problem import Prepared
from ftplan.model.task_graph import BoolArray
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.placement.placement import NOWHERE, Placed, PlacementProblem

#: Runs of the planner: without the tasks that found no node, then with less budget.
WITHOUT, LESS = 4, 8

Chooser = Callable[[Prepared], BoolArray | None]
Placer = Callable[[BoolArray], tuple[PlacementProblem, Placed]]


@dataclass(frozen=True, eq=False)
class Attempt:
    """A choice as far as it has nodes."""

    asked: PlacementProblem
    found: Placed

    @property
    def left(self) -> list[int]:
        """The tasks whose replicas have no node."""
        tasks: list[int] = self.asked.task[self.found.left].tolist()
        return tasks

    def nodes(self, tasks: int) -> IntArray:
        """Return the node of each task's replica, shape (tasks,), NOWHERE for none."""
        found = np.full(tasks, NOWHERE, dtype=np.int64)
        found[self.asked.task] = self.found.node
        return found

    def placed(self, tasks: int) -> BoolArray:
        """Return the tasks whose replicas have one, shape (tasks,)."""
        mask = np.zeros(tasks, dtype=np.bool_)
        mask[self.asked.task] = True
        mask[self.left] = False
        return mask


def fitted(
    prepared: Prepared, first: Attempt, choose: Chooser | None, place: Placer, clock: Budget
) -> tuple[BoolArray, Attempt]:
    """Return the best choice that was found to have room, given one that has not, shape (tasks,), and its attempt.

    The planner is asked again without the tasks that found no node, round by round, and with the largest budget whose
    choice has room, by bisection. Of every choice what has nodes and is of use counts. Without a *choose* only the
    first choice does.

    Cost: at most :data:`WITHOUT` + :data:`LESS` runs of the planner and of the placement, as long as there is time.
    Guarantee: none.
    """
    best = _best(prepared, [first])
    if choose is None:
        return best
    attempts = [first]
    weight = prepared.problem.weight.copy()
    for _ in range(WITHOUT):
        if not attempts[-1].left or clock.over():
            break
        weight[attempts[-1].left] = 2.0 * prepared.problem.budget + 1.0  # too dear for any plan
        again = choose(replace(prepared, problem=replace(prepared.problem, weight=weight.copy())))
        if again is None:
            break
        attempts.append(Attempt(*place(again)))
    low, high = 0.0, prepared.problem.cost(first.placed(prepared.graph.tasks) | _mask(prepared, first.left))
    for _ in range(LESS):
        if clock.over():
            break
        middle = (low + high) / 2.0
        again = choose(replace(prepared, problem=replace(prepared.problem, budget=middle)))
        if again is None:
            break
        attempts.append(Attempt(*place(again)))
        low, high = (low, middle) if attempts[-1].left else (middle, high)
    return _best(prepared, attempts)


def _best(prepared: Prepared, attempts: list[Attempt]) -> tuple[BoolArray, Attempt]:
    """Return what has nodes and is of use, and the attempt in which that is worth most; of equals the cheapest."""
    found = [prepared.useful(attempt.placed(prepared.graph.tasks)) for attempt in attempts]
    ranks = [(-round(prepared.problem.value(plan), 12), prepared.problem.cost(plan), k) for k, plan in enumerate(found)]
    best = min(ranks)[2]
    return found[best], attempts[best]


def _mask(prepared: Prepared, tasks: list[int]) -> BoolArray:
    mask = np.zeros(prepared.graph.tasks, dtype=np.bool_)
    mask[tasks] = True
    return mask
