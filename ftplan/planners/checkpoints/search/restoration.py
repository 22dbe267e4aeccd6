"""From copies in place that break rules to copies that keep them, with as few moves as possible."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.arrays import CheckpointProblem
from ftplan.planners.checkpoints.models.branch_and_cut import branch_and_cut
from ftplan.planners.checkpoints.rules.limits import Limits
from ftplan.planners.checkpoints.search.copies_in_place import MoveLimits, Moving, Present
from ftplan.planners.checkpoints.search.repair import repair
from ftplan.planners.checkpoints.search.working_allocation import WorkingAllocation

#: Allowed pairs of unit and node up to which the fewest moves are proven by branch and cut.
MOST_COLUMNS = 20_000
#: Share of the time for such a proof.
PROOF = 0.5
#: How much the true cost weighs beside a move, between the cheapest and the dearest pair, where moves are equal.
NUDGE = 0.01


@dataclass(frozen=True, eq=False)
class Mended:
    """Copies (U, c) within all rules; ``least_moves`` and ``least_size`` are proven: no other copies need less."""

    copies: IntArray
    least_moves: int
    least_size: float


def mend(
    present: Present, limits: Limits, fallback: IntArray, allowance: MoveLimits, seed: int, budget: Budget
) -> Mended:
    """Return copies within all rules, close to the present.

    What keeps R1 to R3 stays, gaps are filled with cheap nodes, and repair with the moves as cost brings the rest
    within the limits; *fallback*, a plan that keeps all rules, is led back towards the present. The better of both
    is taken; where it is more than allowed, or small enough, branch and cut looks for the fewest moves (or bytes)
    and proves them. Without a broken rule it is the present itself.
    """
    kept, forced = _structure(present, limits)
    if limits.kept(kept):
        return Mended(kept, forced, present.size(kept))
    starts = [back(present, limits, fallback)]
    for weight in (np.ones(kept.shape[0]), present.problem.state):
        if weight.any():
            placed = WorkingAllocation.of(_priced(present, weight), limits, kept)
            if repair(placed, budget):
                starts.append(placed.copies)
    best = min(starts, key=lambda copies: _rank(present, copies, allowance))
    # What fills a gap has to come whatever the limits say; without a gap one copy has to move.
    least_moves, least_size = max(forced, 1), present.size(kept)
    if int(present.problem.allowed.sum()) > MOST_COLUMNS:
        return Mended(best, least_moves, least_size)
    found, bound = _fewest(present, limits, np.ones(kept.shape[0]), best, seed, budget.part(PROOF))
    extra = int(np.maximum(present.count - kept.shape[1], 0).sum())
    least_moves = max(least_moves, int(np.ceil(bound - 1e-6)) + extra if np.isfinite(bound) else 0)
    best = min(best, found, key=lambda copies: _rank(present, copies, allowance))
    if "max-bytes" in allowance.exceeded(0, present.size(best)):
        found, bound = _fewest(present, limits, present.problem.state, best, seed, budget.part(PROOF))
        least_size = max(least_size, bound * (1 - 1e-9) if np.isfinite(bound) else 0.0)
        best = min(best, found, key=lambda copies: _rank(present, copies, allowance))
    return Mended(best, least_moves, least_size)


def back(present: Present, limits: Limits, copies: IntArray) -> IntArray:
    """Return copies within the limits, led back towards the present one by one as long as the limits hold."""
    moving = Moving.at(WorkingAllocation.of(present.problem, limits, copies), present)
    changed = True
    while changed:
        changed = False
        for slot, node, _ in returns(moving.placed, present):
            if fits(moving.placed, slot, node):
                changed |= moving.make([(slot, node)])
    return moving.placed.copies if limits.kept(moving.placed.copies) else copies


def returns(placed: WorkingAllocation, present: Present) -> list[tuple[int, int, float]]:
    """Return (slot, node, added cost) of every way to put a moved copy back where one is now, the cheapest first."""
    p = placed.problem
    slots = np.flatnonzero(~present.staying(placed.copies).reshape(-1))
    open_to = present.here[slots // p.copies] & placed.free(slots)
    row, node = np.nonzero(open_to)
    slot = slots[row]
    added = p.cost[slot // p.copies, node] - p.cost[slot // p.copies, placed.flat[slot]]
    order = np.lexsort((node, slot, added))
    return [(int(slot[i]), int(node[i]), float(added[i])) for i in order]


def fits(placed: WorkingAllocation, slot: int, node: int) -> bool:
    """Return whether one copy may go to a node by all rules as things stand."""
    rows, here = placed.limits, int(placed.flat[slot])
    if here == node or not placed.free(np.array([slot]))[0, node]:
        return False
    weight = rows.weight[:, slot // placed.problem.copies]
    leaves = (placed.used[:, here] - weight >= rows.lower[:, here]) | (weight <= 0)
    enters = (placed.used[:, node] + weight <= rows.upper[:, node]) | (weight <= 0)
    return bool(leaves.all() and enters.all())


def _structure(present: Present, limits: Limits) -> tuple[IntArray, int]:
    """Return copies (U, c) that keep R1 to R3 with the fewest moves, and how many moves that takes at least.

    Of several copies in one domain, and of too many, the first and the cheapest stay. Gaps are filled, heaviest unit
    first, on the cheapest node with room, else on the one with most room.
    """
    p = present.problem
    copies = np.full((p.load.size, p.copies), -1, dtype=np.int64)
    row, node = np.nonzero(present.here & p.allowed)
    order = np.lexsort((node, p.cost[row, node], node != present.first[row], row))
    filled = np.zeros(p.load.size, dtype=np.int64)
    for u, i in zip(row[order].tolist(), node[order].tolist(), strict=True):
        if filled[u] < p.copies and p.domain[i] not in p.domain[copies[u, : filled[u]]]:
            copies[u, filled[u]] = i
            filled[u] += 1
    forced = int((np.maximum(present.count, p.copies) - filled).sum())
    used = np.zeros(limits.upper.shape)
    for k in range(p.copies):
        held = np.flatnonzero(filled > k)
        for r in range(len(limits.names)):
            np.add.at(used[r], copies[held, k], limits.weight[r, held])
    gaps = np.flatnonzero(filled < p.copies)
    for u in gaps[np.argsort(-p.load[gaps], kind="stable")].tolist():
        for k in range(int(filled[u]), p.copies):
            free = p.allowed[u] & ~np.isin(p.domain, p.domain[copies[u, :k]])
            weight = limits.weight[:, u][:, None]
            room = free & np.all(used + weight <= limits.upper, axis=0)
            if room.any():
                i = int(np.where(room, p.cost[u], np.inf).argmin())
            else:
                over = np.sum(np.maximum(used + weight - limits.upper, 0.0) / np.maximum(weight, 1e-200), axis=0)
                i = int(np.where(free, over, np.inf).argmin())
            copies[u, k] = i
            used[:, i] += limits.weight[:, u]
    return copies, forced


def _priced(present: Present, weight: FloatArray, nudge: float = NUDGE) -> CheckpointProblem:
    """Return the problem in which a copy costs its unit's weight where none is now, and hardly anything else."""
    p = present.problem
    span = float(p.cost.max() - p.cost.min()) if p.cost.size else 0.0
    cost = np.where(present.here, 0.0, weight[:, None] / float(weight.max(initial=0.0) or 1.0))
    if nudge and span > 0:
        cost += nudge * (p.cost - p.cost.min()) / span
    return replace(p, cost=cost, integral=False)


def _fewest(
    present: Present, limits: Limits, weight: FloatArray, best: IntArray, seed: int, budget: Budget
) -> tuple[IntArray, float]:
    """Return copies of least total weight that is moved, as far as found, and a proven bound of that weight."""
    priced = _priced(present, weight, nudge=0.0)
    start = priced.value(best)
    if start <= 0:
        return best, 0.0
    found, bound = branch_and_cut(priced, limits, present.problem.allowed, best, seed, budget, 1e-9)
    return found, bound * float(weight.max())


def _rank(present: Present, copies: IntArray, allowance: MoveLimits) -> tuple[int, int, float, float]:
    """Order mended copies: within the allowance first, then fewest moves, fewest bytes, least cost."""
    moves, size = present.moves(copies), present.size(copies)
    return len(allowance.exceeded(moves, size)), moves, size, present.problem.value(copies)
