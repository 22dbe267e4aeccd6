"""Nodes of one zone and one size are alike: classes of them, and every choice of how many of each are placed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.problem import RingProblem


@dataclass(frozen=True, eq=False)
class NodeClasses:
    """C classes of n members."""

    #: ``zone``, ``cpu``, ``count``: (C,) zone from 0 to Z - 1, cpu, and number of nodes of each class
    zone: IntArray
    cpu: FloatArray
    count: IntArray
    members: tuple[IntArray, ...]  # nodes of each class by number, in order of their ids
    #: The zone that stands for all zones of one node, which is never twice among neighbours; -1 if there is none
    free: int = -1

    @staticmethod
    def of(problem: RingProblem, zoned: bool = True) -> NodeClasses:
        """Return the classes of the members; without zones those of one size are alike."""
        member = problem.member
        _, zone, size = np.unique(problem.zone[member], return_inverse=True, return_counts=True)
        alone = np.asarray(size[np.ravel(zone)] == 1) if zoned else np.ones(len(member), dtype=np.bool_)
        named, zone = np.unique(np.where(alone, len(size), np.ravel(zone)), return_inverse=True)
        keys, at = np.unique(
            np.column_stack([np.ravel(zone).astype(np.float64), problem.cpu[member]]), axis=0, return_inverse=True
        )
        members = tuple(member[np.ravel(at) == k] for k in range(len(keys)))
        count = np.bincount(np.ravel(at), minlength=len(keys))
        free = len(named) - 1 if alone.any() else -1
        return NodeClasses(keys[:, 0].astype(np.int64), keys[:, 1].copy(), count, members, free)

    @cached_property
    def zones(self) -> int:
        """How many zones there are, Z."""
        return int(self.zone.max()) + 1

    @cached_property
    def kinds(self) -> tuple[FloatArray, IntArray]:
        """The sizes that there are, and (C,) the number of each class's own."""
        sizes, kind = np.unique(self.cpu, return_inverse=True)
        return sizes, np.ravel(kind).astype(np.int64)

    @cached_property
    def choices(self) -> float:
        """In how many ways some of each class can be taken, S; a float since it may be very many."""
        with np.errstate(over="ignore"):
            return float(np.prod(self.count + 1.0))

    def stride(self) -> IntArray:
        """Return by how much the number of a choice grows with a node of each class, (C,); the last class counts 1."""
        return np.append(np.cumprod((self.count + 1)[::-1])[::-1][1:], 1)

    def left(self) -> FloatArray:
        """Return the cpu of the nodes that are not taken, for each choice (S,)."""
        taken = self.taken()
        return np.asarray(float((self.cpu * self.count).sum()) - taken @ self.cpu)

    def taken(self) -> NDArray[np.int32]:
        """Return how many nodes of each class are taken, (S, C), by the number of the choice."""
        number = np.arange(int(self.choices))
        taken = np.empty((len(number), len(self.count)), dtype=np.int32)
        for group, (stride, count) in enumerate(zip(self.stride().tolist(), self.count.tolist(), strict=True)):
            taken[:, group] = number // stride % (count + 1)
        return taken

    def risky(self, problem: RingProblem) -> BoolArray:
        """Return which zones can hold all copies of an arc, (Z,)."""
        risky = np.zeros(self.zones, dtype=np.bool_)
        for zone, nodes in zip(self.zone.tolist(), self.members, strict=True):
            risky[zone] = zone != self.free and problem.risky[problem.zone[nodes[0]]]
        return risky

    def nodes(self, sequence: IntArray) -> IntArray:
        """Return nodes by number for a sequence of classes (n,): those of a class in order of their ids."""
        order = np.empty(len(sequence), dtype=np.int64)
        for number, members in enumerate(self.members):
            order[np.flatnonzero(sequence == number)] = members
        return order


def windows_of_zones(classes: NodeClasses, zones: int, width: int, risky: BoolArray) -> tuple[IntArray, IntArray]:
    """Return for each history of width - 1 zones and a next one, (Z^(width - 1) * Z,), 1 where some zone is twice.

    And 1 where all are one *risky* zone (Z,). A history is a number of base Z whose last digit is the newest zone.
    """
    number = np.arange(zones**width)
    digits = np.sort(number[:, None] // zones ** np.arange(width) % zones, axis=1)
    twice = (digits[:, 1:] == digits[:, :-1]) & (digits[:, 1:] != classes.free)
    within = (digits[:, 0] == digits[:, -1]) & risky[digits[:, 0]] & (width > 1)
    return twice.any(axis=1).astype(np.int64), within.astype(np.int64)
