"""Where not every chosen replica finds a node: another choice that does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ftplan.metrics.replica_hosts import NOWHERE
from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.placement.placement import PlacementProblem, ReplicaPlacement

#: Runs of the planner: without the tasks that found no node, then with less budget.
WITHOUT, LESS = 4, 8


@dataclass(frozen=True, eq=False)
class PlacementAttempt:
    """A choice of replicas as far as it has nodes."""

    problem: PlacementProblem
    placement: ReplicaPlacement

    @property
    def complete(self) -> bool:
        """Whether every replica has a node."""
        return len(self.placement.left) == 0

    @property
    def left(self) -> IntArray:
        """The tasks whose replicas have no node."""
        return self.problem.task[self.placement.left]

    def nodes(self, tasks: int) -> IntArray:
        """Return the node of each task's replica, shape (tasks,), NOWHERE for none."""
        nodes = np.full(tasks, NOWHERE, dtype=np.int64)
        nodes[self.problem.task] = self.placement.node
        return nodes


Chooser = Callable[[ReplicationProblem], BoolArray | None]
Placer = Callable[[BoolArray], PlacementAttempt]


def fitted(
    problem: ReplicationProblem, first: PlacementAttempt, choose: Chooser | None, place: Placer, clock: Budget
) -> tuple[BoolArray, PlacementAttempt]:
    """Return the best choice that was found to have room, given one that has not, shape (tasks,), and its attempt.

    The planner is asked again without the tasks that found no node, round by round, and with the largest budget whose
    choice has room, by bisection. Of every choice what has nodes and is of use counts. Without a *choose* only the
    first choice does.

    Cost: at most :data:`WITHOUT` + :data:`LESS` runs of the planner and of the placement, as long as there is time.
    Guarantee: none.
    """
    if choose is None:
        return _best(problem, [first])
    attempts = [first]
    weight = problem.weight.copy()
    for _ in range(WITHOUT):
        if attempts[-1].complete or clock.over():
            break
        weight[attempts[-1].left] = 2.0 * problem.budget + 1.0  # too dear for any plan
        again = choose(replace(problem, weight=weight.copy()))
        if again is None:
            break
        attempts.append(place(again))
    low, high = 0.0, problem.cost(problem.mask(first.problem.task.tolist()))
    for _ in range(LESS):
        if clock.over():
            break
        middle = (low + high) / 2.0
        again = choose(replace(problem, budget=middle))
        if again is None:
            break
        attempts.append(place(again))
        low, high = (middle, high) if attempts[-1].complete else (low, middle)
    return _best(problem, attempts)


def _best(problem: ReplicationProblem, attempts: list[PlacementAttempt]) -> tuple[BoolArray, PlacementAttempt]:
    """Return what has nodes and is of use, and the attempt in which that has most value; of equals the cheapest."""
    plans = [problem.useful(attempt.nodes(problem.tasks) != NOWHERE) for attempt in attempts]
    best = min(range(len(plans)), key=lambda k: (-round(problem.value(plans[k]), 12), problem.cost(plans[k]), k))
    return plans[best], attempts[best]
