"""A yardstick: queries come back in a random order."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.schedule.schedule import Decision, State


def random_order(state: State, budget: Budget, seed: int) -> Decision:
    """Take queries in an order drawn once for *seed*, each that still fits; what is left begins the next in it."""
    queries, knapsack = state.queries, state.knapsack()
    rank = np.random.default_rng(seed).permutation(state.problem.graph.tasks)[queries.query]
    weight, member, start = knapsack.weight.tolist(), queries.member.tolist(), queries.start.tolist()
    place = [-1] * queries.bundles  # in the order in which they are chosen
    left, chosen = knapsack.limit, 0
    following: int | None = None
    hopeless = np.zeros(queries.bundles, dtype=np.bool_)
    hopeless[queries.bundle[state.hopeless[queries.task]]] = True
    for query in np.argsort(rank, kind="stable").tolist():
        missing = [bundle for bundle in member[start[query] : start[query + 1]] if place[bundle] < 0]
        cost = sum([weight[bundle] for bundle in missing])
        if cost <= left:
            for bundle in missing:
                place[bundle] = chosen
            left -= cost
            chosen += 1
        elif following is None and not hopeless[missing].any():
            following = query
    where = np.array(place, dtype=np.int64)[queries.bundle]
    tasks = np.flatnonzero(where >= 0)
    tasks = tasks[np.argsort(where[tasks], kind="stable")]
    return Decision(queries.task[tasks], ahead=_ahead(state, following))


def _ahead(state: State, query: int | None) -> IntArray:
    """Return the tasks of the next query, in topological order."""
    wanted = np.zeros(state.queries.bundles, dtype=np.bool_)
    if query is not None:
        wanted[state.queries.members(query)] = True
    return state.queries.tasks_of(wanted)
