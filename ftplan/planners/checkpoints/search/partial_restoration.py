"""Mending as much of the copies in place as few moves allow, where keeping all rules would take more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.checkpoints.rules.limits import Limits
from ftplan.planners.checkpoints.search.copies_in_place import ROUNDING, MoveLimits, Present

#: Pairs of unit and node up to which every change is looked at before each move; beyond it units go one by one.
LOOKS = 200_000
#: Changes of costs and breaches below this, relative to their size, are rounding.
NOISE = 1e-9


@dataclass(frozen=True, slots=True)
class _Change:
    """One copy of a unit leaves a node, or comes to one, or both; None: there is none. Lower ``gain`` is better."""

    unit: int
    leaving: int | None
    coming: int | None
    gain: tuple[int, float, float]  # change of defects, of breach and of cost


@dataclass(slots=True)
class InPart:
    """Copies on their way from the present towards the rules. ``nodes`` holds those of each unit, in any number.

    A *defect* is a copy that is missing, too many, on a node that it must not be on, or in the domain of another; a
    *breach* is how far the nodes are beyond the limits, in units of the mean use of each resource.
    """

    present: Present
    limits: Limits
    nodes: list[list[int]]
    used: FloatArray = field(init=False)  # (R, N)
    scale: FloatArray = field(init=False)  # (R,)
    faults: IntArray = field(init=False)  # (U,) defects of each unit
    _moved: int = field(init=False)
    _size: float = field(init=False)

    def __post_init__(self) -> None:
        """Add up what the nodes hold."""
        weight, count = self.limits.weight, np.array([len(row) for row in self.nodes])
        hosts = np.array([node for row in self.nodes for node in row], dtype=np.int64)
        nodes = self.limits.upper.shape[1]
        rows = [np.bincount(hosts, np.repeat(values, count), nodes) for values in weight]
        self.used = np.array(rows, dtype=np.float64).reshape(weight.shape[0], nodes)
        self.scale = np.maximum(weight.sum(axis=1) / max(nodes, 1), 1e-300)
        self.faults = np.array([self.defects_of(unit) for unit in range(len(self.nodes))], dtype=np.int64)
        found = [self._moves_of(unit, self.nodes[unit]) for unit in range(len(self.nodes))]
        self._moved, self._size = sum(moves for moves, _ in found), float(sum(size for _, size in found))

    @property
    def value(self) -> float:
        """Cost of the copies."""
        cost = self.present.problem.cost
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

    def moves(self) -> tuple[int, float]:
        """Return how many moves, and bytes that arrive, lead here from the present."""
        return self._moved, self._size

    def defects_of(self, unit: int) -> int:
        """Return the defects of one unit."""
        return max(len(self.nodes[unit]), self.present.problem.copies) - len(self._good(unit, None))

    def _good(self, unit: int, without: int | None) -> set[int]:
        """Return the domains of the copies that may stay, at most as many as a unit has, without one node."""
        p = self.present.problem
        rows = [node for node in self.nodes[unit] if node != without and p.allowed[unit, node]]
        return set(sorted({int(p.domain[node]) for node in rows})[: p.copies])

    def _held(self, unit: int) -> set[int]:
        return set(np.flatnonzero(self.present.here[unit]).tolist())

    def _moves_of(self, unit: int, row: Sequence[int]) -> tuple[int, float]:
        held = self._held(unit)
        coming = len(set(row) - held)
        return max(len(held - set(row)), coming), coming * float(self.present.problem.state[unit])

    def _beyond(self, used: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(used - self.limits.upper, 0.0) + np.maximum(self.limits.lower - used, 0.0))

    def best(self, units: Sequence[int], allowance: MoveLimits, banned: set[tuple[int, int, int]]) -> _Change | None:
        """Return the change of one copy that gains most, None where nothing gains within the rest of the allowance."""
        moves, size = self.moves()
        found: _Change | None = None
        for unit in units:
            leaving: list[int | None] = [*self.nodes[unit]]
            if len(self.nodes[unit]) < self.present.problem.copies:
                leaving.append(None)
            for origin in leaving:
                change = self._best_of(unit, origin, moves, size, allowance, banned)
                if change is not None and (found is None or change.gain < found.gain):
                    found = change
        return found

    def _best_of(
        self,
        unit: int,
        origin: int | None,
        moves: int,
        size: float,
        allowance: MoveLimits,
        banned: set[tuple[int, int, int]],
    ) -> _Change | None:
        """Return where one copy of a unit goes best; the last column stands for nowhere."""
        p, row = self.present.problem, self.nodes[unit]
        nodes = p.cost.shape[1]
        rest = [node for node in row if node != origin]
        good = self._good(unit, origin)
        fills = np.zeros(nodes + 1, dtype=np.int64)
        if len(good) < p.copies:
            fills[:nodes] = p.allowed[unit] & ~np.isin(p.domain, sorted(good))
        length = np.full(nodes + 1, len(rest) + 1)
        length[nodes] = len(rest)
        defects = np.maximum(length, p.copies) - len(good) - fills - int(self.faults[unit])

        weight = self.limits.weight[:, unit][:, None]
        before = self._beyond(self.used)
        entered = (self._beyond(self.used + weight) - before) / self.scale[:, None]
        breach = np.append(entered.sum(axis=0), 0.0)
        cost = np.append(p.cost[unit], 0.0)
        if origin is not None:
            left = (self._beyond(self.used - weight) - before) / self.scale[:, None]
            breach += float(left[:, origin].sum())
            cost -= float(p.cost[unit, origin])
        possible = np.ones(nodes + 1, dtype=np.bool_)
        possible[row] = False
        possible[nodes] = origin is not None
        for r, name in enumerate(self.limits.names):
            if name == "memory" and weight[r, 0] > 0.0:
                possible[:nodes] &= entered[r] <= 0.0  # memory that is not there cannot be lent
        for u, a, b in banned:
            if u == unit and a == (-1 if origin is None else origin):
                possible[b] = False
        possible &= self._affordable(unit, rest, moves, size, allowance)

        largest = NOISE * max(p.largest_cost, 1e-300)
        same = (defects == 0) & (np.abs(breach) <= NOISE)
        gains = (defects < 0) & (breach <= NOISE)
        gains |= (defects == 0) & (breach < -NOISE)
        gains |= same & (cost < -largest)
        possible &= gains
        if not possible.any():
            return None
        rounded = np.where(np.abs(breach) <= NOISE, 0.0, breach)
        order = np.lexsort((cost, rounded, defects, ~possible))
        node = int(order[0])
        gain = int(defects[node]), float(rounded[node]), float(cost[node])
        return _Change(unit, origin, None if node == nodes else node, gain)

    def _affordable(
        self, unit: int, rest: Sequence[int], moves: int, size: float, allowance: MoveLimits
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which nodes a copy may come to within the allowance, the last for none, shape (N + 1,)."""
        held, here = self._held(unit), np.append(self.present.here[unit], True)
        had, had_size = self._moves_of(unit, self.nodes[unit])
        gone, new = len(held - set(rest)), len(set(rest) - held)
        left = np.where(here, gone - 1, gone)
        left[-1] = gone
        come = np.where(here, new, new + 1)
        state = float(self.present.problem.state[unit])
        after, bytes_after = moves - had + np.maximum(left, come), size - had_size + come * state
        good = np.ones(here.size, dtype=np.bool_)
        if allowance.max_moves is not None:
            good &= after <= allowance.max_moves
        if allowance.max_bytes is not None:
            good &= bytes_after <= allowance.max_bytes * (1 + ROUNDING)
        return good

    def make(self, change: _Change) -> None:
        """Make a change; the copy that comes takes the place of the one that leaves."""
        row = list(self.nodes[change.unit])
        if change.leaving is None:
            assert change.coming is not None
            row.append(change.coming)
        elif change.coming is None:
            row.remove(change.leaving)
        else:
            row[row.index(change.leaving)] = change.coming
        self.place(change.unit, row)

    def place(self, unit: int, row: list[int]) -> None:
        """Give a unit these copies."""
        weight = self.limits.weight[:, unit][:, None]
        moves, size = self._moves_of(unit, self.nodes[unit])
        self.used[:, self.nodes[unit]] -= weight
        self.used[:, row] += weight
        self.nodes[unit] = row
        self.faults[unit] = self.defects_of(unit)
        now, now_size = self._moves_of(unit, row)
        self._moved += now - moves
        self._size += now_size - size


