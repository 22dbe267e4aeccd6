"""The fewest nodes to add or to remove so that the utilisation of a cluster is in a band, and which.

:class:`ClusterSizing` is how full a cluster is against the band, :func:`drain_costs` what it costs at least to empty
each node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.rebalance.algorithms.fewest_nodes import NodeChoice, NodeRow, farthest, fewest
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS
from ftplan.planners.rebalance.problem import RebalanceProblem

#: Of windows, that the high end of the band holds for.
PERCENTILE = 95.0

#: What keeps nodes from being removed, by the name of its rows.
_KEEPS = {
    "peak": "the others would be above the band in the busiest windows",
    "capacity": "the others could not carry the load without being overloaded",
    "heaviest": "no other node has room for their heaviest key group",
    "memory": "the others do not have the memory",
    "domains": "copies of a key group could not be kept apart",
}


@dataclass(frozen=True, eq=False)
class ClusterSizing:
    """The load of a cluster and the nodes that carry it, against a band of utilisation.

    A node is in use where a key group is on it or it is to be filled; one that is to be drained is not. What other work
    takes of a node comes and goes with the node.
    """

    problem: RebalanceProblem
    window_load: FloatArray  # load of all key groups in each window, (W,)
    #: Least and most mean utilisation: it is to be in the band with the load that the plan is made for, and at most the
    #: high end in 95 % of the windows.
    band: tuple[float, float]
    seed: int = 0

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


class Suggestion(NamedTuple):
    """Nodes to add or to remove, by number, and how many more are needed that the cluster does not have yet.

    ``in_band`` is about the mean; ``for_peaks`` is how many nodes would keep 95 % of the windows below the band's high
    end too, where they would leave the mean below its low end: load swings more than the band is wide.
    """

    action: str  # none, add or remove
    nodes: tuple[int, ...] = ()
    more: int = 0
    like: int | None = None
    in_band: bool = True
    proven: bool = True
    why: str = ""
    for_peaks: int = 0


def suggest(sizing: ClusterSizing) -> Suggestion:
    """Return the fewest nodes to add or to remove so that utilisation is in the band; of so many the cheapest.

    Above the band, nodes without any key group are added first (those with checkpoints of most load before others),
    then new ones like the commonest in use. Below it, those are removed whose key groups cost least to move, each by
    its cheapest protocol to any node; those are left that hold what else the rules would not, as far as is seen
    without planning: ceilings in sum, room for the heaviest key group, memory in sum, domains of copies. Nodes are
    never removed at the cost of the busiest windows; where load swings more than the band is wide, nodes are added
    for the mean alone.
    """
    low, high = sizing.band
    slack = ROUNDING * max(sizing.peak, float(sizing.problem.capacity.sum())) + NOISE
    below = sizing.above(sizing.in_use, sizing.demand, low) < -slack
    if sizing.above(sizing.in_use, sizing.peak, high) > slack:
        made = _add(sizing)
        if made.in_band:
            return made
        alone = replace(sizing, window_load=np.zeros(0))
        why = f"utilisation is {'below' if below else 'in'} the band on average, above it in the busiest windows"
        by_mean = Suggestion("none", in_band=not below, why=why)
        if sizing.above(sizing.in_use, sizing.demand, high) > slack:
            by_mean = _add(alone)
        return by_mean._replace(for_peaks=len(made.nodes) + made.more)
    return _remove(sizing) if below else Suggestion("none", why="utilisation is in the band")


def _add(sizing: ClusterSizing) -> Suggestion:
    problem, (low, high) = sizing.problem, sizing.band
    lacking = sizing.above(sizing.in_use, sizing.peak, high)
    gains = sizing.gains(high)
    spare = np.flatnonzero(problem.hosts & ~sizing.in_use & (gains > 0.0))
    helped = _load_at_hand(problem)[spare]
    cost = np.argsort(np.lexsort((np.arange(len(spare)), -helped))).astype(np.float64)
    enough = NodeRow("peak", -gains[spare], -lacking)
    not_low = -sizing.above(sizing.in_use, sizing.demand, low)
    for rows in ([enough, NodeRow("low", sizing.gains(low)[spare], -not_low)], [enough]) if len(spare) else ():
        chosen = fewest(NodeChoice(cost, rows), sizing.seed)
        if chosen is not None:
            nodes = tuple(spare[list(chosen[0])].tolist())
            return Suggestion("add", nodes, in_band=len(rows) > 1, proven=chosen[1], why=_busy(sizing))
    like = _commonest(sizing)
    left = lacking - float(gains[spare].sum())
    each = high * float(problem.capacity[like]) if like is not None else 0.0
    if like is None or each <= 0.0:
        return Suggestion("none", in_band=False, why="no node in use has capacity to take an example by")
    more = max(1, math.ceil(left / each - ROUNDING))
    used = sizing.in_use.copy()
    used[spare] = True
    after = sizing.utilisation(used, sizing.demand, more * float(problem.capacity[like]))
    in_band = after is not None and after >= low - ROUNDING
    return Suggestion("add", tuple(spare.tolist()), more, like, in_band, why=_busy(sizing))


def _busy(sizing: ClusterSizing) -> str:
    now, high = sizing.utilisation(sizing.in_use, sizing.demand), sizing.band[1]
    above = now is not None and now > high + ROUNDING
    return "utilisation is above the band" if above else "utilisation is above the band in the busiest windows"


def _load_at_hand(problem: RebalanceProblem) -> FloatArray:
    """Return the load of the key groups that have a checkpoint on each node, (N,)."""
    load = np.zeros(len(problem.nodes))
    for group, nodes in enumerate(problem.copies):
        load[list(nodes)] += problem.load[group]
    return load


def _commonest(sizing: ClusterSizing) -> int | None:
    """Return a node of the commonest size among those in use: the first of the largest of equals."""
    problem = sizing.problem
    sizes: dict[tuple[float, float], list[int]] = {}
    for node in np.flatnonzero(sizing.in_use & (problem.capacity > 0.0)).tolist():
        sizes.setdefault((float(problem.capacity[node]), float(problem.memory[node])), []).append(node)
    if not sizes:
        return None
    return min(sizes.items(), key=lambda item: (-len(item[1]), -item[0][0], item[1][0]))[1][0]


def _remove(sizing: ClusterSizing) -> Suggestion:
    low = sizing.band[0]
    candidates = np.flatnonzero(sizing.in_use & ~sizing.problem.added)
    needed = -sizing.above(sizing.in_use, sizing.demand, low)
    goal = NodeRow("low", -sizing.gains(low)[candidates], -needed)
    choice = _removable(sizing, candidates)
    wanted = choice._replace(rows=[goal, *choice.rows])
    chosen = fewest(wanted, sizing.seed)
    below = "utilisation is below the band"
    if chosen is not None:
        return Suggestion("remove", tuple(candidates[list(chosen[0])].tolist()), proven=chosen[1], why=below)
    hindered = [name for name in _KEEPS if fewest(wanted.without(name), sizing.seed) is not None]
    why = f"{below}; it cannot be reached: {_KEEPS[hindered[0]] if hindered else 'several rules would be broken'}"
    nodes = tuple(candidates[list(farthest(choice, goal, sizing.seed))].tolist())
    return Suggestion("remove" if nodes else "none", nodes, in_band=False, why=why)


def _removable(sizing: ClusterSizing, candidates: IntArray) -> NodeChoice:
    """Return what has to hold of nodes that are removed, whatever the band's low end is."""
    problem, high = sizing.problem, sizing.band[1]
    used = np.flatnonzero(sizing.in_use)
    room = np.maximum(problem.ceiling - problem.foreign, 0.0) * problem.hosts
    rows = [
        NodeRow("peak", sizing.gains(high)[candidates], -sizing.above(sizing.in_use, sizing.peak, high)),
        NodeRow("capacity", room[candidates], float(room[used].sum()) - sizing.demand),
        *_heaviest(problem, candidates, used, room),
    ]
    keeping = np.flatnonzero(sizing.in_use | (problem.keeps & ~problem.removed))
    if np.isfinite(problem.memory[keeping]).all():
        held = math.fsum(s * (1 + len(c)) for s, c in zip(problem.state.tolist(), problem.copies, strict=True))
        free = float(problem.memory[keeping].sum()) - held
        if free >= 0.0:
            rows.append(NodeRow("memory", problem.memory[candidates], free))
    rows.append(NodeRow("capacity", np.ones(len(candidates)), len(used) - 1.0))
    place = {node: i for i, node in enumerate(candidates.tolist())}
    members: dict[int, list[int]] = {}
    for node in keeping.tolist():
        members.setdefault(int(problem.domain[node]), []).append(node)
    needed = min(1 + max(map(len, problem.copies), default=0), len(members))
    going = [[place[n] for n in nodes] for nodes in members.values() if all(n in place for n in nodes)]
    least = max(0, needed - (len(members) - len(going)))
    return NodeChoice(drain_costs(problem)[candidates], rows, going, least)


def _heaviest(problem: RebalanceProblem, candidates: IntArray, used: IntArray, room: FloatArray) -> list[NodeRow]:
    """Return that a node only goes where one stays that has room for its heaviest key group, were it empty."""
    heaviest = np.zeros(len(problem.nodes))
    np.maximum.at(heaviest, problem.home, problem.load)
    rows = []
    for node in candidates.tolist():
        able = used[(used != node) & (room[used] >= heaviest[node] - NOISE)]
        if np.isin(able, candidates).all():
            values = np.isin(candidates, [*able, node]).astype(np.float64)
            rows.append(NodeRow("heaviest", values, float(len(able))))
    return rows
