"""A placement of key groups that is being changed, with the load and memory that it takes on each node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.rebalance.algorithms.candidates import Candidates, Tariff, memory_changes
from ftplan.planners.rebalance.problem import Migration
from ftplan.planners.rebalance.rules import memory_used


class WorkingPlacement:
    """Where each key group is meant to be, (K,), and what that makes of each node."""

    def __init__(self, candidates: Candidates, tariff: Tariff | None = None) -> None:
        problem = candidates.problem
        self.candidates, self.problem = candidates, problem
        self.tariff = tariff or candidates.tariff
        self.place = problem.home.copy()  # (K,) node of each group
        self.load = problem.start_load.copy()  # (N,)
        self.by_memory = bool(np.isfinite(problem.memory).any()) and bool(problem.state.any())
        #: Bytes of state and copies on each node, and how many there may be, (N,); looked at where ``by_memory`` only.
        self.used, self.room = _memory(candidates) if self.by_memory else (self.load, self.load)

    @staticmethod
    def of(candidates: Candidates, moves: Sequence[Migration]) -> WorkingPlacement:
        """Return the placement to which moves lead, by their protocols."""
        near = [candidates.at_hand(move.group, move.target) for move in moves]
        now = WorkingPlacement(candidates, candidates.tariff.with_rows(candidates.problem, moves, near))
        for move in moves:
            now.put(move.group, move.target)
        now.recount()
        return now

    def copy(self) -> WorkingPlacement:
        """Return a placement that is changed on its own."""
        other = object.__new__(WorkingPlacement)
        other.__dict__.update(self.__dict__)
        other.place, other.load, other.used = self.place.copy(), self.load.copy(), self.used.copy()
        return other

    @property
    def moved(self) -> IntArray:
        """The groups that are not at home, ascending."""
        return np.flatnonzero(self.place != self.problem.home)

    @property
    def moves(self) -> tuple[Migration, ...]:
        """The moves that lead here."""
        return self.candidates.moves(self.place, self.tariff)

    def over(self) -> FloatArray:
        """Return how far each node is outside its limits of load, negative below the lower one, (N,)."""
        above = np.maximum(self.load - self.candidates.most, 0.0)
        return np.asarray(above - np.maximum(self.candidates.least - self.load, 0.0))

    def feasible(self) -> bool:
        """Return whether all limits are kept, but for phases."""
        return self.within_limits() and self.within_budget()

    def within_limits(self) -> bool:
        """Return whether all nodes are within their limits, and all groups that have to leave their node did."""
        left = bool((self.place[self.candidates.must] != self.problem.home[self.candidates.must]).all())
        reached = all(
            np.isfinite(self.tariff.price[self.candidates.at_hand(k, int(self.place[k])), k])
            and self.problem.hosts[self.place[k]]
            for k in self.moved.tolist()
        )
        return left and reached and not self.over().any() and not (self.by_memory and (self.used > self.room).any())

    def within_budget(self) -> bool:
        """Return whether no more groups move, and no more bytes, than may."""
        limits, moved = self.problem.limits, self.moved
        if limits.max_moves is not None and len(moved) > limits.max_moves:
            return False
        return limits.max_bytes is None or self.bytes() <= limits.max_bytes * (1.0 + ROUNDING)

    def bytes(self) -> float:
        """Return what all moves transfer."""
        row = self.candidates.at_hand
        return float(sum(self.tariff.bytes[row(k, int(self.place[k])), k] for k in self.moved.tolist()))

    def fits(self, groups: IntArray) -> BoolArray:
        """Return which nodes have room for the load of some groups, each alone and not there yet, (G, N)."""
        return np.asarray(self.load + self.problem.load[groups][:, None] <= self.candidates.most)

    def holds(self, group: int, target: int) -> bool:
        """Return whether memory allows that a group goes to a node, from where it is now."""
        if not self.by_memory:
            return True
        change = self._memory_change(group, target)
        return all(by <= 0.0 or self.used[node] + by <= self.room[node] for node, by in change.items())

    def put(self, group: int, target: int) -> None:
        """Put a group on a node; its limits are not looked at."""
        if self.by_memory:
            for node, by in self._memory_change(group, target).items():
                self.used[node] += by
        load = self.problem.load[group]
        self.load[self.place[group]] -= load
        self.load[target] += load
        self.place[group] = target

    def recount(self) -> None:
        """Sum the loads anew: many changes leave rounding errors behind."""
        self.load = self.problem.loads(self.place)

    def _memory_change(self, group: int, target: int) -> dict[int, float]:
        before, after = self._memory_of(group, int(self.place[group])), self._memory_of(group, target)
        return {node: after.get(node, 0.0) - before.get(node, 0.0) for node in {**before, **after}}

    def _memory_of(self, group: int, node: int) -> dict[int, float]:
        at_home = node == self.problem.home[group]
        return memory_changes(self.problem, group, None if at_home else self.candidates.move(group, node, self.tariff))


def _memory(candidates: Candidates) -> tuple[FloatArray, FloatArray]:
    """Return the bytes on nodes where no group moves, and how many there may be: never less than at the start."""
    problem = candidates.problem
    start = memory_used(problem, problem.home, problem.copies)
    used = start.copy()
    for group in range(candidates.groups):
        for node, by in memory_changes(problem, group, None).items():
            used[node] += by
    return used, np.maximum(problem.memory, start) * (1.0 + ROUNDING)
