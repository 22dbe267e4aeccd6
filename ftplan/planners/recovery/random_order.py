"""A yardstick: queries come back in a random order."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.schedule import Decision, State


def random_order(state: State, budget: Budget, seed: int) -> Decision:
    """Take queries in an order drawn once for *seed*, each that still fits; what is left begins the next in it."""
    queries, knapsack = state.queries, state.knapsack()
    rank = np.random.default_rng(seed).permutation(state.problem.graph.tasks)[queries.query]
    covered = np.zeros(queries.bundles, dtype=np.bool_)
    left = knapsack.limit
    chosen: list[IntArray] = []
    following: IntArray | None = None
    for query in np.argsort(rank, kind="stable").tolist():
        members = queries.members(query)
        missing = members[~covered[members]]
        cost = float(knapsack.weight[missing].sum())
        if cost <= left:
            covered[missing] = True
            left -= cost
            chosen.append(missing)
        elif following is None and not state.hopeless[_tasks(state, missing)].any():
            following = missing
    ahead = _tasks(state, following) if following is not None else np.zeros(0, dtype=np.int64)
    tasks = [_tasks(state, members) for members in chosen]
    return Decision(np.concatenate([np.zeros(0, dtype=np.int64), *tasks]), ahead=ahead)


def _tasks(state: State, bundles: IntArray) -> IntArray:
    """Return the tasks of some bundles, in topological order."""
    wanted = np.zeros(state.queries.bundles, dtype=np.bool_)
    wanted[bundles] = True
    return state.queries.tasks_of(wanted)
