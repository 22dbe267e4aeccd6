"""What the simulation of a peer ring is given.

Shapes: N nodes, M positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ftplan.model.topology import FloatArray
from ftplan.planners.peer_ring.problem import RingThresholds
from ftplan.planners.peer_ring.ring import Ring


class Surge(NamedTuple):
    """From when on each position gets how many times its usual records, (M,)."""

    at_s: float
    factor: FloatArray


class NodeFailure(NamedTuple):
    """Nodes, by number, that stop at one moment with all that they hold."""

    at_s: float
    nodes: tuple[int, ...]


class Leave(NamedTuple):
    """A node that leaves on notice: its clockwise neighbour takes over when all copies are made."""

    at_s: float
    node: int


@dataclass(frozen=True, slots=True)
class RingTiming:
    """How long the parts of the protocol take."""

    interval_s: float = 10.0  # t, from one checkpoint to the next
    checkpoint_s: float = 0.0  # d, to make and send an incremental one
    #: Most that a message is on the way; each takes a random part of it, none overtakes another of its link
    delay_s: float = 0.001
    latency_bound_s: float = 0.015  # l_n, what the protocol takes for the bound of delay and of clock skew
    skew_s: float = 0.0  # largest difference between the clocks of two mappers
    keep_s: float = 0.03  # backups drop what is older than T_s by more than this: 2 L_n. Less loses records.
    heartbeat_s: float | None = None  # between heartbeats, None where the checkpoint is the heartbeat
    #: ``missed``, ``grace_s``: heartbeats that a neighbour misses before it takes a node for dead, and what it waits
    #: beyond
    missed: int = 1
    grace_s: float = 0.0
    detection_s: float | None = None  # from a failure to its detection, whatever was missed; None: as heartbeats say
    fixed_s: float = 0.0  # from the decision to take over until replay begins
    bandwidth: float = 100e6  # bytes per second from one node to another, for full copies
    provision_s: float = 30.0  # until a new node is there


@dataclass(frozen=True, eq=False)
class RingSetting:
    """A ring, its load, and what happens to it."""

    nodes: tuple[str, ...]  # ids
    ring: Ring
    replication: int
    #: ``position``, ``rate``, ``work``, ``state_bytes``: (M,) ascending; records per second; load of a record; bytes of
    #: a copy
    position: FloatArray
    rate: FloatArray
    work: FloatArray
    state_bytes: FloatArray
    capacity: FloatArray  # (N,) load per second that a node can take
    replay_rate: FloatArray  # (N,) records per second that it replays
    timing: RingTiming
    failures: tuple[NodeFailure, ...] = ()
    leaves: tuple[Leave, ...] = ()
    surges: tuple[Surge, ...] = ()
    spares: tuple[int, ...] = ()  # nodes without a token, by number, that join where load asks for it, in this order
    thresholds: RingThresholds | None = None  # when nodes ask for help, each ``window_s``; None: nobody does
    window_s: float = 1.0
    #: ``mappers``, ``tick_s``: each mapper sends a batch of records every tick; a batch and a position are the least
    #: that is followed
    mappers: int = 2
    tick_s: float = 0.1
    #: ``until_s``, ``every_s``: when the input ends, and the cells of what is told over time
    until_s: float = 60.0
    every_s: float = 1.0
    seed: int = 0
    run: int = 0

    @property
    def batches(self) -> int:
        """How many batches all mappers send."""
        return self.mappers * self.ticks

    @property
    def ticks(self) -> int:
        """How many batches a mapper sends."""
        return round(self.until_s / self.tick_s)
