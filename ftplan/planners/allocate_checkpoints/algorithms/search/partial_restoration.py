"""Restoring as many rules as few moves allow, where keeping all of them would take more.

A :class:`PartialAllocation` need not keep any rule: it knows what is wrong with it, and which change gains most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.algorithms.bounds.lagrangian import mean_use
from ftplan.planners.allocate_checkpoints.algorithms.limits import Limits
from ftplan.planners.allocate_checkpoints.algorithms.search.migration import ROUNDING, CurrentAllocation, MoveLimits
from ftplan.planners.budget import Budget

#: Changes of costs and breaches below this, relative to their size, are rounding.
NOISE = 1e-9
#: Stands for the node of a copy that is not there: before it is added, or after it is dropped.
NOWHERE = -1


class SingleChange(NamedTuple):
    """A copy of a unit goes from one node to another; either may be :data:`NOWHERE`. Lower ``gain`` is better."""

    unit: int
    leaving: int
    coming: int
    gain: tuple[int, float, float]  # change of defects, of breach and of cost


@dataclass(slots=True)
class PartialAllocation:
    """Copies on their way from the current ones towards the rules. ``nodes`` holds those of each unit, in any number.

    A *defect* is a copy that is missing, too many, on a node that it must not be on, or in the domain of another; a
    *breach* is how far the nodes are beyond the limits, in units of the mean use of each resource.
    """

    current: CurrentAllocation
    limits: Limits
    allowance: MoveLimits
    nodes: list[list[int]] = field(init=False)
    used: FloatArray = field(init=False)  # (R, N)
    scale: FloatArray = field(init=False)  # (R,)
    defects: IntArray = field(init=False)  # (U,)
    moves: int = field(init=False, default=0)
    size: float = field(init=False, default=0.0)  # bytes that arrive somewhere

    def __post_init__(self) -> None:
        """Start at the current copies."""
        self.nodes = [list(row) for row in self.current.nodes]
        weight, nodes = self.limits.weight, self.limits.upper.shape[1]
        hosts = np.array([node for row in self.nodes for node in row], dtype=np.int64)
        rows = [np.bincount(hosts, np.repeat(values, self.current.count), nodes) for values in weight]
        self.used = np.array(rows, dtype=np.float64).reshape(weight.shape[0], nodes)
        self.scale = mean_use(self.limits)[:, 0]
        self.defects = np.array([self._defects_of(unit) for unit in range(len(self.nodes))], dtype=np.int64)

    @property
    def value(self) -> float:
        """Cost of the copies."""
        cost = self.current.problem.cost
        return float(sum(cost[unit, row].sum() for unit, row in enumerate(self.nodes)))

    @property
    def failover_excess(self) -> float:
        """Load that survivors would take over beyond the failover limit, summed over losses; 0 without one."""
        rule = self.limits.failover
        if rule is None:
            return 0.0
        held = np.array([unit for unit, row in enumerate(self.nodes) if row], dtype=np.int64)
        first = np.array([self.nodes[unit][0] for unit in held.tolist()], dtype=np.int64)
        taken = np.zeros(rule.fair.shape)
        np.add.at(taken, (rule.loss[held], first), rule.load[held])
        return float(np.maximum(taken - rule.upper, 0.0).sum())

    def best(self, units: Sequence[int], banned: set[tuple[int, int, int]]) -> SingleChange | None:
        """Return the change of one copy that gains most, None where nothing gains within the rest of the allowance."""
        changes = []
        for unit in units:
            leaving = [*self.nodes[unit]]
            if len(self.nodes[unit]) < self.current.problem.copies:
                leaving.append(NOWHERE)
            changes += [change for origin in leaving if (change := self._best_of(unit, origin, banned))]
        return min(changes, key=lambda change: change.gain, default=None)

    def make(self, change: SingleChange) -> None:
        """Make a change; the copy that comes takes the place of the one that leaves."""
        row = list(self.nodes[change.unit])
        place = row.index(change.leaving) if change.leaving != NOWHERE else len(row)
        row[place : place + 1] = [change.coming] if change.coming != NOWHERE else []
        self.place(change.unit, row)

    def place(self, unit: int, row: list[int]) -> None:
        """Give a unit these copies."""
        weight = self.limits.weight[:, unit][:, None]
        moves, size = self._moves_of(unit, self.nodes[unit])
        self.used[:, self.nodes[unit]] -= weight
        self.used[:, row] += weight
        self.nodes[unit] = row
        self.defects[unit] = self._defects_of(unit)
        now, now_size = self._moves_of(unit, row)
        self.moves += now - moves
        self.size += now_size - size

    def _defects_of(self, unit: int) -> int:
        return max(len(self.nodes[unit]), self.current.problem.copies) - len(self._sound(unit, NOWHERE))

    def _sound(self, unit: int, without: int) -> set[int]:
        """Return the domains of the copies that may stay, at most as many as a unit has, without one node."""
        p = self.current.problem
        rows = [node for node in self.nodes[unit] if node != without and p.allowed[unit, node]]
        return set(sorted({int(p.domain[node]) for node in rows})[: p.copies])

    def _moves_of(self, unit: int, row: Sequence[int]) -> tuple[int, float]:
        """Return the moves and the bytes that lead from a unit's current copies to these."""
        held = set(self.current.nodes[unit])
        coming = len(set(row) - held)
        return max(len(held - set(row)), coming), coming * float(self.current.problem.state[unit])

    def _beyond(self, used: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(used - self.limits.upper, 0.0) + np.maximum(self.limits.lower - used, 0.0))

    def _best_of(self, unit: int, origin: int, banned: set[tuple[int, int, int]]) -> SingleChange | None:
        """Return where one copy of a unit goes best; in all arrays the last column stands for :data:`NOWHERE`."""
        p, row = self.current.problem, self.nodes[unit]
        defects = self._defects_after(unit, origin)
        entered, breach = self._breach_after(unit, origin)
        cost = np.append(p.cost[unit], 0.0)
        if origin != NOWHERE:
            cost -= float(p.cost[unit, origin])

        possible = self._affordable(unit, [node for node in row if node != origin])
        possible[row] = False
        if origin == NOWHERE:
            possible[NOWHERE] = False
        if "memory" in self.limits.names:  # memory that is not there cannot be lent
            memory = self.limits.names.index("memory")
            possible[:-1] &= (entered[memory] <= 0.0) | (self.limits.weight[memory, unit] <= 0.0)
        possible[[b for u, a, b in banned if (u, a) == (unit, origin)]] = False

        same = (defects == 0) & (np.abs(breach) <= NOISE)
        gains = (defects < 0) & (breach <= NOISE)
        gains |= (defects == 0) & (breach < -NOISE)
        gains |= same & (cost < -NOISE * max(p.largest_cost, 1e-300))
        possible &= gains
        if not possible.any():
            return None
        breach = np.where(np.abs(breach) <= NOISE, 0.0, breach)
        node = int(np.lexsort((cost, breach, defects, ~possible))[0])
        gain = int(defects[node]), float(breach[node]), float(cost[node])
        return SingleChange(unit, origin, NOWHERE if node == p.cost.shape[1] else node, gain)

    def _defects_after(self, unit: int, origin: int) -> IntArray:
        """Return by how much the defects change when a copy goes from *origin* to each node, shape (N + 1,)."""
        p = self.current.problem
        sound = self._sound(unit, origin)
        fills = np.zeros(p.cost.shape[1] + 1, dtype=np.int64)
        if len(sound) < p.copies:
            fills[:-1] = p.allowed[unit] & ~np.isin(p.domain, sorted(sound))
        length = np.full(fills.size, len(self.nodes[unit]) + (origin == NOWHERE))
        length[NOWHERE] -= 1
        return np.asarray(np.maximum(length, p.copies) - len(sound) - fills - int(self.defects[unit]))

    def _breach_after(self, unit: int, origin: int) -> tuple[FloatArray, FloatArray]:
        """Return how much breach each node gains, by resource (R, N), and the change of it all when a copy goes there.

        The second has shape (N + 1,).
        """
        weight, scale = self.limits.weight[:, [unit]], self.scale[:, None]
        before = self._beyond(self.used)
        entered = (self._beyond(self.used + weight) - before) / scale
        breach = np.append(entered.sum(axis=0), 0.0)
        if origin != NOWHERE:
            left = (self._beyond(self.used - weight) - before) / scale
            breach += float(left[:, origin].sum())
        return entered, breach

    def _affordable(self, unit: int, rest: Sequence[int]) -> BoolArray:
        """Return to which nodes a copy may come within the allowance, beside the *rest* of its unit, (N + 1,)."""
        held = np.append(self.current.held[unit], True)
        had, had_size = self._moves_of(unit, self.nodes[unit])
        gone, new = len(set(self.current.nodes[unit]) - set(rest)), len(set(rest) - set(self.current.nodes[unit]))
        left = np.where(held, gone - 1, gone)
        left[NOWHERE] = gone
        come = np.where(held, new, new + 1)
        moves = self.moves - had + np.maximum(left, come)
        size = self.size - had_size + come * float(self.current.problem.state[unit])
        good = np.ones(held.size, dtype=np.bool_)
        if self.allowance.max_moves is not None:
            good &= moves <= self.allowance.max_moves
        if self.allowance.max_bytes is not None:
            good &= size <= self.allowance.max_bytes * (1 + ROUNDING)
        return good


