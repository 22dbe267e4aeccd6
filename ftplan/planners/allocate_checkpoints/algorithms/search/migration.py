"""The copies now in place, and an allocation on its way from them to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation

#: Relative slack of a limit in bytes: sums of fractions of bytes are rounded.
ROUNDING = 1e-12
#: Copies up to which all limits are checked after every change.
MOST_CHECKED_COPIES = 5000


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

    def refusal(self, names: Sequence[str]) -> str:
        """Return in words that some of the limits, at least one, allow no more."""
        given = {"max-moves": self.max_moves, "max-bytes": self.max_bytes}
        options = " and ".join(f"--{name} {given[name]:.12g}" for name in names)
        return f"{options} {'allow' if len(names) > 1 else 'allows'} no more"


@dataclass(frozen=True, eq=False)
class CurrentAllocation:
    """The copies in place: the node positions of each unit's copies, in any number, the one that takes over first.

    Every unit is one key group. A move takes a copy to another node, adds one, or drops one that is too many; only
    what arrives costs bytes.
    """

    problem: CheckpointProblem
    nodes: Sequence[Sequence[int]]

    @cached_property
    def count(self) -> IntArray:
        """Number of copies of each unit, shape (U,)."""
        return np.array([len(row) for row in self.nodes], dtype=np.int64)

    @cached_property
    def held(self) -> BoolArray:
        """Where each unit has a copy, shape (U, N)."""
        held = np.zeros(self.problem.cost.shape, dtype=np.bool_)
        held[np.repeat(np.arange(self.count.size), self.count), [node for row in self.nodes for node in row]] = True
        return held

    @property
    def value(self) -> float:
        """Cost of the copies in place."""
        return float(self.problem.cost[self.held].sum())

    def staying(self, copies: IntArray) -> BoolArray:
        """Return which copies (U, c) lie where one lies now."""
        return np.asarray(np.take_along_axis(self.held, copies, axis=1))

    def moves(self, copies: IntArray) -> int:
        """Return how many moves lead to copies (U, c)."""
        return int((np.maximum(self.count, copies.shape[1]) - self.staying(copies).sum(axis=1)).sum())

    def size(self, copies: IntArray) -> float:
        """Return how many bytes of state arrive somewhere on the way to copies (U, c); unknown states count 0."""
        coming = copies.shape[1] - self.staying(copies).sum(axis=1)
        return float(coming @ self.problem.state)


@dataclass(slots=True)
class CopyMigration:
    """An allocation on its way from the current one, with its cost, and the moves and bytes so far."""

    allocation: WorkingAllocation
    current: CurrentAllocation
    allowance: MoveLimits
    value: float
    moves: int
    size: float

    @staticmethod
    def of(
        allocation: WorkingAllocation, current: CurrentAllocation, allowance: MoveLimits | None = None
    ) -> CopyMigration:
        """Return the migration that has come to an allocation, which it changes in place."""
        copies = allocation.copies
        limits = allowance or MoveLimits()
        return CopyMigration(allocation, current, limits, allocation.value, current.moves(copies), current.size(copies))

    def exceeded(self) -> tuple[str, ...]:
        """Return the names of the limits on moves that are exceeded."""
        return self.allowance.exceeded(self.moves, self.size)

    def steps(self, units: int | IntArray, origin: int | IntArray, target: int | IntArray) -> IntArray:
        """Return how many moves are added (or, negative, undone) when copies of units go from one node to another."""
        held = self.current.held
        return np.asarray(held[units, origin].astype(np.int64) - held[units, target])

    def affordable(self, *ways: tuple[int | IntArray, int | IntArray, int | IntArray]) -> BoolArray:
        """Return which changes stay within the limits on moves and bytes, or at least move nothing.

        Each way holds the units, origins and targets of one copy of each change.
        """
        steps, size = np.zeros(1, dtype=np.int64), np.zeros(1)
        for units, origin, target in ways:
            step = self.steps(units, origin, target)
            steps, size = steps + step, size + step * self.current.problem.state[units]
        good = np.ones(steps.shape, dtype=np.bool_)
        if self.allowance.max_moves is not None:
            good &= (self.moves + steps <= self.allowance.max_moves) | (steps <= 0)
        if self.allowance.max_bytes is not None:
            good &= (self.size + size <= self.allowance.max_bytes * (1 + ROUNDING)) | (size <= 0)
        return good

    def move(self, slot: int, node: int) -> None:
        """Move one copy to a node."""
        p = self.allocation.problem
        unit, origin = slot // p.copies, int(self.allocation.flat[slot])
        step = int(self.steps(unit, origin, node))
        self.value += float(p.cost[unit, node] - p.cost[unit, origin])
        self.moves += step
        self.size += step * float(p.state[unit])
        self.allocation.move(slot, node)

    def make(self, moves: Sequence[tuple[int, int]]) -> bool:
        """Make moves (slot, node) together; where a limit then breaks, undo them and return False.

        Limits that moves are chosen by are kept anyway; the check is for those that couple nodes, and for rounding. In
        large problems it is left to the end. Cost O(U c).
        """
        undo = [(slot, int(self.allocation.flat[slot])) for slot, _ in moves]
        for slot, node in moves:
            self.move(slot, node)
        if self.allocation.flat.size > MOST_CHECKED_COPIES or self.allocation.is_feasible():
            return True
        for slot, node in reversed(undo):
            self.move(slot, node)
        return False
