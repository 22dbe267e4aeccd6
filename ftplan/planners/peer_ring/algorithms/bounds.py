"""What no ring of the members can be below in its largest load over the fair share, and in its zone violations.

:func:`least_load` finds the ring that is best without a look at the ring in place: fewest zone violations, then least
largest load.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.peer_ring.algorithms.orders.unequal_nodes import Arrangement, try_orders
from ftplan.planners.peer_ring.algorithms.orders.windows import fewest_crowded
from ftplan.planners.peer_ring.algorithms.orders.zone_order import zone_order
from ftplan.planners.peer_ring.algorithms.partition import partition, sums_around
from ftplan.planners.peer_ring.problem import RingProblem, ZoneCost


class LeastLoad(NamedTuple):
    """Nodes in clockwise order (n,), the first position of each (n,), and all levels with what nothing is below.

    ``bound`` is proven for the largest load of rings with the fewest violations.
    """

    order: IntArray
    first: IntArray
    zones: ZoneCost
    violations_bound: int
    largest: float
    bound: float


def least_load(problem: RingProblem, search: SearchOptions, budget: Budget) -> LeastLoad:
    """Return the order and the cuts with the fewest zone violations, then the least largest load over fair share.

    With equal cpu the order does not matter for the load, and both levels are solved one after the other. With unequal
    cpu it does: see :func:`~ftplan.planners.peer_ring.algorithms.orders.unequal_nodes.try_orders`.
    """
    zoned, bound, cpu = zone_order(problem, search.seed, budget), load_bound(problem), problem.cpu[problem.member]
    what = "largest-load" if problem.current is None else "largest-load of any ring"
    log = Incumbents[Arrangement]("min", what)
    log.prove(bound, "arcs by themselves")
    if (cpu == cpu[0]).all() or not problem.load.any():
        cuts = partition(problem, zoned.order, at_least=bound)
        log.offer(Arrangement(zoned.order, cuts.first), cuts.largest, "cuts of one order")
    else:
        try_orders(problem, zoned, log, budget)
    assert log.answer is not None
    proven = log.value if log.value <= log.bound * (1.0 + ROUNDING) else log.bound
    return LeastLoad(*log.answer, zoned.zones, zoned.bound, log.value, proven)


#: Kinds of cpu, and positions times kinds, up to which it is looked at what an arc of each can hold at most.
MOST_CPU_KINDS, MOST_POSITIONS_BY_KIND = 16, 300_000


def least_violations(problem: RingProblem) -> int:
    """Return a number of zone violations that no ring of the members with one token each is below."""
    return fewest_crowded(np.unique(problem.zone[problem.member], return_counts=True)[1], problem.width)


def any_bound(problem: RingProblem) -> float:
    """Return a bound for any assignment of positions to members, as of virtual nodes; 0 where there is no load.

    The mean; the heaviest position on the largest node; and of the n + 1 heaviest two on one node. Cost O(M log M).
    """
    total = float(problem.load.sum())
    if total == 0.0:
        return 0.0
    cpu = problem.cpu[problem.member]
    largest = float(cpu.max())
    heavy = np.sort(problem.load)[::-1]
    two = float(heavy[len(cpu) - 1] + heavy[len(cpu)]) if len(heavy) > len(cpu) else 0.0
    worst = max(float(heavy[0]), two) / largest
    return max(1.0, worst * float(cpu.sum()) / total * (1.0 - NOISE))


def load_bound(problem: RingProblem) -> float:
    """Return a bound for any ring of the members with one token each, whatever their order; 0 where there is no load.

    With equal cpu it is the least there is. Otherwise the largest of :func:`any_bound`; the lightest positions, one
    for each node; and the least limit at which the fullest arcs of all nodes together take all load. Cost O(M log M)
    for each kind of cpu and step of a bisection.
    """
    bound = any_bound(problem)
    cpu = problem.cpu[problem.member]
    if bound == 0.0 or len(cpu) > len(problem.position):
        return bound
    if (cpu == cpu[0]).all():
        return max(bound, partition(problem, problem.member, at_least=bound).largest * (1.0 - NOISE))
    unit = float(problem.load.sum()) / float(cpu.sum())
    light = np.sort(problem.load)[: len(cpu)]
    bound = max(bound, float((light / np.sort(cpu)).max()) / unit * (1.0 - NOISE))
    return max(bound, _fullest_arcs(problem.load, cpu, bound * unit) / unit * (1.0 - NOISE))


def _fullest_arcs(load: FloatArray, cpu: FloatArray, low: float) -> float:
    """Return a limit of load by cpu, at least *low*, below which arcs that each are as full as any take too little."""
    kinds, count = np.unique(cpu, return_counts=True)
    if len(kinds) > MOST_CPU_KINDS or len(kinds) * len(load) > MOST_POSITIONS_BY_KIND:
        return low
    sums = sums_around(load)
    size, total = len(load), float(load.sum())

    def taken(limit: float) -> float:
        at = sums[:size]
        ends = [np.searchsorted(sums, at + limit * kind * (1.0 + NOISE), side="right") - 1 for kind in kinds]
        return float(sum(many * float((sums[end] - at).max()) for many, end in zip(count, ends, strict=True)))

    high = low
    while taken(high) < total * (1.0 - 1e-9):
        high *= 2.0
    while high - low > NOISE * high:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (low, middle) if taken(middle) >= total * (1.0 - 1e-9) else (middle, high)
    return low
