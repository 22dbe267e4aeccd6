"""One run of a simulated ring, until the input ends and on until all of it is processed, and what came out of it.

Whether every record counts shows where the copies of the owners are compared with what mappers sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.peer_ring.ring import Ring
from ftplan.simulation.engine.clock import CONTROL, after
from ftplan.simulation.ring.balance import Balance
from ftplan.simulation.ring.checkpoints import Checkpoints
from ftplan.simulation.ring.failures import Failures
from ftplan.simulation.ring.membership import Membership
from ftplan.simulation.ring.setting import RingSetting
from ftplan.simulation.ring.world import Change, World


@dataclass(frozen=True, eq=False)
class RingOutcome:
    """What came of a run."""

    setting: RingSetting
    changes: tuple[Change, ...]
    audit: Audit
    over_time: NodesOverTime
    ring: Ring  # at the end
    alive: tuple[bool, ...]
    out_of_room_s: float | None
    copied_bytes: float
    replayed: float
    unfinished: float  # records that still waited when the run was broken off


@dataclass(frozen=True, eq=False)
class NodesOverTime:
    """Nodes in each cell of time, (cells, N): what waits and is kept at its end, and what it did in it.

    ``latency_s`` (cells,): from when records were sent until they counted, NaN where none did.
    """

    queue_records: FloatArray
    kept_records: FloatArray
    rate: FloatArray
    busy: FloatArray
    latency_s: FloatArray


class Sampler:
    """Looks at all nodes at the end of each cell of time, before what else happens then."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._levels: list[FloatArray] = []
        self._sums = [self._totals()]
        after(world.env, world.setting.every_s, self._look, CONTROL)

    def over_time(self) -> NodesOverTime:
        """Return all cells that have ended."""
        every_s = self.world.setting.every_s
        levels = np.array(self._levels).reshape(len(self._levels), 2, len(self.world.peers))
        done = np.diff(np.array(self._sums), axis=0)
        records, late_s = done[:, 0].sum(axis=1), done[:, 2].sum(axis=1)
        latency_s = np.divide(late_s, records, out=np.full(len(records), np.nan), where=records > 0.0)
        return NodesOverTime(levels[:, 0], levels[:, 1], done[:, 0] / every_s, done[:, 1] / every_s, latency_s)

    def _look(self) -> None:
        peers = self.world.peers
        self._levels.append(np.array([[p.queue_records for p in peers], [p.kept_records for p in peers]]))
        self._sums.append(self._totals())
        if self.world.now + self.world.setting.every_s <= self.world.setting.until_s * (1.0 + 1e-12):
            after(self.world.env, self.world.setting.every_s, self._look, CONTROL)

    def _totals(self) -> FloatArray:
        peers = self.world.peers
        return np.array([[p.processed for p in peers], [p.busy_s for p in peers], [p.late_s for p in peers]])


class Audit(NamedTuple):
    """What became of all records; shapes (M,) by position, in records."""

    sent: FloatArray  # by mappers
    lost: FloatArray  # counted nowhere, though a copy should have been left
    excused: FloatArray  # counted nowhere, since all who had a copy failed
    twice: FloatArray  # counted again, each further time
    unsound: BoolArray  # whether a backup, which should be able to, could not take the position over without a loss


def audited(world: World, records: FloatArray) -> Audit:
    """Return what became of all records when everything has been processed.

    *records*: (M, batches) records of each batch.
    """
    positions, batches = records.shape
    counts = np.zeros((positions, batches), dtype=np.int64)
    for node, peer in enumerate(world.peers):
        at = np.flatnonzero(peer.owns & (world.owner == node))
        counts[at] = world.copies.applied[peer.holdings.row[at]]
        for batch in peer.waiting():
            counts[batch.part.at, batch.number] += 1
    missing = np.where(counts == 0, records, 0.0)
    excused = _excused(world, batches)
    return Audit(
        sent=records.sum(axis=1),
        lost=np.where(excused, 0.0, missing).sum(axis=1),
        excused=np.where(excused, missing, 0.0).sum(axis=1),
        twice=(np.maximum(counts - 1, 0) * records).sum(axis=1),
        unsound=_unsound(world, records, excused),
    )


def _excused(world: World, batches: int) -> BoolArray:
    """Return which batches of which position may be gone: sent before records counted again."""
    never_again = np.isfinite(world.fails_s) & ~np.isfinite(world.again_s)
    again_s = np.where(never_again, np.inf, world.again_s)
    gone = np.isfinite(world.fails_s)[:, None] & (world.emitted_s[None, :batches] <= again_s[:, None])
    return np.asarray(gone)


def _unsound(world: World, records: FloatArray, excused: BoolArray) -> BoolArray:
    """Return the positions of which a copy that is called sound, and what is kept beside it, lack records."""
    wrong = np.zeros(len(records), dtype=np.bool_)
    for peer in world.peers:
        at = np.flatnonzero(peer.backs & peer.holdings.sound)
        if not peer.alive or not at.size:
            continue
        there = np.zeros(records.shape, dtype=np.bool_)
        there[at] = world.copies.applied[peer.holdings.row[at]] > 0
        for batch in peer.kept:
            there[batch.part.at, batch.number] = True
        wrong[at] |= ((records[at] > 0.0) & ~there[at] & ~excused[at]).any(axis=1)
    return wrong


#: How many times as long as the input a run takes at most, until all is processed.
LONGEST = 20.0


def run_ring(setting: RingSetting) -> RingOutcome:
    """Simulate a ring, its failures and its moves of load.

    Every batch of every position is followed through each copy. Costs O(ticks mappers nodes) events, and memory of
    positions x (replication + 1) x batches bytes.
    """
    world = World(setting)
    nodes = len(setting.nodes)
    phase_s = np.array([next(world.random) for _ in range(nodes)]) * setting.timing.interval_s
    checkpoints = Checkpoints(world, phase_s)
    members = Membership(world, checkpoints)
    failures = Failures(world, checkpoints, members, phase_s.tolist())
    balance = Balance(world, members)
    sampler = Sampler(world)
    world.env.run(until=setting.until_s * (1.0 + 1e-12) + 1e-9)
    over_time = sampler.over_time()
    _drain(world, failures)
    records = world.records()
    left = sum(batch.part.total for peer in world.peers for batch in peer.waiting())
    return RingOutcome(
        setting=setting,
        changes=tuple(world.changes),
        audit=audited(world, records),
        over_time=over_time,
        ring=world.ring,
        alive=tuple(world.alive.tolist()),
        out_of_room_s=balance.out_of_room_s,
        copied_bytes=checkpoints.sent_bytes,
        replayed=sum(peer.replayed for peer in world.peers),
        unfinished=float(left),
    )


def _drain(world: World, failures: Failures) -> None:
    """Go on until all is processed and every failure is answered."""
    setting, timing = world.setting, world.setting.timing
    step_s = max(setting.tick_s, 2.0 * timing.delay_s, timing.latency_bound_s)
    noticed_s = timing.missed * (timing.heartbeat_s or timing.interval_s) + timing.grace_s + (timing.detection_s or 0.0)
    last_s = LONGEST * (setting.until_s + noticed_s + timing.fixed_s)
    world.env.run(until=world.now + step_s)
    while world.now < last_s and not (failures.expected == 0 and all(p.idle or not p.alive for p in world.peers)):
        world.env.run(until=world.now + step_s)
