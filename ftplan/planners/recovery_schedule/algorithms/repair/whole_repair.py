"""The whole repair planned at once: starts, list schedules, search, exact models, and the bound, where the gap is."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from ftplan.model.tolerances import PROVEN, ROUNDING
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents, wanted_gap
from ftplan.planners.recovery_schedule.algorithms.repair.instance import (
    RepairInstance,
    RepairPlacement,
    instance_of,
    nothing_started,
)
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import (
    Method,
    ObjectiveOverTime,
    Solved,
    Stairs,
    objective_of,
)
from ftplan.planners.recovery_schedule.algorithms.repair.pausing import PausingRepair
from ftplan.planners.recovery_schedule.algorithms.repair.placements import placement_of_schedule
from ftplan.planners.recovery_schedule.algorithms.repair.policy import FollowingPolicy, RepairSolver, WholeRepairPolicy
from ftplan.planners.recovery_schedule.algorithms.repair.search.tried_orders import tried_orders
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule, nothing_recovered
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Policy
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import at_failure
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result

#: Shares of the time left: for a first bound, for all planning, of this for the model; the rest is for the search.
FIRST_BOUND, PLANNED, MODEL = 0.1, 0.7, 0.35
#: Share of the time for the first bound where the work is bounded: what the clock cuts is not the same in the next run.
BOUNDED = 0.5
#: Seconds that the first bound may take of a short time.
LEAST_BOUND_S = 0.2
#: Share of the time left for all planning where failures come later: what is hard then is the bound.
PLANNED_AT_FAILURES = 0.4
#: Share of the time left for a schedule in which running queries give way.
WITH_PAUSES = 0.4
#: Shares, where failures come later, of planning for fidelity, of planning at each failure, and of what is left then
#: for trying orders in full.
FOR_FIDELITY, AT_FAILURES, TRIED = 0.25, 0.3, 0.6
#: Seconds that a placement may take to be carried out, even when the time is over.
GRACE_S = 0.5
#: Value below which a gap is not relative to it.
LEAST_GAP_SCALE = 5e-4
#: Pairs of a task and a host up to which a repair is planned as a whole.
MOST_PAIRS = 20_000_000


def pairs_of(problem: RecoveryProblem) -> int:
    """Return the number of pairs of a failed task and a node that it may go to."""
    return int(problem.failed.sum()) * len(problem.hosts)


class RepairSearch:
    """A repair that is planned by one method: the schedules so far, the best of them and what none exceeds."""

    def __init__(
        self,
        problem: RecoveryProblem,
        options: RecoveryOptions,
        method: Method,
        objective: ObjectiveOverTime,
        budget: Budget,
    ) -> None:
        self.problem, self.options, self.method = problem, options, method
        self.objective, self.budget = objective, budget
        size = problem.horizon_s * float(problem.graph.per_task("priority").max(initial=0.0))
        self.log: Incumbents[Result[Schedule]] = Incumbents(
            objective.sense,
            options.objective,
            size=size if objective.sense == "min" else 0.0,
            scale=lambda value, _: max(abs(value), LEAST_GAP_SCALE),
            gap=wanted_gap(pairs_of(problem)),
        )
        self.results: list[Result[Schedule]] = []
        self.stairs: Stairs | None = None
        self.bound_cut = False  # whether the clock ended a bound, which is of no matter where one is reached

    @property
    def schedules(self) -> list[Schedule]:
        """All schedules so far."""
        return [result.answer for result in self.results if result.answer is not None]

    @property
    def is_planned(self) -> bool:
        """Whether the repair is planned as a whole, in which tasks are not split."""
        return self.method.alone is None and not self.options.parallel_recovery and pairs_of(self.problem) <= MOST_PAIRS

    def add(self, result: Result[Schedule], by: str) -> float | None:
        """Take a schedule, if there is one; return what it is worth."""
        self.results.append(result)
        if result.answer is None:
            return None
        worth = self.objective.of_schedule(result.answer)
        self.log.offer(result, self._value(worth), by)
        return worth

    def bound_by(self, most: float, by: str) -> bool:
        """Take a limit on what any schedule is worth; return whether it is less than the one so far."""
        return self.log.prove(self._value(most), by)

    def _value(self, worth: float) -> float:
        return worth if self.objective.sense == "max" else -worth

    def gains(self, schedule: Schedule) -> bool:
        """Return whether a schedule is worth more than recovering nothing."""
        return self.objective.of_schedule(schedule) > self.nothing + ROUNDING * max(1.0, abs(self.nothing))

    @cached_property
    def nothing(self) -> float:
        """What recovering nothing is worth."""
        return self.objective.of_schedule(nothing_recovered(self.problem))

    def reached(self, worth: float) -> bool:
        """Return whether nothing can be worth more, up to rounding and the gap that is wanted."""
        value = self._value(worth)
        return abs(self.log.bound - value) <= max(PROVEN, self.log.wanted) * max(abs(value), LEAST_GAP_SCALE)


def plan_whole_repair(repair: RepairSearch) -> None:
    """Plan a repair as a whole, and bound it: first cheaply, at the end with the time that is left.

    Where nothing fails later the placement at step 0 is worth what its schedule is, and one is planned. Else several
    schedules are made in full, each planned anew at every failure, which it does not foresee.
    """
    whole = _bound(repair, _first_share(repair.budget))
    in_time = repair.log.answer is None or not repair.budget.over()
    if repair.is_planned and in_time and not repair.log.closed:
        if repair.problem.may_pause:
            _plan_with_pauses(repair)
        if repair.problem.failures:
            _plan_for_fidelity(repair)
            _plan_at_each_failure(repair)
        else:
            _plan_once(repair)
    if not whole and not repair.log.closed and not repair.budget.over():
        _bound(repair, 1.0)


def _first_share(budget: Budget) -> float:
    """Return the share of the time for the first bound, at which bounded work ends by itself."""
    if budget.iterations is not None:
        return BOUNDED
    return max(FIRST_BOUND, min(1.0, LEAST_BOUND_S / max(budget.left_s, LEAST_BOUND_S)))


def _bound(repair: RepairSearch, share: float) -> bool:
    """Take a lower limit on what any schedule is worth; return whether more time would bring no other."""
    part = repair.budget.part(share)
    limit = repair.objective.limit(repair.problem, part, repair.options.seed, parallel=repair.options.parallel_recovery)
    repair.bound_cut |= part.cut
    if limit is not None and repair.bound_by(limit.most, "relaxations"):
        repair.stairs = limit.stairs
    return repair.budget.iterations is not None and not part.cut


def _plan_once(repair: RepairSearch) -> None:
    """Plan at step 0; nothing comes that the plan does not foresee."""
    problem, part = repair.problem, repair.budget.part(PLANNED)
    instance = instance_of(at_failure(problem), repair.options.prefetch)
    solved = _solved(repair, instance, part, repair.options.seed)
    repair.budget.cut |= part.cut
    worth = _add_schedule(
        repair, WholeRepairPolicy(lambda *_: solved.placement, repair.options.prefetch), "whole repair"
    )
    if solved.most is None or worth is None or problem.may_pause:
        return
    most = solved.most
    if problem.rolls_back:  # queries that lost no task are down for a time that no placement changes
        most += worth - repair.objective.of_placement(instance, solved.placement)
    repair.bound_by(most, "CP-SAT")


def _plan_with_pauses(repair: RepairSearch) -> None:
    """Plan a schedule in which running queries give way."""
    part = repair.budget.part(WITH_PAUSES)
    _add_schedule(
        repair,
        PausingRepair(
            _planner(repair, part), lambda instance: repair.objective.listed(instance, part), repair.options.prefetch
        ),
        "whole repair with pauses",
    )


def _plan_for_fidelity(repair: RepairSearch) -> None:
    """Take the schedules for fidelity over time as starts, where failures come later.

    What queries that are not whole yet have begun by then is of use after it; planning for whole queries does not see
    that, as no failure is foreseen.
    """
    method = repair.method
    if repair.options.objective == "fidelity-time" or not (method.search or method.model):
        return
    part, options = repair.budget.part(FOR_FIDELITY), replace(repair.options, objective="fidelity-time")
    other = RepairSearch(repair.problem, options, method, objective_of(repair.problem, "fidelity-time"), part)
    for result in repair.results:
        other.add(result, "a start")
    count = len(other.results)
    _plan_at_each_failure(other)
    repair.budget.cut |= part.cut
    for result in other.results[count:]:  # those in which no query returns are none here
        if result.answer is not None and repair.gains(result.answer):
            repair.add(result, "planned for fidelity")


def _plan_at_each_failure(repair: RepairSearch) -> None:
    """Plan at each failure anew, then try orders in full, then plan from the last failure on, with nothing hidden."""
    problem, options, method = repair.problem, repair.options, repair.method
    policy: Policy
    whole = repair.budget.part(PLANNED_AT_FAILURES)
    policy = WholeRepairPolicy(_planner(repair, whole.part(AT_FAILURES)), options.prefetch)
    _add_schedule(repair, policy, "planned at each failure")
    if not (method.search or method.model) or repair.log.closed:
        return
    if repair.log.answer is not None and repair.log.answer.answer is not None:
        part, start = whole.part(TRIED), repair.log.answer.answer
        found = tried_orders(problem, options, start, repair.objective.of_schedule, part)
        whole.cut |= part.cut
        if found is not None and found.answer is not None:
            repair.add(found, "orders tried in full")
            start = found.answer
        last_s = max(event.at_s for event in problem.failures)
        policy = FollowingPolicy(start, last_s, _planner(repair, whole), options.prefetch)
        _add_schedule(repair, policy, "planned from the last failure on")
    repair.budget.cut |= whole.cut


def _planner(repair: RepairSearch, budget: Budget) -> RepairSolver:
    """Return what plans with an equal part of the time at step 0 and at each failure, twice where tasks may pause."""
    times = 1 + len({event.at_s for event in repair.problem.failures})
    plans = iter(range(times * (2 if repair.problem.may_pause else 1), 0, -1))

    def planned(instance: RepairInstance, _: Budget, seed: int) -> RepairPlacement:
        part = budget.part(1.0 / next(plans, 1))
        placement = _solved(repair, instance, part, seed).placement
        repair.budget.cut |= part.cut
        return placement

    return planned


def _add_schedule(repair: RepairSearch, policy: Policy, by: str) -> float | None:
    """Make a schedule in full; return what it is worth, None without one."""
    options = replace(repair.options, time_limit_s=repair.budget.left_s + GRACE_S)
    partly = repair.options.objective == "fidelity-time"
    result = construct_schedule(repair.problem, options, policy, partly=partly)
    if partly and result.answer is not None and not repair.gains(result.answer):
        return None
    return repair.add(result, by)


def _solved(repair: RepairSearch, instance: RepairInstance, budget: Budget, seed: int) -> Solved:
    """Return what the method makes of an instance; it ends where nothing better is possible."""
    method, objective = repair.method, repair.objective
    problem = repair.problem
    final = not (problem.failures or problem.rolls_back or problem.may_pause)
    if len(instance.task) == 0 or len(instance.host) == 0:
        return Solved(nothing_started(instance))
    solved = Solved(_start(repair, instance, budget))

    def open_() -> bool:
        return not (final and repair.reached(objective.of_placement(instance, solved.placement))) and not budget.over()

    if method.model and open_():
        part = budget.part(MODEL)
        solved = objective.modelled(instance, solved.placement, part, seed, repair.stairs if final else None)
        budget.cut |= part.cut
    if method.search and not solved.optimal and open_():
        solved = solved._replace(placement=objective.searched(instance, solved.placement, budget, seed))
    return solved


def _start(repair: RepairSearch, instance: RepairInstance, budget: Budget) -> RepairPlacement:
    """Return the best of the list schedule and of what the schedules so far start from here on."""
    starts = [repair.objective.listed(instance, budget)]
    starts += [
        placement
        for schedule in repair.schedules
        if (placement := placement_of_schedule(schedule, instance)) is not None
    ]
    return max(starts, key=lambda placement: repair.objective.of_placement(instance, placement))
