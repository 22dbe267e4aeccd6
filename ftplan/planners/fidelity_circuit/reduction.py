"""Reduce a circuit to one table: series, sums and joins exactly; what feeds several parts by copies."""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.fidelity_circuit.circuit import Circuit
from ftplan.planners.fidelity_circuit.circuit import circuit as circuit_of
from ftplan.planners.fidelity_circuit.tables import ValueTable, constant, of_block, product, scaled, share, total

#: Numbers of tasks that a block may have: (least, most); the cost of the least is paid outside.
Boxes = Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """The table of the output, exact where nothing was copied. ``copies`` counts those of shared tables, by label."""

    table: ValueTable
    copies: dict[int, int]

    @property
    def exact(self) -> bool:
        """Whether the table is the optimum at each cost, not only a bound."""
        return not self.copies


@dataclass(slots=True)
class _CircuitPart:
    table: ValueTable
    slots: set[int] = field(default_factory=set)
    out: set[int] = field(default_factory=set)
    rank: int = 0


def reduce(
    circuit: Circuit,
    limit: int,
    boxes: Boxes | None = None,
    parts: Mapping[int, FloatArray] | None = None,
    fine: int = 1,
    budget: Budget | None = None,
) -> Reduced:
    """Return the output's best value at each cost up to *limit*, or a bound of it.

    Parts in series and joins of separate streams become products, parallel parts become sums: both are exact, so that
    in-trees, out-trees and all that nests them are solved for every budget at once. What is left is fed by shared
    parts: each copy then chooses for itself and pays *parts* of the cost (equal ones by default; they sum to 1), which
    bounds the optimum from above. Costs are in units / *fine*, so that rounding parts down loses less.

    Cost O(limit · tasks) at most. Raises :class:`OutOfTime`.
    """
    return _Reduction(circuit, limit, boxes or {}, parts or {}, fine, budget or Budget(math.inf)).reduced()


def values_by_cost(
    graph: TaskGraph, model: FidelityModel, free: BoolArray, units: IntArray, limit: int, budget: Budget
) -> FloatArray:
    """Return a bound on the fidelity at each cost up to *limit*, where some tasks are live for free.

    The others cost *units*, below 0: never live. Raises :class:`OutOfTime`.
    """
    return reduce(circuit_of(graph, model, free, units, budget), limit, budget=budget).table.values


