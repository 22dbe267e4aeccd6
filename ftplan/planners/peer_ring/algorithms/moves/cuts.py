"""The cuts of one circular order of nodes for which the fewest bytes travel, proven.

Optimal cuts that begin at different places need not cross: swapping their tails where they do keeps cost and limits.
So those of one start bound those of all others on either side, and starts are halved until bounds close. First, what
bytes depend on: who holds which positions now, what each node may own, how many copies are walked.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ftplan.compiled import pays_to_compile
from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.moves.cut_kernel import bands, cheapest
from ftplan.planners.peer_ring.algorithms.partition import sums_around
from ftplan.planners.peer_ring.moves import held_at, moved_bytes
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring


@dataclass(frozen=True, eq=False)
class RingChange:
    """A ring in place, and which others may follow it."""

    problem: RingProblem
    capped: bool = False  # nodes must be able to take what they own (rule ``capacity``)

    @cached_property
    def current(self) -> Ring:
        """The ring in place."""
        assert self.problem.current is not None
        return self.problem.current

    @cached_property
    def walk(self) -> int:
        """Copies that lie on neighbours; with tiered copies the last one does not."""
        return self.problem.width

    @cached_property
    def held(self) -> IntArray:
        """Nodes that hold each position now, (M, r + 1)."""
        return held_at(self.problem, self.current)

    @cached_property
    def holds(self) -> tuple[IntArray, IntArray]:
        """Positions that each node holds now: where they begin, (N + 1,), and all of them by node."""
        size, copies = self.held.shape
        node, place = self.held.ravel(), np.repeat(np.arange(size), copies)
        at = np.argsort(node, kind="stable")
        return np.searchsorted(node[at], np.arange(len(self.problem.nodes) + 1)), place[at]

    @cached_property
    def sums(self) -> FloatArray:
        """Load up to each position over four turns, (4 M + 1,)."""
        return sums_around(self.problem.load, 4)

    @cached_property
    def most(self) -> FloatArray:
        """Most load that each node can take, (N,); what it has now is never too much."""
        problem = self.problem
        if not self.capped:
            return np.full(len(problem.nodes), np.inf)
        room = problem.overload * problem.capacity * (1.0 + ROUNDING) - problem.foreign
        return np.maximum(room, problem.loads(self.current))

    @cached_property
    def lacking(self) -> float:
        """Bytes that any ring moves: for each position, copies beyond those that members hold now."""
        kept = self.problem.members[self.held].sum(axis=1)
        return float((np.maximum(self.walk - kept, 0) * self.problem.worth).sum())

    @cached_property
    def lacking_last(self) -> float:
        """Bytes that any ring moves for last copies on a tier: what no node of the tier holds now."""
        if not self.problem.tier.any():
            return 0.0
        return float(self.problem.worth[~self.problem.tier[self.held].any(axis=1)].sum())

    def limits(self, order: IntArray, load: float) -> FloatArray:
        """Return the most load of each slot where the largest load over the fair share is *load*, rounding apart."""
        fair = self.problem.fair[order]
        even = np.full(len(order), np.inf) if np.isinf(load) else load * fair
        span = float(self.sums[len(self.problem.load)]) * 1e-13  # what summing up in another order may change
        return np.asarray(np.minimum(even, self.most[order]) * (1.0 + ROUNDING) + span)

    def slots(self, order: IntArray) -> tuple[IntArray, IntArray]:
        """Return the positions that the node of each slot holds now: where they begin, (n + 1,), and all of them."""
        begin, atom = self.holds
        sizes = (begin[1:] - begin[:-1])[order]
        parts = [atom[begin[node] : begin[node + 1]] for node in order.tolist()]
        empty = np.zeros(0, dtype=np.int64)
        return np.concatenate([[0], np.cumsum(sizes)]), np.concatenate([empty, *parts])

    def bytes(self, ring: Ring) -> float:
        """Return what travels to the ring: the worth of all copies on nodes that hold none now."""
        return moved_bytes(self.problem, self.current, ring)


def plain_or_compiled(kernel: Any, steps: float) -> Any:
    """Return the kernel, or for few steps the function itself."""
    return kernel if pays_to_compile(steps) else kernel.plain


#: Most places of all cuts together that are kept to find the way back, four bytes each.
MOST_PLACES = 100_000_000
#: Places of cuts in all: usually far more than it takes to close the bounds.
MOST_STEPS = 300_000_000


class CutEffort(NamedTuple):
    """Starts that are looked at, and places of cuts in all: few where good cuts are enough."""

    tries: float = 2_000
    steps: float = MOST_STEPS


#: What usually closes the bounds, and after which starts cuts are good.
CLOSING_EFFORT = CutEffort()
FEW_TRIES = CutEffort(tries=10)


class OrderCuts(NamedTuple):
    """Cuts of an order, their cost, and what no cuts of the order cost less than.

    ``first`` is None where none were found; the bound is infinite where there are none.
    """

    first: IntArray | None
    cost: float
    bound: float


class _StartRange(NamedTuple):
    """Starts from *low* to *high* whose cuts lie between two others; the cheapest begins at about *start*."""

    low: int
    high: int
    start: int
    below: IntArray
    above: IntArray


def least_bytes(
    change: RingChange,
    order: IntArray,
    load: float,
    budget: Budget,
    enough: float = 0.0,
    most: float = np.inf,
    effort: CutEffort = CLOSING_EFFORT,
) -> OrderCuts:
    """Return the cuts of *order* for which the fewest bytes travel where no node owns more than *load* of its share.

    *enough*: no cuts can cost less, or less is of no use: the search ends there. *most*: more is of no use: nothing is
    found, and the bound is at least so much, where all cuts cost more. *effort*: without *most* it goes on until some
    cuts are found.

    Exact while budget and effort last; else the bound is below the cost. Cost O(n M log M) at worst.
    """
    order, turn = _turned(change, order)
    found = _CutSearch(change, order, load).run(budget, enough, most, effort)
    return found if found.first is None else found._replace(first=np.roll(found.first, turn))


def floor_bytes(change: RingChange, order: IntArray, load: float) -> float:
    """Return bytes that no cuts of *order* go below, infinite if there are none: cuts need not close the circle.

    What :func:`least_bytes` begins with. Cost O(all places of cuts), one pass.
    """
    return _CutSearch(change, _turned(change, order)[0], load).floor()


def _turned(change: RingChange, order: IntArray) -> tuple[IntArray, int]:
    """Return the order as it begins with a node that has a token now, and by how much it is turned."""
    turn = int(np.isin(order, change.current.node).argmax())
    return np.roll(order, -turn), turn


class _CutSearch:
    def __init__(self, change: RingChange, order: IntArray, load: float) -> None:
        size, n = len(change.problem.position), len(order)
        self.change, self.order, self.size = change, order, size
        self.limit: FloatArray = change.limits(order, load)
        self.begin, self.atom = change.slots(order)
        self.low: IntArray = np.arange(n + 1)
        self.high: IntArray = np.arange(n + 1) + 3 * size - n
        starts = possible_starts(change.sums, self.limit, size) if n <= size else np.zeros(0, dtype=np.int64)
        self.starts = np.concatenate([starts, starts + size])  # of two turns
        self.best: IntArray | None = None
        self.cost, self.places = np.inf, 0
        self.heap = list[tuple[float, int, _StartRange]]()

    def floor(self) -> float:
        """Return the least cost of cuts that need not end where they begin, infinite if there are none."""
        if not len(self.starts):
            return np.inf
        return self._cheapest(int(self.starts[0]), self.size - 1, self.low, self.high, back=False)[0]

    def run(self, budget: Budget, enough: float, most: float, effort: CutEffort) -> OrderCuts:
        """Halve starts until the bounds close, best bound first."""
        self.cost, tries = most, effort.tries
        if not len(self.starts):
            return OrderCuts(None, np.inf, np.inf)
        if np.isfinite(most):  # few orders are better than one that is known
            floor = self.floor()
            if floor >= most * (1.0 - NOISE):
                return OrderCuts(None, np.inf, max(floor, most))
        start = self._near_token()
        cuts = self._try(start, self.low, self.high)
        if self.cost <= enough:
            return self._answer(enough)
        if cuts is None:
            self._push(0, self.size - 1, self.low, self.high, enough)
        else:
            self._push(start + 1, start + self.size - 1, cuts, cuts + self.size, enough)
        bound = np.inf
        while self.heap:
            bound, _, part = heapq.heappop(self.heap)
            known = self.best is not None or np.isfinite(most)
            stop = budget.over() or (known and (tries <= 0 or self.places > effort.steps))
            if stop or bound >= self.cost * (1.0 - NOISE):
                break
            tries -= 1
            cuts = self._try(part.start, part.below, part.above)
            below = part.below if cuts is None else np.maximum(part.below, cuts)
            above = part.above if cuts is None else np.minimum(part.above, cuts)
            self._push(part.low, part.start - 1, part.below, above, bound)
            self._push(part.start + 1, part.high, below, part.above, bound)
            bound = np.inf
        return self._answer(bound)

    def _answer(self, bound: float) -> OrderCuts:
        if self.best is None:
            return OrderCuts(None, np.inf, min(bound, self.cost))
        return OrderCuts(self.best[:-1] % self.size, self.cost, min(bound, self.cost))

    def _near_token(self) -> int:
        """Return the possible start next to the token of the first node, or any."""
        current, position = self.change.current, self.change.problem.position
        at = np.flatnonzero(current.node == self.order[0])
        place = int(np.searchsorted(position, current.token[at[0]])) if len(at) else 0
        starts = self.starts[: len(self.starts) // 2]
        away = np.abs(starts - place)
        return int(starts[np.minimum(away, self.size - away).argmin()])

    def _push(self, low: int, high: int, below: IntArray, above: IntArray, least: float) -> None:
        """Keep the starts from low to high for later where they may be better than what is known."""
        first, last = np.searchsorted(self.starts, [low, high + 1])
        if first == last:
            return
        low, high = int(self.starts[first]), int(self.starts[last - 1])
        cost, cuts = self._cheapest(low, high, below, above, back=False)
        if max(cost, least) >= self.cost * (1.0 - NOISE):
            return
        start = int(self.starts[min(np.searchsorted(self.starts, cuts[0]), last - 1)])
        heapq.heappush(self.heap, (max(cost, least), start, _StartRange(low, high, start, below, above)))

    def _try(self, start: int, below: IntArray, above: IntArray) -> IntArray | None:
        """Look at the cuts that begin at a start."""
        cost, cuts = self._cheapest(start, start, below, above, back=True)
        if np.isinf(cost):
            return None
        if cost < self.cost:
            self.best, self.cost = cuts, cost
        return cuts

    def _cheapest(self, low: int, high: int, below: IntArray, above: IntArray, back: bool) -> tuple[float, IntArray]:
        """Return least cost and cuts of starts from low to high, not held to end where they begin.

        Of the cuts only the first is known unless the way *back* is asked for.
        """
        n = len(self.limit)
        least, most = below.copy(), above.copy()
        least[0], most[0] = max(low, least[0]), min(high, most[0])
        least[n], most[n] = max(low + self.size, least[n]), min(high + self.size, most[n])
        nothing = np.inf, np.zeros(n + 1, dtype=np.int64)
        if not self._narrowed(least, most):
            return nothing
        while back and int((most - least + 1).sum()) > MOST_PLACES:  # one cut after the other is known for good
            marked = int((most - least).argmax())
            cost, cuts = self._run(least, most, marked, 0)
            if np.isinf(cost):
                return nothing
            least[marked] = most[marked] = cuts[marked]
            self._narrowed(least, most)
        return self._run(least, most, 0, int((most - least + 1).sum()) if back else 0)

    def _narrowed(self, least: IntArray, most: IntArray) -> bool:
        run = plain_or_compiled(bands, 40.0 * len(least))
        return not (least > most).any() and bool(run(self.change.sums, self.limit, least, most))

    def _run(self, least: IntArray, most: IntArray, marked: int, kept: int) -> tuple[float, IntArray]:
        places = int((most - least + 1).sum())
        self.places += places
        came, cuts = np.empty(kept, dtype=np.int32), np.zeros(len(least), dtype=np.int64)
        cost = plain_or_compiled(cheapest, 4.0 * places)(
            self.change.sums, self.change.problem.worth, self.limit, self.change.walk, self.begin, self.atom,
            least, most, marked, came, cuts,
        )  # fmt: skip
        return float(cost), cuts


def possible_starts(sums: FloatArray, limit: FloatArray, size: int) -> IntArray:
    """Return the places, ascending, from which arcs as long as their limits allow reach around the circle.

    Cost O((n + distinct limits log M) M).
    """
    place = np.arange(size)
    tables = {
        float(most): np.maximum(np.searchsorted(sums, sums[: 2 * size + 1] + most, side="right") - 1, 0)
        for most in np.unique(limit)
    }
    for most in limit.tolist():
        place = np.minimum(tables[most][place], 2 * size)
    return np.flatnonzero(place >= np.arange(size) + size)
