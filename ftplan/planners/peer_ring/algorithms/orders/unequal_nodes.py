"""The order and the cuts of nodes of unequal size with the least largest load, zone violations being the fewest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.plan import sound_bound
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.orders.beam import Beam
from ftplan.planners.peer_ring.algorithms.orders.every_order import BoundedOrder, EveryOrder
from ftplan.planners.peer_ring.algorithms.orders.node_classes import NodeClasses
from ftplan.planners.peer_ring.algorithms.orders.windows import crowded
from ftplan.planners.peer_ring.algorithms.orders.zone_order import ZoneOrder, width_of
from ftplan.planners.peer_ring.algorithms.partition import Cuts, partition, per_cpu, scattered
from ftplan.planners.peer_ring.problem import RingProblem

#: Arcs times starts up to which cuts of an order are looked for: as many starts as that makes.
MOST_ARC_STARTS = 2_000_000
#: Share of the time for orders that are built place by place.
BEAM_TIME_SHARE = 0.4


class Arrangement(NamedTuple):
    """Nodes in clockwise order (n,), first positions (n,), the largest load over fair share and its proven bound."""

    order: IntArray
    first: IntArray
    largest: float
    bound: float


def best_arrangement(problem: RingProblem, zoned: ZoneOrder, bound: float, budget: Budget) -> Arrangement:
    """Return the best order found with as few zone violations as *zoned* has, its cuts, and what no order is below.

    First orders that follow the zones of *zoned*, built place by place with those that waste least kept. Where there
    are few enough choices of how many nodes of each zone and size come first, dynamic programming looks at every
    order; once more with every place that arcs can reach where positions are too heavy for small nodes. Else it does
    so without zones, for a bound.

    Parameters
    ----------
    bound
        Of the largest load over the fair share, of any order.
    """
    search = _ArrangementSearch(problem, zoned, bound)
    search.try_order(zoned.order, budget)
    search.build(budget)
    if search.open and zoned.violations == zoned.bound:
        search.look_at_all(budget)
    if search.open:
        search.look_without_zones(budget)
    bound = sound_bound("min", search.cuts.largest, search.bound)
    return Arrangement(search.order, search.cuts.first, search.cuts.largest, bound)


class _ArrangementSearch:
    """The best order so far, and the best bound."""

    def __init__(self, problem: RingProblem, zoned: ZoneOrder, bound: float) -> None:
        self.problem, self.zoned, self.bound = problem, zoned, bound
        self.unit = per_cpu(problem, problem.member)
        self.classes, self.width = NodeClasses.of(problem), width_of(problem)
        self.order = zoned.order
        self.cuts = Cuts(np.empty(0, dtype=np.int64), float("inf"))

    @property
    def open(self) -> bool:
        """Whether something better may be there."""
        return self.cuts.largest > self.bound * (1.0 + ROUNDING)

    @property
    def light(self) -> bool:
        """Whether each node can take any position within the bound, so that no arc is ever empty."""
        heaviest = float(self.problem.load.max())
        return heaviest <= self.bound * self.unit * float(self.classes.cpu.min())

    def try_order(self, order: IntArray, budget: Budget, start: int = -1, limit: float = float("inf")) -> None:
        """Cut an order, from one start, or some of them, where looking at all costs too much; within *limit* if so."""
        if not len(order):
            return
        below = min(self.cuts.largest, limit * (1.0 + ROUNDING))
        size, starts = len(self.problem.load), None
        if len(order) * size > MOST_ARC_STARTS:
            starts = (
                np.array([start]) % size
                if start >= 0
                else scattered(size, 0, size)[: MOST_ARC_STARTS // len(order) + 1]
            )
        cuts = partition(self.problem, order, self.bound, below, starts, budget)
        if len(cuts.first):
            self.order, self.cuts = order, cuts

    def build(self, budget: Budget) -> None:
        """Build orders place by place."""
        if self.open:
            part = budget.part(BEAM_TIME_SHARE)
            found = Beam(self.problem, self.classes, self.zoned.order).least(*self._span(), part)
            budget.cut |= part.cut
            self.try_order(found.order, budget, found.start, found.bound / self.unit)

    def look_at_all(self, budget: Budget) -> None:
        """Look at every order with so few violations, if that is not too much."""
        self._look(EveryOrder(self.problem, self.classes, self.width, self.zoned.violations), budget)
        if self.open and not self.light:
            self._look(EveryOrder(self.problem, self.classes, self.width, self.zoned.violations, True), budget)

    def look_without_zones(self, budget: Budget) -> None:
        """Look at every order whatever its zones, for a bound, and for an order where it happens to do."""
        found = self._look(EveryOrder(self.problem, NodeClasses.of(self.problem, False), 1, 0), budget, use=False)
        if found is None or not len(found.order):
            return
        if crowded(self.problem.zone[found.order], self.width)[0] <= self.zoned.violations:
            self.try_order(found.order, budget, found.start)

    def _look(self, every: EveryOrder, budget: Budget, use: bool = True) -> BoundedOrder | None:
        low, high = self._span()
        if budget.over() or not every.fits(high, budget):
            return None
        found = every.least(low, high, budget)
        self.bound = max(self.bound, found.bound / self.unit)
        if use:
            self.try_order(found.order, budget, found.start)
        return found

    def _span(self) -> tuple[float, float]:
        return self.bound * self.unit, self.cuts.largest * self.unit
