"""Moves and swaps that bring an allocation within its limits at little cost."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.checkpoints.budget import Budget
from ftplan.planners.checkpoints.placed import Placed

#: A change must reduce the breach by this part of a mean node's use.
LEAST_GAIN = 1e-12
#: Pairs of copies of one node above which exchanges are looked at only where no single move helps.
PAIRS_AT_ONCE = 100_000

Change = tuple[float, int, int, bool]  # cost per breach removed, slot, node or slot, whether it is a swap


def repair(placed: Placed, budget: Budget) -> bool:
    """Move and swap copies until all limits hold; return whether they do.

    Each step takes, at the node that breaks its limits most (ties to the first), the change that costs least for the
    breach that it removes: a copy away or towards the node, or an exchange with any other copy. Every step reduces
    the total breach, so it ends; it may end stuck. Cost O(U c · copies on the node) a step.
    """
    nodes = np.arange(len(placed.problem.nodes))
    if not placed.limits.names:
        return True
    scale = np.maximum(placed.limits.weight.sum(axis=1) * placed.problem.copies, 1e-300) / max(nodes.size, 1)
    for _ in range(budget.passes(1000 + 4 * placed.flat.size)):
        if placed.limits.kept(placed.copies):
            return True
        if budget.over():
            return False
        breach = placed.breach(placed.used, nodes, scale)
        change = None
        broken = [int(node) for node in np.argsort(-breach, kind="stable") if breach[node] > 0]
        small = placed.flat.size**2 <= PAIRS_AT_ONCE * nodes.size
        for swaps in (True,) if small else (False, True):
            for node in broken:
                change = _best_change(placed, node, breach, scale, swaps)
                if change is not None:
                    break
            if change is not None:
                break
        if change is None:
            return False
        _, slot, other, is_swap = change
        if is_swap:
            placed.swap(slot, other)
        else:
            placed.move(slot, other)
    return placed.limits.kept(placed.copies)


def _best_change(placed: Placed, node: int, breach: FloatArray, scale: FloatArray, swaps: bool) -> Change | None:
    """Return the cheapest change at a node for the breach that it removes, None where none removes any."""
    p, weight = placed.problem, placed.limits.weight
    here = np.flatnonzero(placed.flat == node)
    slots = np.arange(placed.flat.size)
    found: list[Change] = []

    if here.size:  # a copy leaves the node, alone or in exchange for another
        units = placed.units(here)
        free = placed.free(here)
        w = weight[:, units]
        after_here = placed.breach(placed.used[:, [node]] - w, np.full(here.size, node), scale)[:, None]
        targets = np.arange(len(p.nodes))
        after = placed.breach(placed.used[:, None, :] + w[:, :, None], np.tile(targets, (here.size, 1)), scale)
        gain = breach[node] + breach[None, :] - after_here - after
        cost = p.cost[units] - p.cost[units, node][:, None]
        found += _pick(gain, cost, free & (targets != node)[None, :], here, targets, False)

        others = slots[placed.flat != node]
        if swaps and others.size:
            at, v = placed.flat[others], placed.units(others)
            free = free[:, at] & placed.free_at(node)[others][None, :] & (units[:, None] != v[None, :])
            shift = weight[:, v][:, None, :] - w[:, :, None]
            mine = placed.breach(placed.used[:, node][:, None, None] + shift, np.full(free.shape, node), scale)
            theirs = placed.breach(placed.used[:, at][:, None, :] - shift, np.tile(at, (here.size, 1)), scale)
            gain = breach[node] + breach[at][None, :] - mine - theirs
            cost = p.cost[units][:, at] - p.cost[units, node][:, None] + (p.cost[v, node] - p.cost[v, at])[None, :]
            found += _pick(gain, cost, free, here, others, True)

    others = slots[(placed.flat != node) & placed.free_at(node)]
    if others.size:  # a copy comes to the node
        at, v = placed.flat[others], placed.units(others)
        mine = placed.breach(placed.used[:, [node]] + weight[:, v], np.full(others.size, node), scale)
        theirs = placed.breach(placed.used[:, at] - weight[:, v], at, scale)
        gain = (breach[node] + breach[at] - mine - theirs)[:, None]
        cost = (p.cost[v, node] - p.cost[v, at])[:, None]
        found += _pick(gain, cost, np.ones(gain.shape, dtype=np.bool_), others, np.array([node]), False)
    return min(found, default=None)


def _pick(
    gain: FloatArray,
    cost: FloatArray,
    free: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    rows: IntArray,
    columns: IntArray,
    is_swap: bool,
) -> list[Change]:
    """Return the change of least cost per gain as a list of one, empty where nothing gains. Ties to the first."""
    good = free & (gain > LEAST_GAIN)
    if not good.any():
        return []
    rate = np.where(good, cost / np.where(good, gain, 1.0), np.inf)
    row, column = divmod(int(rate.argmin()), rate.shape[1])
    return [(float(rate[row, column]), int(rows[row]), int(columns[column]), is_swap)]
