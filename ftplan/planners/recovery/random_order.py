"""A yardstick: queries come back in a random order."""

from __future__ import annotations

import numpy as np

from ftplan.planners.budget import Budget
from ftplan.planners.recovery.schedule.schedule import Decision, State


def random_order(state: State, budget: Budget, seed: int) -> Decision:
    """Take queries in an order drawn once for *seed*, each that still fits; the next in it is begun with what is left.

    Cost O(entries + tasks · log tasks).
    """
    queries, knapsack = state.queries, state.knapsack()
    rank = np.random.default_rng(seed).permutation(state.problem.graph.tasks)[queries.query]
    weight = knapsack.weight.tolist()
    hopeless = np.zeros(queries.bundles, dtype=np.bool_)
    hopeless[queries.bundle[state.hopeless[queries.task]]] = True
    place = [-1] * queries.bundles  # in the order in which they are chosen
    residual, chosen = knapsack.limit, 0
    ahead = np.zeros(queries.bundles, dtype=np.bool_)
    for query in np.argsort(rank, kind="stable").tolist():
        missing = [bundle for bundle in queries.members(query).tolist() if place[bundle] < 0]
        cost = sum([weight[bundle] for bundle in missing])
        if cost <= residual:
            for bundle in missing:
                place[bundle] = chosen
            residual -= cost
            chosen += 1
        elif not ahead.any() and not hopeless[missing].any():
            ahead[queries.members(query)] = True
    where = np.array(place, dtype=np.int64)[queries.bundle]
    tasks = np.flatnonzero(where >= 0)
    tasks = tasks[np.argsort(where[tasks], kind="stable")]
    return Decision(queries.task[tasks], ahead=queries.tasks_of(ahead))
