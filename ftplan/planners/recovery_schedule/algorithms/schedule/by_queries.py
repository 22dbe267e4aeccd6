"""From a choice of queries to the tasks that bring them back, in the order in which they shall be restored."""

from __future__ import annotations

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import StepSolver
from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import Decision, Policy, State


def by_queries(solver: StepSolver) -> Policy:
    """Return the policy that lets a one-step solver choose queries at each step."""

    def policy(state: State, budget: Budget, seed: int) -> Decision:
        knapsack = state.knapsack()
        choice = solver(knapsack, budget, seed)
        tasks = tasks_in_order(state.queries, knapsack.whole(choice.queries), state.density())
        return Decision(tasks, choice.bound, choice.note)

    return policy


def tasks_in_order(queries: FailedQueries, chosen: BoolArray, urgency: FloatArray) -> IntArray:
    """Return the missing tasks of the chosen queries: those of the most urgent query first, each by the streams.

    Parameters
    ----------
    chosen, urgency
        Shape (Q,). Ties of urgency end at the query's name.
    """
    order = np.flatnonzero(chosen)
    order = order[np.lexsort((order, -urgency[order]))]
    rank = np.full(queries.queries, len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    first = np.full(queries.bundles, len(order), dtype=np.int64)
    np.minimum.at(first, queries.member, rank[queries.row])
    place = first[queries.bundle]
    wanted = np.flatnonzero(place < len(order))
    return queries.task[wanted[np.argsort(place[wanted], kind="stable")]]