#: Pairs of unit and node up to which every change is looked at before each move; beyond it units go one by one.
MOST_PAIRS_FOR_ALL = 200_000


def restore_in_part(
    current: CurrentAllocation, limits: Limits, allowance: MoveLimits, budget: Budget
) -> PartialAllocation:
    """Return the copies in place with what few moves make better: fewer defects, then a smaller breach, then less cost.

    Guarantee: within the allowance; none of defects, breach and failover excess is more than now, nor the cost where
    the others are the same; where a single change gains and is affordable, something gains. Greedy, one change at a
    time: not the best that the moves allow. Cost O(U c N) a move in small problems, O(c N) in large ones
    (:data:`MOST_PAIRS_FOR_ALL`), until the time is up.
    """
    partial = PartialAllocation(current, limits, allowance)
    heavy: IntArray = np.argsort(-current.problem.load, kind="stable")
    search = _best_of_all if heavy.size * current.problem.cost.shape[1] <= MOST_PAIRS_FOR_ALL else _one_by_one
    search(partial, heavy, budget)
    return partial


def _best_of_all(partial: PartialAllocation, heavy: IntArray, budget: Budget) -> None:
    """Make the change that gains most of all, again and again."""
    banned: set[tuple[int, int, int]] = set()
    while not budget.over():
        broken = heavy[partial.defects[heavy] > 0].tolist()
        change = partial.best(broken, banned)
        if change is None or change.gain[0] == 0:
            change = partial.best(heavy.tolist(), banned)
        if change is None:
            return
        if _tried(partial, change):
            banned.clear()
        else:
            banned.add(change[:3])


