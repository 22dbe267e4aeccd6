"""Branch and bound over how many tasks of shared operators to take, bounded by copies that share a cost."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.replication.models.circuit import Circuit
from ftplan.planners.replication.models.reduction import Boxes, reduce
from ftplan.planners.replication.models.tables import Chosen, choices

#: Costs of a table up to which units are divided, and into how many parts at most.
FINE_COSTS, FINEST = 3000, 8
#: Steps that fit the parts of the cost at the root, and below it.
ROOT_STEPS, STEPS = 40, 2
#: Reductions that one iteration buys.
REDUCTIONS_PER_ITERATION = 10
#: Bound and value count as met at this share.
MET = 1e-9

Counts = dict[int, int]
Parts = dict[int, FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """The best numbers of tasks by block, their value, and a bound."""

    counts: Counts
    value: float
    bound: float


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    bound: float
    boxes: dict[int, tuple[int, int]]
    parts: Parts
    chosen: Chosen


def branch_and_bound(circuit: Circuit, limit: int, budget: Budget) -> Searched:
    """Maximise the output where some parts feed several others; see :class:`Search`."""
    return Search(circuit, limit).run(budget)


class Search:
    """Maximise the output where some parts feed several others, best bound first; may be run on.

    Each copy of a shared part chooses for itself and pays a part of the cost; the parts are moved until the copies
    agree as far as they will (a subgradient step). Where they do not, the range of the number of tasks of one shared
    block is halved. Plans come from fixing the shared blocks, which makes all that is left exact, and from moving one
    of these numbers at a time. Cost: a reduction, O(limit · tasks), at each step; exponential in the number of shared
    blocks at worst.
    """

    def __init__(self, circuit: Circuit, limit: int) -> None:
        self.circuit, self.limit = circuit, limit
        self.budget = Budget(0.0)
        self.fine = max(1, min(FINEST, FINE_COSTS // max(1, limit)))
        self.left: int | None = None
        self.best: Counts = {}
        self.value = 0.0
        self.settled = 0.0  # bound of what is settled
        self.following = 0
        self.heap: list[tuple[float, int, _Seen]] = []
        self.shared: set[int] = set()
        self.tried: dict[tuple[tuple[int, int], ...], float] = {}

    def run(self, budget: Budget) -> Searched:
        """Search on within a budget."""
        self.budget = budget
        self.left = None if budget.iterations is None else REDUCTIONS_PER_ITERATION * budget.iterations
        try:
            if self.following == 0:
                root = self._fitted({}, {}, np.inf, ROOT_STEPS)
                assert root is not None  # an empty plan fits
                self._push(root)
                self._climb(self._middle(root))
            while self.heap and not self._met(-self.heap[0][0]) and not self._over():
                self._branch(heapq.heappop(self.heap)[2])
        except OutOfTime:
            if self.following == 0:
                return Searched(self.best, self.value, np.inf)
        bound = max([self.value, self.settled, *(seen.bound for *_, seen in self.heap)])
        return Searched(self.best, self.value, bound)

    def _push(self, seen: _Seen) -> None:
        heapq.heappush(self.heap, (-seen.bound, self.following, seen))
        self.following += 1

    def _branch(self, seen: _Seen) -> None:
        """Bound both halves of a range; what the budget cuts short stays open."""
        boxes = self._halves(seen)
        if not boxes:  # all shared blocks are settled and tried as a plan
            self.settled = max(self.settled, seen.bound)
        for box in boxes:
            if self._over():
                self._push(seen)
                return
            try:
                child = self._fitted(seen.boxes | box, seen.parts, seen.bound, STEPS)
                if child is not None and not self._met(child.bound):
                    self._try(self._middle(child))
                    self._push(child)
            except OutOfTime:
                self._push(seen)
                raise

    def _met(self, bound: float) -> bool:
        return bound <= self.value * (1.0 + MET) + 1e-15

    def _over(self) -> bool:
        return self.budget.over() or (self.left is not None and self.left <= 0)

    def _bounded(self, boxes: Boxes, parts: Mapping[int, FloatArray]) -> tuple[float, Chosen, bool] | None:
        """Return the bound within boxes, its choices, and whether it is exact; None where nothing fits."""
        blocks = self.circuit.blocks
        room = self.limit - sum(low * blocks[k].cost for k, (low, _) in boxes.items())
        if room < 0:
            return None
        if self.left is not None:
            self.left -= 1
        fixed = all(low == high for k, (low, high) in boxes.items()) and self.shared <= boxes.keys()
        fine = 1 if fixed and self.shared else self.fine
        found = reduce(self.circuit, room * fine, boxes, parts, fine, self.budget)
        at = min(room * fine, len(found.table.values) - 1)
        return float(found.table.values[at]), choices(found.table, at), found.exact

    def _fitted(self, boxes: dict[int, tuple[int, int]], parts: Parts, bound: float, steps: int) -> _Seen | None:
        """Bound within boxes, moving the parts of the cost of each copy towards agreement."""
        best: _Seen | None = None
        for step in range(steps):
            try:
                found = self._bounded(boxes, parts)
            except OutOfTime:
                if best is None:
                    raise
                break
            if found is None:
                return None
            bounded, chosen, exact = found
            if best is None or bounded < best.bound:
                best = _Seen(min(bound, bounded), boxes, parts, chosen)
            self.shared |= {k for k, counts in chosen.counts.items() if len(counts) > 1}
            if exact or self._met(best.bound) or self._over():
                break
            parts = self._moved(parts, chosen, 0.5 / (1.0 + 0.25 * step))
        return best

    def _moved(self, parts: Parts, chosen: Chosen, step: float) -> Parts:
        """Charge those copies more that took more than the mean."""
        moved = dict(parts)
        for label, taken in chosen.shared.items():
            count = len(taken)
            spent = np.array([taken[k] for k in sorted(taken)], dtype=np.float64)
            before = parts.get(label, np.full(count, 1.0 / count))
            if len(before) != count or spent.max() <= 0.0:
                continue
            after = np.maximum(before + step * (spent - spent.mean()) / spent.max() / count, 0.0)
            moved[label] = after / after.sum()
        return moved

    def _middle(self, seen: _Seen) -> Counts:
        """Return one number of tasks for each shared block: the rounded mean of its copies."""
        middle = {}
        for k in sorted(self.shared):
            low, high = seen.boxes.get(k, (0, self.circuit.blocks[k].most))
            counts = seen.chosen.counts.get(k, [low])
            middle[k] = min(high, max(low, round(sum(counts) / len(counts))))
        return middle

    def _try(self, fixed: Counts) -> float:
        """Return the best value where the shared blocks take these numbers of tasks, and remember the plan."""
        key = tuple(sorted(fixed.items()))
        if key not in self.tried:
            found = self._bounded({k: (n, n) for k, n in fixed.items()}, {})
            self.tried[key] = -1.0
            if found is not None and found[2]:
                value, chosen, _ = found
                self.tried[key] = value
                if value > self.value:
                    self.value = value
                    self.best = {k: counts[0] for k, counts in chosen.counts.items()} | fixed
        return self.tried[key]

    def _climb(self, fixed: Counts) -> None:
        """Move one number at a time while that helps, in ever smaller steps."""
        value = self._try(fixed)
        step = max([1, *(n // 4 for n in fixed.values())])
        while step >= 1:
            better = False
            for k in sorted(fixed):
                for other in (fixed[k] - step, fixed[k] + step):
                    if not 0 <= other <= self.circuit.blocks[k].most or self._over():
                        continue
                    if (now := self._try(fixed | {k: other})) > value:
                        fixed, value, better = fixed | {k: other}, now, True
            if not better:
                step //= 2

    def _halves(self, seen: _Seen) -> list[dict[int, tuple[int, int]]]:
        """Return two ranges for the shared block whose copies disagree most; none where all are settled."""
        found = []
        for k in sorted(self.shared):
            low, high = seen.boxes.get(k, (0, self.circuit.blocks[k].most))
            if low < high:
                counts = seen.chosen.counts.get(k, [low])
                block = self.circuit.blocks[k]
                found.append(((max(counts) - min(counts)) * block.cost, (high - low) * block.cost, -k, low, high))
        if not found:
            return []
        *_, block_id, low, high = max(found)
        counts = seen.chosen.counts.get(-block_id, [low])
        middle = min(high - 1, max(low, sum(counts) // len(counts)))
        return [{-block_id: (low, middle)}, {-block_id: (middle + 1, high)}]
