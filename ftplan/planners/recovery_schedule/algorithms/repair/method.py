"""How a named planner answers an objective over time, and what it needs to know of the objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import StepSolver
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, RepairPlacement
from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import Policy, Schedule
from ftplan.planners.recovery_schedule.problem import RecoveryProblem


@dataclass(frozen=True, slots=True)
class Method:
    """What a named planner does: ``step`` decides step by step, ``alone`` in its place where it is no solver.

    A policy alone is what it is; all others go on from list schedules. ``few`` goes through all placements where these
    are few, ``search`` improves the best start by local search, ``model`` by an exact model where that is small enough.
    """

    step: StepSolver
    alone: Policy | None = None
    few: bool = False
    search: bool = False
    model: bool = False


class Solved(NamedTuple):
    """A placement, the most that any is worth as far as that is proved, and whether this is the best."""

    placement: RepairPlacement
    most: float | None = None
    optimal: bool = False


class Limit(NamedTuple):
    """The most that any schedule is worth, and the stairs of the priority that can be whole: times, and most then."""

    most: float
    stairs: tuple[FloatArray, FloatArray] | None = None


class OverTime(Protocol):
    """An objective over time: how schedules and placements are judged, and who improves and bounds them.

    Worth is the objective, or minus the objective where less is better.
    """

    def of_schedule(self, schedule: Schedule) -> float:
        """Return what a finished schedule is worth."""

    def of_placement(self, instance: RepairInstance, placement: RepairPlacement) -> float:
        """Return what a placement is worth, at step 0 the same as its schedule where nothing fails later."""

    def listed(self, instance: RepairInstance, budget: Budget) -> RepairPlacement:
        """Return a list schedule."""

    def few(self, instance: RepairInstance, budget: Budget) -> RepairPlacement | None:
        """Return the best of all placements where they are few."""

    def searched(self, instance: RepairInstance, start: RepairPlacement, budget: Budget, seed: int) -> RepairPlacement:
        """Return a placement that is no worse than the start."""

    def modelled(
        self, instance: RepairInstance, start: RepairPlacement, budget: Budget, seed: int, limit: Limit | None
    ) -> Solved:
        """Return what an exact model makes of a start, at step 0."""

    def limit(self, problem: RecoveryProblem, budget: Budget, *, parallel: bool) -> Limit | None:
        """Return what no schedule exceeds, whatever the failures stated for later; None where that is not known."""
