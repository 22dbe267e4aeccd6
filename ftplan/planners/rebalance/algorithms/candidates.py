"""What each key group costs on each node: the cheapest protocol to hosts of its checkpoints, and to other nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import LEAST_SCALE, ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.rebalance.effects import surviving_copies
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, ASSISTED, FETCH, PROTOCOLS
from ftplan.planners.rebalance.problem import Migration, RebalanceProblem

AWAY, AT_HAND = 0, 1


class Tariff(NamedTuple):
    """The cheapest protocol for each key group, to nodes without a checkpoint of it (row 0) and with one (row 1)."""

    price: FloatArray  # by the criterion, without traffic, infinite where no protocol can be, (2, K)
    row: IntArray  # row of the protocol in ``PROTOCOLS``, (2, K)
    bytes: FloatArray  # that it transfers, (2, K)
    #: What a search counts: the price, and what it charges for each byte and each move besides, (2, K).
    charge: FloatArray

    def with_rows(self, problem: RebalanceProblem, moves: Iterable[Migration], at_hand: Iterable[int]) -> Tariff:
        """Return the tariff with the protocols of some moves, whose rows here are *at_hand*."""
        other = Tariff(self.price.copy(), self.row.copy(), self.bytes.copy(), self.charge.copy())
        for move, near in zip(moves, at_hand, strict=True):
            protocol = PROTOCOLS.index(move.protocol)
            extra = other.charge[near, move.group] - other.price[near, move.group]
            other.row[near, move.group] = protocol
            other.price[near, move.group] = problem.priced(move.protocol)[move.group]
            other.bytes[near, move.group] = problem.costs.bytes[protocol, move.group]
            other.charge[near, move.group] = other.price[near, move.group] + extra
        return other


class Candidates:
    """The moves that a problem allows, one by one, and what each of them costs."""

    def __init__(self, problem: RebalanceProblem) -> None:
        self.problem = problem
        self.groups, self.nodes = len(problem.home), len(problem.nodes)
        #: (2, P, K) of each protocol by the criterion, infinite where it cannot be: away from checkpoints, and to them
        self.price = _prices(problem)
        finite = self.price[np.isfinite(self.price)]
        self.least_price = ROUNDING * max(float(finite.mean()) if len(finite) else 0.0, LEAST_SCALE)
        self.tariff = self.tariff_at(0.0)  # the cheapest protocols; the first of equals in the order of PROTOCOLS
        #: Load that a node may have afterwards, with what rounding may add, (N,); any on removed nodes
        self.most = np.where(problem.removed, np.inf, problem.upper + ROUNDING * np.abs(problem.upper))
        self.least = np.where(problem.removed, -np.inf, problem.lower - ROUNDING * np.abs(problem.lower))
        self.must = problem.removed[problem.home]  # (K,) whether a group has to leave its node
        pairs = [] if problem.remote else [(k, n) for k, held in enumerate(problem.copies) for n in held]
        spread: IntArray = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        #: (E, 2) pairs of a group and another node with a copy of it that takes groups, ascending; none if remote
        self.spread = spread[problem.hosts[spread[:, 1]] & (spread[:, 1] != problem.home[spread[:, 0]])]
        self._pairs = self.spread[:, 0] * self.nodes + self.spread[:, 1]
        self._first = np.searchsorted(self.spread[:, 0], np.arange(self.groups + 1))

    def tariff_at(self, byte_price: float, move_price: float = 0.0) -> Tariff:
        """Return the protocols that are cheapest where each byte, and each move, costs something too.

        A move costs the last digits at least: of equal plans that with fewer moves is the better one.
        """
        sizes = self.problem.costs.bytes
        rated = self.price + byte_price * np.where(np.isfinite(self.price), sizes, 0.0)
        row = np.argmin(rated, axis=1)
        price = np.take_along_axis(self.price, row[:, None, :], axis=1)[:, 0, :]
        size = np.take_along_axis(np.broadcast_to(sizes, self.price.shape), row[:, None, :], axis=1)[:, 0, :]
        size = np.where(np.isfinite(price), size, 0.0)
        charge = price + byte_price * size + max(move_price, self.least_price)
        return Tariff(price, row, size, charge)

    def hosts_of(self, group: int) -> IntArray:
        """Return the other nodes that take groups and hold a checkpoint of this one."""
        hosts: IntArray = self.spread[self._first[group] : self._first[group + 1], 1]
        return hosts

    def near(self, groups: IntArray) -> BoolArray:
        """Return which nodes hold a checkpoint of some groups, or are as good as that, (G, N)."""
        near = np.full((len(groups), self.nodes), self.problem.remote)
        if not self.problem.remote:
            first = self._first[groups]
            count = self._first[groups + 1] - first
            rows = np.repeat(np.arange(len(groups)), count)
            within = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
            near[rows, self.spread[first[rows] + within, 1]] = True
        return near

    def is_near(self, groups: IntArray, nodes: IntArray) -> BoolArray:
        """Return whether each node holds a checkpoint of the group at the same place, or is as good, (G,)."""
        if self.problem.remote:
            return np.ones(len(groups), dtype=np.bool_)
        if not len(self._pairs):
            return np.zeros(len(groups), dtype=np.bool_)
        asked = groups * self.nodes + nodes
        at = np.minimum(np.searchsorted(self._pairs, asked), len(self._pairs) - 1)
        return np.asarray(self._pairs[at] == asked)

    def costs(self, groups: IntArray, tariff: Tariff | None = None) -> FloatArray:
        """Return what a search counts for some groups on each node, traffic included, 0 where they are, (G, N).

        Infinite where they cannot go; on a node that has to be left too.
        """
        prices = (tariff or self.tariff).charge[:, groups]
        cost: FloatArray = np.where(self.near(groups), prices[AT_HAND][:, None], prices[AWAY][:, None])
        cost[:, ~self.problem.hosts] = np.inf
        rows, home = np.arange(len(groups)), self.problem.home[groups]
        if self.problem.traffic is not None:
            traffic = self.problem.traffic[groups]
            cost += traffic - traffic[rows, home][:, None]
        cost[rows, home] = np.where(self.must[groups], np.inf, 0.0)
        return cost

    def column(self, node: int, tariff: Tariff | None = None) -> FloatArray:
        """Return what each group costs on one node, as :meth:`costs` does, (K,)."""
        charge, home = (tariff or self.tariff).charge, self.problem.home
        cost: FloatArray = charge[AT_HAND if self.problem.remote else AWAY].copy()
        near = self.spread[self.spread[:, 1] == node, 0]
        cost[near] = charge[AT_HAND, near]
        if not self.problem.hosts[node]:
            cost[:] = np.inf
        if self.problem.traffic is not None:
            cost += self.problem.traffic[:, node] - self.problem.traffic[np.arange(self.groups), home]
        cost[home == node] = np.where(self.must[home == node], np.inf, 0.0)
        return cost

    def at_hand(self, group: int, target: int) -> int:
        """Return the row of the tariff for a group's move to a node."""
        return AT_HAND if self.problem.remote or target in self.problem.copies[group] else AWAY

    def move(self, group: int, target: int, tariff: Tariff | None = None) -> Migration:
        """Return the move of a group to another node by the protocol of a tariff."""
        row = (tariff or self.tariff).row[self.at_hand(group, target), group]
        return Migration(group, target, PROTOCOLS[row])

    def moves(self, place: IntArray, tariff: Tariff | None = None) -> tuple[Migration, ...]:
        """Return the moves that bring the groups to their places, (K,)."""
        gone = np.flatnonzero(place != self.problem.home)
        return tuple(self.move(k, int(place[k]), tariff) for k in gone.tolist())


