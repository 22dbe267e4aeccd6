"""How full a cluster is, against a band of utilisation, and what it costs at least to empty each node."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS
from ftplan.planners.rebalance.problem import RebalanceProblem

#: Of windows, that the high end of the band holds for.
PERCENTILE = 95.0


@dataclass(frozen=True, eq=False)
class Sizing:
    """The load of a cluster and the nodes that carry it, against a band of utilisation.

    A node is in use where a key group is on it or it is to be filled; one that is to be drained is not. What other work
    takes of a node comes and goes with the node.

    Attributes
    ----------
    window_load
        Load of all key groups in each window, (W,).
    band
        Least and most mean utilisation: it is to be in the band with the load that the plan is made for, and at most
        the high end in 95 % of the windows.
    """

    problem: RebalanceProblem
    window_load: FloatArray
    band: tuple[float, float]

    @cached_property
    def in_use(self) -> BoolArray:
        """Which nodes carry the load, (N,)."""
        problem = self.problem
        filled = np.bincount(problem.home, minlength=len(problem.nodes)) > 0
        return np.asarray(~problem.removed & (filled | (problem.added & problem.hosts)))

    @cached_property
    def demand(self) -> float:
        """Load of all key groups that the plan is made for."""
        return float(self.problem.load.sum())

    @cached_property
    def peak(self) -> float:
        """Load that is not exceeded in 95 % of the windows, at least the demand."""
        busy = float(np.percentile(self.window_load, PERCENTILE)) if len(self.window_load) else 0.0
        return max(busy, self.demand)

    def utilisation(self, nodes: BoolArray, load: float, more: float = 0.0) -> float | None:
        """Return the mean utilisation of some nodes, (N,), and *more* capacity under a load; None without capacity."""
        capacity = float(self.problem.capacity[nodes].sum()) + more
        foreign = float(self.problem.foreign[nodes].sum())
        return (load + foreign) / capacity if capacity > 0.0 else None

    def gains(self, end: float) -> FloatArray:
        """Return what each node adds to what may be loaded up to an end of the band, (N,)."""
        return np.asarray(end * self.problem.capacity - self.problem.foreign)

    def above(self, nodes: BoolArray, load: float, end: float) -> float:
        """Return by how much a load on some nodes exceeds what they may take up to an end of the band."""
        return load - float(self.gains(end)[nodes].sum())


def drain_costs(problem: RebalanceProblem) -> FloatArray:
    """Return what it costs at least to move all key groups off each node, (N,): each by its cheapest protocol.

    By the criterion of the plan, without traffic; infinite where a key group cannot move anywhere.
    """
    protocols = [p for p in problem.protocols if p not in AFTER_LOSS]
    prices = {protocol: problem.priced(protocol) for protocol in protocols}
    hosts = np.flatnonzero(problem.hosts).tolist()
    costs = np.zeros(len(problem.nodes))
    for group, home in enumerate(problem.home.tolist()):
        near = [node for node in problem.copies[group] if problem.hosts[node] and node != home]
        far = next((node for node in hosts if node != home and node not in problem.copies[group]), None)
        targets = [*near[:1], *([far] if far is not None else [])]
        able = {protocol for target in targets for protocol in problem.possible(group, target)}
        costs[home] += min((float(prices[p][group]) for p in protocols if p in able), default=math.inf)
    return costs
