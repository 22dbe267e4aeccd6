"""Moves, swaps and chains of two moves that make a large allocation cheaper, guided by prices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.bounds.candidates import Scan
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget

#: Rounds of moves and chains where nothing else ends the search.
MOST_ROUNDS = 30
#: Nodes that a copy tries to get to by pushing another copy away.
MOST_WANTED_NODES = 3
#: A round that saves less than this part of what all rounds have saved is the last.
LEAST_SAVED_SHARE = 1e-3


@dataclass(slots=True)
class CandidateSearch:
    """A changing allocation whose units go to their candidate nodes alone. Columns are places in ``nodes``."""

    allocation: WorkingAllocation
    nodes: IntArray  # (U, k)
    cost: FloatArray  # (U, k)
    least: float  # savings up to this are rounding

    def cost_now(self, slots: IntArray) -> FloatArray:
        """Cost of the copies in some slots where they are."""
        return np.asarray(self.allocation.problem.cost[self.allocation.units(slots), self.allocation.flat[slots]])

    def free(self, slots: IntArray) -> BoolArray:
        """Return whether each slot's copy may go to each other candidate of its unit by R1 to R3, (slots, k)."""
        nodes = self.nodes[self.allocation.units(slots)]
        return np.asarray(self.allocation.free(slots, nodes) & (nodes != self.allocation.flat[slots][:, None]))

    def may_come(self, slots: IntArray, nodes: IntArray) -> BoolArray:
        """Return whether each copy can join each of some nodes (slots, k) within their upper limits."""
        limits, fits = self.allocation.limits, np.ones(nodes.shape, dtype=np.bool_)
        units = self.allocation.units(slots)
        for r in range(len(limits.names)):
            fits &= (self.allocation.used[r] - limits.upper[r])[nodes] + limits.weight[r, units][:, None] <= 0
        return fits


def improve_by_ejection_chains(
    allocation: WorkingAllocation, candidates: Scan, prices: FloatArray, budget: Budget
) -> None:
    """Apply moves, swaps and chains (one copy pushes another on) that save cost, within all limits.

    *candidates* is a scan at *prices* (R, N): only its nodes are tried. Copies that cost more than their cheapest
    place at these prices go first. Deterministic but for the clock. Cost O(U c k) a round of moves, O(copies on a
    node · k) a chain tried.
    """
    least = 1e-12 * max(allocation.problem.largest_cost, 1e-300)
    search = CandidateSearch(allocation, candidates.nodes, candidates.cost, least)
    total = 0.0
    for _ in range(budget.passes(MOST_ROUNDS)):
        saved = _moves(search, budget)
        saved += _chains(search, prices, budget)
        allocation.used = allocation.limits.used(allocation.copies)
        total += saved
        if budget.over() or saved <= LEAST_SAVED_SHARE * total:
            return


def _moves(search: CandidateSearch, budget: Budget) -> float:
    """Make single moves that save, the best first, until none is left; return what they saved."""
    allocation = search.allocation
    slots, total = np.arange(allocation.flat.size), 0.0
    units = allocation.units(slots)
    while not budget.over():
        saving = search.cost_now(slots)[:, None] - search.cost[units]
        good = (saving > search.least) & search.free(slots) & search.may_come(slots, search.nodes[units])
        good &= allocation.may_leave(slots)[:, None]
        saving = np.where(good, saving, -np.inf)
        column = saving.argmax(axis=1)
        best = saving[slots, column]
        moved: set[int] = set()
        for slot in np.argsort(-best, kind="stable")[: int((best > 0).sum())].tolist():
            unit, one = slot // allocation.problem.copies, np.array([slot])
            node = int(search.nodes[unit, column[slot]])
            if unit in moved or not search.may_come(one, np.array([[node]]))[0, 0] or not allocation.may_leave(one)[0]:
                continue
            allocation.move(slot, node)
            moved.add(unit)
            total += float(best[slot])
        if not moved:
            break
    return total


def _chains(search: CandidateSearch, prices: FloatArray, budget: Budget) -> float:
    """Let copies that lie too dear push others away; return what that saved."""
    allocation, p, weight = search.allocation, search.allocation.problem, search.allocation.limits.weight
    slots = np.arange(allocation.flat.size)
    units = allocation.units(slots)
    priced_now, priced = search.cost_now(slots), search.cost[units]
    for r in range(len(weight)):
        if prices[r].any():
            priced_now = priced_now + weight[r, units] * prices[r, allocation.flat]
            priced = priced + weight[r, units][:, None] * prices[r][search.nodes[units]]
    excess = priced_now - np.where(search.free(slots), priced, np.inf).min(axis=1)
    wanted = np.argsort(priced, axis=1, kind="stable")[:, :MOST_WANTED_NODES]
    total = 0.0
    for slot in np.argsort(-excess, kind="stable")[: int((excess > search.least).sum())].tolist():
        if budget.over():
            break
        unit = slot // p.copies
        for column in wanted[slot].tolist():
            saving = float(p.cost[unit, allocation.flat[slot]] - search.cost[unit, column])
            if saving > search.least and search.free(np.array([slot]))[0, column]:
                saved = _push(search, slot, int(search.nodes[unit, column]), saving)
                total += saved
                if saved > 0:
                    break
    return total


def _push(search: CandidateSearch, slot: int, node: int, saving: float) -> float:
    """Move one copy to a node and another from there, to where the first was or elsewhere; return what that saved."""
    allocation, p, limits = search.allocation, search.allocation.problem, search.allocation.limits
    unit, at = slot // p.copies, int(allocation.flat[slot])
    others = np.flatnonzero(allocation.flat == node)
    v = allocation.units(others)
    mine, theirs = limits.weight[:, unit][:, None], limits.weight[:, v]
    fits = allocation.within(allocation.used[:, [node]] + mine - theirs, node) & (v != unit)
    if not fits.any():
        return 0.0
    cost = search.cost_now(others)
    swap = fits & allocation.within(allocation.used[:, [at]] - mine + theirs, at) & p.allowed[v, at]
    if p.copies > 1:
        here = p.domain[allocation.copies[v]] == p.domain[at]
        swap &= here.sum(axis=1) == here[np.arange(v.size), others % p.copies]
    gain = np.where(swap, saving + cost - p.cost[v, at], -np.inf)
    best, partner, target = float(gain.max()), int(gain.argmax()), at
    if allocation.may_leave(np.array([slot]))[0]:
        nodes = search.nodes[v]
        onward = fits[:, None] & search.free(others) & (nodes != at) & search.may_come(others, nodes)
        further = np.where(onward, saving + cost[:, None] - search.cost[v], -np.inf)
        if further.max() > best:
            partner, column = divmod(int(further.argmax()), further.shape[1])
            best, target = float(further[partner, column]), int(nodes[partner, column])
    if not best > search.least:
        return 0.0
    allocation.move(int(others[partner]), target)
    allocation.move(slot, node)
    return best
