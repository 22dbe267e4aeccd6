"""The allocation problem as arrays: which unit may have copies where, and what that costs and weighs.

Before anything large is made, :func:`require_memory` estimates how much memory planning needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.machine_limits import GB, VARIABLE, available_bytes
from ftplan.model.measures.correlation import expected_random
from ftplan.model.plan import Status, Warn
from ftplan.model.tolerances import LEAST_SCALE, NOISE, PROVEN, ROUNDING, SOLVED
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.model.units import MB
from ftplan.planners.incumbents import Incumbents, wanted_gap
from ftplan.planners.solver import margin, scip_size

#: Bytes of one pair of key group and node: its cost, and whether it is allowed.
BYTES_PER_PAIR = 9.0
#: Bytes of one pair in the neighbourhood search, and the pairs above which it is left out.
BYTES_PER_SEARCHED_PAIR = 26.0
MOST_SEARCHED_PAIRS = 50_000_000
#: Bytes of one load: as it is read, in order of the groups, and standardised.
BYTES_PER_LOAD = 24.0
#: Bytes of one key group's candidates, and of everything that does not grow.
BYTES_PER_GROUP = 2_500.0
BASE_BYTES = 0.3 * GB


def needed_bytes(groups: int, nodes: int, windows: int) -> float:
    """Return about how many bytes planning takes at its peak, loaded statistics included."""
    pairs = float(groups) * nodes
    search = BYTES_PER_SEARCHED_PAIR * pairs if pairs <= MOST_SEARCHED_PAIRS else 0.0
    return BASE_BYTES + BYTES_PER_LOAD * windows * groups + BYTES_PER_GROUP * groups + BYTES_PER_PAIR * pairs + search


def require_memory(groups: int, nodes: int, windows: int) -> None:
    """Refuse a problem that does not fit into memory.

    Raises :class:`FtplanError` if the estimate is above what is available.
    """
    needed, available = needed_bytes(groups, nodes, windows), available_bytes()
    if needed > available:
        raise FtplanError(
            f"planning {groups} key groups on {nodes} nodes over {windows} windows needs about {needed / GB:.1f} GiB "
            f"and {available / GB:.1f} GiB are available: plan fewer operators at a time, compute the statistics with "
            f"fewer key groups or longer windows, or set {VARIABLE} to what may be used"
        )


@dataclass(frozen=True, eq=False)
class CheckpointProblem:
    """Units × nodes. Shapes: K key groups, U units, N nodes.

    A unit is a key group, or all key groups of one task on one node where the statistics cannot tell them apart; all
    groups of a unit get the same copies. Nodes stand in natural order, groups and units in (operator id, number)
    order, so equal inputs in any order give equal arrays. ``domain`` is what two copies of a unit must not share: the
    zone with anti-affinity zone, else the node itself. Loads are mean loads in load units per window.
    """

    nodes: tuple[str, ...]  # (N,)
    domain: IntArray  # (N,)
    domain_kind: str  # "node" | "zone"
    accepts: BoolArray  # (N,) nodes that accept checkpoints
    share: FloatArray  # (N,) fair share of the copies' load, sums to 1
    memory_left: FloatArray  # (N,) bytes free after the primaries, inf where unknown, negative where over-full
    memory_mb: FloatArray  # (N,) 2^20 bytes, nan where unknown
    copies: int
    windows: int
    operators: tuple[str, ...]  # (K,) operator id of each group
    key_group: IntArray  # (K,)
    group_home: IntArray  # (K,) node position of each group's primary
    unit_of_group: IntArray  # (K,)
    home: IntArray  # (U,)
    cost: FloatArray  # (U, N) of the objective, summed over the unit's groups; smaller is better
    allowed: BoolArray  # (U, N) accepts checkpoints, and not in the domain of the primary
    load: FloatArray  # (U,)
    size: IntArray  # (U,) number of groups
    state: FloatArray  # (U,) bytes; unknown states count 0
    unit_names: tuple[str, ...]  # (U,) for messages
    integral: bool = False  # all costs are whole numbers, and gaps are relative to the value
    warnings: tuple[Warn, ...] = ()
    cpu: FloatArray = field(default_factory=lambda: np.zeros(0))  # (N,) cores; only the failover rule needs them
    loss_names: tuple[str, ...] = ()  # (N,) selector of the node or zone whose loss takes a node down
    split: CheckpointProblem | None = None  # the same with every group a unit, where units hold several groups

    @property
    def by_group(self) -> CheckpointProblem:
        """The same problem with every key group a unit of its own."""
        return self.split or self

    @cached_property
    def has_memory_rule(self) -> bool:
        """Whether R5 says anything: some node's memory and some state are known."""
        return bool(np.isfinite(self.memory_left).any()) and bool(
            (self.state > 0).any() or (self.memory_left < self.memory_mb * MB).any()
        )

    @cached_property
    def random_value(self) -> float:
        """Expected cost of a random plan under R1 and R2."""
        return expected_random(self.cost, self.home, self.accepts, self.copies)

    @cached_property
    def largest_cost(self) -> float:
        """The largest size of a cost."""
        return max(float(self.cost.max(initial=0.0)), -float(self.cost.min(initial=0.0)))

    def value(self, copies: IntArray) -> float:
        """Return the cost of an allocation, *copies* of shape (U, copies)."""
        return float(np.take_along_axis(self.cost, copies, axis=1).sum()) if copies.size else 0.0

    def gap(self, value: float, bound: float) -> float:
        """Return ``|bound - value|`` relative to what a random plan loses against the bound; to |value| if integral."""
        return abs(bound - value) / max(self._scale(value, bound), LEAST_SCALE)

    def _scale(self, value: float, bound: float) -> float:
        return max(abs(value) if self.integral else abs(self.random_value - bound), self.noise / PROVEN)

    @cached_property
    def noise(self) -> float:
        """By how much two sums of the same costs in another order may differ."""
        largest = np.maximum(self.cost.max(axis=1, initial=0.0), -self.cost.min(axis=1, initial=0.0))
        return NOISE * self.copies * float(largest.sum())

    def incumbents(self) -> Incumbents[IntArray]:
        """Return the log of a search for cheap copies (U, c)."""
        size = max(abs(self.random_value), self.noise / ROUNDING)
        unit = 1.0 if self.integral else 0.0
        return Incumbents("min", "cost", unit=unit, size=size, scale=self._scale, gap=wanted_gap(self.cost.size))

    def reached(self, bound: float, value: float) -> bool:
        """Return whether no cost lies between a bound and a value: whole ones are a whole number apart."""
        return bound > value - (1.0 - SOLVED) if self.integral else bound >= value

    def judged(self, value: float, bound: float | None) -> tuple[Status, float | None]:
        """Return the status of a plan of some value under a proven bound, and the bound.

        That is whole where costs are, and the value where no more lies between than the order of sums, or what is
        taken off SCIP's bounds: an allocation that is better by so little cannot be told from this one.

        Raises :class:`RuntimeError` if the plan costs less than the bound by more than rounding.
        """
        log = self.incumbents()
        log.offer(np.zeros(0, dtype=np.int64), value, "plan")
        if bound is not None:
            told_apart = self.noise + margin(value, scip_size(self.largest_cost))
            log.prove(value if 0.0 <= value - bound <= told_apart else bound, "bound")
        return log.status, log.proven_bound
