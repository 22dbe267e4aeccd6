"""Branch and bound over how many tasks of shared operators to take, bounded by copies that share a cost."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.budget import Budget, OutOfTime
from ftplan.planners.fidelity_circuit.circuit import Circuit
from ftplan.planners.fidelity_circuit.reduction import Boxes, reduce
from ftplan.planners.fidelity_circuit.tables import BlockChoices, choices

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


class BranchingResult(NamedTuple):
    """The best numbers of tasks by block, their value, and a bound."""

    counts: Counts
    value: float
    bound: float


class _Bounded(NamedTuple):
    """The bound within boxes, the choices that reach it, and whether it is exact."""

    bound: float
    chosen: BlockChoices
    exact: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Subproblem:
    """A node of the search tree: ranges of the shared blocks' numbers, and their copies' parts of the cost."""

    bound: float
    boxes: dict[int, tuple[int, int]]
    parts: Parts
    chosen: BlockChoices


class BranchAndBound:
    """Maximise the output where some parts feed several others, best bound first; may be resumed.

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
        self.reductions_left: int | None = None
        self.incumbent: Counts = {}
        self.value = 0.0
        self.closed_bound = 0.0  # the largest of subproblems whose shared blocks are all fixed
        self.following = 0
        self.heap: list[tuple[float, int, _Subproblem]] = []
        self.shared: set[int] = set()
        self.tried: dict[tuple[tuple[int, int], ...], float] = {}

    def resume(self, budget: Budget) -> BranchingResult:
        """Search on within a budget."""
        self.budget = budget
        self.reductions_left = None if budget.iterations is None else REDUCTIONS_PER_ITERATION * budget.iterations
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
                return BranchingResult(self.incumbent, self.value, np.inf)
        bound = max([self.value, self.closed_bound, *(node.bound for *_, node in self.heap)])
        return BranchingResult(self.incumbent, self.value, bound)

    def _push(self, node: _Subproblem) -> None:
        heapq.heappush(self.heap, (-node.bound, self.following, node))
        self.following += 1

    def _branch(self, node: _Subproblem) -> None:
        """Bound both halves of a range; what the budget cuts short stays open."""
        boxes = self._halves(node)
        if not boxes:  # all shared blocks are fixed and tried as a plan
            self.closed_bound = max(self.closed_bound, node.bound)
        for box in boxes:
            if self._over():
                self._push(node)
                return
            try:
                child = self._fitted(node.boxes | box, node.parts, node.bound, STEPS)
                if child is not None and not self._met(child.bound):
                    self._try(self._middle(child))
                    self._push(child)
            except OutOfTime:
                self._push(node)
                raise

    def _met(self, bound: float) -> bool:
        return bound <= self.value * (1.0 + MET) + 1e-15

    def _over(self) -> bool:
        return self.budget.over() or (self.reductions_left is not None and self.reductions_left <= 0)

    def _bounded(self, boxes: Boxes, parts: Mapping[int, FloatArray]) -> _Bounded | None:
        """Return the bound within boxes; None where nothing fits."""
        blocks = self.circuit.blocks
        room = self.limit - sum(low * blocks[k].cost for k, (low, _) in boxes.items())
        if room < 0:
            return None
        if self.reductions_left is not None:
            self.reductions_left -= 1
        fixed = all(low == high for k, (low, high) in boxes.items()) and self.shared <= boxes.keys()
        fine = 1 if fixed and self.shared else self.fine
        reduced = reduce(self.circuit, room * fine, boxes, parts, fine, self.budget)
        at = min(room * fine, len(reduced.table.values) - 1)
        return _Bounded(float(reduced.table.values[at]), choices(reduced.table, at), reduced.exact)

    def _fitted(self, boxes: dict[int, tuple[int, int]], parts: Parts, bound: float, steps: int) -> _Subproblem | None:
        """Bound within boxes, moving the parts of the cost of each copy towards agreement."""
        best: _Subproblem | None = None
        for step in range(steps):
            try:
                bounded = self._bounded(boxes, parts)
            except OutOfTime:
                if best is None:
                    raise
                break
            if bounded is None:
                return None
            if best is None or bounded.bound < best.bound:
                best = _Subproblem(min(bound, bounded.bound), boxes, parts, bounded.chosen)
            self.shared |= {k for k, counts in bounded.chosen.counts.items() if len(counts) > 1}
            if bounded.exact or self._met(best.bound) or self._over():
                break
            parts = self._moved(parts, bounded.chosen, 0.5 / (1.0 + 0.25 * step))
        return best

    def _moved(self, parts: Parts, chosen: BlockChoices, step: float) -> Parts:
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

    def _middle(self, node: _Subproblem) -> Counts:
        """Return one number of tasks for each shared block: the rounded mean of its copies."""
        middle = {}
        for k in sorted(self.shared):
            low, high = node.boxes.get(k, (0, self.circuit.blocks[k].most))
            counts = node.chosen.counts.get(k, [low])
            middle[k] = min(high, max(low, round(sum(counts) / len(counts))))
        return middle

    def _try(self, fixed: Counts) -> float:
        """Return the best value where the shared blocks take these numbers of tasks, and remember the plan."""
        key = tuple(sorted(fixed.items()))
        if key not in self.tried:
            bounded = self._bounded({k: (n, n) for k, n in fixed.items()}, {})
            self.tried[key] = -1.0
            if bounded is not None and bounded.exact:
                self.tried[key] = bounded.bound
                if bounded.bound > self.value:
                    self.value = bounded.bound
                    self.incumbent = {k: counts[0] for k, counts in bounded.chosen.counts.items()} | fixed
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

    def _halves(self, node: _Subproblem) -> list[dict[int, tuple[int, int]]]:
        """Return two ranges for the shared block whose copies disagree most; none where all are fixed."""
        open_ranges = []
        for k in sorted(self.shared):
            low, high = node.boxes.get(k, (0, self.circuit.blocks[k].most))
            if low < high:
                counts = node.chosen.counts.get(k, [low])
                block = self.circuit.blocks[k]
                open_ranges.append(((max(counts) - min(counts)) * block.cost, (high - low) * block.cost, -k, low, high))
        if not open_ranges:
            return []
        *_, block_id, low, high = max(open_ranges)
        counts = node.chosen.counts.get(-block_id, [low])
        middle = min(high - 1, max(low, sum(counts) // len(counts)))
        return [{-block_id: (low, middle)}, {-block_id: (middle + 1, high)}]
