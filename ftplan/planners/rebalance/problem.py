"""The question of a rebalance: which key groups move where, and what has to hold while they do and afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ftplan.model.plan import Warn
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import SearchOptions
from ftplan.planners.rebalance.migration_costs import AFTER_LOSS, ASSISTED, FETCH, PROTOCOLS, ProtocolCosts


@dataclass(frozen=True, slots=True)
class RebalanceSearch(SearchOptions):
    """Options of ``rebalance`` that say how to search.

    ``ends`` is when the command has to end, see :class:`ftplan.planners.budget.Budget`. ``explain`` says whether it
    matters why there is no plan, which takes longer than to see that there is none.
    """

    ends: float = math.inf
    explain: bool = True


Criterion = Literal["latency", "completion", "bytes"]


class Migration(NamedTuple):
    """A key group goes to another node, both by number, by a protocol."""

    group: int
    target: int
    protocol: str


class NewCopy(NamedTuple):
    """A checkpoint copy of a key group is made anew on a node, since the one on *source* is gone; by number."""

    group: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class RebalanceLimits:
    """What is asked for beside the limits of nodes; None is no limit."""

    #: ``max_moves``, ``max_bytes``: key groups that move, and bytes that their moves transfer (copies made anew are not
    #: counted).
    max_moves: int | None = None
    max_bytes: float | None = None
    #: Longest pause of a key group in any phase, waiting for others of the phase included.
    max_pause_s: float | None = None
    #: Bytes that the moves of one phase transfer; a single move may have more, and so may what is recovered.
    phase_bytes: float | None = None
    #: Notice after which the removed nodes are gone: what has not left them by then is recovered.
    within_s: float | None = None
    phase_overhead_s: float = 0.0  # what a phase takes beside its moves


@dataclass(frozen=True, eq=False)
class RebalanceProblem:
    """K key groups on N nodes. Groups stand in (operator id, number) order, nodes in natural order of their ids.

    Loads are in load units per window, and count all groups of a node and its foreign load.
    """

    nodes: tuple[str, ...]  # (N,) ids
    zone: IntArray  # (N,) zone, for traffic
    domain: IntArray  # (N,) what two copies of a group must not share: the zone, or the node itself
    hosts: BoolArray  # (N,) may take key groups: accepts tasks, and is not removed
    keeps: BoolArray  # (N,) may take checkpoint copies: accepts them, and is not removed
    removed: BoolArray  # (N,) to be drained of groups and copies
    added: BoolArray  # (N,) to be filled
    capacity: FloatArray  # (N,)
    foreign: FloatArray  # (N,) load of other work
    ceiling: FloatArray  # (N,) load above which a node is overloaded
    upper: FloatArray  # (N,) load afterwards is at most this: the ceiling, or less where load must be even
    lower: FloatArray  # (N,) load afterwards is at least this, -inf without a rule
    memory: FloatArray  # (N,) bytes for state and copies, inf where unknown
    operators: tuple[str, ...]  # (K,) operator id
    key_group: IntArray  # (K,)
    home: IntArray  # (K,) node
    copies: tuple[tuple[int, ...], ...]  # (K,) nodes of the checkpoint copies, ascending
    load: FloatArray  # (K,)
    rate: FloatArray  # (K,) records per second
    state: FloatArray  # (K,) bytes, 0 where unknown
    costs: ProtocolCosts
    protocols: tuple[str, ...] = PROTOCOLS[:4]  # those that moves may use
    criterion: Criterion = "latency"
    remote: bool = False  # every node is as near to a group's checkpoint as any other
    traffic: FloatArray | None = None  # (K, N) priced traffic between zones of a group on a node
    limits: RebalanceLimits = RebalanceLimits()
    warnings: tuple[Warn, ...] = field(default=())

    @property
    def objective_name(self) -> str:
        """What the objective is called."""
        return self.criterion if self.traffic is None else f"{self.criterion}-and-traffic"

    @cached_property
    def start_load(self) -> FloatArray:
        """Load of each node before any move, (N,)."""
        return self.loads(self.home)

    def loads(self, place: IntArray) -> FloatArray:
        """Return the load of each node with each group on *place*, (K,); shape (N,)."""
        return self.foreign + np.bincount(place, self.load, minlength=len(self.nodes))

    @cached_property
    def transient(self) -> FloatArray:
        """Load that a node may have between phases, (N,): its ceiling, or what it had at first where that is more."""
        return np.maximum(self.ceiling, self.start_load)

    def possible(self, group: int, target: int) -> tuple[str, ...]:
        """Return the protocols by which a group can come to another node.

        Those that moves may use, and from a removed node that is given notice also those after its loss.
        """
        lost = self.limits.within_s is not None and bool(self.removed[self.home[group]])
        at_hand = self.remote or target in self.copies[group]
        able = []
        for row, protocol in enumerate(PROTOCOLS):
            if protocol in AFTER_LOSS:
                there = lost and (protocol != FETCH or (not at_hand and self.restorable(group)))
            else:
                there = protocol in self.protocols
            if there and (at_hand or protocol not in ASSISTED) and math.isfinite(self.costs.latency_s[row, group]):
                able.append(protocol)
        return tuple(able)

    def restorable(self, group: int) -> bool:
        """Return whether a copy of a group lies on a node that is not removed."""
        return any(not self.removed[node] for node in self.copies[group])

    @cached_property
    def _prices(self) -> FloatArray:
        table = {
            "latency": self.costs.latency_s,
            "completion": self.costs.completion_s,
            "bytes": self.costs.bytes,
        }[self.criterion]
        return np.where(np.isfinite(self.costs.latency_s), table, np.inf)

    def priced(self, protocol: str) -> FloatArray:
        """Return what moves by a protocol cost by the criterion, without traffic, (K,)."""
        return np.asarray(self._prices[PROTOCOLS.index(protocol)])

    def cost(self, move: Migration) -> float:
        """Return what a move costs by the criterion, with the traffic that it adds or saves."""
        own = float(self.priced(move.protocol)[move.group])
        if self.traffic is None:
            return own
        return own + float(self.traffic[move.group, move.target] - self.traffic[move.group, self.home[move.group]])

    def value(self, moves: Iterable[Migration]) -> float:
        """Return the objective: what all moves cost by the criterion, and the priced traffic of all groups afterwards.

        Never negative; without priced traffic it is the plain sum over the moves.
        """
        own = math.fsum(self.cost(move) for move in moves)
        if self.traffic is None:
            return own
        return own + float(self.traffic[np.arange(len(self.home)), self.home].sum())


@dataclass(frozen=True)
class Rebalance:
    """Moves by phase, those of a phase in the order in which they are served, and the copies that are made anew.

    Each group moves at most once. Groups that are recovered or fetched stand in a phase of their own: removed nodes
    are gone then. ``assisted`` are the shares of moves to hosts of checkpoints when the most is paired with the
    least loaded node, with such hosts preferred and without; None where nothing moves, and where nothing was paired.
    """

    phases: tuple[tuple[Migration, ...], ...]
    new_copies: tuple[NewCopy, ...] = ()
    assisted: tuple[float | None, float | None] | None = None

    @property
    def moves(self) -> tuple[Migration, ...]:
        """All moves, phase by phase."""
        return tuple(move for phase in self.phases for move in phase)
