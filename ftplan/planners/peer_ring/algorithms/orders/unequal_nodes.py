"""The order and the cuts of nodes of unequal size with the least largest load, zone violations being the fewest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.peer_ring.algorithms.orders.beam import Beam
from ftplan.planners.peer_ring.algorithms.orders.every_order import BoundedOrder, EveryOrder
from ftplan.planners.peer_ring.algorithms.orders.node_classes import NodeClasses
from ftplan.planners.peer_ring.algorithms.orders.windows import cost_of_order
from ftplan.planners.peer_ring.algorithms.orders.zone_order import ZoneOrder
from ftplan.planners.peer_ring.algorithms.partition import partition, scattered
from ftplan.planners.peer_ring.problem import RingProblem

#: Arcs times starts up to which cuts of an order are looked for: as many starts as that makes.
MOST_ARC_STARTS = 2_000_000
#: Share of the time for orders that are built place by place.
BEAM_TIME_SHARE = 0.4


class Arrangement(NamedTuple):
    """Nodes in clockwise order (n,), and the first position of each (n,)."""

    order: IntArray
    first: IntArray


def try_orders(problem: RingProblem, zoned: ZoneOrder, log: Incumbents[Arrangement], budget: Budget) -> None:
    """Find good orders that cost as little by zones as *zoned* does, with their cuts, and what no order is below.

    First orders that follow the zones of *zoned*, built place by place with those that waste least kept. Where there
    are few enough choices of how many nodes of each zone and size come first, dynamic programming looks at every
    order; once more with every place that arcs can reach where positions are too heavy for small nodes. Else it does
    so without zones, for a bound.

    *log*: of the largest load over the fair share, with a bound of any order.
    """
    search = _ArrangementSearch(problem, zoned, log)
    search.try_order(zoned.order, budget)
    search.build(budget)
    if search.open and zoned.zones.violations == zoned.bound:
        search.look_at_all(budget)
    if search.open:
        search.look_without_zones(budget)


class _ArrangementSearch:
    def __init__(self, problem: RingProblem, zoned: ZoneOrder, log: Incumbents[Arrangement]) -> None:
        self.problem, self.zoned, self.log = problem, zoned, log
        self.unit = problem.per_cpu or 1.0
        self.classes = NodeClasses.of(problem)

    @property
    def open(self) -> bool:
        """Whether something better may be there."""
        return self.log.value > self.log.bound * (1.0 + ROUNDING)

    @property
    def light(self) -> bool:
        """Whether each node can take any position within the bound, so that no arc is ever empty."""
        heaviest = float(self.problem.load.max())
        return heaviest <= self.log.bound * self.unit * float(self.classes.cpu.min())

    def try_order(self, order: IntArray, budget: Budget, start: int = -1, limit: float = float("inf")) -> None:
        """Cut an order, from one start, or some of them, where looking at all costs too much; within *limit* if so."""
        if not len(order):
            return
        below = min(self.log.value, limit * (1.0 + ROUNDING))
        size, starts = len(self.problem.load), None
        if len(order) * size > MOST_ARC_STARTS:
            starts = (
                np.array([start]) % size
                if start >= 0
                else scattered(size, 0, size)[: MOST_ARC_STARTS // len(order) + 1]
            )
        cuts = partition(self.problem, order, self.log.bound, below, starts, budget)
        if len(cuts.first):
            self.log.offer(Arrangement(order, cuts.first), cuts.largest, "orders")

    def build(self, budget: Budget) -> None:
        """Build orders place by place."""
        if self.open:
            part = budget.part(BEAM_TIME_SHARE)
            found = Beam(self.problem, self.classes, self.zoned.order).least(*self._span(), part)
            budget.cut |= part.cut
            self.try_order(found.order, budget, found.start, found.bound / self.unit)

    def look_at_all(self, budget: Budget) -> None:
        """Look at every order that costs as little by zones, if that is not too much."""
        self._look(EveryOrder(self.problem, self.classes, self.zoned.zones), budget)
        if self.open and not self.light:
            self._look(EveryOrder(self.problem, self.classes, self.zoned.zones, True), budget)

    def look_without_zones(self, budget: Budget) -> None:
        """Look at every order whatever its zones, for a bound, and for an order where it happens to do."""
        found = self._look(EveryOrder(self.problem, NodeClasses.of(self.problem, False), None), budget, use=False)
        if found is None or not len(found.order):
            return
        if cost_of_order(self.problem, found.order) <= self.zoned.zones:
            self.try_order(found.order, budget, found.start)

    def _look(self, every: EveryOrder, budget: Budget, use: bool = True) -> BoundedOrder | None:
        low, high = self._span()
        if budget.over() or not every.fits(high, budget):
            return None
        found = every.least(low, high, budget)
        self.log.prove(found.bound / self.unit, "every order")
        if use:
            self.try_order(found.order, budget, found.start)
        return found

    def _span(self) -> tuple[float, float]:
        return self.log.bound * self.unit, self.log.value * self.unit
