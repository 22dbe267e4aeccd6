"""Queries come back in a given order; a yardstick: in a random one."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import Decision, State


def random_order(state: State, budget: Budget, seed: int) -> Decision:
    """Take queries in an order drawn once for *seed*."""
    return in_order(state, np.random.default_rng(seed).permutation(state.problem.graph.tasks).astype(np.float64))


def in_order(state: State, place: FloatArray) -> Decision:
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
