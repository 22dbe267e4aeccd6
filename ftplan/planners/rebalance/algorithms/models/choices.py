"""What each key group may do, as columns of a model: stay, move to a node, or move to any node of a class.

What a move costs depends on its target only by whether a checkpoint lies there, and by traffic. So nodes with the same
traffic are a class, and for the choice of who moves it is enough to know the class: K (2 + copies) columns, not K N.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.rebalance.algorithms.candidates import AT_HAND, AWAY, Candidates
from ftplan.planners.rebalance.migration_costs import CPAL, PROTOCOLS
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem

#: The protocol of a group that stays.
STAY = -1
#: Share of the most room of a node from which on a group is heavy, and columns a group by which these add to a model.
HEAVY, WIDER = 0.7, 2


@dataclass(frozen=True, eq=False)
class GroupChoices:
    """J columns. ``place`` is a node, or -1 - z for any node of class z; a group that stays is placed on its node."""

    group: IntArray  # (J,)
    place: IntArray  # (J,)
    row: IntArray  # (J,) of the protocol in PROTOCOLS, STAY for none
    cost: FloatArray  # (J,) by the criterion, with the traffic that it adds or saves

    def __len__(self) -> int:
        return len(self.group)

    def where(self, kept: BoolArray) -> GroupChoices:
        """Return some of the columns."""
        return GroupChoices(*(getattr(self, column.name)[kept] for column in fields(self)))

    @staticmethod
    def joined(parts: Iterable[GroupChoices]) -> GroupChoices:
        """Return the columns of all parts once each, ordered by group, place and protocol."""
        several = list(parts)
        group, place, row, cost = (
            np.concatenate([getattr(part, column.name) for part in several]) for column in fields(GroupChoices)
        )
        if not len(group):
            return GroupChoices(group, place, row, cost)
        low, width = int(place.min()), int(place.max() - place.min()) + 1
        keys = (group * width + (place - low)) * (len(PROTOCOLS) + 1) + row - STAY
        _, first = np.unique(keys, return_index=True)
        return GroupChoices(group[first], place[first], row[first], cost[first])

    def moves(self, chosen: IntArray) -> tuple[Migration, ...]:
        """Return the moves of chosen columns, all on nodes; by group."""
        return tuple(
            Migration(int(self.group[j]), int(self.place[j]), PROTOCOLS[self.row[j]])
            for j in chosen[np.argsort(self.group[chosen], kind="stable")].tolist()
            if self.row[j] != STAY
        )


class ChoiceTable:
    """The columns of a problem, made for some groups or all of them.

    With *alternatives* slower protocols that load one node at a time have columns too.
    """

    def __init__(self, problem: RebalanceProblem, alternatives: bool = False) -> None:
        self.problem, self.candidates = problem, Candidates(problem)
        #: (2, P, K) whether a protocol is worth a column, to nodes without and with a checkpoint of the group: no other
        #: is as cheap, and as good in what is limited
        self.kept = _worth(problem, self.candidates.price, alternatives)
        #: (N,) class of each node by the traffic of all groups
        self.classes: IntArray = np.zeros(len(problem.nodes), dtype=np.int64)
        if problem.traffic is not None:
            self.classes = np.unique(problem.traffic, axis=1, return_inverse=True)[1].reshape(-1)
        self.memory_limited = bool(np.isfinite(problem.memory).any())

    def stays(self, groups: IntArray) -> GroupChoices:
        """Return a column for each group that may stay."""
        may = groups[~self.candidates.must[groups]]
        return GroupChoices(may, self.problem.home[may], np.full(len(may), STAY), np.zeros(len(may)))

    def to_nodes(self, groups: IntArray) -> GroupChoices:
        """Return all columns of some groups, each move to a node of its own."""
        parts = [self.stays(groups)]
        near = self.candidates.near(groups)
        able = np.broadcast_to(self.problem.hosts, near.shape).copy()
        able[np.arange(len(groups)), self.problem.home[groups]] = False
        for at, there in ((AWAY, able & ~near), (AT_HAND, able & near)):
            for row in np.flatnonzero(self.kept[at].any(axis=1)).tolist():
                here, node = np.nonzero(there & self.kept[at, row, groups][:, None])
                parts.append(self._moving(groups[here], node, node, row, at))
        return GroupChoices.joined(parts)

    def to_classes(self) -> GroupChoices:
        """Return the columns of all groups: hosts of their checkpoints one by one, other nodes by class."""
        problem, groups = self.problem, np.arange(len(self.problem.home))
        parts = [self.stays(groups)]
        anywhere = AT_HAND if problem.remote else AWAY
        hosts = np.flatnonzero(problem.hosts)
        for z in np.unique(self.classes[hosts]).tolist():
            several = hosts[self.classes[hosts] == z]
            largest = float((self.candidates.most - problem.foreign)[several].max())
            elsewhere = (len(several) > 1) | (problem.home != several[0])
            fits = elsewhere & (problem.load <= largest)
            for row in np.flatnonzero(self.kept[anywhere].any(axis=1)).tolist():
                some = np.flatnonzero(self.kept[anywhere, row] & fits)
                parts.append(
                    self._moving(some, np.full(len(some), -1 - z), np.full(len(some), several[0]), row, anywhere)
                )
        spread = self.candidates.spread
        for row in np.flatnonzero(self.kept[AT_HAND].any(axis=1)).tolist():
            worth = self.kept[AT_HAND, row, spread[:, 0]]
            if not self.memory_limited:  # a protocol that needs no checkpoint there is in the class
                worth = worth & ~self.kept[AWAY, row, spread[:, 0]]
            pairs = spread[worth]
            parts.append(self._moving(pairs[:, 0], pairs[:, 1], pairs[:, 1], row, AT_HAND))
        wide, heavy = GroupChoices.joined(parts), self._heavy()
        light = wide.where((wide.place >= 0) | ~np.isin(wide.group, heavy))
        return GroupChoices.joined([light, self.to_nodes(heavy)]) if len(heavy) else wide

    def _heavy(self) -> IntArray:
        """Return the groups for which hardly a node has room as things are, the heaviest of them where they are many.

        A class of nodes would take them in parts, and say nothing of the room that has to be made for them.
        """
        problem = self.problem
        room = (problem.upper - problem.start_load)[problem.hosts]
        heavy = np.flatnonzero(problem.load > HEAVY * max(0.0, float(room.max(initial=-np.inf))))
        most = max(1, len(problem.home) * WIDER // len(problem.nodes))
        return np.sort(heavy[np.argsort(-problem.load[heavy], kind="stable")[:most]])

    def in_class(self, choices: GroupChoices) -> GroupChoices:
        """Return the columns to nodes that columns to classes stand for, and those that are to nodes already."""
        away = choices.place < 0
        wide = choices.where(away)
        narrow = self.to_nodes(np.unique(wide.group))
        wanted = set(zip(wide.group.tolist(), (-1 - wide.place).tolist(), wide.row.tolist(), strict=True))
        of = zip(narrow.group.tolist(), self.classes[narrow.place].tolist(), narrow.row.tolist(), strict=True)
        kept = np.fromiter((key in wanted for key in of), dtype=np.bool_, count=len(narrow))
        return GroupChoices.joined([choices.where(~away), narrow.where(kept)])

    def _moving(self, group: IntArray, place: IntArray, node: IntArray, row: int, at: int) -> GroupChoices:
        """Return columns of moves by one protocol; *node* is one that stands for the traffic of the place."""
        cost = self.candidates.price[at, row, group]
        traffic = self.problem.traffic
        if traffic is not None:
            cost = cost + (traffic[group, node] - traffic[group, self.problem.home[group]])
        return GroupChoices(group, place, np.full(len(group), row), np.asarray(cost, dtype=np.float64))


def _worth(problem: RebalanceProblem, price: FloatArray, alternatives: bool) -> BoolArray:
    """Return which protocols are worth a column, (2, P, K): ties go to the first in the order of protocols."""
    lost = problem.removed[problem.home] & (problem.limits.within_s is not None)
    costs, rows = problem.costs, range(len(PROTOCOLS))
    kept = np.isfinite(price)
    for row in rows:
        for other in rows:
            if other == row:
                continue
            better = (price[:, other] < price[:, row]) | ((price[:, other] == price[:, row]) & (other < row))
            if problem.limits.max_bytes is not None:
                better = better & (costs.bytes[other] <= costs.bytes[row])
            # Given notice, links are limited, and what is lost is none of those that leave: all are worth a look.
            better = better & ~lost
            if alternatives and PROTOCOLS[other] == CPAL:
                better = np.zeros_like(better)
            kept[:, row] &= ~(better & np.isfinite(price[:, other]))
    return np.asarray(kept)
