"""Orders of unequal nodes that waste little, at any size: a beam of partial orders, zones as given."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ftplan.compiled import pays_to_compile
from ftplan.metrics.ring_problem import RingProblem
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.arrangements.beam_kernel import beam
from ftplan.planners.peer_ring.arrangements.classes import Classes
from ftplan.planners.peer_ring.arrangements.every_order import Ordered
from ftplan.planners.peer_ring.cuts.partition import scattered

#: Partial orders kept, and fewer where there are many classes: kept times classes of a zone is at most CHOICES.
KEPT, CHOICES = 64, 512
#: Ways to begin (first place, first zone) that are tried at most, and steps in all.
WAYS, WORK = 48, 100_000_000.0
#: Share of the distance to the bound that is too little to look for.
NEAR = 1e-3


class Beam:
    """Orders that follow a sequence of zones, turned so that another zone comes first; the class at each place is free.

    Parameters
    ----------
    order
        (n,) nodes by number, clockwise, whose zones are kept.
    """

    def __init__(self, problem: RingProblem, classes: Classes, order: IntArray) -> None:
        self.classes, self.size = classes, len(problem.load)
        self.sums = np.concatenate([[0.0], np.cumsum(np.concatenate([problem.load, problem.load]))])
        number = np.empty(len(problem.nodes), dtype=np.int64)
        for group, members in enumerate(classes.members):
            number[members] = classes.zone[group]
        self.zones = number[order]
        busiest = int(np.bincount(classes.zone).max())
        self.kept = max(min(KEPT, CHOICES // busiest), 1)
        steps = 8.0 * len(order) * self.kept * busiest
        self.ways = int(min(max(WORK / steps / 20.0, 2), WAYS))
        self.run = beam if pays_to_compile(steps * self.ways) else beam.plain
        shape = (len(order), self.kept)
        self.parent, self.chosen = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)

    def least(self, low: float, high: float, budget: Budget) -> Ordered:
        """Return the best order found whose largest load by cpu is below *high*; ``bound`` is its load, no bound.

        Ends where one is as low as *low*.
        """
        best, answer = high, Ordered(np.empty(0, dtype=np.int64), -1, high)
        for start, turn in self._begins(budget):
            aim = best - NEAR * (best - low)
            if budget.over() or best <= low * (1.0 + ROUNDING):
                break
            found = self._order(start, turn, aim)
            under = low
            while found is not None:
                best, answer = aim, Ordered(found, start, aim)
                found = None
                while found is None and best - under > NEAR * best * 0.1 and not budget.over():
                    aim = 0.5 * (under + best)
                    found = self._order(start, turn, aim)
                    if found is None:
                        under = aim
        return answer

    def _begins(self, budget: Budget) -> Iterator[tuple[int, int]]:
        places, turns = scattered(self.size, 0, self.size), scattered(len(self.zones), 0, len(self.zones))
        for k in range(budget.passes(self.ways)):
            yield int(places[k % len(places)]), int(turns[k % len(turns)])

    def _order(self, start: int, turn: int, limit: float) -> IntArray | None:
        """Return nodes by number whose arcs from *start* keep the limit, None if none are found."""
        classes, zones = self.classes, np.roll(self.zones, -turn)
        given = (self.sums, classes.cpu, classes.zone, classes.count, zones, start, limit, self.kept)
        one = int(self.run(*given, self.parent, self.chosen))
        if one < 0:
            return None
        sequence = np.empty(len(zones), dtype=np.int64)
        for step in range(len(zones) - 1, -1, -1):
            sequence[step] = self.chosen[step, one]
            one = int(self.parent[step, one])
        return classes.nodes(sequence)