def _prices(problem: RebalanceProblem) -> FloatArray:
    """Return the price of each protocol to nodes without and with a checkpoint, (2, P, K): see ``possible``."""
    limits, costs = problem.limits, problem.costs
    lost = problem.removed[problem.home] & (limits.within_s is not None)
    price = np.full((2, len(PROTOCOLS), len(problem.home)), np.inf)
    restorable = np.array([problem.restorable(k) for k in range(len(problem.home))], dtype=np.bool_)
    for row, protocol in enumerate(PROTOCOLS):
        able: BoolArray = np.isfinite(costs.latency_s[row])
        if protocol in AFTER_LOSS:
            able = able & lost
        elif protocol not in problem.protocols:
            continue
        elif limits.within_s is not None:
            able = able & (~lost | (costs.completion_s[row] <= limits.within_s))
        if limits.max_pause_s is not None:
            able = able & (costs.latency_s[row] <= limits.max_pause_s)
        own = np.where(able, problem.priced(protocol), np.inf)
        if protocol != FETCH:
            price[AT_HAND, row] = own
        if protocol not in ASSISTED:
            price[AWAY, row] = np.where(restorable, own, np.inf) if protocol == FETCH else own
    if problem.remote:
        price[AWAY] = price[AT_HAND]
    return price


def memory_changes(problem: RebalanceProblem, group: int, move: Migration | None) -> dict[int, float]:
    """Return the change of the bytes on nodes by a group's move, or by its copies that go where it stays."""
    size = float(problem.state[group])
    if size == 0.0:
        return {}
    change: dict[int, float] = {}
    for node in (int(problem.home[group]), *problem.copies[group]):
        change[node] = change.get(node, 0.0) - size
    after = int(problem.home[group]) if move is None else move.target
    for node in (after, *surviving_copies(problem, group, move)):
        change[node] = change.get(node, 0.0) + size
    return {node: by for node, by in change.items() if by}
