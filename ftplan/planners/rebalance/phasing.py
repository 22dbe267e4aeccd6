"""From moves to phases that are safe: which moves begin together, and in which order phases follow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ftplan.metrics.migration_costs import AFTER_LOSS, CPAL, PROTOCOLS
from ftplan.metrics.migration_phases import NOWHERE, MoveTable, hot_first, move_table, waits
from ftplan.metrics.rebalance_problem import Migration, RebalanceProblem
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray

#: Moves that are looked at one by one and do not fit, before all that are left are looked at in one go; doubles.
MISSES = 32
#: Moves from which the search for moves that begin together starts, where it finds no more.
STARTS = 64


class PhaseSize(NamedTuple):
    """How large a phase may be: longest pause in seconds, bytes (a single move may have more), number of moves."""

    pause_s: float = math.inf
    bytes: float = math.inf
    moves: float = math.inf


class Phasing(NamedTuple):
    """Moves by phase, those that are recovered in a last one; or the moves that no phase could take.

    ``slowed`` are moves that do without ``cpal``, which would load two nodes at once, though it is cheaper; they stand
    in the phases by the protocol that they have now. ``limit`` and ``needed`` name the rule that keeps the ``stuck``
    moves from being made, and the value with which it would not (None where no value would).
    """

    phases: tuple[tuple[Migration, ...], ...]
    stuck: tuple[Migration, ...] = ()
    slowed: tuple[Migration, ...] = ()
    limit: str | None = None
    needed: float | None = None

    @property
    def moves(self) -> tuple[Migration, ...]:
        """All moves, phase by phase."""
        return tuple(move for phase in self.phases for move in phase)


def phased(problem: RebalanceProblem, moves: Iterable[Migration], size: PhaseSize | None = None) -> Phasing:
    """Return moves in few phases, in each of which no node is above ``problem.transient``.

    A phase takes moves, hot first, while pauses, bytes and number stay within *size*, and while each node has room for
    all that arrive before anything leaves: then any order of its moves is safe. Only where not even one move can be
    made so, as in a cycle of full nodes, a phase is made of moves that are safe because they begin together. Moves
    after a loss stand in one last phase, whatever its size.

    Without *size* no pause is longer than the limit, or without one than the longest that a move takes alone; and no
    phase has more bytes than its limit.

    Guarantee: moves that keep ``problem.transient`` in the end always find their phases unless a limit was given, or
    only ``cpal`` is allowed. The number of phases is not proven to be least. Cost O(moves) a phase, plus
    O(moves x nodes) where moves have to begin together.

    Source: phases of moves [Hoffmann2019], hot first [Gu2022].
    """
    made = tuple(moves)
    last = tuple(move for move in hot_first(problem, made) if move.protocol in AFTER_LOSS)
    first = [move for move in made if move.protocol not in AFTER_LOSS]
    filling = _Filling(problem, first, size or usual_size(problem, made))
    phases: list[tuple[Migration, ...]] = []
    while len(filling.left):
        chosen = filling.in_every_order()
        if not len(chosen):
            chosen = filling.at_once()
        if not len(chosen):
            return Phasing(tuple(phases), filling.stuck(), tuple(filling.slowed), filling.limit, filling.needed)
        phases.append(filling.make(chosen))
    if last:
        phases.append(last)
    return Phasing(tuple(phases), slowed=tuple(filling.slowed))


def usual_size(problem: RebalanceProblem, moves: Sequence[Migration]) -> PhaseSize:
    """Return the largest size of a phase with the least possible longest pause, or as the limits of the problem say."""
    limits = problem.limits
    most = math.inf if limits.phase_bytes is None else limits.phase_bytes
    if limits.max_pause_s is not None:
        return PhaseSize(limits.max_pause_s, most)
    return PhaseSize(float(move_table(problem, moves).latency_s.max(initial=0.0)), most)


class _Filling:
    """Moves that are left to be phased, by number in the order in which a phase serves them, and the load of nodes."""

    def __init__(self, problem: RebalanceProblem, moves: Sequence[Migration], size: PhaseSize) -> None:
        self.problem, self.size = problem, size
        self.moves = list(hot_first(problem, moves))
        self.table: MoveTable = move_table(problem, self.moves)
        self.left: IntArray = np.arange(len(self.moves))
        self.load: FloatArray = problem.start_load.copy()
        self.most: FloatArray = problem.transient + ROUNDING * np.maximum(1.0, np.abs(problem.transient))
        self.slowed: list[Migration] = []
        self.limit: str | None = None
        self.needed: float | None = None

    def make(self, chosen: IntArray) -> tuple[Migration, ...]:
        """Carry out moves as one phase, and return them."""
        table, nodes = self.table, len(self.load)
        self.load -= np.bincount(table.home[chosen], table.load[chosen], minlength=nodes)
        self.load += np.bincount(table.target[chosen], table.load[chosen], minlength=nodes)
        self.left = np.setdiff1d(self.left, chosen, assume_unique=True)
        return tuple(self.moves[k] for k in chosen)

    def in_every_order(self) -> IntArray:
        """Return moves that are safe in one phase however they are ordered, hot first; none where not even one is.

        What does not fit when its turn comes does not fit later.
        """
        phase = _Phase(self.table, self.most - self.load, self.size)
        waiting, patience = phase.able(self.left), MISSES
        while len(waiting):
            misses = 0
            for position, k in enumerate(waiting.tolist()):
                if phase.take(k):
                    continue
                misses += 1
                if misses == patience:
                    waiting = phase.able(waiting[position + 1 :])
                    break
            else:
                break
            patience *= 2
        return np.array(phase.chosen, dtype=np.int64)

    def at_once(self) -> IntArray:
        """Return moves that are safe because they begin together, as few as that takes; none where there are none.

        From each move in turn, hot first, as many leave its target as it takes, and so on; sets that go together are
        joined. Where only ``cpal`` is in the way, those moves do without for which that costs least.
        """
        joined: list[int] = []
        refused: list[tuple[float, float, list[int]]] = []
        for start in self.left[: STARTS if len(self.left) > STARTS else None].tolist():
            closed = None if start in joined else self._closed(start, joined)
            if closed is None:
                continue
            pause, transferred = self._figures(closed)
            if self._within(pause, transferred, self.size):
                joined = closed
            else:
                refused.append((pause, transferred, closed))
        if not joined and refused:
            joined = self._least_refused(refused)
        if not joined and not refused:
            joined = self._slower()
        return np.array(sorted(joined), dtype=np.int64)

    def _closed(self, start: int, joined: Sequence[int], slower: bool = False) -> list[int] | None:
        """Return *joined*, *start* and what has to leave nodes at once with them; None where too little can leave.

        With *slower*, moves by ``cpal`` count as if they left at once, where another protocol is possible.
        """
        t, leaves = self.table, self._leaves(slower)
        members = [*joined, start]
        load = self.load + np.bincount(t.target[members], t.load[members], minlength=len(self.load))
        gone = [k for k in members if leaves[k]]
        load -= np.bincount(t.home[gone], t.load[gone], minlength=len(load))
        to_check = [int(t.target[start])]
        while to_check:
            node = to_check.pop()
            over = load[node] - self.most[node]
            if over <= 0.0:
                continue
            able = [k for k in self.left[t.home[self.left] == node].tolist() if leaves[k] and k not in members]
            if not able:
                return None
            full = load[t.target[able]] + t.load[able] > self.most[t.target[able]]
            ranks = zip(t.load[able] < over, full, np.abs(t.load[able] - over), able, strict=True)
            k = min(ranks)[-1]
            members.append(k)
            load[node] -= t.load[k]
            load[t.target[k]] += t.load[k]
            to_check += [node, int(t.target[k])]
        return self._pruned(members, len(joined) + 1, load, leaves)

    def _pruned(self, members: list[int], needed: int, load: FloatArray, leaves: BoolArray) -> list[int]:
        """Leave out members after the first so many, the last first, while no node is too full without them."""
        t = self.table
        for k in members[: needed - 1 : -1]:
            home = int(t.home[k])
            if not leaves[k] or load[home] + t.load[k] <= self.most[home]:
                members.remove(k)
                load[t.target[k]] -= t.load[k]
                load[home] += t.load[k] if leaves[k] else 0.0
        return members

    def _leaves(self, slower: bool) -> BoolArray:
        """Return which moves free their old node when they begin."""
        return np.array([m.protocol != CPAL or (slower and self._other(m) is not None) for m in self.moves])

    def _other(self, move: Migration) -> Migration | None:
        """Return a move by the cheapest protocol that frees the old node at once; None where there is none."""
        most = self.problem.limits.max_pause_s
        others = [
            (float(self.problem.priced(p)[move.group]), PROTOCOLS.index(p), move._replace(protocol=p))
            for p in self.problem.possible(move.group, move.target)
            if p != CPAL
            and p not in AFTER_LOSS
            and (most is None or self.problem.costs.latency_s[PROTOCOLS.index(p), move.group] <= most)
        ]
        return min(others)[-1] if others else None

    def _slower(self) -> list[int]:
        """Return moves that can begin together once some do without ``cpal``, and let those do so; [] without a way."""
        best: tuple[float, int, list[int], dict[int, Migration]] | None = None
        for start in self.left[:STARTS].tolist():
            closed = self._closed(start, (), slower=True)
            if closed is None:
                continue
            changed = self._changed(closed)
            cost = math.fsum(self._dearer(k, other) for k, other in changed.items())
            if best is None or (cost, len(closed)) < best[:2]:
                best = (cost, len(closed), closed, changed)
        if best is None:
            self.limit = "phase-capacity"
            return []
        for k, move in best[3].items():
            self.moves[k] = move
            self.slowed.append(move)
        self.table = move_table(self.problem, self.moves)
        return best[2]

    def _changed(self, members: list[int]) -> dict[int, Migration]:
        """Return the other moves for those members that have to leave at once; the dearest stay with ``cpal`` first."""
        t = self.table
        load = self.load + np.bincount(t.target[members], t.load[members], minlength=len(self.load))
        load -= np.bincount(t.home[members], t.load[members], minlength=len(load))
        others = {k: self._other(self.moves[k]) for k in members if self.moves[k].protocol == CPAL}
        changed = {}
        for k in sorted(others, key=lambda k: (-self._dearer(k, others[k]), k)):
            other, home = others[k], int(t.home[k])
            if other is not None and load[home] + t.load[k] > self.most[home]:
                changed[k] = other
            else:
                load[home] += t.load[k]
        return changed

    def _dearer(self, k: int, other: Migration | None) -> float:
        return math.inf if other is None else self.problem.cost(other) - self.problem.cost(self.moves[k])

    def _figures(self, some: list[int]) -> tuple[float, float]:
        """Return longest pause and bytes of moves as one phase."""
        order = sorted(some)
        moves = [self.moves[k] for k in order]
        table = move_table(self.problem, moves)
        pause = table.latency_s + waits(self.problem, moves, table) * table.catch_up
        return float(pause.max()), float(table.bytes.sum())

    @staticmethod
    def _within(pause: float, transferred: float, size: PhaseSize) -> bool:
        return pause <= size.pause_s * (1.0 + ROUNDING) and transferred <= size.bytes * (1.0 + ROUNDING)

    def _least_refused(self, refused: list[tuple[float, float, list[int]]]) -> list[int]:
        """Return the moves that exceed the size least, if they keep the limits of the problem; else note which not."""
        limits = self.problem.limits
        law = PhaseSize(
            math.inf if limits.max_pause_s is None else limits.max_pause_s,
            math.inf if limits.phase_bytes is None else limits.phase_bytes,
        )
        kept = [item for item in refused if len(item[2]) == 1 or self._within(*item[:2], law)]
        kept = [item for item in kept if item[0] <= law.pause_s * (1.0 + ROUNDING)]
        if kept:
            return min(kept)[2]
        pause, transferred, _ = min(refused)
        over_pause = pause > law.pause_s * (1.0 + ROUNDING)
        self.limit, self.needed = ("max-pause", pause) if over_pause else ("phase-bytes", transferred)
        return []

    def stuck(self) -> tuple[Migration, ...]:
        """Return the moves that are left."""
        return tuple(self.moves[k] for k in self.left)


class _Phase:
    """A phase that takes moves in the order in which it serves them, while nodes have room before any move leaves."""

    def __init__(self, table: MoveTable, room: FloatArray, size: PhaseSize) -> None:
        self._table, self._room, self._moves = table, room, size.moves
        self._pause, self._bytes = size.pause_s * (1.0 + ROUNDING), size.bytes * (1.0 + ROUNDING)
        self._inward = np.zeros(len(room))
        self._outward = np.zeros(len(room) + 1)  # the last stands for NOWHERE, and stays free
        self.chosen: list[int] = []

    def able(self, some: IntArray) -> IntArray:
        """Return those of some moves that could be taken next."""
        t = self._table
        if len(self.chosen) >= self._moves:
            return some[:0]
        wait = np.maximum(self._inward[t.target[some]], self._outward[t.outlet[some]]) * (t.link_s[some] > 0.0)
        fits = (t.load[some] <= self._room[t.target[some]]) & (
            t.latency_s[some] + wait * t.catch_up[some] <= self._pause
        )
        return some[fits & (t.bytes[some] <= self._bytes)] if self.chosen else some[fits]

    def take(self, k: int) -> bool:
        """Take a move if it fits; return whether it did. It has to be served after those taken."""
        t = self._table
        target, outlet, link_s = t.target[k], t.outlet[k], t.link_s[k]
        wait = max(self._inward[target], self._outward[outlet]) if link_s > 0.0 else 0.0
        if (
            t.load[k] > self._room[target]
            or t.latency_s[k] + wait * t.catch_up[k] > self._pause
            or (self.chosen and (t.bytes[k] > self._bytes or len(self.chosen) >= self._moves))
        ):
            return False
        self.chosen.append(k)
        self._room[target] -= t.load[k]
        self._bytes -= t.bytes[k]
        if link_s > 0.0:
            self._inward[target] = wait + link_s
            if outlet != NOWHERE:
                self._outward[outlet] = wait + link_s
        return True
