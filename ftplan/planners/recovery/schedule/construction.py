"""Making a schedule: walk through failures and arrivals, let a policy decide at each, place what it chose."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

import numpy as np

from ftplan.model.failed_queries import failed_queries
from ftplan.model.plan import Objective, Status, Warn
from ftplan.model.tolerances import ROUNDING
from ftplan.planners.recovery.knapsack.fractional_bound import fractional_bound
from ftplan.planners.recovery.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.schedule.decision_points import DecisionPoint, decision_points
from ftplan.planners.recovery.schedule.downtime import DowntimeLog
from ftplan.planners.recovery.schedule.node_assignment import Assignment
from ftplan.planners.recovery.schedule.packing import Deadline, Packing, begun_early, pack, pack_prefetch
from ftplan.planners.recovery.schedule.repair_state import RepairState
from ftplan.planners.recovery.schedule.schedule import Decision, Policy, Restore, Schedule, State, Step
from ftplan.planners.recovery.schedule.step_clock import StepClock
from ftplan.planners.recovery.schedule.unrecovered import no_query_returns, unrecovered
from ftplan.planners.result import Result

_log = logging.getLogger(__name__)

_RULES = ("capacity", "arrivals", "whole-queries")


def construct_schedule(
    problem: RecoveryProblem, options: RecoveryOptions, policy: Policy, until_s: float | None = None
) -> Result[Schedule]:
    """Return the schedule that a policy makes of a failure, step by step ([SuZhouTR], section 4.4).

    At each step the policy chooses tasks, which are placed (:mod:`packing`); capacity that is left begins the next
    query where ``options.prefetch`` says so. A failure on the way is not foreseen: its tasks join those that are
    down, and the next decision starts from what is back by then. Infeasible only if no query returns within the
    horizon. The bound of the objective ``priority`` sums over the steps the most that each could restore in the state
    that it met; optimal where every step restored that much.

    Steps for which the time does not last recover nothing. With *until_s*, a time of ``budget.now``, the schedule is a
    yardstick (:class:`StepClock`): either whole by then or not made at all (``no-plan-in-time``).
    """
    points = decision_points(problem)
    clock = StepClock(options, len(points), until_s)
    construction = _Construction(problem, options)
    overall_bound: float | None = None
    left_out = False
    for number, point in enumerate(points):
        late = clock.late()
        if late and clock.yardstick:
            break
        construction.apply(point)
        if late and number > 0:
            left_out |= construction.pass_over(point)
            continue
        coming = tuple(arrival for later in points[number + 1 :] for arrival in later.arrivals)
        state = construction.repair.observe(number, point.at_s, construction.queries, coming)
        decision = Decision(np.zeros(0, dtype=np.int64))
        if state.queries.queries:
            with clock.choosing(number) as budget:
                decision = policy(state, budget, options.seed)
        if number == 0:
            overall_bound = decision.overall_bound
        with clock.placing(number) as deadline:
            construction.carry_out(state, decision, point, deadline)
        if decision.note:
            _log.info("step %d: %s", number, decision.note)
    if clock.yardstick and clock.late():
        return Result("no-plan-in-time", None, (), reason="the comparison did not end in time")
    clock.budget.cut |= left_out
    result = construction.result(clock.budget.warnings(), left_out)
    return result if options.objective == "priority" else replace(result, bound=overall_bound)


class _Construction:
    """A schedule in the making."""

    def __init__(self, problem: RecoveryProblem, options: RecoveryOptions) -> None:
        self._problem, self._options = problem, options
        self._priority = problem.graph.per_task("priority")
        self.repair = RepairState(problem, options.parallel_recovery)
        self.queries = failed_queries(problem.graph, self.repair.down)
        self._downtimes = DowntimeLog(problem, self.queries)
        self._steps: list[Step] = []
        self._warnings: list[Warn] = []

    def apply(self, point: DecisionPoint) -> None:
        """Let failures and arrivals happen, in this order.

        Queries that a failure took down are open again, also in the steps before: a step restored what its decision
        made whole and no failure struck before it was back. Its bound stays: another choice might have been back.
        """
        if point.failures:
            for event in point.failures:
                self.repair.fail(event)
            self.queries = failed_queries(self._problem.graph, self.repair.down)
            undone = self._downtimes.reopen(self.queries, self.repair, point.at_s)
            for i, step in enumerate(self._steps):
                kept = tuple(item for item in step.restored if not (item[0] in undone and item[1] > point.at_s))
                if len(kept) != len(step.restored):
                    objective = self._objective(kept, step.objective.bound)
                    self._steps[i] = replace(step, restored=kept, objective=objective)
        for arrival in point.arrivals:
            self.repair.arrive(arrival.host)

    def pass_over(self, point: DecisionPoint) -> bool:
        """Add a step that recovers nothing, whose bound counts all that is down; return whether anything is."""
        most = float(self._priority[self.queries.query].sum())
        self._add(point, self.repair.capacity, most)
        return bool(self.queries.queries)

    def carry_out(self, state: State, decision: Decision, point: DecisionPoint, deadline: Deadline) -> None:
        """Add a step: place what a policy chose, and begin the next query with what is left."""
        if decision.placed is not None:
            packing = Packing(list(decision.placed))
            recover = self._restore(packing.placed, state.at_s, prefetch=begun_early(state, packing.placed))
        else:
            packing = pack(state, decision, self.repair, deadline)
            recover = self._restore(packing.placed, state.at_s)
        if decision.placed is None and self._options.prefetch and decision.prefetch:
            ahead = pack_prefetch(state, decision, self.repair, deadline.until_s)
            recover += self._restore(ahead, state.at_s, prefetch={item.task for item in ahead})
        self.queries = state.queries.without(~self.repair.down)
        restored = self._downtimes.close(self.queries, self.repair, state.step)
        bound = decision.bound
        if bound is None:
            bound = fractional_bound(state.knapsack()) if state.queries.queries else 0.0
        if packing.bound is not None:
            bound = min(bound, packing.bound)
        self._add(point, state.capacity, bound, recover, restored)
        self._warnings += packing.warnings

    def _restore(self, placed: Sequence[Assignment], at_s: float, prefetch: Set[int] = frozenset()) -> list[Restore]:
        times = self.repair.recover(placed, at_s)
        return [
            Restore(
                item.task,
                item.host,
                item.cpu,
                ready_s,
                item.task in prefetch,
                item.key_groups,
                float(self.repair.failed_s[item.task]),
                float(self.repair.down_s[item.task]),
            )
            for item, ready_s in zip(placed, times, strict=True)
        ]

    def _add(
        self,
        point: DecisionPoint,
        capacity: float,
        bound: float,
        recover: Sequence[Restore] = (),
        restored: Sequence[tuple[int, float]] = (),
    ) -> None:
        step = Step(
            at_s=point.at_s,
            trigger=point.trigger(self._problem),
            capacity=capacity,
            used=float(sum(item.cpu for item in recover)),
            objective=self._objective(restored, bound),
            global_rollback=self._rollback(point),
            recover=tuple(recover),
            restored=tuple(restored),
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
        return bool(point.failures) and not all(
            operator.deterministic for operator in self._problem.graph.topology.operators
        )

    def result(self, said: Iterable[Warn], left_out: bool) -> Result[Schedule]:
        """Return the schedule with the bound of the objective ``priority``.

        Parameters
        ----------
        said
            Warnings of the budget.
        left_out
            Whether steps recovered nothing for want of time.
        """
        problem, steps = self._problem, tuple(self._steps)
        downtimes = self._downtimes.ended(steps[-1].at_s, self.queries, self.repair)
        warnings = tuple(dict.fromkeys([*problem.warnings, *self._warnings, *said]))
        bound = float(sum(step.objective.bound or 0.0 for step in steps))
        failed = self._downtimes.first_queries
        if failed.queries and not any(d.back_s is not None and d.back_s <= problem.horizon_s for d in downtimes):
            if left_out:
                limit_s = self._options.time_limit_s
                reason = f"no query is back by the steps that {limit_s:g} s lasted for: more time may bring one"
                return Result("no-plan-in-time", None, (), bound, reason, None, warnings)
            infeasible = no_query_returns(problem, steps, failed)
            return Result("infeasible", None, (), bound, infeasible.reason, infeasible, warnings)
        schedule = Schedule(steps, downtimes, unrecovered(self.repair, self.queries))
        gaps = [step.objective.gap for step in steps]
        closed = self._options.objective == "priority" and all(gap is not None and gap <= ROUNDING for gap in gaps)
        status: Status = "optimal" if closed else "feasible"
        return Result(status, schedule, _RULES, bound, None, None, warnings)
