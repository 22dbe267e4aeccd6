"""Moves, swaps and chains of two moves that make a large allocation cheaper, guided by prices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import BoolArray
from ftplan.planners.checkpoints.bounds.candidates import Scan
from ftplan.planners.checkpoints.search.working_allocation import WorkingAllocation

#: Rounds of moves and chains where nothing else ends the search.
ROUNDS = 30
#: Nodes that a copy tries to get to by pushing another copy away.
WANTED = 3
#: A round that saves less than this part of what all rounds have saved is the last.
LEAST_PART = 1e-3


@dataclass(slots=True)
class _Search:
    """A changing allocation with the candidates of every unit."""

    placed: WorkingAllocation
    nodes: IntArray  # (U, k)
    cost: FloatArray  # (U, k)
    least: float  # savings up to this are rounding

    def here(self, slots: IntArray) -> FloatArray:
        """Cost of the copies in some slots where they are."""
        return np.asarray(self.placed.problem.cost[self.placed.units(slots), self.placed.flat[slots]])

    def free(self, slots: IntArray) -> BoolArray:
        """Return whether each slot's copy may go to each candidate of its unit by R1 to R3, shape (slots, k)."""
        p, copies = self.placed.problem, self.placed.copies
        units = self.placed.units(slots)
        free = np.isfinite(self.cost[units]) & (self.nodes[units] != self.placed.flat[slots][:, None])
        for other in range(p.copies if p.copies > 1 else 0):
            mine = slots % p.copies == other
            taken = p.domain[copies[units, other]]
            free &= mine[:, None] | (p.domain[self.nodes[units]] != taken[:, None])
        return np.asarray(free)

    def may_leave(self, slots: IntArray) -> BoolArray:
        """Return whether each copy can leave its node without breaking a lower limit there."""
        limits, at = self.placed.limits, self.placed.flat[slots]
        weight = limits.weight[:, self.placed.units(slots)]
        left = self.placed.used[:, at] - weight
        return np.asarray(np.all((left >= limits.lower[:, at]) | (weight <= 0), axis=0))

    def may_come(self, slots: IntArray, nodes: IntArray) -> BoolArray:
        """Return whether each copy can join each of some nodes (slots, k) within their upper limits."""
        limits, fits = self.placed.limits, np.ones(nodes.shape, dtype=np.bool_)
        units = self.placed.units(slots)
        for r in range(len(limits.names)):
            fits &= (self.placed.used[r] - limits.upper[r])[nodes] + limits.weight[r, units][:, None] <= 0
        return fits


def improve_by_shifts(placed: WorkingAllocation, found: Scan, prices: FloatArray, budget: Budget) -> None:
    """Apply moves, swaps and chains (one copy pushes another on) that save cost, within all limits.

    *found* is a scan at *prices* (R, N): only its candidates are tried. Copies that cost more than their cheapest
    place at these prices go first. Deterministic but for the clock. Cost O(U c k) a round of moves, O(copies on a
    node · k) a chain tried.
    """
    problem = placed.problem
    search = _Search(placed, found.nodes, found.cost, 1e-12 * max(problem.largest_cost, 1e-300))
    total = 0.0
    for _ in range(budget.passes(ROUNDS)):
        saved = _moves(search, budget)
        saved += _chains(search, found, prices, budget)
        placed.used = placed.limits.used(placed.copies)
        total += saved
        if budget.over() or saved <= LEAST_PART * total:
            return


def _moves(search: _Search, budget: Budget) -> float:
    """Make single moves that save, the best first, until none is left; return what they saved."""
    placed = search.placed
    slots, total = np.arange(placed.flat.size), 0.0
    while not budget.over():
        units = placed.units(slots)
        saving = search.here(slots)[:, None] - search.cost[units]
        good = (saving > search.least) & search.free(slots) & search.may_come(slots, search.nodes[units])
        good &= search.may_leave(slots)[:, None]
        saving = np.where(good, saving, -np.inf)
        column = saving.argmax(axis=1)
        best = saving[slots, column]
        moved: set[int] = set()
        for slot in np.argsort(-best, kind="stable")[: int((best > 0).sum())].tolist():
            unit, one = slot // placed.problem.copies, np.array([slot])
            node = int(search.nodes[unit, column[slot]])
            if unit in moved or not search.may_come(one, np.array([[node]]))[0, 0] or not search.may_leave(one)[0]:
                continue
            placed.move(slot, node)
            moved.add(unit)
            total += float(best[slot])
        if not moved:
            break
    return total


def _chains(search: _Search, found: Scan, prices: FloatArray, budget: Budget) -> float:
    """Let copies that lie too dear push others away; return what that saved."""
    placed, p = search.placed, search.placed.problem
    slots = np.arange(placed.flat.size)
    units = placed.units(slots)
    weight = placed.limits.weight
    priced_here, priced = search.here(slots), search.cost[units]
    for r in range(len(weight)):
        if prices[r].any():
            priced_here = priced_here + weight[r, units] * prices[r, placed.flat]
            priced = priced + weight[r, units][:, None] * prices[r][search.nodes[units]]
    excess = priced_here - np.where(search.free(slots), priced, np.inf).min(axis=1)
    wanted = np.argsort(priced, axis=1, kind="stable")[:, :WANTED]
    total = 0.0
    for slot in np.argsort(-excess, kind="stable")[: int((excess > search.least).sum())].tolist():
        if budget.over():
            break
        unit = slot // p.copies
        for column in wanted[slot].tolist():
            node = int(search.nodes[unit, column])
            saving = float(p.cost[unit, placed.flat[slot]] - search.cost[unit, column])
            if node == placed.flat[slot] or not saving > search.least:
                continue
            if not search.free(np.array([slot]))[0, column]:
                continue
            saved = _push(search, slot, node, saving)
            total += saved
            if saved > 0:
                break
    return total


def _push(search: _Search, slot: int, node: int, saving: float) -> float:
    """Move one copy to a node and another from there, to where the first was or elsewhere; return what that saved."""
    placed, p, limits = search.placed, search.placed.problem, search.placed.limits
    unit, at = slot // p.copies, int(placed.flat[slot])
    others = np.flatnonzero(placed.flat == node)
    v = placed.units(others)
    w, x = limits.weight[:, unit], limits.weight[:, v]
    loss = search.here(others)
    new = placed.used[:, [node]] + w[:, None] - x
    fits = np.all((new <= limits.upper[:, [node]]) & (new >= limits.lower[:, [node]]), axis=0) & (v != unit)
    if not fits.any():
        return 0.0
    back = placed.used[:, [at]] - w[:, None] + x
    swap = fits & np.all((back <= limits.upper[:, [at]]) & (back >= limits.lower[:, [at]]), axis=0) & p.allowed[v, at]
    if p.copies > 1:
        here = p.domain[placed.copies[v]] == p.domain[at]
        swap &= here.sum(axis=1) == here[np.arange(v.size), others % p.copies]
    gain = np.where(swap, saving + loss - p.cost[v, at], -np.inf)
    best, partner, target = float(gain.max()), int(gain.argmax()), at
    if search.may_leave(np.array([slot]))[0]:
        nodes = search.nodes[v]
        onward = fits[:, None] & search.free(others) & (nodes != at) & search.may_come(others, nodes)
        further = np.where(onward, saving + loss[:, None] - search.cost[v], -np.inf)
        if further.max() > best:
            partner, column = divmod(int(further.argmax()), further.shape[1])
            best, target = float(further[partner, column]), int(nodes[partner, column])
    if not best > search.least:
        return 0.0
    placed.move(int(others[partner]), target)
    placed.move(slot, node)
    return best