class _Reduction:
    def __init__(
        self,
        circuit: Circuit,
        limit: int,
        boxes: Boxes,
        shares: Mapping[int, FloatArray],
        fine: int,
        budget: Budget,
    ) -> None:
        self.limit, self.shares, self.budget = limit, shares, budget
        self.parts: dict[int, _CircuitPart] = {}
        self.tails: dict[int, dict[int, float]] = {}
        self.owner: dict[int, int] = {}
        self.copies: dict[int, int] = {}
        self.waiting: deque[int] = deque()
        self.queued: set[int] = set()
        self.touched: set[int] = set()  # parts whose feeders may have changed since nothing could be contracted
        self.fed_by_sources: set[int] = set()  # parts that nothing but sources feeds, whose feeders are in `shared`
        self.shared: list[tuple[int, int]] = []  # heap of (rank, number) of sources to copy, some of them gone
        self.following = len(circuit.nodes)
        for number, node in enumerate(circuit.nodes):
            self.budget.check()
            tables = [of_block(b, *boxes.get(b.id, (0, b.most)), fine, limit) for b in node.blocks]
            if node.base > 0.0 or not tables:
                tables.append(constant(node.base))
            part = _CircuitPart(total(tables, limit, budget))
            for slot in node.slots:
                key = len(self.owner)
                self.owner[key], self.tails[key] = number, dict(slot)
                part.slots.add(key)
                for tail in slot:
                    self.parts[tail].out.add(key)
                    part.rank = max(part.rank, self.parts[tail].rank + 1)
            self.parts[number] = part
        self.root = len(circuit.nodes) - 1
        self._drop_unused()

    def reduced(self) -> Reduced:
        for slot in sorted(self.owner):
            self._queue(slot)
        while True:
            while self.waiting:
                self.budget.check()
                slot = self.waiting.popleft()
                self.queued.discard(slot)
                if slot in self.owner:
                    self._contract(slot)
            if not self.parts[self.root].slots:
                return Reduced(self.parts[self.root].table, self.copies)
            self.budget.check()
            self._copy(self._first_shared())

    def _queue(self, slot: int) -> None:
        if slot in self.owner:
            self.touched.add(self.owner[slot])
        if slot not in self.queued:
            self.queued.add(slot)
            self.waiting.append(slot)

    def _drop_unused(self) -> None:
        """Take away what leads to no output, and slots without a positive weight."""
        for number in sorted(self.parts, reverse=True):
            part = self.parts[number]
            if number == self.root or part.out:
                continue
            for slot in part.slots:
                for tail in self.tails.pop(slot):
                    self.parts[tail].out.discard(slot)
                del self.owner[slot]
            del self.parts[number]

    def _contract(self, slot: int) -> None:
        """Simplify one slot as far as it goes."""
        self._merge_sources(slot)
        self._merge_alike(slot)
        tails = self.tails[slot]
        if len(tails) > 1:
            return
        head = self.owner[slot]
        owner = self.parts[head]
        if not tails:  # nothing arrives with any weight
            self._fold(slot, owner, constant(0.0))
            return
        (number, weight), *_ = tails.items()
        tail = self.parts[number]
        if len(tail.out) == 1 and not tail.slots:
            del self.parts[number]
            self._fold(slot, owner, scaled(tail.table, weight))
        elif len(tail.out) == 1 and len(owner.slots) == 1:
            owner.table = product(scaled(tail.table, weight), owner.table, self.limit, self.budget)
            owner.slots = tail.slots
            del self.parts[number], self.owner[slot], self.tails[slot]
            for inner in sorted(owner.slots):
                self.owner[inner] = head
                self._queue(inner)
            self._wake(owner)

    def _fold(self, slot: int, owner: _CircuitPart, table: ValueTable) -> None:
        """Multiply a part by what fills one of its slots."""
        owner.table = product(table, owner.table, self.limit, self.budget)
        owner.slots.discard(slot)
        del self.owner[slot], self.tails[slot]
        self._wake(owner)

    def _wake(self, part: _CircuitPart) -> None:
        for slot in sorted(part.out | part.slots):
            self._queue(slot)

    def _merge_sources(self, slot: int) -> None:
        """Add up the tails of a slot that nothing feeds and that feed nothing else."""
        tails = self.tails[slot]
        alone = [k for k in sorted(tails) if not self.parts[k].slots and len(self.parts[k].out) == 1]
        if len(alone) > 1:
            self._replace(slot, alone, None)

    def _merge_alike(self, slot: int) -> None:
        """Add up the tails of a slot that hang between one part and this slot only; a direct stream counts as one."""
        tails = self.tails[slot]
        by_feed: dict[int, list[int]] = {}
        for k in sorted(tails):
            part = self.parts[k]
            if len(part.slots) == 1 and len(part.out) == 1:
                (inner,) = part.slots
                if len(self.tails[inner]) == 1:
                    by_feed.setdefault(next(iter(self.tails[inner])), []).append(k)
        for feed, alike in by_feed.items():
            if len(alike) + (feed in tails) > 1:
                self._replace(slot, alike, feed)

    def _replace(self, slot: int, alike: list[int], feed: int | None) -> None:
        """Replace parallel parts by their sum, fed by *feed*."""
        tails = self.tails[slot]
        tables = []
        for k in alike:
            part, weight = self.parts.pop(k), tails.pop(k)
            for inner in part.slots:
                assert feed is not None
                weight *= self.tails.pop(inner)[feed]
                self.parts[feed].out.discard(inner)
                del self.owner[inner]
            tables.append(scaled(part.table, weight))
        if feed is not None and feed in tails:
            tables.append(constant(tails.pop(feed)))
            self.parts[feed].out.discard(slot)
        both = _CircuitPart(total(tables, self.limit, self.budget), out={slot})
        self.parts[self.following] = both
        tails[self.following] = 1.0
        if feed is not None:
            key = next(reversed(self.owner)) + 1  # the largest: keys ascend
            self.owner[key], self.tails[key] = self.following, {feed: 1.0}
            both.slots.add(key)
            both.rank = self.parts[feed].rank + 1
            self.parts[feed].out.add(key)
            self._wake(self.parts[feed])
            self._queue(key)
        self.following += 1

    def _first_shared(self) -> int:
        """Return the shared source of least rank that feeds a part which nothing but sources feeds.

        Such a part stays so until it is contracted, and a source that is not shared never becomes it. So only parts
        that were touched since the last call are looked at, and each lists its feeders once.
        """
        for number in self.touched - self.fed_by_sources:
            part = self.parts.get(number)
            if part is None or any(self.parts[k].slots for slot in part.slots for k in self.tails[slot]):
                continue
            self.fed_by_sources.add(number)
            for k in (k for slot in part.slots for k in self.tails[slot]):
                if len(self.parts[k].out) > 1:
                    heapq.heappush(self.shared, (self.parts[k].rank, k))
        self.touched.clear()
        while (number := heapq.heappop(self.shared)[1]) not in self.parts or len(self.parts[number].out) < 2:
            pass
        return number

    def _copy(self, number: int) -> None:
        """Let each slot that a shared source feeds have a copy of it, at a part of the cost."""
        part = self.parts.pop(number)
        out = sorted(part.out)
        table = part.table
        parts = self.shares.get(table.label)
        if parts is None or len(parts) != len(out):
            parts = np.full(len(out), 1.0 / len(out))
        free = len(table.values) == 1
        if not free:
            self.copies[table.label] = len(out)
        for k, slot in enumerate(out):
            copy = table if free else share(table, float(parts[k]), k, self.limit)
            weight = self.tails[slot].pop(number)
            self.parts[self.following] = _CircuitPart(copy, out={slot}, rank=part.rank)
            self.tails[slot][self.following] = weight
            self.following += 1
            self._queue(slot)