def mend_in_part(
    present: Present, nodes: Sequence[Sequence[int]], limits: Limits, allowance: MoveLimits, budget: Budget
) -> InPart:
    """Return the copies in place with what few moves make better: fewer defects, then a smaller breach, then less cost.

    *nodes* holds the node positions of each unit's copies now. Guarantee: within the allowance; none of defects,
    breach and failover excess is more than now, nor the cost where the others are the same; where a single change
    gains and is affordable, something gains. Greedy, one change at a time: not the best that the moves allow. Cost
    O(U c N) a move in small problems, O(c N) in large ones (:data:`LOOKS`), until the time is up.
    """
    part = InPart(present, limits, [list(row) for row in nodes])
    heavy: IntArray = np.argsort(-present.problem.load, kind="stable")
    search = _best_of_all if heavy.size * present.problem.cost.shape[1] <= LOOKS else _one_by_one
    search(part, heavy, allowance, budget)
    return part


def _best_of_all(part: InPart, heavy: IntArray, allowance: MoveLimits, budget: Budget) -> None:
    """Make the change that gains most of all, again and again."""
    banned: set[tuple[int, int, int]] = set()
    while not budget.over():
        broken = heavy[part.faults[heavy] > 0].tolist()
        change = part.best(broken, allowance, banned) if broken else None
        if change is None or change.gain[0] == 0:
            change = part.best(heavy.tolist(), allowance, banned)
        if change is None:
            return
        if _tried(part, change):
            banned.clear()
        else:
            end = part.present.problem.cost.shape[1]
            left = -1 if change.leaving is None else change.leaving
            banned.add((change.unit, left, end if change.coming is None else change.coming))


