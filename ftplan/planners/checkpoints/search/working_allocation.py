"""An allocation that is being changed: copies, what they use, and where each copy could go instead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.checkpoints.arrays import BoolArray, CheckpointProblem
from ftplan.planners.checkpoints.rules.limits import Limits


@dataclass(slots=True)
class Placed:
    """A changing allocation. ``copies`` (U, c) keeps R1 to R3 at all times; ``used`` (R, N) may break the limits.

    A slot is one copy: number ``unit * c + which``. Cost of every method is linear in what it returns.
    """

    problem: CheckpointProblem
    limits: Limits
    copies: IntArray
    used: FloatArray

    @staticmethod
    def at(problem: CheckpointProblem, limits: Limits, copies: IntArray) -> Placed:
        """Return the state of an allocation; the array is copied."""
        return Placed(problem, limits, copies.copy(), limits.used(copies))

    @property
    def flat(self) -> IntArray:
        """Node of each slot, shape (U c,), a view."""
        return self.copies.reshape(-1)

    def units(self, slots: IntArray) -> IntArray:
        """Unit of each slot."""
        return slots // self.problem.copies

    def free(self, slots: IntArray) -> BoolArray:
        """Return whether the copy in each slot may go to each node by R1 to R3, shape (slots, N)."""
        p = self.problem
        units = self.units(slots)
        free = p.allowed[units]
        for other in range(p.copies):
            mine = slots % p.copies == other
            taken = p.domain[self.copies[units, other]]
            free = free & (mine[:, None] | (p.domain[None, :] != taken[:, None]))
        return free

    def free_at(self, node: int) -> BoolArray:
        """Return whether each slot's copy may go to one node by R1 to R3, shape (U c,)."""
        p = self.problem
        here = p.domain[self.copies] == p.domain[node]  # (U, c)
        others = here.sum(axis=1, keepdims=True) - here
        return np.asarray(((others == 0) & p.allowed[:, node][:, None]).reshape(-1))

    def move(self, slot: int, node: int) -> None:
        """Move one copy to a node."""
        weight = self.limits.weight[:, slot // self.problem.copies]
        self.used[:, self.flat[slot]] -= weight
        self.used[:, node] += weight
        self.flat[slot] = node

    def swap(self, slot: int, other: int) -> None:
        """Exchange the nodes of two copies."""
        a, b = int(self.flat[slot]), int(self.flat[other])
        self.move(slot, b)
        self.move(other, a)

    def breach(self, used: FloatArray, nodes: IntArray, scale: FloatArray) -> FloatArray:
        """Return by how much *used* (R, ...) breaks the limits of *nodes* (...), in units of *scale* (R,), summed."""
        upper, lower = self.limits.upper[:, nodes], self.limits.lower[:, nodes]
        total = np.zeros(np.broadcast_shapes(used.shape[1:], nodes.shape))
        for r in range(scale.size):  # a loop: there are one or two rows, and a product of matrices is slow for these
            total += (np.maximum(used[r] - upper[r], 0.0) + np.maximum(lower[r] - used[r], 0.0)) / scale[r]
        return total
