"""What an answer is never worse than: step by step, blocking recovery, random orders, each a schedule in full."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ftplan.model.failed_queries import failed_queries
from ftplan.planners.budget import now
from ftplan.planners.recovery_schedule.algorithms.blocking import blocking
from ftplan.planners.recovery_schedule.algorithms.random_order import random_order
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import Beside, Policy, Schedule
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.result import Result

#: Random orders: at most, at least, and how many looks at a query at a step they may take.
ORDERS, LEAST_ORDERS, LOOKS = 20, 2, 2_000_000


@dataclass(frozen=True, eq=False)
class Yardstick:
    """A schedule that is made without a search, the policy that made it, and the options that it was made with."""

    result: Result[Schedule]
    policy: Policy
    options: RecoveryOptions


@dataclass(frozen=True, eq=False)
class Yardsticks:
    """What could be made in time; ``orders`` is how many random orders were wanted."""

    blocking: Yardstick | None
    random: tuple[Yardstick, ...]
    orders: int

    def __iter__(self) -> Iterator[Yardstick]:
        """Yield blocking recovery, then the random orders in the order in which they were drawn."""
        if self.blocking is not None:
            yield self.blocking
        yield from self.random

    def beside(self, step_by_step: Schedule | None) -> Beside:
        """Return the schedules for the summary of an answer."""
        return Beside(
            step_by_step=step_by_step,
            blocking=() if self.blocking is None else (self.blocking.result.answer,),
            random=tuple(yardstick.result.answer for yardstick in self.random),
            orders=self.orders,
        )


def yardsticks(problem: RecoveryProblem, options: RecoveryOptions, until_s: float) -> Yardsticks:
    """Return blocking recovery and random orders, as many as the time until *until_s* of ``budget.now`` lasts for.

    How many orders are wanted depends on the size of the problem alone; none where the work is bounded to none. Their
    placement asks no solver, so that the clock decides nothing of them but how many there are.
    """
    plain = replace(options, objective="priority", iterations=None)
    blocked = _made(problem, plain, blocking, until_s)
    orders = orders_wanted(problem, options)
    drawn: list[Yardstick] = []
    for k in range(orders):
        one = _made(problem, replace(plain, seed=options.seed * ORDERS + k), random_order, until_s)
        if one is None:
            break
        drawn.append(one)
        if now() > until_s:
            break
    return Yardsticks(blocked, tuple(drawn), orders)


def orders_wanted(problem: RecoveryProblem, options: RecoveryOptions) -> int:
    """Return how many random orders an answer is held against."""
    if options.iterations == 0:
        return 0
    looks = failed_queries(problem.graph, problem.failed).queries * (1 + len(problem.arrivals) + len(problem.failures))
    return min(ORDERS, max(LEAST_ORDERS, LOOKS // max(1, looks)))


def _made(problem: RecoveryProblem, options: RecoveryOptions, policy: Policy, until_s: float) -> Yardstick | None:
    result = construct_schedule(problem, options, policy, until_s)
    return None if result.status == "no-plan-in-time" else Yardstick(result, policy, options)
