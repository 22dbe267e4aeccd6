"""An allocation that a search changes: copies, what they use, and where each copy could go instead."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import mean_use
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits


@dataclass(slots=True)
class WorkingAllocation:
    """A changing allocation. ``copies`` (U, c) keeps R1 to R3 at all times; ``used`` (R, N) may break the limits.

    A slot is one copy: number ``unit * c + which``. ``taken`` (L, N) is what each survivor takes over after each loss,
    None until :meth:`count_takeovers` asks for it. ``scale`` (R,) is the use of a mean node, the unit of breaches.
    Cost of every method is linear in what it returns.
    """

    problem: CheckpointProblem
    limits: Limits
    copies: IntArray
    used: FloatArray
    taken: FloatArray | None = None
    scale: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        """Measure the use of a mean node."""
        self.scale = mean_use(self.limits, self.problem.copies)[:, 0]

    @staticmethod
    def of(problem: CheckpointProblem, limits: Limits, copies: IntArray) -> WorkingAllocation:
        """Return the state of an allocation; the array is copied."""
        return WorkingAllocation(problem, limits, copies.copy(), limits.used(copies))

    @property
    def flat(self) -> IntArray:
        """Node of each slot, shape (U c,), a view."""
        return self.copies.reshape(-1)

    @property
    def value(self) -> float:
        """Cost of the copies."""
        return self.problem.value(self.copies)

    def is_feasible(self) -> bool:
        """Return whether all limits hold, failover among them; recomputed from the copies."""
        return self.limits.satisfied_by(self.copies)

    def units(self, slots: IntArray) -> IntArray:
        """Unit of each slot."""
        return slots // self.problem.copies

    def free(self, slots: IntArray, nodes: IntArray | None = None) -> BoolArray:
        """Return whether the copy in each slot may go to each node, or to its *nodes* (slots, k), by R1 to R3."""
        p = self.problem
        units = self.units(slots)
        free = p.allowed[units] if nodes is None else p.allowed[units[:, None], nodes]
        domain = p.domain[None, :] if nodes is None else p.domain[nodes]
        for other in range(p.copies if p.copies > 1 else 0):
            taken = p.domain[self.copies[units, other]]
            free = free & ((slots % p.copies == other)[:, None] | (domain != taken[:, None]))
        return free

    def free_at(self, node: int) -> BoolArray:
        """Return whether each slot's copy may go to one node by R1 to R3, shape (U c,)."""
        p = self.problem
        here = p.domain[self.copies] == p.domain[node]  # (U, c)
        others = here.sum(axis=1, keepdims=True) - here
        return np.asarray(((others == 0) & p.allowed[:, node][:, None]).reshape(-1))

    def may_leave(self, slots: IntArray) -> BoolArray:
        """Return whether each copy can leave its node without breaking a lower limit there."""
        at, weight = self.flat[slots], self.limits.weight[:, self.units(slots)]
        left = self.used[:, at] - weight
        return np.asarray(np.all((left >= self.limits.lower[:, at]) | (weight <= 0), axis=0))

    def within(self, used: FloatArray, nodes: int | IntArray) -> BoolArray:
        """Return whether nodes (M,) that use this much, (R, M), keep their limits."""
        at = np.atleast_1d(nodes)
        return np.asarray(np.all((used <= self.limits.upper[:, at]) & (used >= self.limits.lower[:, at]), axis=0))

    def may_exchange(self, slot: int, others: IntArray) -> BoolArray:
        """Return whether both nodes keep their limits when one copy changes places with each of others (M,)."""
        node, at, weight = int(self.flat[slot]), self.flat[others], self.limits.weight
        shift = weight[:, self.units(others)] - weight[:, [slot // self.problem.copies]]
        return self.within(self.used[:, [node]] + shift, node) & self.within(self.used[:, at] - shift, at)

    def breach(self, used: FloatArray, nodes: int | IntArray) -> FloatArray:
        """Return by how much *used* (R, ...) breaks the limits of *nodes* (...), in units of the scale, summed."""
        upper, lower = self.limits.upper[:, nodes], self.limits.lower[:, nodes]
        total = np.zeros(used.shape[1:])
        for r in range(self.scale.size):  # a loop: there are one or two rows, and a product of matrices is slow here
            total += (np.maximum(used[r] - upper[r], 0.0) + np.maximum(lower[r] - used[r], 0.0)) / self.scale[r]
        return total

    @property
    def total_breach(self) -> float:
        """By how much all nodes together break their limits, in units of the scale."""
        return float(self.breach(self.used, np.arange(self.used.shape[1])).sum())

    def count_takeovers(self) -> None:
        """Count from now on what each survivor takes over; there is a failover limit."""
        assert self.limits.failover is not None
        self.taken = self.limits.failover.taken(self.copies[:, 0])

    def move(self, slot: int, node: int) -> None:
        """Move one copy to a node."""
        unit, origin = slot // self.problem.copies, self.flat[slot]
        weight, failover = self.limits.weight[:, unit], self.limits.failover
        if self.taken is not None and failover is not None and slot % self.problem.copies == 0:
            self.taken[failover.loss[unit], origin] -= failover.load[unit]
            self.taken[failover.loss[unit], node] += failover.load[unit]
        self.used[:, origin] -= weight
        self.used[:, node] += weight
        self.flat[slot] = node

    def swap(self, slot: int, other: int) -> None:
        """Exchange the nodes of two copies."""
        a, b = int(self.flat[slot]), int(self.flat[other])
        self.move(slot, b)
        self.move(other, a)
