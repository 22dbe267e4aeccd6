"""Moves that are yet to be phased, and a phase that takes some of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.rebalance.effects import places_after
from ftplan.planners.rebalance.migration_phases import NOWHERE, MoveTable, hot_first, move_table, waits
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem

#: Moves that are looked at one by one before the next are.
CHUNK = 256


class PhaseSize(NamedTuple):
    """How large a phase may be: longest pause in seconds, bytes (a single move may have more), number of moves."""

    pause_s: float = math.inf
    bytes: float = math.inf
    moves: float = math.inf

    def holds(self, pause_s: float, transferred: float, moves: int) -> bool:
        """Return whether a phase with such a longest pause and so many bytes and moves is small enough."""
        small = moves == 1 or (transferred <= self.bytes * (1.0 + ROUNDING) and moves <= self.moves)
        return small and pause_s <= self.pause_s * (1.0 + ROUNDING)


class Backlog:
    """Moves by number in the order in which a phase serves them, those that are left, and the load of nodes by now.

    A phase is safe in every order if what is on a node and what arrives does not exceed its limit; and then so is the
    phase that undoes it. Hence phases can as well be filled *backward*, from the last to the first: there ``gets`` is
    the old node of a move and ``loses`` its target.
    """

    def __init__(self, problem: RebalanceProblem, moves: Sequence[Migration], backward: bool = False) -> None:
        self.problem, self.backward = problem, backward
        self.moves = list(hot_first(problem, moves))
        self.table: MoveTable = move_table(problem, self.moves)
        self.left: IntArray = np.arange(len(self.moves))
        self.gets, self.loses = (self.table.target, self.table.home)[:: -1 if backward else 1]
        self.load: FloatArray = problem.loads(places_after(problem, self.moves if backward else ()))
        self.most: FloatArray = problem.transient * (1.0 + ROUNDING) + NOISE

    def make(self, chosen: Sequence[int]) -> tuple[Migration, ...]:
        """Carry out moves as one phase, and return them."""
        load, nodes, some = self.table.load, len(self.load), list(chosen)
        self.load = self.load + np.bincount(self.gets[some], load[some], minlength=nodes)
        self.load -= np.bincount(self.loses[some], load[some], minlength=nodes)
        self.drop(some)
        return tuple(self.moves[k] for k in chosen)

    def drop(self, some: Sequence[int]) -> None:
        """Leave out moves."""
        stays = np.ones(len(self.moves), dtype=np.bool_)
        stays[some] = False
        self.left = self.left[stays[self.left]]

    def change(self, moves: Mapping[int, Migration]) -> None:
        """Make some moves by other protocols."""
        for k, move in moves.items():
            self.moves[k] = move
        self.table = move_table(self.problem, self.moves)

    def longest_wait(self, pause_s: float) -> FloatArray:
        """Return how long each move may wait so that its group is paused no longer, (M,); negative where never."""
        table = self.table
        spare = pause_s * (1.0 + ROUNDING) - table.latency_s
        waits_long = np.where(spare >= 0.0, np.inf, -1.0)
        return np.divide(spare, table.catch_up, out=waits_long, where=table.catch_up > 0.0)

    def figures(self, some: Sequence[int], changed: Mapping[int, Migration] | None = None) -> tuple[float, float]:
        """Return longest pause and bytes of moves as one phase, served in that order, some of them *changed* before."""
        moves = [(changed or {}).get(k, self.moves[k]) for k in some]
        table = move_table(self.problem, moves)
        pause = table.latency_s + waits(self.problem, moves, table) * table.catch_up
        return float(pause.max(initial=0.0)), float(table.bytes.sum())


class OpenPhase:
    """A phase that takes moves in the order in which it serves them, while nodes have room before any move leaves.

    It is safe in every order then. What does not fit when its turn comes does not fit later.
    """

    def __init__(self, backlog: Backlog, longest_wait: FloatArray, size: PhaseSize) -> None:
        self._table, self._gets, self._longest = backlog.table, backlog.gets, longest_wait
        self._bytes, self._moves = size.bytes * (1.0 + ROUNDING), size.moves
        self._room = backlog.most - backlog.load
        self._inward = np.zeros(len(self._room))
        self._outward = np.zeros(len(self._room) + 1)  # the last stands for NOWHERE, and stays free
        self.chosen: list[int] = []

    def copy(self) -> OpenPhase:
        """Return a phase that has taken the same, and goes on for itself."""
        other = copy(self)
        other._room, other._inward, other._outward = self._room.copy(), self._inward.copy(), self._outward.copy()
        other.chosen = list(self.chosen)
        return other

    def able(self, some: IntArray) -> IntArray:
        """Return those of some moves that could be taken next."""
        t = self._table
        if self.chosen:
            some = some[t.bytes[some] <= self._bytes] if len(self.chosen) < self._moves else some[:0]
        wait = np.maximum(self._inward[t.target[some]], self._outward[t.outlet[some]]) * (t.link_s[some] > 0.0)
        return some[(t.load[some] <= self._room[self._gets[some]]) & (wait <= self._longest[some])]

    def take(self, k: int) -> bool:
        """Take a move if it fits; return whether it did."""
        load, size, node = self._table.load[k], self._table.bytes[k], self._gets[k]
        full = self.chosen and (size > self._bytes or len(self.chosen) >= self._moves)
        if full or load > self._room[node] or not self._serves(k):
            return False
        self.chosen.append(k)
        self._room[node] -= load
        self._bytes -= size
        return True

    def _serves(self, k: int) -> bool:
        """Serve a move after those taken, unless it would wait for too long; return whether it did."""
        t = self._table
        target, outlet, link_s = t.target[k], t.outlet[k], t.link_s[k]
        wait = max(self._inward[target], self._outward[outlet]) if link_s > 0.0 else 0.0
        if wait > self._longest[k]:
            return False
        if link_s > 0.0:
            self._inward[target] = wait + link_s
            if outlet != NOWHERE:
                self._outward[outlet] = wait + link_s
        return True

    def fill(self, some: IntArray) -> None:
        """Take what fits of some moves, in their order.

        All that wait are looked at in one go after 1, 2, 4, ... did not fit. Cost O(moves).
        """
        waiting, patience = some, 1
        while len(waiting):
            misses = looks = 0
            for k in waiting[:CHUNK].tolist():
                looks += 1
                misses += not self.take(k)
                if misses == patience:
                    break
            waiting = waiting[looks:]
            if misses == patience:
                waiting, patience = self.able(waiting), 2 * patience


class SortedPhase(OpenPhase):
    """A phase that serves its moves hot first, in whatever order it takes them. A look costs O(moves taken)."""

    def _serves(self, k: int) -> bool:
        t = self._table
        inward: dict[int, float] = {}
        outward: dict[int, float] = {}
        for member in sorted((*self.chosen, k)):
            target, outlet, link_s = int(t.target[member]), int(t.outlet[member]), float(t.link_s[member])
            if link_s <= 0.0:
                continue
            wait = max(inward.get(target, 0.0), outward.get(outlet, 0.0))
            if wait > self._longest[member]:
                return False
            inward[target] = wait + link_s
            if outlet != NOWHERE:
                outward[outlet] = wait + link_s
        return bool(self._longest[k] >= 0.0)
