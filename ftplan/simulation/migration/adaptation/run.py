"""An adaptation over a load trace: who moves where when nodes are overloaded, and what becomes of the checkpoints.

[Madsen2015], section 7.2. Shapes: P periods, K key groups, N nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ftplan.model.measures.node_load import NodeLoad
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.allocate_checkpoints.copy_measures import usable_copies
from ftplan.planners.rebalance.effects import places_after, surviving_copies
from ftplan.planners.rebalance.migration_costs import DIRECT, PROTOCOLS, MigrationSetting, migration_costs
from ftplan.planners.rebalance.problem import Migration, NewCopy, RebalanceProblem

#: Nodes of the copies of each key group, ascending, (K,).
CopyPlaces = tuple[tuple[int, ...], ...]
#: Moves away from overloaded nodes: the adaptation under study.
Adaptation = Callable[[RebalanceProblem], Sequence[Migration]]
#: The copies from the number of the period and the problem that it begins with.
Upkeep = Callable[[int, RebalanceProblem], CopyPlaces]
#: CopyPlaces made anew where moves leave a key group fewer than it had.
Renewal = Callable[[RebalanceProblem, Sequence[Migration]], Sequence[NewCopy]]


class LoadTrace(NamedTuple):
    """Load of K key groups in P periods."""

    loads: FloatArray  # mean load per window in each period, in load units, (P, K)
    rates: FloatArray  # records per second in each period, (P, K)
    period_s: float  # length of a period
    setting: MigrationSetting  # what the costs of moves depend on beside the rates


class AdaptationPolicy(NamedTuple):
    """Who decides: on moves where nodes are overloaded, on the copies at the begin of a period, on lost copies.

    Without *upkeep* copies go only where moves leave them; without *renew* a copy that a move takes away is gone.
    """

    adapt: Adaptation
    upkeep: Upkeep | None = None
    renew: Renewal | None = None


class PeriodFigures(NamedTuple):
    """What was counted in a period."""

    #: ``overloaded_before``, ``overloaded_after``: nodes above their ceiling before the moves, and after them
    overloaded_before: int
    overloaded_after: int
    #: ``excess_before``, ``excess_after``: load above the ceilings of all nodes before the moves, and after them, in
    #: load units per window
    excess_before: float
    excess_after: float
    #: ``wanted``, ``usable``: copyPlaces of key groups on overloaded nodes before the moves; those of them whose host
    #: could take the key group without being overloaded ([Madsen2015], figure 8)
    wanted: int
    usable: int
    #: Moves by protocol, in the order of :data:`ftplan.planners.rebalance.migration_costs.PROTOCOLS`
    by_protocol: tuple[int, ...]
    #: ``latency_s``, ``completion_s``: sum over the moves, each as if it were the only one
    latency_s: float
    completion_s: float
    bytes: float  # that moves transferred
    #: ``copies_moved``, ``copy_bytes``: copyPlaces that were placed anew by upkeep, or since a move took one away; and
    #: their state
    copies_moved: int
    copy_bytes: float

    @property
    def moves(self) -> int:
        """Key groups that moved."""
        return sum(self.by_protocol)

    @property
    def assisted(self) -> int:
        """Moves that a checkpoint on the target made cheap: all but the direct ones."""
        return self.moves - self.by_protocol[PROTOCOLS.index(DIRECT)]


@dataclass(frozen=True, eq=False)
class AdaptationOutcome:
    """The periods of an adaptation, and where key groups (K,) and their copies are after the last one."""

    periods: tuple[PeriodFigures, ...]
    place: IntArray
    copies: CopyPlaces

    def total(self, name: str) -> float:
        """Return the sum of a figure over all periods."""
        return float(sum(getattr(period, name) for period in self.periods))

    @property
    def assisted_share(self) -> float | None:
        """Share of the moves that checkpoints assist ([Madsen2015], figure 7), None without a move."""
        moves = self.total("moves")
        return self.total("assisted") / moves if moves else None

    @property
    def usable_share(self) -> float | None:
        """Share of usable copies of those of key groups on overloaded nodes, None where no node is overloaded."""
        wanted = self.total("wanted")
        return self.total("usable") / wanted if wanted else None


def run_adaptation(problem: RebalanceProblem, trace: LoadTrace, policy: AdaptationPolicy) -> AdaptationOutcome:
    """Return what an adaptation does over a trace that begins with the places and copies of a problem.

    At the begin of each period upkeep may move copies. Then the load of the period is seen; where it is above the
    ceiling of a node the policy moves key groups, at the costs of the period's rates; what it does not move stays.
    After an assisted move key group and copy have swapped places, after a direct one the old host keeps the fresh copy
    (:func:`ftplan.planners.rebalance.effects.surviving_copies`). The next period begins with what is left.

    The moves of a period are made at once: neither their order nor the load while they are under way is simulated.
    Cost O(P (N + K + copies)) beside the policy.

    Raises ValueError if the policy makes a move that the problem does not allow, or loses copies: a fault of the
    policy.
    """
    periods = []
    for number, (load, rate) in enumerate(zip(trace.loads, trace.rates, strict=True)):
        now = replace(problem, load=load, rate=rate)
        copies = now.copies if policy.upkeep is None else _kept_up(now, policy.upkeep(number, now))
        came = _arrived(now.copies, copies)
        now = replace(now, copies=copies)
        overloaded = overloaded_nodes(now, now.start_load)
        moves: Sequence[Migration] = ()
        if overloaded.any():
            now = replace(now, costs=migration_costs(trace.setting._replace(rate=rate)))
            moves = policy.adapt(now)
            _check(now, moves)
        copies, new = _copies_after(now, moves, policy)
        place = places_after(now, moves)
        periods.append(_figures(now, overloaded, moves, now.loads(place), came + new))
        problem = replace(problem, home=place, copies=copies)
    return AdaptationOutcome(tuple(periods), problem.home, problem.copies)


def overloaded_nodes(problem: RebalanceProblem, load: FloatArray) -> BoolArray:
    """Return which nodes are above their ceiling under a load, both (N,)."""
    return np.asarray(load > problem.ceiling * (1.0 + ROUNDING))


def _figures(
    now: RebalanceProblem, overloaded: BoolArray, moves: Sequence[Migration], load: FloatArray, came: list[int]
) -> PeriodFigures:
    """Return the figures of a period, from the *load* (N,) after its moves and the groups whose copies were moved."""
    rows = [PROTOCOLS.index(move.protocol) for move in moves]
    groups = [move.group for move in moves]
    wanted, usable = _use(now, overloaded)
    return PeriodFigures(
        overloaded_before=int(overloaded.sum()),
        overloaded_after=int(overloaded_nodes(now, load).sum()),
        excess_before=float(np.maximum(now.start_load - now.ceiling, 0.0).sum()),
        excess_after=float(np.maximum(load - now.ceiling, 0.0).sum()),
        wanted=wanted,
        usable=usable,
        by_protocol=tuple(np.bincount(np.array(rows, dtype=np.int64), minlength=len(PROTOCOLS)).tolist()),
        latency_s=float(now.costs.latency_s[rows, groups].sum()),
        completion_s=float(now.costs.completion_s[rows, groups].sum()),
        bytes=float(now.costs.bytes[rows, groups].sum()),
        copies_moved=len(came),
        copy_bytes=float(now.state[came].sum()),
    )


def _use(now: RebalanceProblem, overloaded: BoolArray) -> tuple[int, int]:
    """Return how many copies belong to groups on overloaded nodes, and how many of these are usable, each alone."""
    if not overloaded.any():
        return 0, 0
    count = np.array([len(nodes) for nodes in now.copies], dtype=np.int64)
    wanted = int(count[overloaded[now.home]].sum())
    host = np.array([node for nodes in now.copies for node in nodes], dtype=np.int64)
    group = np.repeat(np.arange(count.size), count)
    nodes = NodeLoad(now.start_load[None], now.ceiling, 1.0 + ROUNDING)
    takes = usable_copies(now.load[None], now.home, group, host, nodes) * now.hosts[host]
    return wanted, int(takes.sum())


def _check(now: RebalanceProblem, moves: Sequence[Migration]) -> None:
    """Raise ValueError where a group moves twice or to where it is, or by what cannot be."""
    moved = set[int]()
    for move in moves:
        name = f"{now.operators[move.group]}/{int(now.key_group[move.group])}"
        if move.group in moved or move.target == now.home[move.group] or not now.hosts[move.target]:
            raise ValueError(f"key group {name} cannot move to {now.nodes[move.target]}")
        if move.protocol not in now.possible(move.group, move.target):
            raise ValueError(f"key group {name} cannot move to {now.nodes[move.target]} by {move.protocol}")
        moved.add(move.group)


def _kept_up(now: RebalanceProblem, copies: CopyPlaces) -> CopyPlaces:
    """Return copies as upkeep placed them, if they are no fewer than before and none is with its key group."""
    for before, after, home in zip(now.copies, copies, now.home.tolist(), strict=True):
        if not len(before) <= len(set(after)) == len(after) or home in after:
            raise ValueError("upkeep loses a copy, or puts it on the node of its key group")
    return tuple(tuple(sorted(nodes)) for nodes in copies)


def _copies_after(
    now: RebalanceProblem, moves: Sequence[Migration], policy: AdaptationPolicy
) -> tuple[CopyPlaces, list[int]]:
    """Return the copies after moves, and the group of each that is made anew."""
    after = list(now.copies)
    for move in moves:
        after[move.group] = surviving_copies(now, move.group, move)
    fewer = any(len(after[move.group]) < len(now.copies[move.group]) for move in moves)
    new = policy.renew(now, moves) if fewer and policy.renew is not None else ()
    for copy in new:
        after[copy.group] = tuple(sorted((*after[copy.group], copy.target)))
    return tuple(after), [copy.group for copy in new]


def _arrived(before: CopyPlaces, after: CopyPlaces) -> list[int]:
    """Return the group of each copy that lies where none lay before."""
    return [group for group, nodes in enumerate(after) for node in nodes if node not in before[group]]
