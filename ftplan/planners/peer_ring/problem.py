"""The question of a peer ring: which tokens nodes get, so that load is even and failures that happen lose nothing.

Shapes: N nodes, Z zones, M positions (where at least one key group begins), K key groups, W windows. Loads and rates
are per second.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ftplan.model.plan import Warn
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.peer_ring.ring import Ring

#: Why the ring changes: planned anew, load goes to a neighbour, a node joins, leaves or fails.
Event = Literal["re-plan", "balance", "scale-out", "scale-in", "failure"]


@dataclass(frozen=True, slots=True)
class RingThresholds:
    """When a node asks for help and when it may give some ([Kumbhare2015], VI).

    A node is overloaded where its queue is at least ``queue_high_s`` and its utilisation at least ``cpu_high``, for
    ``hold`` windows in a row; it may accept where its queue is at most ``queue_low_s`` and its utilisation at most
    ``cpu_low``. Queues are in seconds of the node's whole capacity.
    """

    queue_high_s: float = 1.0
    queue_low_s: float = 0.1
    cpu_high: float = 0.85
    cpu_low: float = 0.7
    hold: int = 1


@dataclass(frozen=True, eq=False)
class RingSetting:
    """What estimates of memory, traffic and recovery follow from ([Kumbhare2015], V-C and V-D, VII)."""

    interval_s: float  # T, from one checkpoint to the next
    checkpoint_s: float  # d, to make and send a checkpoint
    #: From a failure to its detection, at the longest: missed heartbeats times heartbeat interval, and grace
    detection_s: float
    #: Then age of the checkpoint and detection add up to ``detection_s``, whenever the failure is
    heartbeat_is_checkpoint: bool
    fixed_s: float  # what a take-over takes beside detection and replay
    #: L_n, upper bound of the delay of a tuple and of clock skew; backups drop what is older than T_s - 2 L_n
    latency_bound_s: float
    replay_rate: FloatArray  # (N,) records per second that a node replays; infinite where unknown
    bandwidth: float  # bytes per second between two nodes
    record_bytes: FloatArray  # (M,) mean size of a record of a position, NaN where unknown
    touched: float = 1.0  # share of the state that a checkpoint holds on average, at most; 1 where unknown
    #: Mean age of the last checkpoint at a failure, in intervals: half of one where failures come at any time
    age: float = 0.5

    @property
    def age_s(self) -> float:
        """Mean age of the last checkpoint at a failure, u."""
        return self.age * self.interval_s

    @property
    def mean_detection_s(self) -> float:
        """Mean time from a failure to its detection, t_det, so that age and detection add up to what they do."""
        return self.detection_s - self.age_s if self.heartbeat_is_checkpoint else self.detection_s


@dataclass(frozen=True, eq=False)
class RingProblem:
    """M positions on the circle and N nodes, in natural order of their ids."""

    nodes: tuple[str, ...]
    #: ``zones``, ``zone``: names of zones, empty for that of a node without one, and (N,) the zone of each node
    zones: tuple[str, ...]
    zone: IntArray
    #: (N,) nodes that the planned ring has: accept tasks and checkpoints, are not removed, and where a ring is in place
    #: have a token of it or are added
    members: BoolArray
    tier: BoolArray  # (N,) nodes that only hold last copies; none is a member
    added: BoolArray
    removed: BoolArray
    fails: BoolArray  # (N,) nodes that fail once the planned ring is in place
    cpu: FloatArray  # (N,) cores that other work leaves: fair shares are in proportion to them
    #: ``down``, ``zone_down``: (N,) and (Z,) probabilities of failure within ``failure_period_s``, 0 where unknown
    down: FloatArray
    zone_down: FloatArray
    position: FloatArray  # (M,) ascending
    #: ``load``, ``rate``, ``state``: (M,) load and records per second, and bytes of state, of all key groups at a
    #: position
    load: FloatArray
    rate: FloatArray
    state: FloatArray
    operators: tuple[str, ...]  # (K,) operator id
    key_group: IntArray  # (K,)
    #: (K,) position of each key group, by number
    atom: IntArray  # (K,)
    group_load: FloatArray  # (K,)
    group_state: FloatArray  # (K,)
    #: ``capacity``, ``foreign``: (N,) load per second that a node can take, and what other work takes of it
    capacity: FloatArray
    foreign: FloatArray
    overload: float
    replication: int
    setting: RingSetting
    thresholds: RingThresholds = RingThresholds()
    #: (W, M) load per second in each window of the statistics, None without statistics
    windows: FloatArray | None = None
    window_s: float = 1.0
    #: (N,) queue of each node before any move, in seconds of its capacity; 0 where it was not measured
    queue_s: FloatArray | None = None
    #: The ring in place, None where there is none. Its nodes may include some that are gone or removed.
    current: Ring | None = None
    #: Backups of each key group on the ring in place, where these are not ``replication``; else None
    copies_in_place: int | None = None
    keep: bool = False  # the ring stays as it is: only what fails is asked for
    rebalance: bool = False  # nodes keep their order: load moves between neighbours only
    #: A largest load (over the fair share) that is good enough: bytes come before what lies below it
    target_load: float | None = None
    max_bytes: float | None = None  # most bytes that travel (transfer and re-replication), None without a limit
    tokens: int = 100
    state_known: bool = True
    probabilities_known: bool = True
    #: Whether capacity is stated or measured: then who takes the load of nodes that leave must have room for it.
    #: Assumed such that the ring is 0.7 full, it is only warned of.
    capacity_known: bool = True
    failure_period_s: float | None = None  # None: probabilities are of one repair window
    repair_window_s: float | None = None  # of how long then, None where unknown
    measured: bool = False  # loads come from statistics, not from an even spread
    warnings: tuple[Warn, ...] = field(default=())

    @cached_property
    def member(self) -> IntArray:
        """Numbers of the members, ascending, (n,)."""
        return np.flatnonzero(self.members)

    @cached_property
    def worth(self) -> FloatArray:
        """What it costs to move a position, (M,): its bytes; where no state is known, the number of its key groups."""
        if self.state_known:
            return self.state
        return np.bincount(self.atom, minlength=len(self.position)).astype(np.float64)

    @cached_property
    def per_cpu(self) -> float:
        """Load that a core of the members would have if all was even, 0 where there is no load."""
        return float(self.load.sum()) / max(float(self.cpu[self.members].sum()), 1e-300)

    @cached_property
    def fair(self) -> FloatArray:
        """Load that each node would have in proportion to its cpu, (N,), 0 for nodes that are no members."""
        cpu = np.where(self.members, self.cpu, 0.0)
        return np.asarray(cpu / max(float(cpu.sum()), 1e-300) * float(self.load.sum()))

    @property
    def zoned(self) -> bool:
        """Whether any node has a zone; else nothing is said of zones."""
        return any(self.zones)

    def zone_name(self, node: int) -> str | None:
        """Return the zone of a node, None where it has none: then it is a zone of its own, without a name."""
        return self.zones[int(self.zone[node])] or None

    def loads(self, ring: Ring) -> FloatArray:
        """Return the load of each node as owner, (N,)."""
        owner = ring.node[ring.owner(self.position)]
        return np.asarray(np.bincount(owner, self.load, minlength=len(self.nodes)))

    def arcs(self, ring: Ring, worth: FloatArray) -> FloatArray:
        """Return the sum of a worth (M,), such as ``load`` or ``state``, over the arc of each token, (T,)."""
        return np.asarray(np.bincount(ring.owner(self.position), worth, minlength=len(ring.token)))

    def largest_load(self, ring: Ring) -> float:
        """Return the objective: the largest load of a node over its fair share; 1 is even, 0 where there is no load.

        Shares are of the ring's own nodes, so that a ring in place is worth the same whoever joins or leaves.
        """
        total, cpu = float(self.load.sum()), self.cpu[ring.nodes]
        if total == 0.0:
            return 0.0
        return float((self.loads(ring)[ring.nodes] / (cpu * (total / float(cpu.sum())))).max())

    @property
    def holds_capacity(self) -> bool:
        """Whether nodes that take load of those that leave must have room for it."""
        return self.capacity_known and self.current is not None and bool(self.removed.any())

    def violations(self, ring: Ring) -> int:
        """Return how many arcs have two of their r + 1 holders in one zone."""
        return self.zone_cost(ring).violations

    def zone_cost(self, ring: Ring) -> ZoneCost:
        """Return how many arcs with key groups one zone alone destroys, and how many have two holders in one zone."""
        zones = np.sort(self.zone[ring.holders(self.replication)], axis=1)
        inside = (zones[:, 0] == zones[:, -1]) & (np.bincount(ring.owner(self.position), minlength=len(zones)) > 0)
        return ZoneCost(int(inside.sum()), int((zones[:, 1:] == zones[:, :-1]).any(axis=1).sum()))

    @property
    def width(self) -> int:
        """How many neighbours hold an arc: r + 1, one less where the last copy is on a node of the tier."""
        return self.replication + (0 if self.tier.any() else 1)

    @cached_property
    def risky(self) -> BoolArray:
        """Zones that can hold all copies of an arc, (Z,): any, or with a tier that of the whole tier, if it has one."""
        tier = np.unique(self.zone[self.tier])
        within = np.zeros(len(self.zones), dtype=np.bool_)
        within[tier[:1]] = True
        return within if len(tier) == 1 else np.full(len(self.zones), not len(tier))

    @cached_property
    def least_losses(self) -> int:
        """Fewest arcs that one zone destroys, of all rings of the members with one token each: 0 where a ring is safe.

        A zone of m of n nodes has n - m gaps to stand in, each of which takes width - 1 nodes that lose nothing.
        """
        sizes = np.bincount(self.zone[self.member], minlength=len(self.zones))[self.risky]
        return int(np.maximum(sizes - (len(self.member) - sizes) * (self.width - 1), 0).sum())


class ZoneCost(NamedTuple):
    """What zones cost a ring or an order, lexicographic: less is better.

    ``losses``: arcs of which one zone holds all copies. ``violations``: arcs with two of their holders in one zone.
    """

    losses: int
    violations: int


class RingStep(NamedTuple):
    """A change of the ring, and the ring after it."""

    event: Event
    ring: Ring


@dataclass(frozen=True)
class RingAnswer:
    """How the ring becomes what is planned, and what is proven beside the objective's bound."""

    #: Changes one after the other, from the ring in place; without one, the first is the ring itself, as ``re-plan``.
    #: Empty where the ring in place stays.
    steps: tuple[RingStep, ...]
    ring: Ring  # the planned ring: that of the last step, else the one in place
    #: No ring of these nodes has fewer arcs with two holders in one zone, among those of which zones destroy the fewest
    #: arcs; None where it was not asked for
    violations_bound: int | None = None
    #: No ring that is as good in violations and largest load (or meets ``target_load``) moves fewer bytes; None where
    #: there is no ring in place, or nothing is proven
    bytes_bound: float | None = None
    #: Nodes (by number) that were overloaded while no other could accept: they need another node to join
    out_of_room: tuple[int, ...] = ()
    #: No ring that may follow has fewer arcs that one zone destroys, where that is more than ``least_losses``
    losses_bound: int | None = None
