"""The policy that plans the whole repair at once and keeps to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import BoolArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.instance import (
    NOWHERE,
    RepairInstance,
    RepairPlacement,
    instance_of,
)
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import StepAssignment
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, StepState
from ftplan.planners.recovery_schedule.schedule import Schedule

#: Plans what is left of a repair.
RepairSolver = Callable[[RepairInstance, Budget, int], RepairPlacement]


@dataclass(frozen=True, eq=False)
class RepairPlan:
    """What is planned for the rest of a repair, and the tasks and standbys that give way for it first."""

    instance: RepairInstance
    placement: RepairPlacement
    pause: tuple[int, ...] = ()
    pause_standby: tuple[int, ...] = ()


class WholeRepairPolicy:
    """Plans with a solver at step 0 and whenever something fails anew, and starts what is due; a new one for each run.

    What has been started stays where it is.
    """

    def __init__(self, solver: RepairSolver, prefetch: bool = True) -> None:
        self._solver, self._prefetch = solver, prefetch
        self._due: list[tuple[float, StepAssignment]] = []  # by the time of the step, in the order of restores
        self._known: tuple[BoolArray, BoolArray] | None = None  # tasks that are down, hosts that are there

    def __call__(self, state: StepState, budget: Budget, seed: int) -> Decision:
        """Return the tasks that are due, each with its node, in the order in which they are restored."""
        pause: tuple[int, ...] = ()
        pause_standby: tuple[int, ...] = ()
        if self._upset(state):
            plan = self.plan(state, budget, seed)
            self._due = due(plan.instance, plan.placement)
            pause, pause_standby = plan.pause, plan.pause_standby
        now = tuple(item for at_s, item in self._due if at_s <= state.at_s)
        self._due = [entry for entry in self._due if entry[0] > state.at_s]
        down = state.down.copy()
        down[list(pause)] = True
        down[[item.task for item in now]] = False
        self._known = down, state.there
        tasks = np.array([item.task for item in now], dtype=np.int64)
        return Decision(tasks, placed=now, pause=pause, pause_standby=pause_standby)

    def plan(self, state: StepState, budget: Budget, seed: int) -> RepairPlan:
        """Return what to do from this step on."""
        instance = instance_of(state, self._prefetch)
        return RepairPlan(instance, self._solver(instance, budget, seed))

    def _upset(self, state: StepState) -> bool:
        """Return whether a task or a host is gone that the plan counted on."""
        if self._known is None:
            return True
        down, there = self._known
        return bool((state.down & ~down).any() or (there & ~state.there).any())


class FollowingPolicy:
    """Keeps to a finished schedule before a time, and plans with a solver from then on; a new one for each schedule."""

    def __init__(self, schedule: Schedule, until_s: float, solver: RepairSolver, prefetch: bool = True) -> None:
        self._schedule, self._until_s = schedule, until_s
        self._then = WholeRepairPolicy(solver, prefetch)

    def __call__(self, state: StepState, budget: Budget, seed: int) -> Decision:
        """Return what the schedule does at this step, or what is due."""
        if state.at_s >= self._until_s:
            return self._then(state, budget, seed)
        step = self._schedule.steps[state.step]
        placed = tuple(StepAssignment(item.task, item.host, item.cpu, item.key_groups) for item in step.recover)
        return Decision(
            np.array([item.task for item in placed], dtype=np.int64),
            placed=placed,
            pause=tuple(item.task for item in step.pause if not item.replica),
            pause_standby=tuple(item.task for item in step.pause if item.replica),
        )


def due(instance: RepairInstance, placement: RepairPlacement) -> list[tuple[float, StepAssignment]]:
    """Return what is started when, in the order of restores."""
    at_s = np.append(instance.there_s, np.inf)[placement.host] if placement.step_s is None else placement.step_s
    return [
        (float(at_s[j]), StepAssignment(int(instance.task[j]), int(instance.host[host]), float(instance.cost[j])))
        for j in placement.order.tolist()
        if (host := int(placement.host[j])) != NOWHERE
    ]
