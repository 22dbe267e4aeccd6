"""Moves and swaps that make a feasible allocation cheaper.

With a failover limit they keep the load that survivors take over after losses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget


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


#: Slots above which swaps are left out: one pass over all pairs would take minutes.
MOST_SLOTS_FOR_SWAPS = 20_000
#: Passes over all copies where nothing else ends the search.
MOST_PASSES = 50


def improve(allocation: WorkingAllocation, budget: Budget) -> None:
    """Apply improving moves and swaps within all limits until none is left.

    Copies are taken in order; each makes its best move, then each its best swap. Deterministic but for the clock.
    Cost O((U c)² R) a pass.
    """
    least = 1e-12 * max(allocation.problem.largest_cost, 1e-300)
    if allocation.limits.failover is not None:
        allocation.count_takeovers()
    slots = allocation.flat.size
    for _ in range(budget.passes(MOST_PASSES)):
        changed = False
        for operator in OPERATORS if slots <= MOST_SLOTS_FOR_SWAPS else (MOVE,):
            for slot in range(slots):
                if budget.over():
                    return
                target = _best_target(operator, allocation, slot, least)
                if target is not None:
                    operator.make(allocation, slot, target)
                    changed = True
        if not changed:
            return


def feasible_moves(allocation: WorkingAllocation, slot: int, wanted: BoolArray) -> BoolArray:
    """Return to which *wanted* nodes (N,) a copy may go by R1 to R3 and the limits on nodes."""
    one = np.array([slot])
    feasible: BoolArray = wanted & allocation.free(one)[0]
    feasible[allocation.flat[slot]] = False
    if not feasible.any() or not allocation.may_leave(one)[0]:
        return np.zeros_like(feasible)
    weight = allocation.limits.weight[:, [slot // allocation.problem.copies]]
    fits = (allocation.used + weight <= allocation.limits.upper) | (weight <= 0)
    return np.asarray(feasible & np.all(fits, axis=0))


def feasible_swaps(allocation: WorkingAllocation, slot: int, wanted: BoolArray) -> BoolArray:
    """Return with which *wanted* slots (U c,) a copy may change places by R1 to R3 and the limits on nodes.

    Within a unit it always may: only another copy then takes over first.
    """
    copies, at, here = allocation.problem.copies, allocation.flat, int(allocation.flat[slot])
    same = np.arange(at.size) // copies == slot // copies
    feasible: BoolArray = wanted & ~same & (at != here) & allocation.free(np.array([slot]))[0][at]
    if feasible.any():
        feasible &= allocation.free_at(here)
        partners = np.flatnonzero(feasible)
        feasible[partners] = allocation.may_exchange(slot, partners)
    return np.asarray(feasible | (wanted & same & (np.arange(at.size) != slot)))


def move_savings(allocation: WorkingAllocation, slot: int) -> FloatArray:
    """Return the cost that a move of one copy to each node saves, (N,)."""
    cost, unit = allocation.problem.cost, slot // allocation.problem.copies
    return np.asarray(cost[unit, allocation.flat[slot]] - cost[unit])


def swap_savings(allocation: WorkingAllocation, slot: int) -> FloatArray:
    """Return the cost that an exchange of one copy with each slot saves, (U c,); 0 within its unit."""
    cost, at = allocation.problem.cost, allocation.flat
    units: IntArray = np.arange(at.size) // allocation.problem.copies
    unit, here = slot // allocation.problem.copies, int(at[slot])
    saving = cost[unit, here] - cost[unit, at] + cost[units, at] - cost[units, here]
    return np.where(units == unit, 0.0, saving)


class SearchOperator(NamedTuple):
    """A way to change one copy: cost and failover breach that each target removes, which are feasible, and how."""

    savings: Callable[[WorkingAllocation, int], FloatArray]
    relief: Callable[[WorkingAllocation, int], FloatArray]
    feasible: Callable[[WorkingAllocation, int, BoolArray], BoolArray]
    make: Callable[[WorkingAllocation, int, int], None]


MOVE = SearchOperator(move_savings, relief_of_moves, feasible_moves, WorkingAllocation.move)
SWAP = SearchOperator(swap_savings, relief_of_swaps, feasible_swaps, WorkingAllocation.swap)
OPERATORS = (MOVE, SWAP)


def _best_target(operator: SearchOperator, allocation: WorkingAllocation, slot: int, least: float) -> int | None:
    """Return the node or slot with which one copy saves most within all limits, None where none saves."""
    saving = operator.savings(allocation, slot)
    feasible = operator.feasible(allocation, slot, saving > least)
    if allocation.taken is not None and feasible.any():
        feasible &= operator.relief(allocation, slot) >= 0.0
    return int(np.where(feasible, saving, -np.inf).argmax()) if feasible.any() else None
