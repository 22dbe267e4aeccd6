"""The least largest load over all orders of nodes, where there are few enough choices of how many of each class.

Shapes: C classes, S choices of how many of each are taken, H histories of the last zones, V + 1 numbers of windows with
a zone twice. Choices are numbered so that a larger one comes later.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ftplan.compiled import compiled, pays_to_compile
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.orders.node_classes import NodeClasses, windows_of_zones
from ftplan.planners.peer_ring.algorithms.partition import scattered, sums_around
from ftplan.planners.peer_ring.problem import RingProblem, ZoneCost


@compiled
def reaching(sums: Any, most: Any, ends: Any) -> Any:
    """Put the last end of an arc from each place whose load is at most *most* (K,) into *ends* (K, 2M + 1)."""
    for kind in range(len(most)):
        end = 0
        for start in range(len(sums)):
            end = max(end, start)
            while end + 1 < len(sums) and sums[end + 1] - sums[start] <= most[kind]:
                end += 1
            ends[kind, start] = end


@compiled
def crowding(repeated: Any, history: Any, first: Any, zones: Any, histories: Any) -> Any:
    """Return how many windows over the end of the circle have a zone twice."""
    several, step = 0, histories
    while step > 1:
        step //= zones
        following = history * zones + first // step % zones
        several += repeated[following]
        history = following % histories
    return several


@compiled
def reached(
    sums: Any, ends: Any, kind: Any, zone: Any, count: Any, stride: Any, taken: Any, left: Any, repeated: Any, zones:
    Any, width: Any, start: Any, first: Any, most: Any, limit: Any, far: Any,
) -> Any:  # fmt: skip
    """Fill *far* (S, H, V + 1) with the farthest place that the arcs of a choice reach, -1 for none.

    Returns the number in (H, V + 1) of a way with which all nodes cover the circle from *start*, -1 for none.
    Arcs may be empty where a position is too heavy for a node; ``first`` is the history that the first width - 1 nodes
    have to make, ``most`` the windows that may have a zone twice.
    """
    choices, histories, windows = far.shape
    size, nodes = (len(sums) - 1) // 2, count.sum()
    goal = start + size
    far[:] = -1
    far[0, 0, 0] = start
    for choice in range(choices - 1):
        placed = 0
        for group in range(len(count)):
            placed += taken[choice, group]
        for history in range(histories):
            for several in range(windows):
                place = far[choice, history, several]
                if place < 0 or sums[goal] - sums[place] > limit * left[choice]:
                    continue
                step = histories
                for _ in range(min(placed + 1, width - 1)):
                    step //= zones
                for group in range(len(count)):
                    if taken[choice, group] == count[group]:
                        continue
                    if placed < width - 1 and first // step % zones != zone[group]:
                        continue
                    following = history * zones + zone[group]
                    then = several + (repeated[following] if placed >= width - 1 else 0)
                    if then > most:
                        continue
                    end = min(ends[kind[group], place], goal - (nodes - placed - 1))
                    after = following % histories
                    if end > far[choice + stride[group], after, then]:
                        far[choice + stride[group], after, then] = end
    for history in range(histories):
        for several in range(windows):
            if far[choices - 1, history, several] != goal:
                continue
            if several + crowding(repeated, history, first, zones, histories) <= most:
                return history * windows + several
    return -1


@compiled
def reached_exactly(
    sums: Any, kind: Any, zone: Any, count: Any, stride: Any, taken: Any, left: Any, repeated: Any, zones: Any, width:
    Any, start: Any, first: Any, most: Any, limit: Any, loads: Any, there: Any,
) -> Any:  # fmt: skip
    """Fill *there* (S, H, V + 1, M + 1) with every place, counted from *start*, that arcs reach, none of them empty.

    As :func:`reached` otherwise; ``loads`` (K,) is what an arc of each kind may have.
    """
    choices, histories, windows, places = there.shape
    goal, nodes = places - 1, count.sum()
    there[:] = False
    there[0, 0, 0, 0] = True
    for choice in range(choices - 1):
        placed = 0
        for group in range(len(count)):
            placed += taken[choice, group]
        for history in range(histories):
            for several in range(windows):
                if not there[choice, history, several].any():
                    continue
                step = histories
                for _ in range(min(placed + 1, width - 1)):
                    step //= zones
                for group in range(len(count)):
                    if taken[choice, group] == count[group]:
                        continue
                    if placed < width - 1 and first // step % zones != zone[group]:
                        continue
                    following = history * zones + zone[group]
                    then = several + (repeated[following] if placed >= width - 1 else 0)
                    if then > most:
                        continue
                    from_place, after = -1, following % histories
                    for place in range(1, goal - (nodes - placed - 1) + 1):
                        if there[choice, history, several, place - 1]:
                            from_place = place - 1
                        if from_place < 0 or sums[start + place] - sums[start + from_place] > loads[kind[group]]:
                            continue
                        if sums[start + goal] - sums[start + place] <= limit * left[choice + stride[group]]:
                            there[choice + stride[group], after, then, place] = True
    for history in range(histories):
        for several in range(windows):
            if not there[choices - 1, history, several, goal]:
                continue
            if several + crowding(repeated, history, first, zones, histories) <= most:
                return history * windows + several
    return -1


#: Entries of a table of choices, and steps in all, up to which every order is looked at.
MOST_ENTRIES, MOST_STEPS = 2_000_000, 400_000_000.0
#: Steps that one iteration of the budget buys.
STEPS_PER_ITERATION = 4_000_000.0


class BoundedOrder(NamedTuple):
    """Nodes in clockwise order (n,), the place of the first one's arc, and what no order is below, as load by cpu.

    Without an order (empty) none is below what was asked for, or none was found in time.
    """

    order: IntArray
    start: int
    bound: float


class EveryOrder:
    """Whether some order of nodes, cut in the best way, keeps a limit: all at once, by dynamic programming.

    The state is how many nodes of each class have been placed, the zones of the last width - 1, and the number of
    windows with a zone twice; its value is the farthest place reached. One run answers for one place at which the
    first arc begins and one history of the first zones, which the windows over the end of the circle need.

    The farthest place alone would let an arc be empty where a position is too heavy for its node, so that the answer
    is then a bound only. *exactly* keeps every place that can be reached instead: M times the work.

    *zones*: the least that zones cost any order, and the most that they may cost those that are looked at; None where
    zones do not matter. Where some windows have to lie within one zone, these alone are counted: then all windows have
    a zone twice, or none else does.
    """

    def __init__(
        self, problem: RingProblem, classes: NodeClasses, zones: ZoneCost | None, exactly: bool = False
    ) -> None:
        self.classes, self.exactly = classes, exactly
        self.width = 1 if zones is None else max(problem.width, 1)
        self.within = zones is not None and self.width > 1 and zones.losses > 0
        self.most = 0 if zones is None or self.width == 1 else zones.losses or zones.violations
        self.risky = classes.risky(problem)
        self.sums = sums_around(problem.load)
        self.size = len(problem.load)
        self.zones = classes.zones if self.width > 1 else 1
        with np.errstate(over="ignore"):
            self.histories = float(np.power(float(self.zones), self.width - 1))
        self.sizes, self.kind = classes.kinds
        self.zone = classes.zone if self.width > 1 else np.zeros_like(classes.zone)
        self._limit = -1.0

    def starts(self, high: float) -> IntArray:
        """Return places one of which begins an arc wherever loads by cpu are below *high*, in no order."""
        most = high * float(self.sizes.max())
        lengths = np.searchsorted(self.sums, self.sums[: self.size] + most, side="right") - 1 - np.arange(self.size)
        at = int(lengths.argmin())
        return scattered(max(min(int(lengths[at]), self.size), 1), at + 1, self.size)

    def steps(self, high: float) -> float:
        """Return about how many steps it takes to look at every order."""
        return self.entries * len(self.classes.count) * self.histories * len(self.starts(high))

    @property
    def entries(self) -> float:
        """How many numbers the table holds."""
        return self.classes.choices * self.histories * (self.most + 1) * (self.size + 1 if self.exactly else 1)

    def fits(self, high: float, budget: Budget) -> bool:
        """Return whether the table and the work are small enough."""
        work = MOST_STEPS if budget.iterations is None else min(MOST_STEPS, STEPS_PER_ITERATION * budget.iterations)
        return self.entries <= MOST_ENTRIES and self.steps(high) <= work

    def least(self, low: float, high: float, budget: Budget) -> BoundedOrder:
        """Return the order with the least largest load by cpu that is below *high*; :meth:`fits` must hold.

        Guarantee: no order is below ``bound``; it is *low* where the clock cut the work short.
        """
        self._prepare(pays_to_compile(self.steps(high)))
        best, answer = high, BoundedOrder(np.empty(0, dtype=np.int64), -1, high)
        for start in self.starts(high).tolist():
            for first in range(int(self.histories)):
                if budget.over():
                    return answer._replace(bound=low)
                if best <= low * (1.0 + NOISE):
                    break
                if self._way(start, first, best * (1.0 - NOISE)) < 0:
                    continue
                best = self._bisected(start, first, low, best)
                order = self.classes.nodes(self._sequence(start, first, self._way(start, first, best)))
                answer = BoundedOrder(order, start, best)
        return answer._replace(bound=max(low, best * (1.0 - NOISE)))

    def _prepare(self, compiled: bool) -> None:
        classes, shape = self.classes, (int(self.classes.choices), int(self.histories), self.most + 1)
        self._reached = reached if compiled else reached.plain
        self._exactly = reached_exactly if compiled else reached_exactly.plain
        self._reaching = reaching if compiled else reaching.plain
        self._ends = np.empty((len(self.sizes), len(self.sums)), dtype=np.int64)
        self._taken, self._stride = classes.taken(), classes.stride()
        repeated, within = windows_of_zones(classes, self.zones, self.width, self.risky)
        self._repeated = within if self.within else np.where(within, self.most + 1, repeated)
        self._left = np.maximum(classes.left(), 0.0) + NOISE * float((classes.cpu * classes.count).sum())
        if self.exactly:
            self._there: BoolArray = np.empty((*shape, self.size + 1), dtype=np.bool_)
        else:
            self._far: IntArray = np.empty(shape, dtype=np.int64)

    def _bisected(self, start: int, first: int, low: float, high: float) -> float:
        """Return the least limit that some order from *start* keeps."""
        high *= 1.0 - NOISE
        while high - low > NOISE * high:
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            low, high = (low, middle) if self._way(start, first, middle) >= 0 else (middle, high)
        return high

    def _way(self, start: int, first: int, limit: float) -> int:
        """Return a way through the table at a limit, -1 if there is none."""
        given = (self.kind, self.zone, self.classes.count, self._stride, self._taken, self._left, self._repeated)
        rest = (self.zones, self.width, start, first, self.most, limit)
        self._loads: FloatArray = self.sizes * limit
        if self.exactly:
            return int(self._exactly(self.sums, *given, *rest, self._loads, self._there))
        if limit != self._limit:
            self._reaching(self.sums, self._loads, self._ends)
            self._limit = limit
        return int(self._reached(self.sums, self._ends, *given, *rest, self._far))

    def _sequence(self, start: int, first: int, way: int) -> IntArray:
        """Return the classes in the order of a way through the table, from its end back."""
        nodes = int(self.classes.count.sum())
        history, several = divmod(way, self.most + 1)
        state, place = (len(self._taken) - 1, history, several), start + self.size
        sequence = list[int]()
        for placed in range(nodes - 1, -1, -1):
            state, place, group = next(
                (earlier, at, group)
                for group in np.flatnonzero(self._taken[state[0]]).tolist()
                for earlier in self._before(state, group, placed)
                if (at := self._came_from(earlier, group, place, start, nodes - placed - 1)) >= 0
            )
            sequence.append(group)
        return np.array(sequence[::-1], dtype=np.int64)

    def _came_from(self, state: tuple[int, int, int], group: int, place: int, start: int, after: int) -> int:
        """Return the place from which a node of the class reached *place* if that was in this state, else -1."""
        kind = int(self.kind[group])
        if not self.exactly:
            at = int(self._far[state])
            return at if at >= 0 and min(int(self._ends[kind, at]), start + self.size - after) == place else -1
        there = np.flatnonzero(self._there[state][: place - start])
        at = int(there[-1]) + start if len(there) else -1
        return at if at >= 0 and self.sums[place] - self.sums[at] <= self._loads[kind] else -1

    def _before(self, state: tuple[int, int, int], group: int, placed: int) -> list[tuple[int, int, int]]:
        """Return the states from which a node of the class may have come."""
        choice, history, several = state[0] - int(self._stride[group]), state[1], state[2]
        mine = int(self.zone[group])
        if self.width == 1:
            return [(choice, 0, several)]
        if history % self.zones != mine:
            return []
        states = list[tuple[int, int, int]]()
        for oldest in range(self.zones):
            earlier = history // self.zones + oldest * (int(self.histories) // self.zones)
            fewer = several - (int(self._repeated[earlier * self.zones + mine]) if placed >= self.width - 1 else 0)
            if fewer >= 0:
                states.append((choice, earlier, fewer))
        return states
