"""Steps so small that all plans of them are gone through in less time than a solver takes to load."""

from __future__ import annotations

import numpy as np

from ftplan.errors import FtplanError
from ftplan.planners.budget import Budget
from ftplan.planners.recovery.best_density import best_density
from ftplan.planners.recovery.dynamic_programming import dynamic_programming
from ftplan.planners.recovery.knapsack.instance import Choice, SetUnionKnapsack

#: Plans held at once: some hundredths of a second.
FEW_PLANS = 20_000
#: Queries above which different ones are not even counted.
MOST_QUERIES = 200
#: Seeds that are grown for a plan that leaves later steps more than the cheapest does.
SEEDS = 32


def planned_outright(knapsack: SetUnionKnapsack) -> Choice | None:
    """Return the optimum of a step with few plans, None elsewhere.

    Of equal plans the one that grew by density, if it is among them: what is begun beyond them serves later steps. Same
    answer with any seed or clock.
    """
    if knapsack.queries > MOST_QUERIES:
        return None
    try:
        choice = dynamic_programming(knapsack, Budget(np.inf), plans=FEW_PLANS)
    except FtplanError:
        return None
    if not choice.optimal:
        return None
    grown = best_density(knapsack, Budget(np.inf, SEEDS)).queries
    if knapsack.value(grown) < knapsack.value(choice.queries) * (1.0 - 1e-12):
        return choice
    return Choice(grown, choice.bound, True)
