"""Making a schedule: walk through failures and arrivals, let a policy decide at each, place what it chose."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ftplan.model.failed_queries import failed_queries
from ftplan.model.plan import Objective, Status, Warn
from ftplan.model.tolerances import ROUNDING
from ftplan.planners.recovery_schedule.algorithms.knapsack.bounds import fractional_bound
from ftplan.planners.recovery_schedule.algorithms.schedule.downtime import DowntimeLog, no_query_returns, unrecovered
from ftplan.planners.recovery_schedule.algorithms.schedule.packing import (
    Deadline,
    StepClock,
    StepPacking,
    begun_early,
    pack,
    pack_prefetch,
)
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, Policy, StepState
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import RepairState
from ftplan.planners.recovery_schedule.problem import DecisionPoint, RecoveryOptions, RecoveryProblem, decision_points
from ftplan.planners.recovery_schedule.schedule import Pause, Restore, Schedule, ScheduleStep
from ftplan.planners.result import Result

_log = logging.getLogger(__name__)

_RULES = ("capacity", "arrivals", "whole-queries")


def construct_schedule(
    problem: RecoveryProblem,
    options: RecoveryOptions,
    policy: Policy,
    until_s: float | None = None,
    *,
    partly: bool = False,
) -> Result[Schedule]:
    """Return the schedule that a policy makes of a failure, step by step ([SuZhouTR], section 4.4).

    At each step the policy chooses tasks, which are placed (:mod:`packing`); capacity that is left begins the next
    query where ``options.prefetch`` says so. A failure on the way is not foreseen: its tasks join those that are
    down, and the next decision starts from what is back by then. Infeasible only if no query returns within the
    horizon; with *partly* tasks may also return for queries that never are whole. The bound of the objective
    ``priority`` sums over the steps the most that each could restore in the state that it met; optimal where every step
    restored that much.

    Steps for which the time does not last recover nothing. With *until_s*, a time of ``budget.now``, the schedule is a
    baseline (:class:`StepClock`): either whole by then or not made at all (``no-plan-in-time``).
    """
    points = decision_points(problem)
    clock = StepClock(options, len(points), until_s)
    construction = _Construction(problem, options)
    left_out = False
    for number, point in enumerate(points):
        late = clock.late()
        if late and clock.baseline:
            break
        construction.apply(point)
        if late and number > 0:
            left_out |= construction.add_empty_step(point)
            continue
        coming = tuple(arrival for later in points[number + 1 :] for arrival in later.arrivals)
        state = construction.repair.observe(number, point.at_s, construction.queries, coming)
        decision = Decision(np.zeros(0, dtype=np.int64))
        if state.queries.queries:
            with clock.choosing(number) as budget:
                decision = policy(state, budget, options.seed)
        with clock.placing(number) as deadline:
            construction.add_step(state, decision, point, deadline)
        if decision.note:
            _log.info("step %d: %s", number, decision.note)
    if clock.baseline and clock.late():
        return Result("no-plan-in-time", None, (), reason="the comparison did not end in time")
    clock.budget.cut |= left_out
    result = construction.result(clock.budget.warnings(), left_out, partly)
    return result if options.objective == "priority" else replace(result, bound=None)


def nothing_recovered(problem: RecoveryProblem) -> Schedule:
    """Return the schedule that recovers nothing, with the outages of all stated failures. Cost O(steps · tasks)."""
    construction = _Construction(problem, RecoveryOptions(time_limit_s=0.0))
    for point in decision_points(problem):
        construction.apply(point)
        construction.add_empty_step(point)
    return construction.schedule()


class _Construction:
    """A schedule in the making."""

    def __init__(self, problem: RecoveryProblem, options: RecoveryOptions) -> None:
        self._problem, self._options = problem, options
        self._priority = problem.graph.per_task("priority")
        self.repair = RepairState(problem, options.parallel_recovery)
        self.queries = failed_queries(problem.graph, self.repair.down)
        self._downtimes = DowntimeLog(problem, self.queries)
        self._steps: list[ScheduleStep] = []
        self._warnings: list[Warn] = []
        self._struck = False  # whether tasks failed just before the step
        self._rolled_back: tuple[Restore, ...] = ()
        self._again: list[tuple[int, float]] = []  # restored by an earlier step, and again after they went back

    def apply(self, point: DecisionPoint) -> None:
        """Let failures and arrivals happen, in this order.

        Queries that a failure took down are open again, also in the steps before: a step restored what its decision
        made whole and no failure struck before it was back. Its bound stays: another choice might have been back.
        What only goes back to the last checkpoint then counts where that happens.
        """
        struck = self.repair.strike(point.failures, point.at_s)
        self._struck = bool(struck.tasks.any())
        self._rolled_back, self._again = tuple(struck.rolled_back), []
        if point.failures or struck.rolled_back:
            self._reopen(point.at_s)
        for arrival in point.arrivals:
            self.repair.arrive(arrival.host)

    def _reopen(self, at_s: float) -> None:
        """Open the downtimes of what is down now, and take it from the steps that had made it whole by later."""
        self.queries = failed_queries(self._problem.graph, self.repair.down)
        rolled_back = len(self._steps) if self._rolled_back else None
        undone, self._again = self._downtimes.reopen(self.queries, self.repair, at_s, rolled_back)
        for i, step in enumerate(self._steps):
            kept = tuple(item for item in step.restored if not (item[0] in undone and item[1] > at_s))
            if len(kept) != len(step.restored):
                objective = self._objective(kept, step.objective.bound)
                self._steps[i] = replace(step, restored=kept, objective=objective)

    def _pause(self, decision: Decision, at_s: float) -> tuple[Pause, ...]:
        """Let tasks give way as a policy decided."""
        if not decision.pause and not decision.pause_standby:
            return ()
        pauses = tuple(self.repair.pause(decision.pause, at_s, decision.pause_standby))
        if decision.pause:
            again, rolled_back = self._again, self._rolled_back
            self._rolled_back = ()
            self._reopen(at_s)
            self._again, self._rolled_back = again, rolled_back
        return pauses

    def add_empty_step(self, point: DecisionPoint) -> bool:
        """Add a step that recovers nothing, whose bound counts all that is down; return whether anything is."""
        most = float(self._priority[self.queries.query].sum())
        self._add(point, self.repair.capacity, most)
        return bool(self.queries.queries)

    def add_step(self, state: StepState, decision: Decision, point: DecisionPoint, deadline: Deadline) -> None:
        """Add a step: pause and place what a policy chose, and begin the next query with what is left."""
        capacity, pauses = state.capacity, self._pause(decision, state.at_s)
        if pauses:
            coming = state.coming
            state = self.repair.observe(state.step, state.at_s, self.queries, coming)
        if decision.placed is not None:
            packing = StepPacking(list(decision.placed))
            recover = self.repair.recover(packing.placed, state.at_s, begun_early(state, packing.placed))
        else:
            packing = pack(state, decision, self.repair, deadline, self._options.seed)
            recover = self.repair.recover(packing.placed, state.at_s)
        if decision.placed is None and self._options.prefetch and decision.prefetch:
            ahead = pack_prefetch(state, decision, self.repair, deadline.until_s)
            recover += self.repair.recover(ahead, state.at_s, {item.task for item in ahead})
        self.queries = state.queries.without(~self.repair.down)
        restored = self._downtimes.close(self.queries, self.repair, state.step)
        bound = decision.bound
        if bound is None:
            bound = fractional_bound(state.knapsack()) if state.queries.queries else 0.0
        if packing.bound is not None:
            bound = min(bound, packing.bound)
        self._add(point, capacity, bound, recover, restored, pauses)
        self._warnings += packing.warnings

    def _add(
        self,
        point: DecisionPoint,
        capacity: float,
        bound: float,
        recover: Sequence[Restore] = (),
        restored: Sequence[tuple[int, float]] = (),
        pause: tuple[Pause, ...] = (),
    ) -> None:
        """Add a step; any decision has the queries that are restored again, besides those that it *restored*."""
        bound += float(sum(self._priority[query] for query, _ in self._again))
        restored = [*self._again, *restored]
        step = ScheduleStep(
            at_s=point.at_s,
            trigger=point.trigger(self._problem),
            capacity=capacity,
            used=float(sum(item.cpu for item in recover)),
            objective=self._objective(restored, bound),
            global_rollback=self._rollback(point),
            recover=tuple(recover),
            restored=tuple(restored),
            rolled_back=self._rolled_back,
            pause=pause,
        )
        self._steps.append(step)

    def _objective(self, restored: Iterable[tuple[int, float]], bound: float | None) -> Objective:
        return Objective.of("priority", "max", float(sum(self._priority[query] for query, _ in restored)), bound)

    def _rollback(self, point: DecisionPoint) -> bool:
        """Return whether all live tasks go back to the last checkpoint.

        At the first failure they do; later only where an operator may answer a replay differently ([SuZhouTR], sections
        4.3 and 4.4).
        """
        if not self._steps:
            return True
        return self._struck and not all(operator.deterministic for operator in self._problem.graph.topology.operators)

    def schedule(self) -> Schedule:
        """Return the steps so far, with the outages and what is still down after them."""
        downtimes = self._downtimes.ended(self._steps[-1].at_s, self.queries, self.repair)
        return Schedule(tuple(self._steps), downtimes, unrecovered(self.repair, self.queries))

    def result(self, said: Iterable[Warn], left_out: bool, partly: bool) -> Result[Schedule]:
        """Return the schedule with the bound of the objective ``priority``.

        Parameters
        ----------
        said
            Warnings of the budget.
        left_out
            Whether steps recovered nothing for want of time.
        partly
            Whether a schedule in which no query returns is one.
        """
        problem, steps, schedule = self._problem, tuple(self._steps), self.schedule()
        warnings = tuple(dict.fromkeys([*problem.warnings, *self._warnings, *said]))
        bound = float(sum(step.objective.bound or 0.0 for step in steps))
        failed = self._downtimes.first_queries
        outages = [d for d in schedule.downtimes if not d.rolled_back]
        returned = any(d.back_s is not None and d.back_s <= problem.horizon_s for d in outages)
        if failed.queries and not returned and not partly:
            if left_out:
                limit_s = self._options.time_limit_s
                reason = f"no query is back by the steps that {limit_s:g} s lasted for: more time may bring one"
                return Result("no-plan-in-time", None, (), bound, reason, None, warnings)
            infeasible = no_query_returns(problem, steps, failed)
            return Result("infeasible", None, (), bound, infeasible.reason, infeasible, warnings)
        gaps = [step.objective.gap for step in steps]
        closed = self._options.objective == "priority" and all(gap is not None and gap <= ROUNDING for gap in gaps)
        status: Status = "optimal" if closed else "feasible"
        return Result(status, schedule, _RULES, bound, None, None, warnings)
