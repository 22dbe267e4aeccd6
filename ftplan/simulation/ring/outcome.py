"""What came out of a run: changes, nodes over time, and whether every record counts.

For that the copies of the owners are held against what mappers sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.peer_ring.ring import Ring
from ftplan.simulation.engine.clock import CONTROL, after
from ftplan.simulation.ring.setting import RingSetting
from ftplan.simulation.ring.world import Change, World


@dataclass(frozen=True, eq=False)
class RingOutcome:
    """What came of a run.

    Attributes
    ----------
    ring
        At the end.
    unfinished
        Records that still waited when the run was broken off.
    """

    setting: RingSetting
    changes: tuple[Change, ...]
    audit: Audit
    over_time: NodesOverTime
    ring: Ring
    alive: tuple[bool, ...]
    out_of_room_s: float | None
    copied_bytes: float
    replayed: float
    unfinished: float


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
    """What became of all records; shapes (M,) by position, in records.

    Attributes
    ----------
    sent
        By mappers.
    lost
        Counted nowhere, though a copy should have been left.
    excused
        Counted nowhere, since all who had a copy failed.
    twice
        Counted again, each further time.
    unsound
        Whether a backup, which should be able to, could not take the position over without a loss.
    """

    sent: FloatArray
    lost: FloatArray
    excused: FloatArray
    twice: FloatArray
    unsound: BoolArray


def audited(world: World, records: FloatArray) -> Audit:
    """Return what became of all records when everything has been processed.

    Parameters
    ----------
    records
        (M, batches) records of each batch.
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
