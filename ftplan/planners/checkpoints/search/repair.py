"""Moves and swaps that bring an allocation within its limits at little cost."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.search.repair_in_bulk import LEAST_GAIN, repair_in_bulk
from ftplan.planners.checkpoints.search.working_allocation import Placed

#: Pairs of copies of one node above which exchanges are looked at only where no single move helps.
PAIRS_AT_ONCE = 100_000

#: Slots among which a partner for a swap is looked for at a time.
SLOTS_AT_ONCE = 4096
#: Slots above which all moves that help at a node are made at one look.
MANY_SLOTS = 8192

Change = tuple[float, int, int, bool]  # cost per breach removed, slot, node or slot, whether it is a swap


def repair(placed: Placed, budget: Budget) -> bool:
    """Move and swap copies until all limits hold; return whether they do.

    Each step takes, at the node that breaks its limits most (ties to the first), the change that costs least for the
    breach that it removes: a copy away or towards the node, or an exchange with any other copy. Every step reduces
    the total breach, so it ends; it may end stuck. Cost O(U c · copies on the node) a step. With many copies,
    :func:`repair_in_bulk` goes before.
    """
    nodes = np.arange(len(placed.problem.nodes))
    if not placed.limits.names:
        return True
    scale = np.maximum(placed.limits.weight.sum(axis=1) * placed.problem.copies, 1e-300) / max(nodes.size, 1)
    if placed.flat.size > MANY_SLOTS:
        repair_in_bulk(placed, scale, budget)
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
        welcome = placed.free_at(node)[others] if swaps else np.zeros(0, dtype=np.bool_)
        for start in range(0, others.size if swaps else 0, SLOTS_AT_ONCE):
            chunk = others[start : start + SLOTS_AT_ONCE]
            at, v = placed.flat[chunk], placed.units(chunk)
            open_pairs = free[:, at] & welcome[start : start + SLOTS_AT_ONCE][None, :] & (units[:, None] != v[None, :])
            shift = weight[:, v][:, None, :] - w[:, :, None]
            mine = placed.breach(placed.used[:, node][:, None, None] + shift, np.full(open_pairs.shape, node), scale)
            theirs = placed.breach(placed.used[:, at][:, None, :] - shift, np.tile(at, (here.size, 1)), scale)
            gain = breach[node] + breach[at][None, :] - mine - theirs
            cost = p.cost[units[:, None], at[None, :]] - p.cost[units, node][:, None]
            cost += (p.cost[v, node] - p.cost[v, at])[None, :]
            exchanged = _pick(gain, cost, open_pairs, here, chunk, True)
            found += exchanged
            if exchanged:
                break

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
