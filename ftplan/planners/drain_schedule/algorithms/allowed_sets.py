"""Which sets of nodes may restart together: an independence system, since every subset of an allowed set is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.drain_schedule.packing import TaskPacking, pack
from ftplan.planners.drain_schedule.problem import LEAST_OUTPUT, DrainProblem
from ftplan.planners.drain_schedule.rules import (
    broken,
    conflicts,
    keeps_fidelity,
    leaves_output,
    without_live_replica,
)

#: Largest number of answers that are kept.
MOST_REMEMBERED_SETS = 200_000
#: Pairs of nodes that are tried together where output fidelity or room is limited: all of them, or none.
MOST_TRIED_PAIRS = {"output": 20_000, "room": 800}
#: Nodes up to whose number what pairs of them lose together is computed.
MOST_PAIRED_NODES = 160


def members(mask: int) -> Iterator[int]:
    """Yield the places of the bits of a mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def parts_of(problem: DrainProblem, nodes: Iterable[int], budget: Budget, seed: int = 0) -> list[AllowedSets]:
    """Return the allowed sets of nodes in parts of which no round holds nodes of two, at least one part.

    Zones where a round is of one zone; and nodes that leave no output even alone, apart from those that do where some
    output has to be left: that limits only the latter then. Bounds of parts add up.
    """
    limits, parts = problem.limits, dict[tuple[int, bool], list[int]]()
    for node in nodes:
        lit = limits.some_output and leaves_output(problem, problem.mask([node]))
        parts.setdefault((int(problem.zone[node]) if limits.one_zone else -1, lit), []).append(node)
    asked = {
        False: replace(problem, limits=replace(limits, some_output=False)),
        True: replace(problem, limits=replace(limits, some_output=False, min_fidelity=LEAST_OUTPUT)),
    }
    found = [AllowedSets(asked[lit], some, budget, seed) for (_, lit), some in sorted(parts.items())]
    return found or [AllowedSets(asked[False], (), budget, seed)]


