"""What a move or a swap of copies changes in the load that survivors take over after losses."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation


def relief_of_moves(allocation: WorkingAllocation, slot: int) -> FloatArray:
    """Return how much breach of the failover limit a move of one copy to each node removes, (N,). Cost O(N)."""
    failover = allocation.limits.failover
    assert failover is not None
    unit, here = slot // allocation.problem.copies, int(allocation.flat[slot])
    loss, load = int(failover.loss[unit]), float(_loads(allocation, np.array([slot]))[0])
    nodes = np.arange(len(allocation.problem.nodes))
    relief = _breach(allocation, loss, here, 0.0) - _breach(allocation, loss, here, -load)
    return relief + _breach(allocation, loss, nodes, 0.0) - _breach(allocation, loss, nodes, load)


def relief_of_swaps(allocation: WorkingAllocation, slot: int) -> FloatArray:
    """Return the breach that an exchange of one copy with every slot removes, (U c,). Cost O(U c).

    Within a unit an exchange makes another copy the first.
    """
    failover, at = allocation.limits.failover, allocation.flat
    assert failover is not None
    slots = np.arange(at.size)
    here, loss = int(at[slot]), int(failover.loss[slot // allocation.problem.copies])
    load, loads = float(_loads(allocation, np.array([slot]))[0]), _loads(allocation, slots)
    losses = failover.loss[allocation.units(slots)]

    def breach(of: int | IntArray, node: int | IntArray, shift: float | FloatArray) -> FloatArray:
        return _breach(allocation, of, node, shift)

    same = losses == loss
    before = breach(loss, here, 0.0) + breach(loss, at, 0.0)
    before = before + np.where(same, 0.0, breach(losses, at, 0.0) + breach(losses, here, 0.0))
    of_one_loss = breach(loss, here, loads - load) + breach(loss, at, load - loads)
    of_two_losses = breach(loss, here, -load) + breach(loss, at, load)
    of_two_losses = of_two_losses + breach(losses, at, -loads) + breach(losses, here, loads)
    return np.asarray(before - np.where(same, of_one_loss, of_two_losses))


def _loads(allocation: WorkingAllocation, slots: IntArray) -> FloatArray:
    """Return what each slot takes over: its unit's load if it is the first copy, else nothing."""
    failover, copies = allocation.limits.failover, allocation.problem.copies
    assert failover is not None
    return np.where(slots % copies == 0, failover.load[slots // copies], 0.0)


def _breach(
    allocation: WorkingAllocation, loss: int | IntArray, node: int | IntArray, shift: float | FloatArray
) -> FloatArray:
    """Return by how much losses and nodes exceed the limit once *shift* is added to what the nodes take over."""
    failover, taken = allocation.limits.failover, allocation.taken
    assert failover is not None
    assert taken is not None
    return np.asarray(np.maximum(taken[loss, node] + shift - failover.upper[loss, node], 0.0))
