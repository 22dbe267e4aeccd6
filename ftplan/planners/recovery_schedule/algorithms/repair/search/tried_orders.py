"""Orders of queries tried in full, where failures come later: which one was good shows in what comes of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.local_search import anneal
from ftplan.planners.recovery_schedule.algorithms.schedule.baselines import recover_in_order
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, Policy, StepState
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Schedule
from ftplan.planners.result import Result

#: Orders that are tried; how many queries change their places from one to the next, at most.
ORDERS, MOVED = 400, 3
#: Share of the places behind 1: queries there wait until the last failure is over.
KEPT_SHARE = 1.0 / 3.0
#: Temperature at the start and the end, in what is worth most.
HOT, COLD = 0.02, 0.0002


def tried_orders(
    problem: RecoveryProblem,
    options: RecoveryOptions,
    start: Schedule,
    worth: Callable[[Schedule], float],
    budget: Budget,
) -> Result[Schedule] | None:
    """Return a schedule that is worth more than the start, None where none was found.

    Simulated annealing over places of queries: each order is carried out with all failures, and none looks ahead to
    them (:func:`recover_in_order`). No guarantee. ``budget.iterations`` is how many orders are tried.
    """
    queries = np.unique([downtime.query for downtime in start.downtimes])
    tried = _TriedOrders(problem, options, queries, _places(problem, start), worth, budget)
    tried.reached = worth(start)
    if len(queries) and budget.passes(ORDERS) and not budget.over():
        left_s, rounds = budget.left_s, budget.passes(ORDERS) - 1
        tried.carry_out()
        possible = int(budget.left_s / max(left_s - budget.left_s, 1e-9))
        budget.cut |= possible < rounds  # it cools down in the time that there is
        hot, cold = ((abs(tried.reached) or 1.0) * share for share in (HOT, COLD))
        anneal(tried, tried.random.random, min(rounds, possible), budget, hot, cold)
    return tried.best


class _TriedOrders:
    """Places of queries, and the best of the schedules that came of them; see ``AnnealedState``."""

    def __init__(
        self,
        problem: RecoveryProblem,
        options: RecoveryOptions,
        queries: IntArray,
        place: FloatArray,
        worth: Callable[[Schedule], float],
        budget: Budget,
    ) -> None:
        self._problem, self._queries, self._worth, self._budget = problem, queries, worth, budget
        self._options = replace(options, objective="priority", iterations=0)
        self._place, self._before, self._here, self._value = place, place, -math.inf, -math.inf
        self.random = np.random.default_rng(options.seed)
        self.best: Result[Schedule] | None = None
        self.reached = -math.inf

    def carry_out(self) -> None:
        """Make the schedule of the places, and keep it if it is the best."""
        options = replace(self._options, time_limit_s=self._budget.left_s)
        made = construct_schedule(self._problem, options, _by_places(self._problem, self._place))
        self._value = -math.inf if made.answer is None else self._worth(made.answer)
        if self._value > self.reached:
            self.best, self.reached = made, self._value

    def move(self) -> float | None:
        """Move some queries to random places; return how much less the schedule is worth."""
        if self._budget.over():
            return None
        self._before, self._here, self._place = self._place, self._value, self._place.copy()
        count = min(int(self.random.integers(1, MOVED + 1)), len(self._queries))
        moved = self.random.choice(self._queries, count, replace=False)
        self._place[moved] = self.random.random(count) / (1.0 - KEPT_SHARE)
        self.carry_out()
        return 0.0 if self._here == -math.inf else self._here - self._value

    def keep(self) -> None:
        """Go on from the new places."""

    def undo(self) -> None:
        """Go back to the places before."""
        self._place, self._value = self._before, self._here


def _places(problem: RecoveryProblem, schedule: Schedule) -> FloatArray:
    """Return a place from 0 to 1 for each query, shape (tasks,), in the order in which they came back first."""
    back = np.full(problem.graph.tasks, np.inf)
    for downtime in schedule.downtimes:
        if downtime.back_s is not None:
            back[downtime.query] = min(back[downtime.query], downtime.back_s)
    _, rank = np.unique(back, return_inverse=True)
    return np.asarray(rank / max(1, int(rank.max(initial=0))), dtype=np.float64)


def _by_places(problem: RecoveryProblem, place: FloatArray) -> Policy:
    last_s = max(event.at_s for event in problem.failures)
    held = np.where(place > 1.0, np.inf, place)

    def decide(state: StepState, budget: Budget, seed: int) -> Decision:
        return recover_in_order(state, place if state.at_s >= last_s else held)

    return decide
