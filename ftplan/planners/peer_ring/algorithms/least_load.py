"""The ring that is best without a look at the ring in place: fewest zone violations, then least largest load."""

from __future__ import annotations

from typing import NamedTuple

from ftplan.model.plan import sound_bound
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.peer_ring.algorithms.arrangements.unequal import Arrangement, best_arrangement
from ftplan.planners.peer_ring.algorithms.bounds import load_bound
from ftplan.planners.peer_ring.algorithms.orders.zone_order import zone_order
from ftplan.planners.peer_ring.algorithms.partition import partition
from ftplan.planners.peer_ring.problem import RingProblem


class LeastLoad(NamedTuple):
    """Nodes in clockwise order (n,), the first position of each (n,), and both levels with what nothing is below.

    ``bound`` is proven for the largest load of rings with the fewest violations.
    """

    order: IntArray
    first: IntArray
    violations: int
    violations_bound: int
    largest: float
    bound: float


def least_load(problem: RingProblem, search: SearchOptions, budget: Budget) -> LeastLoad:
    """Return the order and the cuts with the fewest zone violations, then the least largest load over fair share.

    With equal cpu the order does not matter for the load, and both levels are solved one after the other. With unequal
    cpu it does: see :func:`~ftplan.planners.peer_ring.algorithms.arrangements.unequal.best_arrangement`.
    """
    zoned = zone_order(problem, search.seed, budget)
    bound = load_bound(problem)
    cpu = problem.cpu[problem.member]
    if (cpu == cpu[0]).all() or not problem.load.any():
        cuts = partition(problem, zoned.order, at_least=bound)
        found = Arrangement(zoned.order, cuts.first, cuts.largest, sound_bound("min", cuts.largest, bound))
    else:
        found = best_arrangement(problem, zoned, bound, budget)
    proven = found.largest if found.largest <= found.bound * (1.0 + ROUNDING) else found.bound
    return LeastLoad(found.order, found.first, zoned.violations, zoned.bound, found.largest, proven)
