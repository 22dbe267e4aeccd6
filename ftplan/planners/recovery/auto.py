"""The default: what the others find in the time there is, with the best bound that any of them proves."""

from __future__ import annotations

import numpy as np

from ftplan.planners.budget import Budget
from ftplan.planners.recovery.best_density import best_density
from ftplan.planners.recovery.exact import exact
from ftplan.planners.recovery.knapsack.enumeration import planned_outright
from ftplan.planners.recovery.knapsack.instance import BoolArray, Choice, SetUnionKnapsack
from ftplan.planners.recovery.local_search import local_search

#: Shares of the time left: for the seeds of best-density, for a first proof, for the search before the long proof.
DENSITY, PROOF, SEARCH = 0.05, 0.6, 0.5


def auto(knapsack: SetUnionKnapsack, budget: Budget, seed: int = 0, hint: BoolArray | None = None) -> Choice:
    """Choose outright where plans are few; else by best-density, exactly, and at a gap by search and proof again.

    Ends as soon as value and bound meet. Guarantee: at least that of best-density where its seeds are complete; the
    bound is the smallest of all. Bounded work (``budget.iterations``) bounds each part.
    """
    outright = planned_outright(knapsack)
    if outright is not None:
        return outright
    best = Choice(np.zeros(knapsack.queries, dtype=np.bool_) if hint is None else hint)
    for solver, share in ((best_density, DENSITY), (exact, PROOF), (local_search, SEARCH), (exact, 1.0)):
        part = budget.part(share)
        found = solver(knapsack, part, seed, best.queries)
        best = _better(knapsack, best, found)
        if best.optimal:
            return best
        if budget.over():  # the rest could begin nothing
            break
        if share == 1.0:
            budget.cut |= part.cut
    return best


def _better(knapsack: SetUnionKnapsack, old: Choice, new: Choice) -> Choice:
    """Return the better choice of two with the better bound."""
    bounds = [choice.bound for choice in (old, new) if choice.bound is not None]
    bound = min(bounds) if bounds else None
    queries = new.queries if knapsack.value(new.queries) >= knapsack.value(old.queries) else old.queries
    value = knapsack.value(queries)
    optimal = bound is not None and value >= bound - 1e-9 * max(1.0, abs(bound))
    return Choice(queries, bound, optimal or new.optimal or old.optimal, new.note or old.note)
