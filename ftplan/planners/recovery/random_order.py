"""Queries come back in a given order; a yardstick: in a random one."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.schedule.schedule import Decision, State


def random_order(state: State, budget: Budget, seed: int) -> Decision:
    """Take queries in an order drawn once for *seed*."""
    return in_order(state, np.random.default_rng(seed).permutation(state.problem.graph.tasks).astype(np.float64))


def in_order(state: State, place: FloatArray) -> Decision:
    """Take queries by their *place*, shape (tasks,), each that still fits; the next is begun with what is left.

    Queries in infinite places wait. Cost O(entries + tasks · log tasks).
    """
    queries, knapsack = state.queries, state.knapsack()
    rank = place[queries.query]
    weight = knapsack.weight.tolist()
    hopeless = np.zeros(queries.bundles, dtype=np.bool_)
    hopeless[queries.bundle[state.hopeless[queries.task]]] = True
    taken = [-1] * queries.bundles  # in the order in which they are chosen
    residual, chosen = knapsack.limit, 0
    ahead = np.zeros(queries.bundles, dtype=np.bool_)
    for query in np.argsort(rank, kind="stable").tolist():
        if np.isinf(rank[query]):
            break
        missing = [bundle for bundle in queries.members(query).tolist() if taken[bundle] < 0]
        cost = sum([weight[bundle] for bundle in missing])
        if cost <= residual:
            for bundle in missing:
                taken[bundle] = chosen
            residual -= cost
            chosen += 1
        elif not ahead.any() and not hopeless[missing].any():
            ahead[queries.members(query)] = True
    where = np.array(taken, dtype=np.int64)[queries.bundle]
    tasks = np.flatnonzero(where >= 0)
    tasks = tasks[np.argsort(where[tasks], kind="stable")]
    return Decision(queries.task[tasks], ahead=queries.tasks_of(ahead))
