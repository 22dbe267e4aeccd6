"""Changes of an allocation by what they cost for the breach of limits that they remove."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation

#: A change must reduce the breach by this part of a mean node's use.
LEAST_RELIEF = 1e-12


class RepairChange(NamedTuple):
    """A move of a slot to a node, or its swap with another slot; the cheapest compares least, ties to the first."""

    cost_per_relief: float
    slot: int
    target: int
    is_swap: bool

    def make(self, allocation: WorkingAllocation) -> None:
        """Make the change."""
        (allocation.swap if self.is_swap else allocation.move)(self.slot, self.target)


class RatedChanges(NamedTuple):
    """Changes of slots (S,) to targets (T,), nodes or slots. ``relief`` (S, T) is 0 where a change is not allowed."""

    slots: IntArray
    targets: IntArray
    relief: FloatArray
    cost: FloatArray  # (S, T)

    def cheapest(self, is_swap: bool, least: float = LEAST_RELIEF) -> list[RepairChange]:
        """Return the change of least cost per relief as a list of one, empty where none relieves more than *least*."""
        good = self.relief > least
        if not good.any():
            return []
        rate = np.where(good, self.cost / np.where(good, self.relief, 1.0), np.inf)
        row, column = divmod(int(rate.argmin()), rate.shape[1])
        return [RepairChange(float(rate[row, column]), int(self.slots[row]), int(self.targets[column]), is_swap)]


def moves_off(allocation: WorkingAllocation, node: int, breach: FloatArray) -> RatedChanges:
    """Rate the moves of every copy on a node to every other node; *breach* (N,) is that of the nodes now."""
    p = allocation.problem
    here, targets = np.flatnonzero(allocation.flat == node), np.arange(len(p.nodes))
    units = allocation.units(here)
    weight = allocation.limits.weight[:, units]
    left = allocation.breach(allocation.used[:, [node]] - weight, node)[:, None]
    grown = allocation.breach(allocation.used[:, None, :] + weight[:, :, None], targets)
    relief = breach[node] + breach[None, :] - left - grown
    relief = np.where(allocation.free(here) & (targets != node)[None, :], relief, 0.0)
    return RatedChanges(here, targets, relief, p.cost[units] - p.cost[units, node][:, None])


def moves_onto(allocation: WorkingAllocation, node: int, breach: FloatArray) -> RatedChanges:
    """Rate the moves of every copy elsewhere to a node; *breach* (N,) is that of the nodes now."""
    cost, weight = allocation.problem.cost, allocation.limits.weight
    others = np.flatnonzero((allocation.flat != node) & allocation.free_at(node))
    at, units = allocation.flat[others], allocation.units(others)
    grown = allocation.breach(allocation.used[:, [node]] + weight[:, units], node)
    left = allocation.breach(allocation.used[:, at] - weight[:, units], at)
    relief = (breach[node] + breach[at] - grown - left)[:, None]
    return RatedChanges(others, np.array([node]), relief, (cost[units, node] - cost[units, at])[:, None])


def swaps_with(
    allocation: WorkingAllocation, node: int, here: IntArray, others: IntArray, breach: FloatArray
) -> RatedChanges:
    """Rate the exchange of copies *here* on a node with *others* elsewhere; *breach* (N,) is that of the nodes now."""
    cost, weight = allocation.problem.cost, allocation.limits.weight
    units, v, at = allocation.units(here), allocation.units(others), allocation.flat[others]
    allowed = allocation.free(here)[:, at] & allocation.free_at(node)[others][None, :] & (units[:, None] != v[None, :])
    shift = weight[:, v][:, None, :] - weight[:, units][:, :, None]
    mine = allocation.breach(allocation.used[:, node][:, None, None] + shift, node)
    theirs = allocation.breach(allocation.used[:, at][:, None, :] - shift, at)
    relief = np.where(allowed, breach[node] + breach[at][None, :] - mine - theirs, 0.0)
    added = cost[units[:, None], at[None, :]] - cost[units, node][:, None]
    added += (cost[v, node] - cost[v, at])[None, :]
    return RatedChanges(here, others, relief, added)
