"""From copies in place that break rules to copies that keep them, with as few moves as possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.arrays import CheckpointProblem
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.models.linear_model import branch_and_cut
from ftplan.planners.allocate_checkpoints.algorithms.search.local_search import feasible_moves
from ftplan.planners.allocate_checkpoints.algorithms.search.migration import (
    CopyMigration,
    CurrentAllocation,
    MoveLimits,
)
from ftplan.planners.allocate_checkpoints.algorithms.search.repair import repair
from ftplan.planners.allocate_checkpoints.algorithms.search.working_allocation import WorkingAllocation
from ftplan.planners.budget import Budget

#: Allowed pairs of unit and node up to which the fewest moves are proven by branch and cut.
MOST_COLUMNS = 20_000
#: Share of the time for such a proof.
PROOF_SHARE = 0.5
#: How much the true cost weighs beside a move, between the cheapest and the dearest pair, where moves are equal.
COST_NUDGE = 0.01


@dataclass(frozen=True, eq=False)
class Restored:
    """Copies (U, c) within all rules; ``least_moves`` and ``least_size`` are proven: no other copies need less."""

    copies: IntArray
    least_moves: int
    least_size: float


def restore(
    current: CurrentAllocation, limits: Limits, fallback: IntArray, allowance: MoveLimits, seed: int, budget: Budget
) -> Restored:
    """Return copies within all rules, close to the current ones.

    What keeps R1 to R3 stays, gaps are filled with cheap nodes, and repair with the moves as cost brings the rest
    within the limits; *fallback*, a plan that keeps all rules, is led back towards the current copies. The better of
    both is taken; where it is more than allowed, or small enough, branch and cut looks for the fewest moves (or bytes)
    and proves them. Without a broken rule these are the current copies themselves.
    """

    def rank(copies: IntArray) -> tuple[int, int, float, float]:
        """Within the allowance first, then fewest moves, fewest bytes, least cost."""
        moves, size = current.moves(copies), current.size(copies)
        return len(allowance.exceeded(moves, size)), moves, size, current.problem.value(copies)

    kept, forced = _keeping_structure(current, limits)
    if limits.satisfied_by(kept):
        return Restored(kept, forced, current.size(kept))
    starts = [_returned(current, limits, fallback)]
    one_each = np.ones(kept.shape[0])
    for weight in (one_each, current.problem.state):
        if weight.any():
            allocation = WorkingAllocation.of(_costing_moves(current, weight), limits, kept)
            if repair(allocation, budget):
                starts.append(allocation.copies)
    best = min(starts, key=rank)
    # What fills a gap has to come whatever the limits say; without a gap one copy has to move.
    least_moves, least_size = max(forced, 1), current.size(kept)
    if int(current.problem.allowed.sum()) > MOST_COLUMNS:
        return Restored(best, least_moves, least_size)
    fewest, bound = _fewest(current, limits, one_each, best, seed, budget.part(PROOF_SHARE))
    extra = int(np.maximum(current.count - kept.shape[1], 0).sum())
    least_moves = max(least_moves, int(np.ceil(bound - 1e-6)) + extra if np.isfinite(bound) else 0)
    best = min(best, fewest, key=rank)
    if "max-bytes" in allowance.exceeded(0, current.size(best)):
        fewest, bound = _fewest(current, limits, current.problem.state, best, seed, budget.part(PROOF_SHARE))
        least_size = max(least_size, bound * (1 - 1e-9) if np.isfinite(bound) else 0.0)
        best = min(best, fewest, key=rank)
    return Restored(best, least_moves, least_size)


def lead_back(migration: CopyMigration, accept: Callable[[int, float], bool]) -> None:
    """Put moved copies back where one lies in the current allocation, the cheapest first, until none goes.

    A copy goes where *accept* (slot, added cost) and all limits allow. Cost O(U c log(U c)) a pass.
    """
    allocation, changed = migration.allocation, True
    while changed:
        changed = False
        for slot, node, added in _returns(migration):
            wanted = np.arange(len(allocation.problem.nodes)) == node
            if accept(slot, added) and feasible_moves(allocation, slot, wanted).any():
                changed |= migration.make([(slot, node)])


def _returns(migration: CopyMigration) -> list[tuple[int, int, float]]:
    """Return (slot, node, added cost) of every way to put a moved copy back where one is now, the cheapest first."""
    allocation, current, p = migration.allocation, migration.current, migration.allocation.problem
    slots = np.flatnonzero(~current.staying(allocation.copies).reshape(-1))
    row, node = np.nonzero(current.held[slots // p.copies] & allocation.free(slots))
    slot = slots[row]
    added = p.cost[slot // p.copies, node] - p.cost[slot // p.copies, allocation.flat[slot]]
    order = np.lexsort((node, slot, added))
    return [(int(slot[i]), int(node[i]), float(added[i])) for i in order]


def _returned(current: CurrentAllocation, limits: Limits, copies: IntArray) -> IntArray:
    """Return copies within the limits, led back towards the current ones as long as the limits hold."""
    migration = CopyMigration.of(WorkingAllocation.of(current.problem, limits, copies), current)
    lead_back(migration, lambda _slot, _added: True)
    return migration.allocation.copies if migration.allocation.is_feasible() else copies


def _keeping_structure(current: CurrentAllocation, limits: Limits) -> tuple[IntArray, int]:
    """Return copies (U, c) that keep R1 to R3 with the fewest moves, and how many moves that takes at least.

    Of several copies in one domain, and of too many, the first and the cheapest stay. Gaps are filled, heaviest unit
    first, on the cheapest node with room, else on the one with most room.
    """
    p = current.problem
    copies = np.full((p.load.size, p.copies), -1, dtype=np.int64)
    first = np.array([row[0] if len(row) else -1 for row in current.nodes], dtype=np.int64)
    row, node = np.nonzero(current.held & p.allowed)
    order = np.lexsort((node, p.cost[row, node], node != first[row], row))
    filled = np.zeros(p.load.size, dtype=np.int64)
    for u, i in zip(row[order].tolist(), node[order].tolist(), strict=True):
        if filled[u] < p.copies and p.domain[i] not in p.domain[copies[u, : filled[u]]]:
            copies[u, filled[u]] = i
            filled[u] += 1
    forced = int((np.maximum(current.count, p.copies) - filled).sum())
    used = np.zeros(limits.upper.shape)
    for k in range(p.copies):
        held = np.flatnonzero(filled > k)
        for r in range(len(limits.names)):
            np.add.at(used[r], copies[held, k], limits.weight[r, held])
    gaps = np.flatnonzero(filled < p.copies)
    for u in gaps[np.argsort(-p.load[gaps], kind="stable")].tolist():
        weight = limits.weight[:, [u]]
        for k in range(int(filled[u]), p.copies):
            free = p.allowed[u] & ~np.isin(p.domain, p.domain[copies[u, :k]])
            room = free & np.all(used + weight <= limits.upper, axis=0)
            if room.any():
                i = int(np.where(room, p.cost[u], np.inf).argmin())
            else:
                over = np.sum(np.maximum(used + weight - limits.upper, 0.0) / np.maximum(weight, 1e-200), axis=0)
                i = int(np.where(free, over, np.inf).argmin())
            copies[u, k] = i
            used[:, i] += limits.weight[:, u]
    return copies, forced


def _costing_moves(current: CurrentAllocation, weight: FloatArray, nudge: float = COST_NUDGE) -> CheckpointProblem:
    """Return the problem in which a copy costs its unit's weight where none is now, and hardly anything else."""
    p = current.problem
    span = float(p.cost.max() - p.cost.min()) if p.cost.size else 0.0
    cost = np.where(current.held, 0.0, weight[:, None] / float(weight.max(initial=0.0) or 1.0))
    if nudge and span > 0:
        cost += nudge * (p.cost - p.cost.min()) / span
    return replace(p, cost=cost, integral=False)


def _fewest(
    current: CurrentAllocation, limits: Limits, weight: FloatArray, best: IntArray, seed: int, budget: Budget
) -> tuple[IntArray, float]:
    """Return copies of least total weight that is moved, as far as found, and a proven bound of that weight."""
    problem = _costing_moves(current, weight, nudge=0.0)
    if problem.value(best) <= 0:
        return best, 0.0
    copies, bound = branch_and_cut(problem, limits, problem.allowed, best, seed, budget, gap=1e-9)
    return copies, bound * float(weight.max())
