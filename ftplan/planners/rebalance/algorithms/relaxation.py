"""A Lagrangian relaxation of a rebalance: load on nodes has prices, and each group chooses for itself.

The limits of nodes are taken into the objective: a unit of load on node n costs p(n), at least 0 where only an upper
limit is in force, at most 0 where only a lower one is. At given prices each group chooses its cheapest place by
itself; what that costs, less what the limits are worth at these prices, is never more than the optimum: the Lagrangian
relaxation of a generalised assignment [Geoffrion1974]. Besides, enough has to leave each node that is above its limit:
the groups that leave it are a knapsack cover of the excess, and the cheapest cover is found by dynamic programming.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.rebalance.algorithms.candidates import AT_HAND, AWAY, Candidates


def cheapest_cover(
    cost: FloatArray, load: FloatArray, excess: float, units: int, enough: bool = False
) -> tuple[float, BoolArray]:
    """Return what the cheapest groups with at least the excess in load cost, and which they are.

    By dynamic programming over the load still to leave, in *units* of the excess. Loads are rounded up: a relaxation,
    so that the cost is a lower bound; with *enough* they are rounded down, so that the groups are a cover indeed.
    Groups that cost less than nothing are always among them, and do not count in the cost returned. Infinite where all
    together are too little. Cost O(groups x units).
    """
    chosen = cost < 0.0
    exact = load / excess * units
    weight = np.floor(exact) if enough else np.ceil(exact * (1.0 - NOISE))
    weight = np.minimum(weight, units).astype(np.int64)
    need = units - int(weight[chosen].sum())
    if need <= 0:
        return 0.0, chosen
    items = np.flatnonzero(~chosen & (weight > 0) & np.isfinite(cost))
    if int(weight[items].sum()) < need:
        return np.inf, chosen
    items = items[np.argsort(cost[items] / weight[items], kind="stable")]
    least = np.full(need + 1, np.inf)  # cost of covering so much
    least[0] = 0.0
    taken = np.zeros((len(items), need + 1), dtype=np.bool_)
    with_it = np.empty(need + 1)
    for row, item in enumerate(items.tolist()):
        w = min(int(weight[item]), need)
        with_it[:w] = least[0]
        with_it[w:] = least[: need + 1 - w]
        with_it += cost[item]
        np.less(with_it, least, out=taken[row])
        np.minimum(least, with_it, out=least)
    left = need
    for row in range(len(items) - 1, -1, -1):
        if left > 0 and taken[row, left]:
            chosen[items[row]] = True
            left = max(0, left - int(weight[items[row]]))
    return float(least[need]), chosen


@dataclass(frozen=True)
class LoadPrices:
    """Of a unit of load on each node (N,), of a move, and of a byte."""

    load: FloatArray
    move: float = 0.0
    byte: float = 0.0


class LoadDual(NamedTuple):
    """A proven bound, without the traffic that there is before any move, and the prices that prove it.

    ``leaves`` are the groups that leave their node at these prices, (K,), and ``target`` the node to which each would
    go first, (K,).
    """

    bound: float
    prices: LoadPrices
    leaves: BoolArray
    target: IntArray


class LoadRelaxation:
    """The Lagrangian relaxation of a problem."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates, self.problem = candidates, candidates.problem
        problem = self.problem
        self.hosts = np.flatnonzero(problem.hosts)
        self.excess = problem.start_load - candidates.most
        self.full = np.flatnonzero(self.excess > 0.0)
        self.on = {node: np.flatnonzero(problem.home == node) for node in self.full.tolist()}
        self.traffic: FloatArray | None = None
        if problem.traffic is not None:
            here = problem.traffic[np.arange(candidates.groups), problem.home]
            self.traffic = problem.traffic - here[:, None]

    def rates(self, prices: LoadPrices) -> FloatArray:
        """Return the price of the cheapest protocol with that of the move and its bytes, (2, K): away, at hand."""
        sizes = np.where(np.isfinite(self.candidates.price), self.problem.costs.bytes, 0.0)
        return np.asarray((self.candidates.price + prices.byte * sizes).min(axis=1) + prices.move)

    def leaving(self, prices: LoadPrices) -> tuple[FloatArray, IntArray]:
        """Return what each group costs if it leaves its node, and where it goes then, both (K,)."""
        problem, candidates = self.problem, self.candidates
        rates, load, p = self.rates(prices), problem.load, prices.load
        if not len(self.hosts):
            return np.full(candidates.groups, np.inf), np.zeros(candidates.groups, dtype=np.int64)
        order = self.hosts[np.argsort(p[self.hosts], kind="stable")]
        target = np.where(problem.home == order[0], order[min(1, len(order) - 1)], order[0])
        cost = rates[AWAY] + load * p[target]
        cost[problem.home == target] = np.inf
        if self.traffic is not None:
            dense = self.traffic[:, self.hosts] + load[:, None] * p[self.hosts]
            dense[problem.home[:, None] == self.hosts] = np.inf
            target = self.hosts[np.argmin(dense, axis=1)]
            cost = rates[AWAY] + dense.min(axis=1)
        group, node = candidates.spread[:, 0], candidates.spread[:, 1]
        near = rates[AT_HAND, group] + load[group] * p[node]
        if self.traffic is not None:
            near = near + self.traffic[group, node]
        order = np.lexsort((node, -near, group))  # the cheapest of a group last
        last = np.append(np.diff(group[order]) > 0, True)[: len(order)] if len(order) else np.zeros(0, dtype=np.bool_)
        cheapest = order[last]
        better = near[cheapest] <= cost[group[cheapest]]
        cost[group[cheapest[better]]] = near[cheapest[better]]
        target[group[cheapest[better]]] = node[cheapest[better]]
        return cost, target

    def dual(self, prices: LoadPrices, units: int) -> LoadDual:
        """Return the bound at some prices, with covers of the excess in so many units."""
        problem, candidates = self.problem, self.candidates
        p = self.allowed(prices.load)
        prices = replace(prices, load=p)
        leave, target = self.leaving(prices)
        stay = np.where(candidates.must, np.inf, p[problem.home] * problem.load)
        leaves = leave < stay
        own = np.minimum(leave, stay)
        total = float(own.sum())
        for node in self.full.tolist():
            on = self.on[node]
            extra, chosen = cheapest_cover(leave[on] - stay[on], problem.load[on], float(self.excess[node]), units)
            total += extra
            leaves[on] = chosen
        limits = problem.limits
        bought = np.where(p > 0.0, -p * np.where(p > 0.0, candidates.most, 0.0), 0.0)
        bought -= np.where(p < 0.0, p * np.where(p < 0.0, candidates.least, 0.0), 0.0)
        bought += p * problem.foreign
        size = float(np.abs(own[np.isfinite(own)]).sum() + np.abs(bought).sum())
        total += float(bought.sum())
        if prices.move:
            total -= prices.move * (limits.max_moves or 0)
        if prices.byte:
            total -= prices.byte * (limits.max_bytes or 0.0) * (1.0 + ROUNDING)
        return LoadDual(total - NOISE * size if np.isfinite(total) else total, prices, leaves, target)

    def allowed(self, p: FloatArray) -> FloatArray:
        """Return prices without those of limits that are not in force."""
        p = np.where((p > 0.0) & ~np.isfinite(self.candidates.most), 0.0, p)
        return np.where((p < 0.0) & ~np.isfinite(self.candidates.least), 0.0, p)

    def slope(self, dual: LoadDual) -> FloatArray:
        """Return by how much the load of each node is above its limit if groups do as at some prices, (N,)."""
        problem = self.problem
        load = problem.loads(np.where(dual.leaves, dual.target, problem.home))
        above = load - self.candidates.most
        below = load - self.candidates.least
        p = dual.prices.load
        return np.where(p > 0.0, above, np.where(p < 0.0, below, np.maximum(above, 0.0) + np.minimum(below, 0.0)))
