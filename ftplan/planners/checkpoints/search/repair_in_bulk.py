"""Moves that bring a large allocation within its limits: many at each look at a node."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.search.working_allocation import Placed

#: A change must reduce the breach by this part of a mean node's use.
LEAST_GAIN = 1e-12
#: Part of the gain a move promised alone that must be left when its turn comes; else the next look decides.
STILL_GOOD = 0.5
#: Moves in a row that have lost their good, after which a new look is cheaper.
REFUSED = 24
#: Moves that one look considers, the cheapest.
LOOKED_AT = 1024


def repair_in_bulk(placed: Placed, scale: FloatArray, budget: Budget) -> None:
    """Move copies off and onto the nodes that break their limits, worst node first, until no move helps.

    At each node all moves are rated once by what they cost for the breach they remove, and made from the cheapest on
    while they still help; every move reduces the total breach. Cost O(U c + copies on the node · N) a look.
    """
    nodes = np.arange(len(placed.problem.nodes))
    moved = True
    while moved:
        moved = False
        placed.used = placed.limits.used(placed.copies)
        breach = placed.breach(placed.used, nodes, scale)
        for node in np.argsort(-breach, kind="stable").tolist():
            if budget.over():
                return
            if breach[node] > 0:
                moved |= _settle(placed, node, breach, scale)


def _settle(placed: Placed, node: int, breach: FloatArray, scale: FloatArray) -> bool:
    """Move copies off and onto one node while it breaks its limits; return whether any moved."""
    slots, targets, gain, cost = _rated(placed, node, breach, scale)
    good = np.flatnonzero(gain > LEAST_GAIN)
    slots, targets, gain = slots[good], targets[good], gain[good]
    rate = cost[good] / gain
    touched, refused = set(), 0
    if rate.size > LOOKED_AT:
        first = np.sort(np.argpartition(rate, LOOKED_AT)[:LOOKED_AT])
        slots, targets, gain, rate = slots[first], targets[first], gain[first], rate[first]
    for i in np.argsort(rate, kind="stable").tolist():
        slot, target = int(slots[i]), int(targets[i])
        unit, at = slot // placed.problem.copies, int(placed.flat[slot])
        if unit in touched:
            continue
        weight = placed.limits.weight[:, unit]
        left = _one(placed, placed.used[:, at] - weight, at, scale)
        grown = _one(placed, placed.used[:, target] + weight, target, scale)
        if breach[at] + breach[target] - left - grown < max(LEAST_GAIN, STILL_GOOD * float(gain[i])):
            refused += 1
            if refused == REFUSED:
                break
            continue
        refused = 0
        placed.move(slot, target)
        touched.add(unit)
        breach[at], breach[target] = left, grown
        if breach[node] <= 0:
            break
    return bool(touched)


def _rated(
    placed: Placed, node: int, breach: FloatArray, scale: FloatArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return slot, target, breach removed and cost of every move off the node and onto it."""
    p, weight = placed.problem, placed.limits.weight
    rows: list[tuple[IntArray, IntArray, FloatArray, FloatArray]] = []
    if np.any(placed.used[:, node] > placed.limits.upper[:, node]):
        every = np.arange(len(p.nodes))
        here = np.flatnonzero(placed.flat == node)
        units = placed.units(here)
        w = weight[:, units]
        left = placed.breach(placed.used[:, [node]] - w, np.full(here.size, node), scale)[:, None]
        grown = placed.breach(placed.used[:, None, :] + w[:, :, None], np.tile(every, (here.size, 1)), scale)
        gain = np.where(
            placed.free(here) & (every != node)[None, :], breach[node] + breach[None, :] - left - grown, 0.0
        )
        cost = p.cost[units] - p.cost[units, node][:, None]
        rows.append((np.repeat(here, every.size), np.tile(every, here.size), gain.ravel(), cost.ravel()))
    if np.any(placed.used[:, node] < placed.limits.lower[:, node]):
        others = np.flatnonzero((placed.flat != node) & placed.free_at(node))
        at, v = placed.flat[others], placed.units(others)
        grown = placed.breach(placed.used[:, [node]] + weight[:, v], np.full(others.size, node), scale)
        left = placed.breach(placed.used[:, at] - weight[:, v], at, scale)
        gain = breach[node] + breach[at] - left - grown
        rows.append((others, np.full(others.size, node), gain, p.cost[v, node] - p.cost[v, at]))
    slots, targets, gains, costs = zip(*rows, strict=True)
    return np.concatenate(slots), np.concatenate(targets), np.concatenate(gains), np.concatenate(costs)


def _one(placed: Placed, used: FloatArray, node: int, scale: FloatArray) -> float:
    """Return the breach of one node that uses this much, (R,)."""
    total = 0.0
    for r, by in enumerate(scale.tolist()):
        there = float(used[r])
        total += (max(there - placed.limits.upper[r, node], 0.0) + max(placed.limits.lower[r, node] - there, 0.0)) / by
    return float(total)
