"""The policy that plans the whole repair at once and keeps to it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.repair.instance import NOWHERE, RepairInstance, RepairPlacement, instance_of
from ftplan.planners.recovery.schedule.node_assignment import Assignment
from ftplan.planners.recovery.schedule.schedule import Decision, Schedule, State

#: Plans what is left of a repair.
RepairSolver = Callable[[RepairInstance, Budget, int], RepairPlacement]


class WholeRepair:
    """Plans with a solver at step 0 and whenever tasks fail anew, and starts what is due; a new one for each schedule.

    What has been started stays where it is.
    """

    def __init__(self, solver: RepairSolver, prefetch: bool = True) -> None:
        self._solver, self._prefetch = solver, prefetch
        self._due: list[tuple[float, Assignment]] = []  # by the time of the step, in the order of restores
        self._down: BoolArray | None = None

    def __call__(self, state: State, budget: Budget, seed: int) -> Decision:
        """Return the tasks that are due, each with its node, in the order in which they are restored."""
        if self._down is None or bool((state.down & ~self._down).any()):
            instance = instance_of(state, self._prefetch)
            self._due = due(instance, self._solver(instance, budget, seed))
        self._down = state.down
        now = tuple(item for at_s, item in self._due if at_s <= state.at_s)
        self._due = [entry for entry in self._due if entry[0] > state.at_s]
        return Decision(np.array([item.task for item in now], dtype=np.int64), placed=now)


class Following:
    """Keeps to a finished schedule before a time, and plans with a solver from then on; a new one for each schedule."""

    def __init__(self, schedule: Schedule, until_s: float, solver: RepairSolver, prefetch: bool = True) -> None:
        self._schedule, self._until_s = schedule, until_s
        self._then = WholeRepair(solver, prefetch)

    def __call__(self, state: State, budget: Budget, seed: int) -> Decision:
        """Return what the schedule does at this step, or what is due."""
        if state.at_s >= self._until_s:
            return self._then(state, budget, seed)
        step = self._schedule.steps[state.step]
        placed = tuple(Assignment(item.task, item.host, item.cpu, item.key_groups) for item in step.recover)
        return Decision(
            np.array([item.task for item in placed], dtype=np.int64),
            placed=placed,
            pause=tuple(item.task for item in step.pause if not item.replica),
            pause_standby=tuple(item.task for item in step.pause if item.replica),
        )


def due(instance: RepairInstance, placement: RepairPlacement) -> list[tuple[float, Assignment]]:
    """Return what is started when, in the order of restores."""
    at_s = instance.there_s[placement.host] if placement.step_s is None else placement.step_s
    return [
        (float(at_s[j]), Assignment(int(instance.task[j]), int(instance.host[host]), float(instance.cost[j])))
        for j in placement.order.tolist()
        if (host := int(placement.host[j])) != NOWHERE
    ]