def _one_by_one(partial: PartialAllocation, heavy: IntArray, budget: Budget) -> None:
    """Go through the units, the heaviest first, and make what gains most for each: defects, breaches, then cost."""
    for least in ((-1, np.inf), (0, -NOISE), (0, np.inf)):
        changed = True
        while changed:
            changed = False
            units = heavy[partial.defects[heavy] > 0] if least[0] else heavy
            for unit in units.tolist():
                if budget.over() or partial.allowance.exceeded(partial.moves + 1, 0.0):
                    return
                change = partial.best([unit], set())
                if change is not None and change.gain[:2] <= least:
                    changed |= _tried(partial, change)


def _tried(partial: PartialAllocation, change: SingleChange) -> bool:
    """Make a change, and take it back where survivors would take over more beyond the failover limit than now."""
    excess, row = partial.failover_excess, list(partial.nodes[change.unit])
    partial.make(change)
    if partial.failover_excess <= excess * (1 + NOISE) + NOISE:
        return True
    partial.place(change.unit, row)
    return False


def padded(partial: PartialAllocation) -> IntArray:
    """Return the copies as an array (U, most), -1 where a unit has fewer."""
    most = max([partial.current.problem.copies, *map(len, partial.nodes)])
    rows = [[*row, *[-1] * (most - len(row))] for row in partial.nodes]
    return np.array(rows, dtype=np.int64).reshape(len(rows), most)


def least_cost(current: CurrentAllocation) -> float:
    """Return what no copies cost less than, whatever rules they break: up to as many of each unit as there may be."""
    p = current.problem
    most = np.maximum(current.count, p.copies)
    sums = np.cumsum(np.sort(p.cost, axis=1), axis=1)
    least = [min(0.0, float(row[:count].min(initial=0.0))) for row, count in zip(sums, most.tolist(), strict=True)]
    return float(sum(least))
