"""The heaviest allowed set of nodes, with a bound that nothing exceeds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.algorithms.allowed_sets import AllowedSets, members
from ftplan.planners.drain_schedule.algorithms.heaviest_kernel import BITS, branch_set, search

#: Nodes of the search tree between two looks at the clock, of a problem of so many nodes; fewer of a larger one, the
#: square of whose nodes is what one costs. Some tens of milliseconds.
TREE_NODES_PER_CLOCK_CHECK, CLOCK_CHECK_NODES = 20_000, 300
#: Nodes of the search tree that one iteration buys.
STEPS_PER_ITERATION = 100_000
#: Nodes to choose from, up to which this many nodes of the tree are looked at before anything is compiled.
FEW_NODES, PLAIN_TREE_NODES = 40, 1_500
#: Nodes of it that are looked at after a first set, for heavier ones.
TREE_NODES_AFTER_FIRST = 2_000


class HeaviestSet(NamedTuple):
    """The heaviest allowed set seen (0 where none beats the start), its weight, and whether none is heavier."""

    mask: int
    weight: int
    proven: bool


class AllowedSetRows:
    """Linear rows that every allowed set keeps, beside conflicts, zones and numbers; they grow by need.

    Rows of lost output by :meth:`AllowedSets.loss_row`; of cores and memory that move against what is left on nodes
    that stay; and of small sets that find no room.
    """

    def __init__(self, sets: AllowedSets) -> None:
        self.sets = sets
        self.rows: list[FloatArray] = []
        self.limits: list[float] = []
        if sets.limits_output:
            self._add(sets.shared_row, sets.largest_loss + 2 * ROUNDING)
        if sets.limits_room:
            self._room()

    def _add(self, row: FloatArray, limit: float) -> None:
        self.rows.append(row)
        self.limits.append(limit)

    def _room(self) -> None:
        """Cores that move and those left on the nodes themselves are not more than are left in all; memory likewise."""
        problem, sets = self.sets.problem, self.sets
        assert problem.room is not None
        room = problem.room
        for left, size in ((room.cpu, room.task_cpu), (room.memory_mb, room.task_mb)):
            open_room = np.where(room.accepting, np.maximum(left, 0.0), 0.0)
            total = float(open_room.sum())
            if np.isinf(total):
                continue
            own = np.array([float(size[down].sum()) for down in sets.down])
            row = own + open_room[np.array(sets.nodes, dtype=np.int64)]
            slack = ROUNDING * (len(open_room) + total + float(row.sum()))
            self._add(row, total + slack)

    def cut(self, mask: int) -> bool:
        """Add rows that a forbidden set without conflicts breaks; return whether it is proven to be forbidden.

        A smallest forbidden part of it: not all of its nodes go together; and what that loses of the output.
        """
        sets = self.sets
        if sets.keeps_limits(mask) or not self._proven(mask):
            return False
        for k in list(members(mask)):
            smaller = mask & ~(1 << k)
            if smaller and not sets.keeps_limits(smaller) and self._proven(smaller):
                mask = smaller
        row = np.zeros(sets.count)
        row[list(members(mask))] = 1.0
        self._add(row, mask.bit_count() - 0.5)
        if sets.limits_output:
            rest = (k for k in range(sets.count) if not mask >> k & 1)
            self._add(sets.loss_row((*members(mask), *rest)), sets.largest_loss + 2 * ROUNDING)
        return True

    def _proven(self, mask: int) -> bool:
        return not self.sets.limits_room or self.sets.packing(mask).proven


def bit_words(matrix: BoolArray) -> IntArray:
    """Return rows of flags, (n, m), as words of bits, (n, ceil(m / BITS))."""
    packed = np.zeros((matrix.shape[0], max(1, -(-matrix.shape[1] // BITS))), dtype=np.int64)
    for place in range(matrix.shape[1]):
        packed[:, place // BITS] |= matrix[:, place].astype(np.int64) << (place % BITS)
    return packed


class HeaviestSetSearch:
    """One branch and bound over the allowed sets, which can be stopped and goes on where it stopped.

    Nodes are numbered by *order*; those tried first stand last. Sets of weight *heaviest* or less are not looked for.
    """

    def __init__(
        self, sets: AllowedSets, weight: IntArray, order: IntArray, rows: AllowedSetRows, heaviest: int
    ) -> None:
        order = order[weight[order] > 0]
        count = len(order)
        self.sets, self.order, self.heaviest = sets, order, heaviest
        self.weight = weight[order]
        self.conflict = bit_words(sets.conflict[np.ix_(order, order)])
        self.zone = sets.zone[order]
        self.rows = np.array([row[order] for row in rows.rows], dtype=np.float64).reshape(len(rows.rows), count)
        self.limits = np.array(rows.limits, dtype=np.float64)
        width = self.conflict.shape[1]
        self.depth = 0
        self.candidates = np.zeros((count + 1, width), dtype=np.int64)
        self.candidates[:1] = bit_words(np.ones((1, count), dtype=np.bool_))
        self.branches = self.candidates.copy()
        self.chosen, self.reached = np.zeros((2, count + 1), dtype=np.int64)
        self.used = np.zeros((count + 1, len(self.limits)))
        self.shared = sets.shared_loss[np.ix_(order, order)] if len(sets.shared_loss) else np.zeros((0, 0))
        self.lost = np.zeros(count + 1)
        self.adds = np.zeros((count + 1, count if len(self.shared) else 0))
        if len(self.shared):
            self.adds[0] = sets.single_loss[order]
        self.by_zone = np.zeros(int(sets.zone.max(initial=0)) + 1, dtype=np.int64)
        self.best = np.full(count + 1, -1, dtype=np.int64)
        self.scratch, self.part = np.zeros((2, count + 1), dtype=np.int64), np.zeros(width, dtype=np.int64)
        self.plain = PLAIN_TREE_NODES if count <= FEW_NODES else 0
        root = branch_set.plain if self.plain else branch_set
        root(self.branches[0], self.conflict, self.weight, heaviest, *self.scratch, self.part)
        if count == 0:
            self.depth = -1

    def advance(self, steps: int) -> tuple[int, int]:
        """Go on for some nodes of the tree, or to the next heavier set; return that, or 0, and the steps left."""
        sets, before = self.sets, self.heaviest
        kernel = search.plain if self.plain > 0 else search
        asked = min(steps, self.plain) if self.plain > 0 else steps
        depth, heaviest, left = kernel(
            self.conflict, self.weight, self.zone, sets.per_zone, min(sets.most, len(self.order)), self.rows,
            self.limits, self.shared, sets.largest_loss + 2 * ROUNDING, self.lost, self.adds, self.depth,
            self.candidates, self.branches, self.chosen, self.reached, self.used, self.by_zone, self.best,
            self.heaviest, asked, self.scratch, self.part,
        )  # fmt: skip
        self.depth, self.heaviest = int(depth), int(heaviest)
        self.plain -= asked - int(left)
        return self.mask if self.heaviest > before else 0, steps - asked + int(left)

    @property
    def mask(self) -> int:
        """The heaviest set so far."""
        mask = 0
        for k in self.best.tolist():
            if k < 0:
                break
            mask |= 1 << int(self.order[k])
        return mask


def branching_order(sets: AllowedSets) -> IntArray:
    """Return the nodes such that each goes with as few as possible of those before it: small branches come first.

    The degeneracy order of the graph of nodes that may go together, from its end. Cost O(m^2).
    """
    together = ~sets.conflict
    degree, order = together.sum(axis=1), []
    for _ in range(sets.count):
        node = int(np.argmin(degree))
        order.append(node)
        degree = degree - together[node]
        degree[node] = 3 * sets.count
    return np.array(order[::-1], dtype=np.int64)


def heaviest_set(
    sets: AllowedSets, weight: IntArray, rows: AllowedSetRows, above: int, budget: Budget, steps: int | None = None
) -> HeaviestSet:
    """Return an allowed set heavier than *above*, or the proof that there is none, where the budget allows.

    Stops some steps after the first such set. A set that breaks output or room goes with all that are larger, since
    they break it too. *weight*, (m,), are whole numbers >= 0; *steps* are nodes of the tree.
    """
    tree, best = HeaviestSetSearch(sets, weight, branching_order(sets), rows, above), HeaviestSet(0, above, False)
    left = steps if steps is not None else STEPS_PER_ITERATION * (budget.iterations or 10**9)
    sure, at_a_time = (
        True,
        max(20, int(TREE_NODES_PER_CLOCK_CHECK * min(1.0, (CLOCK_CHECK_NODES / max(1, sets.count)) ** 2))),
    )
    while tree.depth >= 0 and left > 0 and not budget.over():
        slice_ = min(at_a_time, left)
        mask, rest = tree.advance(slice_)
        left -= slice_ - rest
        if mask and sets.keeps_limits(mask):
            best, left = HeaviestSet(mask, tree.heaviest, False), min(left, TREE_NODES_AFTER_FIRST)
        elif mask:
            tree.heaviest = best.weight
            sure = sure and not sets.in_doubt
    if best.mask or (tree.depth < 0 and sure):
        return best._replace(proven=not best.mask)
    budget.unfinished()
    return best


def cover_bound(sets: AllowedSets, weight: IntArray) -> int:
    """Return a weight that no allowed set exceeds: that of cliques of conflicts that cover all nodes."""
    count, total = sets.count, int(weight.sum())
    open_set, conflict = bit_words(np.ones((1, count), dtype=np.bool_))[0], bit_words(sets.conflict)
    scratch = np.zeros((2, count + 1), dtype=np.int64)
    cover = branch_set.plain if count <= FEW_NODES else branch_set
    return total - int(cover(open_set, conflict, weight, total, *scratch, np.zeros_like(open_set)))
