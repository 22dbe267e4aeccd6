"""What came out of a simulated ring: its changes, its records, and its nodes over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.peer_ring.ring import Ring
from ftplan.simulation.engine.clock import CONTROL, after
from ftplan.simulation.ring.audit import Audit
from ftplan.simulation.ring.setting import SimulatedRing
from ftplan.simulation.ring.world import Change, World


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

    setting: SimulatedRing
    changes: tuple[Change, ...]
    audit: Audit
    over_time: NodesOverTime
    ring: Ring
    alive: tuple[bool, ...]
    out_of_room_s: float | None
    copied_bytes: float
    replayed: float
    unfinished: float


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
