"""Orders of queries tried in full, where failures come later: which one was good shows in what comes of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
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
    rng = np.random.default_rng(options.seed)
    queries = np.unique([downtime.query for downtime in start.downtimes])
    place, here = _places(problem, start), -math.inf
    best, most = None, worth(start)
    orders = budget.passes(ORDERS)
    plain = replace(options, objective="priority", iterations=0)
    done, began = 0, budget.left_s
    while done < orders and len(queries) and not budget.over():
        tried = place.copy()
        if done:
            moved = rng.choice(queries, min(int(rng.integers(1, MOVED + 1)), len(queries)), replace=False)
            tried[moved] = rng.random(len(moved)) / (1.0 - KEPT_SHARE)
        made = construct_schedule(problem, replace(plain, time_limit_s=budget.left_s), _by_places(problem, tried))
        value = -math.inf if made.answer is None else worth(made.answer)
        share = max(done / orders, 1.0 - budget.left_s / began if options.iterations is None else 0.0)
        heat = abs(most) * HOT * (COLD / HOT) ** share
        if value >= here - heat * rng.exponential():
            place, here = tried, value
        if made.answer is not None and value > most:
            best, most = made, value
        done += 1
    return best


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
