"""Two copies that move together, where one alone has no room.

Of a pair that saves, one copy saves at least half by itself: looked for from that copy, no pair is missed. It goes to a
node that is better for it, ``good`` by R1 to R3 and with ``saving`` > 0, both of shape (N,).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.checkpoints.arrays import BoolArray
from ftplan.planners.checkpoints.search.copies_in_place import MoveLimits, Moving

#: Copies up to which every pair of moves is looked at; above it exchanges with about so many partners.
PARTNERS = 2000
#: Pairs of a copy and a node that are looked at at once.
CELLS = 400_000


class Change(NamedTuple):
    """Moves (slot, node) to make together, and what they save for each copy that moves."""

    saving: float
    moves: tuple[tuple[int, int], ...]


def push(
    moving: Moving, slot: int, good: BoolArray, saving: FloatArray, limits: MoveLimits, least: float
) -> Change | None:
    """Return the best way to go to a node from which another copy goes anywhere. Cost O(U c N)."""
    placed, rows = moving.placed, moving.placed.limits
    p = placed.problem
    unit, origin = slot // p.copies, int(placed.flat[slot])
    others = np.flatnonzero(good[placed.flat] & (np.arange(placed.flat.size) // p.copies != unit))
    others = others[: max(CELLS // good.size, 1)]
    v, at = others // p.copies, placed.flat[others]
    mine = rows.weight[:, unit]
    theirs = rows.weight[:, v]
    there = placed.used[:, at] + mine[:, None] - theirs
    fits = np.all((there <= rows.upper[:, at]) & (there >= rows.lower[:, at]), axis=0)
    others, v, at, theirs = others[fits], v[fits], at[fits], theirs[:, fits]
    if not others.size:
        return None
    total = saving[at][:, None] + p.cost[v, at][:, None] - p.cost[v]
    open_to = placed.free(others) & (total > 2 * least) & (at[:, None] != np.arange(good.size)[None, :])
    for r in range(len(rows.names)):
        room = placed.used[r] + theirs[r][:, None] <= rows.upper[r]
        back = placed.used[r, origin] - mine[r] + theirs[r]
        room[:, origin] = (back <= rows.upper[r, origin]) & (back >= rows.lower[r, origin])
        if mine[r] > 0 and placed.used[r, origin] - mine[r] < rows.lower[r, origin]:
            room[:, np.arange(good.size) != origin] = False
        open_to &= room
    here = moving.present.here
    one = (int(here[unit, origin]) - here[unit, at].astype(np.int64))[:, None]
    two = here[v, at].astype(np.int64)[:, None] - here[v]
    open_to &= moving.affordable(one + two, one * p.state[unit] + two * p.state[v][:, None], limits)
    if not open_to.any():
        return None
    row, node = divmod(int(np.where(open_to, total, -np.inf).argmax()), good.size)
    return Change(float(total[row, node]) / 2, ((slot, int(at[row])), (int(others[row]), node)))


def pull(
    moving: Moving, slot: int, good: BoolArray, saving: FloatArray, limits: MoveLimits, least: float
) -> Change | None:
    """Return the best way to go to a node while another copy takes the place that is left. Cost O(U c N)."""
    placed, rows = moving.placed, moving.placed.limits
    p = placed.problem
    unit, origin = slot // p.copies, int(placed.flat[slot])
    others = np.flatnonzero(
        placed.free_at(origin) & (placed.flat != origin) & (np.arange(placed.flat.size) // p.copies != unit)
    )
    others = others[: max(CELLS // good.size, 1)]
    v, at = others // p.copies, placed.flat[others]
    mine = rows.weight[:, unit]
    theirs = rows.weight[:, v]
    stays = placed.used[:, [origin]] - mine[:, None] + theirs
    fits = np.all((stays <= rows.upper[:, [origin]]) & (stays >= rows.lower[:, [origin]]), axis=0)
    leaves = np.all((placed.used[:, at] - theirs >= rows.lower[:, at]) | (theirs <= 0), axis=0)
    others, v, at, leaves = others[fits], v[fits], at[fits], leaves[fits]
    if not others.size:
        return None
    total = saving[None, :] + (p.cost[v, at] - p.cost[v, origin])[:, None]
    enters = np.all(placed.used + mine[:, None] <= rows.upper, axis=0)
    # A copy that comes from the very node is an exchange, which push has seen.
    same = at[:, None] == np.arange(good.size)[None, :]
    open_to = (good & enters)[None, :] & leaves[:, None] & ~same & (total > 2 * least)
    here = moving.present.here
    one = (int(here[unit, origin]) - here[unit].astype(np.int64))[None, :]
    two = (here[v, at].astype(np.int64) - here[v, origin])[:, None]
    open_to &= moving.affordable(one + two, one * p.state[unit] + two * p.state[v][:, None], limits)
    if not open_to.any():
        return None
    row, node = divmod(int(np.where(open_to, total, -np.inf).argmax()), good.size)
    return Change(float(total[row, node]) / 2, ((slot, node), (int(others[row]), origin)))


def exchange(
    moving: Moving,
    slot: int,
    good: BoolArray,
    saving: FloatArray,
    limits: MoveLimits,
    least: float,
) -> Change | None:
    """Return the best exchange with a copy on a node that is better for this one.

    Looks at about :data:`PARTNERS` copies, those on its best nodes. Cost O(U c + N).
    """
    placed, rows = moving.placed, moving.placed.limits
    p = placed.problem
    unit, origin = slot // p.copies, int(placed.flat[slot])
    partners = _partners(placed.flat, good, saving)
    partners = partners[partners // p.copies != unit]
    others, at = partners // p.copies, placed.flat[partners]
    total = saving[at] + p.cost[others, at] - p.cost[others, origin]
    keep = (total > 2 * least) & (at != origin)
    partners, others, at, total = partners[keep], others[keep], at[keep], total[keep]
    if not partners.size:
        return None
    shift = rows.weight[:, others] - rows.weight[:, [unit]]
    mine, theirs = placed.used[:, [origin]] + shift, placed.used[:, at] - shift
    fits = placed.free_at(origin)[partners]
    fits &= np.all((mine <= rows.upper[:, [origin]]) & (mine >= rows.lower[:, [origin]]), axis=0)
    fits &= np.all((theirs <= rows.upper[:, at]) & (theirs >= rows.lower[:, at]), axis=0)
    one = moving.steps(np.full(at.size, unit), np.full(at.size, origin), at)
    two = moving.steps(others, at, np.full(at.size, origin))
    fits &= moving.affordable(one + two, one * p.state[unit] + two * p.state[others], limits)
    if not fits.any():
        return None
    best = int(np.where(fits, total, -np.inf).argmax())
    return Change(float(total[best]) / 2, ((slot, int(at[best])), (int(partners[best]), origin)))


def _partners(flat: IntArray, good: BoolArray, saving: FloatArray) -> IntArray:
    """Return the slots on good nodes, at most about :data:`PARTNERS`: nodes that save most first."""
    there = np.bincount(flat, minlength=good.size)
    order = np.argsort(np.where(good, -saving, np.inf), kind="stable")[: int(good.sum())]
    enough = int(np.searchsorted(np.cumsum(there[order]), PARTNERS)) + 1
    chosen = np.zeros(good.size, dtype=np.bool_)
    chosen[order[:enough]] = True
    return np.flatnonzero(chosen[flat])
