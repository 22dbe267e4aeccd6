"""The copies now in place, and what it takes to turn them into others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.checkpoints.arrays import BoolArray, CheckpointProblem
from ftplan.planners.checkpoints.search.working_allocation import WorkingAllocation

#: Relative slack of a limit in bytes: sums of fractions of bytes are rounded.
ROUNDING = 1e-12
#: Copies up to which all limits are checked after every change.
CHECKED = 5000


@dataclass(frozen=True, slots=True)
class MoveLimits:
    """How close to a fresh plan is close enough, and how much may move to get there; None is no limit.

    ``threshold`` is a part of (expected cost of a random plan - cost of the fresh plan), since costs cross zero.
    """

    threshold: float = 0.0
    max_moves: int | None = None
    max_bytes: float | None = None

    def exceeded(self, moves: int, size: float) -> tuple[str, ...]:
        """Return the names of the limits that this many moves and bytes exceed."""
        over = []
        if self.max_moves is not None and moves > self.max_moves:
            over.append("max-moves")
        if self.max_bytes is not None and size > self.max_bytes * (1 + ROUNDING):
            over.append("max-bytes")
        return tuple(over)


@dataclass(frozen=True, eq=False)
class Present:
    """Copies in place. Shapes: U units, N nodes; every unit is one key group.

    ``here`` (U, N) tells where a unit has a copy; ``count`` (U,) is how many it has, on whatever node, and ``first``
    (U,) the node of the one that takes over, -1 without any. A move takes a
    copy to another node, adds one, or drops one that is too many; only what arrives costs bytes.
    """

    problem: CheckpointProblem
    here: BoolArray
    count: IntArray
    first: IntArray

    @staticmethod
    def of(problem: CheckpointProblem, nodes: Sequence[Sequence[int]]) -> Present:
        """Return the present of a problem by key groups, with the node positions of each group's copies."""
        count = np.array([len(row) for row in nodes], dtype=np.int64)
        here = np.zeros((problem.load.size, len(problem.nodes)), dtype=np.bool_)
        here[np.repeat(np.arange(count.size), count), [node for row in nodes for node in row]] = True
        first = np.array([row[0] if len(row) else -1 for row in nodes], dtype=np.int64)
        return Present(problem, here, count, first)

    @property
    def value(self) -> float:
        """Cost of the copies in place."""
        return float(self.problem.cost[self.here].sum())

    def staying(self, copies: IntArray) -> BoolArray:
        """Return which copies (U, c) lie where one lies now."""
        return np.asarray(np.take_along_axis(self.here, copies, axis=1))

    def moves(self, copies: IntArray) -> int:
        """Return how many moves lead to copies (U, c)."""
        stay = self.staying(copies).sum(axis=1)
        return int((np.maximum(self.count, copies.shape[1]) - stay).sum())

    def size(self, copies: IntArray) -> float:
        """Return how many bytes of state arrive somewhere on the way to copies (U, c); unknown states count 0."""
        coming = copies.shape[1] - self.staying(copies).sum(axis=1)
        return float(coming @ self.problem.state)


@dataclass(slots=True)
class Moving:
    """An allocation on its way from the present, with the cost, the moves and the bytes so far."""

    placed: WorkingAllocation
    present: Present
    value: float
    moves: int
    size: float

    @staticmethod
    def at(placed: WorkingAllocation, present: Present) -> Moving:
        """Return the state of an allocation."""
        copies = placed.copies
        return Moving(placed, present, placed.problem.value(copies), present.moves(copies), present.size(copies))

    def steps(self, units: IntArray, origin: IntArray, target: IntArray) -> IntArray:
        """Return how many moves are added (or, negative, undone) when copies of units go from one node to another."""
        here = self.present.here
        return np.asarray(here[units, origin].astype(np.int64) - here[units, target])

    def affordable(self, steps: IntArray, size: FloatArray, limits: MoveLimits) -> BoolArray:
        """Return which changes by *steps* moves and *size* bytes stay within the limits, or at least move nothing."""
        good = np.ones(steps.shape, dtype=np.bool_)
        if limits.max_moves is not None:
            good &= (self.moves + steps <= limits.max_moves) | (steps <= 0)
        if limits.max_bytes is not None:
            good &= (self.size + size <= limits.max_bytes * (1 + ROUNDING)) | (size <= 0)
        return good

    def move(self, slot: int, node: int) -> None:
        """Move one copy to a node."""
        p = self.placed.problem
        unit, origin = slot // p.copies, int(self.placed.flat[slot])
        step = int(self.present.here[unit, origin]) - int(self.present.here[unit, node])
        self.value += float(p.cost[unit, node] - p.cost[unit, origin])
        self.moves += step
        self.size += step * float(p.state[unit])
        self.placed.move(slot, node)

    def make(self, moves: Sequence[tuple[int, int]]) -> bool:
        """Make moves (slot, node) together; where a limit then breaks, undo them and return False.

        Limits that moves are chosen by are kept anyway; the check is for those that couple nodes, and for rounding. In
        large problems it is left to the end. Cost O(U c).
        """
        undo = [(slot, int(self.placed.flat[slot])) for slot, _ in moves]
        for slot, node in moves:
            self.move(slot, node)
        if self.placed.flat.size > CHECKED or self.placed.limits.kept(self.placed.copies):
            return True
        for slot, node in reversed(undo):
            self.move(slot, node)
        return False