class AllowedSets:
    """The allowed sets of m of a problem's nodes, each of which may go alone; sets are masks of bits over the m.

    Copies, replicas, zones and numbers are looked at bit by bit. Output fidelity and room concern a set as a whole.
    The queries of ``keep_priority`` do not: a primary never goes with its replica, so that what is down with a set is
    what is down with one of its nodes.

    The loss of output fidelity is a coverage function, hence submodular: fidelity is the chance that an MC-tree drawn
    at random has no task that is down ([SuZhou2016], section IV). :meth:`loss_row` rests on that.
    """

    def __init__(self, problem: DrainProblem, nodes: Iterable[int], budget: Budget, seed: int = 0) -> None:
        self.problem, self.nodes, self.budget, self.seed = problem, tuple(nodes), budget, seed
        self.count = len(self.nodes)
        self.all = (1 << self.count) - 1
        limits = problem.limits
        self.most = self.count if limits.max_nodes is None else limits.max_nodes
        self.per_zone = self.count if limits.max_per_zone is None else limits.max_per_zone
        self.limits_output = limits.min_fidelity is not None and not limits.move
        self.limits_room = limits.move
        self._keeps: dict[int, bool] = {}
        self._packed: dict[int, TaskPacking] = {}
        self._forbidden: list[int] = []
        #: Whether a set was taken for forbidden that nobody proved to be.
        self.in_doubt = False

    @cached_property
    def conflict(self) -> BoolArray:
        """Which nodes never go together, (m, m), symmetric; nothing on the diagonal.

        For a copy or a replica, and where not too many pairs are in doubt, for the output or the room of the two alone.
        """
        if self.count < 2:
            return np.zeros((self.count, self.count), dtype=np.bool_)
        some = np.array(self.nodes, dtype=np.int64)
        matrix: BoolArray = conflicts(self.problem)[np.ix_(some, some)]
        np.fill_diagonal(matrix, False)
        doubtful = np.zeros_like(matrix)
        if self.limits_output:
            doubtful = self.single_loss[:, None] + self.single_loss > self.largest_loss
        if self.limits_room:
            doubtful[:] = True
        first, second = np.nonzero(np.triu(doubtful & ~matrix, 1))
        if len(first) <= MOST_TRIED_PAIRS["room" if self.limits_room else "output"]:
            for a, b in zip(first.tolist(), second.tolist(), strict=True):
                if self.budget.over():
                    break
                if not self.keeps_limits(1 << a | 1 << b) and not self.in_doubt:
                    matrix[a, b] = matrix[b, a] = True
        return matrix

    @cached_property
    def adjacent(self) -> tuple[int, ...]:
        """The nodes that each one never goes with, as masks."""
        packed = np.packbits(self.conflict, axis=1, bitorder="little")
        return tuple(int.from_bytes(row.tobytes(), "little") for row in packed)

    @cached_property
    def zone(self) -> IntArray:
        """Number of each node's zone, (m,), from 0."""
        some = np.array(self.nodes, dtype=np.int64)
        return np.asarray(np.unique(self.problem.zone[some], return_inverse=True)[1], dtype=np.int64)

    @cached_property
    def zone_mask(self) -> tuple[int, ...]:
        """The nodes of each zone, as masks."""
        masks = [0] * (int(self.zone.max(initial=-1)) + 1)
        for k, zone in enumerate(self.zone.tolist()):
            masks[zone] |= 1 << k
        return tuple(masks)

    @cached_property
    def restart_s(self) -> FloatArray:
        """Seconds that each node takes, (m,)."""
        return self.problem.restart_s[np.array(self.nodes, dtype=np.int64)]

    def numbers(self, mask: int) -> tuple[int, ...]:
        """Return the nodes of a set by their number in the problem, ascending."""
        return tuple(self.nodes[k] for k in members(mask))

    def fits_pairwise(self, mask: int, node: int) -> bool:
        """Return whether a node joins an allowed set as far as pairs, zones and numbers are concerned."""
        if self.adjacent[node] & mask or mask.bit_count() >= self.most:
            return False
        if self.per_zone >= self.count:
            return True
        return (self.zone_mask[int(self.zone[node])] & mask).bit_count() < self.per_zone

    def extends(self, mask: int, node: int) -> bool:
        """Return whether an allowed set stays allowed with one more node."""
        return self.fits_pairwise(mask, node) and self.keeps_limits(mask | 1 << node)

    def grown(self, mask: int) -> int:
        """Return an allowed set with one node after another that it stays allowed with, while there is time."""
        for node in range(self.count):
            if not mask >> node & 1 and not self.budget.over() and self.extends(mask, node):
                mask |= 1 << node
        return mask

    def allowed(self, mask: int) -> bool:
        """Return whether a set is allowed."""
        so_far = 0
        for k in members(mask):
            if not self.fits_pairwise(so_far, k):
                return False
            so_far |= 1 << k
        return self.keeps_limits(mask)

    def keeps_limits(self, mask: int) -> bool:
        """Return whether a set without conflicts keeps output fidelity and finds room for what moves."""
        if not (self.limits_output or self.limits_room) or mask & (mask - 1) == 0:
            return True  # each node may go alone
        known = self._keeps.get(mask)
        if known is None:
            known = (not self.limits_output or self._keeps_output(mask)) and (
                not self.limits_room or self._has_room(mask)
            )
            if len(self._keeps) < MOST_REMEMBERED_SETS:
                self._keeps[mask] = known
        return known

    @cached_property
    def largest_loss(self) -> float:
        """How much output fidelity a set may lose."""
        least = self.problem.limits.min_fidelity
        return 1.0 if least is None else 1.0 - least

    @cached_property
    def down(self) -> tuple[BoolArray, ...]:
        """The tasks that are down with each node, (T,)."""
        problem = self.problem
        return tuple(without_live_replica(problem, problem.mask([node])) for node in self.nodes)

    @cached_property
    def single_loss(self) -> FloatArray:
        """What each node alone loses of output fidelity, (m,)."""
        return np.array([1.0 - self.problem.model.fidelity(~down) for down in self.down], dtype=np.float64)

    @cached_property
    def shared_loss(self) -> FloatArray:
        """What two nodes both lose of the output, (m, m): the sum of both losses less that of the pair.

        Shape (0, 0) where output is not limited, there are too many pairs, or no time is left.
        """
        if not self.limits_output or self.count > MOST_PAIRED_NODES:
            return np.zeros((0, 0))
        shared = np.zeros((self.count, self.count))
        for a in range(self.count):
            if self.budget.over():
                return np.zeros((0, 0))
            for b in range(a):
                both = 1.0 - self.problem.model.fidelity(~(self.down[a] | self.down[b]))
                shared[a, b] = shared[b, a] = self.single_loss[a] + self.single_loss[b] - both
        return shared

    @cached_property
    def shared_row(self) -> FloatArray:
        """A row of :meth:`loss_row` that counts each node after all before it, (m,)."""
        return self.loss_row(range(self.count))

    def loss_row(self, order: Iterable[int]) -> FloatArray:
        """Return what each node adds to the loss of those before it in an order, (m,).

        No set loses less than the sum of its entries, and the nodes that stand first exactly that: the extreme points
        of the base of a submodular function ([Edmonds1970]).
        """
        row, failed, before = np.zeros(self.count), np.zeros(self.problem.tasks, dtype=np.bool_), 0.0
        for k in order:
            failed |= self.down[k]
            loss = 1.0 - self.problem.model.fidelity(~failed)
            row[k], before = max(0.0, loss - before), max(loss, before)
        return row

    def _keeps_output(self, mask: int) -> bool:
        """Return whether output fidelity stays within its limit while the nodes of a set without conflicts restart."""
        some = list(members(mask))
        if float(self.single_loss[some].sum()) <= self.largest_loss - NOISE * len(some):
            return True
        if float(self.shared_row[some].sum()) > self.largest_loss + ROUNDING * 2:
            return False
        failed = np.zeros(self.problem.tasks, dtype=np.bool_)
        for k in some:
            failed |= self.down[k]
        return keeps_fidelity(self.problem, self.problem.model.fidelity(~failed))

    def _has_room(self, mask: int) -> bool:
        if any(forbidden & mask == forbidden for forbidden in self._forbidden):
            return False
        packing = self.packing(mask)
        if packing.moves is None and packing.proven:
            self._forbidden.append(mask)
        self.in_doubt = self.in_doubt or not packing.proven
        return packing.moves is not None

    def packing(self, mask: int) -> TaskPacking:
        """Return where the tasks of a set move."""
        if mask not in self._packed:
            answer = pack(self.problem, self.problem.mask(self.numbers(mask)), self.budget, self.seed)
            if len(self._packed) >= MOST_REMEMBERED_SETS:
                return answer
            self._packed[mask] = answer
        return self._packed[mask]

    def check(self, rounds: Iterable[int], planner: str) -> None:
        """Look whether rounds hold each node once and keep all limits, recomputed by the measures.

        Raises RuntimeError if they do not: a fault of the planner.
        """
        seen = 0
        for mask in rounds:
            moves = self.packing(mask).moves if self.limits_room else None
            breaches = broken(self.problem, self.numbers(mask), moves)
            if breaches or mask & seen or (self.limits_room and moves is None):
                why = breaches[0].message if breaches else "a node stands in two rounds, or has no room"
                raise RuntimeError(f"{planner}: {why}")
            seen |= mask
        if seen != self.all:
            raise RuntimeError(f"{planner}: some nodes are in no round")
