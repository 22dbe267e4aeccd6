"""Baselines, which no answer is worse than: blocking recovery and random orders, each a schedule in full."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.failed_queries import failed_queries
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget, now
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import fits
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, Policy, StepState
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import ComparedSchedules, Schedule
from ftplan.planners.result import Result


def random_order(state: StepState, budget: Budget, seed: int) -> Decision:
    """Take queries in an order drawn once for *seed*."""
    return recover_in_order(
        state, np.random.default_rng(seed).permutation(state.problem.graph.tasks).astype(np.float64)
    )


def recover_in_order(state: StepState, place: FloatArray) -> Decision:
    """Take queries by their *place*, shape (tasks,), each that still fits; the next is begun with what is left.

    Queries in infinite places wait. Cost O(entries + tasks · log tasks).
    """
    queries, knapsack = state.queries, state.knapsack()
    rank = place[queries.query]
    weight, member, start = knapsack.weight.tolist(), queries.member.tolist(), queries.start.tolist()
    never = np.zeros(queries.bundles, dtype=np.bool_)
    never[queries.bundle[state.hopeless[queries.task]]] = True
    hopeless = never.tolist()
    taken = [-1] * queries.bundles  # in the order in which they are chosen
    residual, chosen = knapsack.limit, 0
    ahead: list[int] = []
    for query in np.argsort(rank, kind="stable")[: int(np.isfinite(rank).sum())].tolist():
        missing = [bundle for bundle in member[start[query] : start[query + 1]] if taken[bundle] < 0]
        cost = sum([weight[bundle] for bundle in missing])
        if cost <= residual:
            for bundle in missing:
                taken[bundle] = chosen
            residual -= cost
            chosen += 1
        elif not ahead and not any(hopeless[bundle] for bundle in missing):
            ahead = member[start[query] : start[query + 1]]
    begun = np.zeros(queries.bundles, dtype=np.bool_)
    begun[ahead] = True
    where = np.array(taken, dtype=np.int64)[queries.bundle]
    tasks = np.flatnonzero(where >= 0)
    tasks = tasks[np.argsort(where[tasks], kind="stable")]
    return Decision(queries.task[tasks], ahead=queries.tasks_of(begun))


def blocking(state: StepState, budget: Budget, seed: int) -> Decision:
    """Recover all that is down, or nothing: the blocking approach of [SuZhouTR], section 7; a baseline, no planner.

    Where the tasks fit in sum but not onto the nodes one by one, the queries that fit go first.
    """
    tasks = state.queries.task
    everything = fits(float(state.cost[tasks].sum()), state.fillable) and not state.too_large[tasks].any()
    return Decision(tasks if everything else np.zeros(0, dtype=np.int64), prefetch=False)


#: Random orders: at most, at least, and how many looks at a query at a step they may take.
ORDERS, LEAST_ORDERS, MAX_QUERY_CHECKS = 20, 2, 2_000_000


@dataclass(frozen=True, eq=False)
class Baseline:
    """A schedule that is made without a search, the policy that made it, and the options that it was made with."""

    result: Result[Schedule]
    policy: Policy
    options: RecoveryOptions


@dataclass(frozen=True, eq=False)
class Baselines:
    """What could be made in time; ``orders`` is how many random orders were wanted."""

    blocking: Baseline | None
    random: tuple[Baseline, ...]
    orders: int

    def __iter__(self) -> Iterator[Baseline]:
        """Yield blocking recovery, then the random orders in the order in which they were drawn."""
        if self.blocking is not None:
            yield self.blocking
        yield from self.random

    def beside(self, step_by_step: Schedule | None) -> ComparedSchedules:
        """Return the schedules for the summary of an answer."""
        return ComparedSchedules(
            step_by_step=step_by_step,
            blocking=() if self.blocking is None else (self.blocking.result.answer,),
            random=tuple(other.result.answer for other in self.random),
            orders=self.orders,
        )


def baselines_of(problem: RecoveryProblem, options: RecoveryOptions, until_s: float) -> Baselines:
    """Return blocking recovery and random orders, as many as the time until *until_s* of ``budget.now`` lasts for.

    How many orders are wanted depends on the size of the problem alone; none where the work is bounded to none. Their
    placement asks no solver, so that the clock decides nothing of them but how many there are.
    """
    plain = replace(options, objective="priority", iterations=None)
    blocked = _made(problem, plain, blocking, until_s)
    orders = orders_wanted(problem, options)
    drawn: list[Baseline] = []
    for k in range(orders):
        one = _made(problem, replace(plain, seed=options.seed * ORDERS + k), random_order, until_s)
        if one is None:
            break
        drawn.append(one)
        if now() > until_s:
            break
    return Baselines(blocked, tuple(drawn), orders)


def orders_wanted(problem: RecoveryProblem, options: RecoveryOptions) -> int:
    """Return how many random orders an answer is held against."""
    if options.iterations == 0:
        return 0
    looks = failed_queries(problem.graph, problem.failed).queries * (1 + len(problem.arrivals) + len(problem.failures))
    return min(ORDERS, max(LEAST_ORDERS, MAX_QUERY_CHECKS // max(1, looks)))


def _made(problem: RecoveryProblem, options: RecoveryOptions, policy: Policy, until_s: float) -> Baseline | None:
    result = construct_schedule(problem, options, policy, until_s)
    return None if result.status == "no-plan-in-time" else Baseline(result, policy, options)
