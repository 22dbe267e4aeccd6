"""Moves and swaps of copies, judged by the failover rule besides the other limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.checkpoints.arrays import BoolArray
from ftplan.planners.checkpoints.rules.failover import Failover
from ftplan.planners.checkpoints.search.working_allocation import Placed


@dataclass(frozen=True, eq=False)
class Changes:
    """Possible changes of one slot, one an entry: what each saves, what breach it removes, whether it is allowed.

    ``allowed``: R1 to R3 hold, and so do the limits on nodes.
    """

    saving: FloatArray
    gain: FloatArray
    allowed: BoolArray


@dataclass(slots=True)
class FailoverState:
    """A changing allocation that keeps the limits on nodes, with what is taken over after each loss, (L, N)."""

    placed: Placed
    failover: Failover
    taken: FloatArray

    @staticmethod
    def at(placed: Placed, failover: Failover) -> FailoverState:
        """Return the state of an allocation, which it changes in place."""
        return FailoverState(placed, failover, failover.taken(placed.copies[:, 0]))

    def breach(self, loss: int | IntArray, node: int | IntArray, shift: float | FloatArray) -> FloatArray:
        """Return by how much the limit of some losses and nodes is exceeded once *shift* is added to what they take."""
        return np.asarray(np.maximum(self.taken[loss, node] + shift - self.failover.upper[loss, node], 0.0))

    def weight(self, slots: IntArray) -> FloatArray:
        """Return what each slot takes over: its unit's load if it is the first copy, else nothing."""
        c = self.placed.problem.copies
        return np.where(slots % c == 0, self.failover.load[slots // c], 0.0)

    def moves(self, slot: int) -> Changes:
        """Judge the move of one copy to each node. Cost O(R N)."""
        p, limits = self.placed.problem, self.placed.limits
        unit, here = slot // p.copies, int(self.placed.flat[slot])
        loss, w = int(self.failover.loss[unit]), float(self.weight(np.array([slot]))[0])
        nodes = np.arange(len(p.nodes))
        used = limits.weight[:, unit]
        allowed = self.placed.free(np.array([slot]))[0] & (nodes != here)
        allowed &= np.all(self.placed.used + used[:, None] <= limits.upper, axis=0)
        if np.any((self.placed.used[:, here] - used < limits.lower[:, here]) & (used > 0)):
            allowed[:] = False
        gain = self.breach(loss, here, 0.0) - self.breach(loss, here, -w)
        gain = gain + self.breach(loss, nodes, 0.0) - self.breach(loss, nodes, w)
        return Changes(p.cost[unit, here] - p.cost[unit], gain, allowed)

    def swaps(self, slot: int) -> Changes:
        """Judge the exchange of one copy with every slot; within a unit it makes another copy the first. O(U c R)."""
        p, limits, flat = self.placed.problem, self.placed.limits, self.placed.flat
        slots = np.arange(flat.size)
        units = slots // p.copies
        unit, here = slot // p.copies, int(flat[slot])
        loss, w = int(self.failover.loss[unit]), float(self.weight(np.array([slot]))[0])
        other, v = self.failover.loss[units], self.weight(slots)
        shift = limits.weight[:, units] - limits.weight[:, [unit]]
        mine, theirs = self.placed.used[:, [here]] + shift, self.placed.used[:, flat] - shift
        allowed = self.placed.free(np.array([slot]))[0][flat] & self.placed.free_at(here) & (flat != here)
        allowed &= np.all((mine <= limits.upper[:, [here]]) & (mine >= limits.lower[:, [here]]), axis=0)
        allowed &= np.all((theirs <= limits.upper[:, flat]) & (theirs >= limits.lower[:, flat]), axis=0)
        within = units == unit
        allowed = np.where(within, slots != slot, allowed)
        saving = p.cost[unit, here] - p.cost[unit, flat] + p.cost[units, flat] - p.cost[units, here]
        same = other == loss
        before = self.breach(loss, here, 0.0) + self.breach(loss, flat, 0.0)
        before = before + np.where(same, 0.0, self.breach(other, flat, 0.0) + self.breach(other, here, 0.0))
        one = self.breach(loss, here, v - w) + self.breach(loss, flat, w - v)
        two = self.breach(loss, here, -w) + self.breach(loss, flat, w)
        two = two + self.breach(other, flat, -v) + self.breach(other, here, v)
        return Changes(np.where(within, 0.0, saving), before - np.where(same, one, two), allowed)

    def move(self, slot: int, node: int) -> None:
        """Move one copy to a node."""
        loss = int(self.failover.loss[slot // self.placed.problem.copies])
        w = float(self.weight(np.array([slot]))[0])
        self.taken[loss, self.placed.flat[slot]] -= w
        self.taken[loss, node] += w
        self.placed.move(slot, node)

    def swap(self, slot: int, other: int) -> None:
        """Exchange the nodes of two copies."""
        a, b = int(self.placed.flat[slot]), int(self.placed.flat[other])
        self.move(slot, b)
        self.move(other, a)
