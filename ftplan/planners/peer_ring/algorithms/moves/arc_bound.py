"""What no ring of the members moves fewer bytes than, whatever its order: arcs by themselves.

An arc of which k holders join costs k times its worth; its other holders are at best those who hold most of it. That
each node has one arc is left out; what is kept is that the arcs close the circle, none is above the largest limit, one
after a node that stays and is followed by one that joins costs what that one copies, and how many there are of either
kind, by prices (Lagrange multipliers) that any choice of makes a bound of.

The circle is cut into *blocks* of positions. Where blocks are single positions an arc begins with a block and covers it
(*inner* is 0); else it begins somewhere in a block and covers those between that and the block of its end (*inner* is
1). An arc that covers c blocks ends c + *inner* blocks after its first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ftplan.compiled import compiled
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.peer_ring.algorithms.moves.cuts import RingChange, plain_or_compiled


@compiled
def arc_costs(
    loads: Any, worth: Any, begin: Any, node: Any, held: Any, limit: float, walk: int, inner: int, offset: Any,
    cost: Any, load: Any, nodes: int,
) -> Any:  # fmt: skip
    """Return how many arcs keep the limit, and in *cost*, (arcs, walk + 1), what each costs at least, and its *load*.

    If k of its ``walk`` holders hold nothing yet, an arc costs k times its worth, and what the best others lack. *node*
    and *held* list the nodes that hold something of a block, from ``begin[block]`` on, and the worth of it, above 0.
    *offset*, (blocks + 1,), takes where the arcs of a block are, by what they cover. Where *load* is empty arcs are
    only counted.
    """
    blocks = len(loads)
    score = np.zeros(nodes)
    touched = np.zeros(nodes, dtype=np.int64)
    top = np.zeros(walk + 1)
    total = 0
    for first in range(blocks):
        offset[first] = total
        sum_load, weight, count = 0.0, 0.0, 0
        for covered in range(blocks - inner + 1):
            if covered > 0:
                block = (first + inner + covered - 1) % blocks
                sum_load += loads[block]
                if sum_load > limit:
                    break
                weight += worth[block]
                for i in range(begin[block], begin[block + 1]):
                    if score[node[i]] == 0.0:
                        touched[count] = node[i]
                        count += 1
                    score[node[i]] += held[i]
            elif inner == 0:
                continue
            if len(load):
                top[:] = 0.0
                for i in range(count):
                    value = score[touched[i]]
                    at = walk
                    while at > 0 and top[at - 1] < value:
                        top[at] = top[at - 1]
                        at -= 1
                    top[at] = value
                kept = 0.0
                for best in range(walk + 1):
                    cost[total, walk - best] = walk * weight - kept
                    kept += top[best]
                load[total] = sum_load
            total += 1
        for i in range(count):
            score[touched[i]] = 0.0
    offset[blocks] = total
    return total


@compiled
def cheapest_chain(
    start: int, span: int, offset: Any, cost: Any, load: Any, stay_limit: float, join_limit: float, stay_price: float,
    join_price: float, joins: int, walk: int, inner: int, openings: int,
) -> Any:  # fmt: skip
    """Return the least cost of arcs around the circle, each with the price of its kind.

    They begin in one of *span* blocks from block *start* on, and end in one of these one turn later.

    The slots of a window that join are a pattern, bit j for the j-th; where some join, at least one arc is of their
    kind. The window at the end is that at the start, one of the first *openings* patterns. Cost O(arcs 4^walk).
    """
    blocks = len(offset) - 1
    patterns = 1 << walk if joins > 0 else 1
    marks = np.zeros(patterns, dtype=np.int64)
    for p in range(patterns):
        for j in range(walk):
            marks[p] += (p >> j) & 1
    least = np.inf
    for opening in range(min(patterns, openings)):
        if marks[opening] > joins:
            continue
        best = np.full((blocks + span, 2 * patterns), np.inf)
        best[:span, 2 * opening] = 0.0
        for place in range(blocks + span - 1):
            block = (start + place) % blocks
            for _ in range(inner * (walk + 1)):  # arcs within a block
                for state in range(2 * patterns):
                    if best[place, state] < np.inf:
                        p, seen = state // 2, state % 2
                        own = p & 1
                        value = best[place, state] + (join_price if own else stay_price)
                        for bit in range(2 if patterns > 1 else 1):
                            q = (p >> 1) | (bit << (walk - 1))
                            if marks[q] <= joins:
                                to = 2 * q + (seen | own)
                                best[place, to] = min(best[place, to], value)
            for state in range(2 * patterns):
                if best[place, state] == np.inf:
                    continue
                p, seen = state // 2, state % 2
                own = p & 1
                value = best[place, state] + (join_price if own else stay_price)
                limit = join_limit if own else stay_limit
                to = 2 * (p >> 1) + (seen | own)
                other = to + 2 * (1 << (walk - 1)) if patterns > 1 and marks[p >> 1] < joins else to
                end = place + inner + (1 if inner == 0 else 0)
                for arc in range(offset[block], offset[block + 1]):
                    if end >= blocks + span or load[arc] > limit:
                        break
                    price = value + cost[arc, marks[p]]
                    if price < best[end, to]:
                        best[end, to] = price
                    if price < best[end, other]:
                        best[end, other] = price
                    end += 1
        for end in range(blocks, blocks + span):
            least = min(least, best[end, 2 * opening + (1 if joins > 0 else 0)])
    return least


#: Steps of one bound, about: arcs, starts and patterns; beyond it blocks are made larger. A rough one first, so that
#: something is known where the clock ends the other.
MOST_STEPS = (100_000_000, 2_500_000_000)
#: Most starts of the circle; where there are more, some are looked at together.
MOST_STARTS = 48
#: Most arcs whose costs are kept, eight bytes for each number of holders that join.
MOST_ARCS = 4_000_000
#: Copies that are looked at where nodes join: patterns double with each.
MOST_COPIES = 3
#: Prices that are tried first, by the worth of a mean arc and its copies, and how they are changed.
PRICES = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5)
PRICE_CHANGES = ((1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))
#: Most prices that are tried, and how often the start for which the bound is worst is looked at too.
MOST_TRIALS = 24
MOST_ROUNDS = 3


class _ArcCosts(NamedTuple):
    """Arcs of blocks, what they cost, and the blocks of which one has a cut."""

    offset: IntArray
    cost: FloatArray
    load: FloatArray
    starts: IntArray
    walk: int
    inner: int
    stay_limit: float
    join_limit: float
    stays: int
    joins: int
    span: int  # blocks that are looked at together from each start on
    block: int  # positions of a block

    def value(
        self, starts: IntArray, stay_price: float, join_price: float, budget: Budget, openings: int = 1 << MOST_COPIES
    ) -> float:
        """Return the bound by prices for rings with a cut in one of the blocks; 0 where the clock ran out.

        With fewer *openings* than all it holds only for rings where nobody joins close to the cut.
        """
        least = np.inf
        steps = 4.0 * len(self.load) * 4.0 ** (self.walk if self.joins else 0)
        kernel = plain_or_compiled(cheapest_chain, steps * len(starts))
        for start in starts.tolist():
            if budget.over():
                return 0.0
            cost = kernel(
                start, self.span, self.offset, self.cost, self.load, self.stay_limit, self.join_limit, stay_price,
                join_price, self.joins, self.walk, self.inner, openings,
            )  # fmt: skip
            least = min(least, float(cost))
        return least - stay_price * self.stays - join_price * self.joins


def arc_bound(change: RingChange, load: float, budget: Budget) -> float:
    """Return bytes that no ring of the members with at most this largest load goes below; at least 0.

    Valid for every order and all zones. Where the budget ends first it is what a rough look proves, or 0; deterministic
    but for that.
    """
    best, block = 0.0, 0
    for steps in MOST_STEPS:
        arcs = None if block == 1 else _arcs(change, load, steps, budget)
        if arcs is not None and arcs.block != block and len(arcs.starts):
            best, block = max(best, _bound(change, arcs, budget)), arcs.block
    return best


def _bound(change: RingChange, arcs: _ArcCosts, budget: Budget) -> float:
    problem = change.problem
    unit = float(problem.worth.sum()) / len(problem.member)
    best, looked = 0.0, arcs.starts[:1]
    for _ in range(MOST_ROUNDS):
        prices = _prices(arcs, looked, unit * change.walk, budget)
        least, worst = np.inf, arcs.starts[0]
        for start in arcs.starts:
            value = arcs.value(np.array([start]), *prices, budget)
            if value < least:
                least, worst = value, start
            if least <= best:
                break
        if budget.over():
            break
        best = max(best, least)
        if worst in looked:
            break
        looked = np.append(looked, worst)
    return best if best > NOISE * float(problem.worth.sum()) else 0.0


def _prices(arcs: _ArcCosts, starts: IntArray, unit: float, budget: Budget) -> tuple[float, float]:
    """Return good prices: those that are best for a few starts."""
    tried = dict[tuple[float, float], float]()

    def worth(price: tuple[float, float]) -> float:
        if price not in tried:
            known = len(tried) < MOST_TRIALS and min(price) >= 0.0
            tried[price] = arcs.value(starts, price[0] * unit, price[1] * unit, budget, 1) if known else -np.inf
        return tried[price]

    best = max(((price, price if arcs.joins else 0.0) for price in PRICES), key=worth)
    step = 0.25
    while step > 0.02 and len(tried) < MOST_TRIALS and not budget.over():
        near = [(best[0] + a * step, best[1] + b * step) for a, b in PRICE_CHANGES if arcs.joins or b == 0]
        better = max(near, key=worth)
        if worth(better) > worth(best):
            best = better
        else:
            step /= 2.0
    return best[0] * unit, best[1] * unit


def _arcs(change: RingChange, load: float, steps: float, budget: Budget) -> _ArcCosts | None:
    """Return arcs of blocks that are as small as so many steps let them be; None where the clock ran out."""
    problem = change.problem
    size, member = len(problem.position), problem.member
    joining = ~np.isin(member, np.unique(change.held))
    limits = change.limits(member, load)
    stay_limit = float(limits[~joining].max(initial=0.0))
    join_limit = float(limits[joining].max(initial=0.0))
    joins = int(joining.sum())
    walk = min(change.walk, MOST_COPIES) if joins else change.walk
    limit, block = max(stay_limit, join_limit), 1
    patterns = 4.0**walk if joins else 1.0
    while not budget.over():
        made = _Blocks(change, block)
        count = made.arcs(limit, walk, count_only=True)[0]
        starts = made.starts(limit)
        span = -(-len(starts) // MOST_STARTS)
        starts = starts[::span]
        if (count <= MOST_ARCS and count * patterns * (len(starts) + 60) <= steps) or size <= 8 * block:
            _, offset, cost, loads = made.arcs(limit, walk, count)
            return _ArcCosts(
                offset, cost, loads, starts, walk, made.inner, stay_limit, join_limit, len(member) - joins, joins, span,
                block,
            )  # fmt: skip
        block *= 2
    return None


class _Blocks:
    """The circle in blocks of some positions, and what members hold of each."""

    def __init__(self, change: RingChange, block: int) -> None:
        problem = change.problem
        size = len(problem.position)
        self.inner = 0 if block == 1 else 1
        at = np.arange(size) // block
        self.count = int(at[-1]) + 1
        self.nodes = len(problem.nodes)
        self.load = np.bincount(at, problem.load, minlength=self.count)
        self.worth = np.bincount(at, problem.worth, minlength=self.count)
        held = change.held
        keys = np.repeat(at, held.shape[1]) * self.nodes + held.ravel()
        keep = problem.members[held.ravel()]
        pair, where = np.unique(keys[keep], return_inverse=True)
        worth = np.bincount(where, np.repeat(problem.worth, held.shape[1])[keep], minlength=len(pair))
        pair, worth = pair[worth > 0.0], worth[worth > 0.0]
        self.node, self.held = pair % self.nodes, worth
        self.begin = np.searchsorted(pair // self.nodes, np.arange(self.count + 1))

    def arcs(
        self, limit: float, walk: int, count: int = 0, count_only: bool = False
    ) -> tuple[int, IntArray, FloatArray, FloatArray]:
        """Return how many arcs keep the limit, where those of each block are, and what they cost and load."""
        offset = np.zeros(self.count + 1, dtype=np.int64)
        made = 0 if count_only else count
        cost, load = np.zeros((made, walk + 1)), np.zeros(made)
        kernel = plain_or_compiled(arc_costs, 10.0 * max(count, self.count * 10.0))
        total = kernel(
            self.load, self.worth, self.begin, self.node, self.held, limit, walk, self.inner, offset, cost, load,
            self.nodes,
        )  # fmt: skip
        return int(total), offset, cost, load

    def starts(self, limit: float) -> IntArray:
        """Return the fewest blocks in a row of which one has a cut: more load than an arc may have; all without."""
        sums = np.concatenate([[0.0], np.cumsum(np.tile(self.load, 2))])
        ends = np.searchsorted(sums, sums[: self.count] + limit, side="right")
        lengths = ends - np.arange(self.count)
        at = int(lengths.argmin())
        if lengths[at] >= self.count:
            return np.arange(self.count)
        return (at + np.arange(lengths[at])) % self.count