def _one_by_one(part: InPart, heavy: IntArray, allowance: MoveLimits, budget: Budget) -> None:
    """Go through the units, the heaviest first, and make what gains most for each: defects, breaches, then cost."""
    nothing: set[tuple[int, int, int]] = set()
    for least in ((-1, np.inf), (0, -NOISE), (0, np.inf)):
        changed = True
        while changed:
            changed = False
            units = heavy[part.faults[heavy] > 0] if least[0] else heavy
            for unit in units.tolist():
                if budget.over() or allowance.exceeded(part.moves()[0] + 1, 0.0):
                    return
                change = part.best([unit], allowance, nothing)
                if change is not None and change.gain[:2] <= least:
                    changed |= _tried(part, change)


def _tried(part: InPart, change: _Change) -> bool:
    """Make a change, and take it back where survivors would take over more beyond the failover limit than now."""
    excess, row = part.failover_excess, list(part.nodes[change.unit])
    part.make(change)
    if part.failover_excess <= excess * (1 + NOISE) + NOISE:
        return True
    part.place(change.unit, row)
    return False


def padded(part: InPart) -> IntArray:
    """Return the copies as an array (U, most), -1 where a unit has fewer."""
    most = max([part.present.problem.copies, *map(len, part.nodes)])
    rows = [[*row, *[-1] * (most - len(row))] for row in part.nodes]
    return np.array(rows, dtype=np.int64).reshape(len(rows), most)


def least_cost(present: Present) -> float:
    """Return what no copies cost less than, whatever rules they break: up to as many of each unit as there may be."""
    p = present.problem
    most = np.maximum(present.count, p.copies)
    sums = np.cumsum(np.sort(p.cost, axis=1), axis=1)
    found = [min(0.0, float(row[:count].min(initial=0.0))) for row, count in zip(sums, most.tolist(), strict=True)]
    return float(sum(found))
