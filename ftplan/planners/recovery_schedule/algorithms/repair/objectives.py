"""The two objectives over time, each with its search, models and bound; and how a named planner answers them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from ftplan.model.measures.fidelity import FidelityModel, fidelity_model
from ftplan.model.rates import rates
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import StepSolver
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.bound import fidelity_repair_bound
from ftplan.planners.recovery_schedule.algorithms.repair.fidelity.search import FidelityGains, gains_of
from ftplan.planners.recovery_schedule.algorithms.repair.instance import RepairInstance, RepairPlacement, value
from ftplan.planners.recovery_schedule.algorithms.repair.interval_model import solve_intervals
from ftplan.planners.recovery_schedule.algorithms.repair.repair_bound import (
    all_stopped,
    loss_with_pauses,
    repair_bound,
)
from ftplan.planners.recovery_schedule.algorithms.repair.search.list_schedule import list_schedule
from ftplan.planners.recovery_schedule.algorithms.repair.search.order_search import search_orders
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Policy
from ftplan.planners.recovery_schedule.algorithms.schedule.score import fidelity_time_of, priority_time_of
from ftplan.planners.recovery_schedule.problem import RecoveryObjective, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Method:
    """What a named planner does: ``step`` decides step by step, ``alone`` in its place where it is no solver.

    A policy alone is what it is; all others go on from list schedules. ``model`` improves
    the best start by an exact model where that is small enough, ``search`` by local search.
    """

    step: StepSolver
    alone: Policy | None = None
    search: bool = False
    model: bool = False


class Solved(NamedTuple):
    """A placement, the most that any is worth as far as that is proved, and whether this is the best."""

    placement: RepairPlacement
    most: float | None = None
    optimal: bool = False


#: Times, and the most priority that can be whole from each until the next.
Stairs = tuple[FloatArray, FloatArray]


class Limit(NamedTuple):
    """The most that any schedule is worth, and the stairs of the priority that can be whole."""

    most: float
    stairs: Stairs | None = None


class ObjectiveOverTime(Protocol):
    """An objective over time: how schedules and placements are judged, and who improves and bounds them.

    Worth is the objective, or minus the objective where less is better.
    """

    @property
    def sense(self) -> Literal["min", "max"]:
        """Whether the objective is to be small or large."""

    def of_schedule(self, schedule: Schedule) -> float:
        """Return what a finished schedule is worth."""

    def of_placement(self, instance: RepairInstance, placement: RepairPlacement) -> float:
        """Return what a placement is worth, at step 0 the same as its schedule where nothing fails later."""

    def listed(self, instance: RepairInstance, budget: Budget) -> RepairPlacement:
        """Return a list schedule."""

    def searched(self, instance: RepairInstance, start: RepairPlacement, budget: Budget, seed: int) -> RepairPlacement:
        """Return a placement that is no worse than the start."""

    def modelled(
        self, instance: RepairInstance, start: RepairPlacement, budget: Budget, seed: int, stairs: Stairs | None
    ) -> Solved:
        """Return what an exact model makes of a start, at step 0."""

    def limit(self, problem: RecoveryProblem, budget: Budget, seed: int, *, parallel: bool) -> Limit | None:
        """Return what no schedule exceeds, whatever the failures stated for later; None where that is not known."""


#: Share of the time left, and seconds where nobody says, in which sets of tasks are written out that add to fidelity.
SETS, UNHURRIED_S = 0.2, 1.0


@dataclass(frozen=True, eq=False)
class PriorityTime:
    """Least Σ priority × seconds down: worth is minus that."""

    problem: RecoveryProblem
    sense: Literal["min", "max"] = "min"

    def of_schedule(self, schedule: Schedule) -> float:
        """Return what a finished schedule is worth."""
        return -priority_time_of(schedule, self.problem)

    def of_placement(self, instance: RepairInstance, placement: RepairPlacement) -> float:
        """Return what a placement is worth."""
        return -value(instance, placement)

    def listed(self, instance: RepairInstance, budget: Budget) -> RepairPlacement:
        """Return a list schedule."""
        return list_schedule(instance, budget)

    def searched(self, instance: RepairInstance, start: RepairPlacement, budget: Budget, seed: int) -> RepairPlacement:
        """Return a placement that is no worse than the start."""
        return search_orders(instance, start, budget, seed)

    def modelled(
        self, instance: RepairInstance, start: RepairPlacement, budget: Budget, seed: int, stairs: Stairs | None
    ) -> Solved:
        """Return what CP-SAT makes of a start."""
        placement, bound, optimal = solve_intervals(instance, start, budget, seed, stairs)
        return Solved(placement, None if bound is None else -bound, optimal)

    def limit(self, problem: RecoveryProblem, budget: Budget, seed: int, *, parallel: bool) -> Limit | None:
        """Return what no schedule exceeds."""
        share = budget.part(0.5) if problem.may_pause else budget
        bound, with_pauses = repair_bound(all_stopped(problem), share, seed, parallel=parallel), None
        if problem.may_pause and not parallel:
            with_pauses = loss_with_pauses(problem, budget, seed)
        least = bound.value if with_pauses is None else max(bound.value, with_pauses)
        return Limit(-least, (bound.at_s, bound.most))


class FidelityTime:
    """Most output fidelity × seconds up to the horizon."""

    sense: Literal["min", "max"] = "max"

    def __init__(self, problem: RecoveryProblem, model: FidelityModel) -> None:
        self._problem, self._model = problem, model
        self._gains: FidelityGains | None = None

    def _of(self, instance: RepairInstance, budget: Budget | None = None) -> FidelityGains:
        """Return what placements of an instance gain, of the last one without asking again."""
        if self._gains is None or self._gains.instance is not instance:
            clock = Budget(UNHURRIED_S) if budget is None else budget.part(SETS)
            self._gains = gains_of(instance, self._problem.graph, self._model, clock)
        return self._gains

    def of_schedule(self, schedule: Schedule) -> float:
        """Return what a finished schedule is worth."""
        return fidelity_time_of(schedule, self._problem, self._model)

    def of_placement(self, instance: RepairInstance, placement: RepairPlacement) -> float:
        """Return what a placement is worth."""
        return self._of(instance).gained(placement)

    def listed(self, instance: RepairInstance, budget: Budget) -> RepairPlacement:
        """Return a list schedule."""
        return self._of(instance, budget).listed(budget)

    def searched(self, instance: RepairInstance, start: RepairPlacement, budget: Budget, seed: int) -> RepairPlacement:
        """Return a placement that is no worse than the start."""
        return self._of(instance, budget).searched(start, budget, seed)

    def modelled(
        self, instance: RepairInstance, start: RepairPlacement, budget: Budget, seed: int, stairs: Stairs | None
    ) -> Solved:
        """Return what CP-SAT makes of a start."""
        return Solved(*self._of(instance, budget).modelled(start, budget, seed))

    def limit(self, problem: RecoveryProblem, budget: Budget, seed: int, *, parallel: bool) -> Limit | None:
        """Return what no schedule exceeds; its stairs are of fidelity, not of priority."""
        bound = fidelity_repair_bound(problem, self._model, budget, seed, parallel=parallel)
        return Limit(bound.value)


def objective_of(problem: RecoveryProblem, name: RecoveryObjective) -> ObjectiveOverTime:
    """Return the objective over time of this name."""
    if name == "priority-time":
        return PriorityTime(problem)
    return FidelityTime(problem, fidelity_model(problem.graph, rates(problem.graph)))
