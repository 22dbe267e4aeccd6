"""What the loads of a trace ask of an adaptation, and what is counted of it in each period."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.rebalance.migration_costs import DIRECT, PROTOCOLS, MigrationSetting
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
