"""Mappers: they send batches of records to all who hold a position, as they know the ring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from simpy import Environment

from ftplan.model.topology import BoolArray, FloatArray
from ftplan.simulation.engine.clock import after
from ftplan.simulation.ring.peer import Batch, Marker, Part, Peer
from ftplan.simulation.ring.setting import RingSetting

#: Least time between two messages of a link: rounding must not let one overtake the other.
APART_S = 1e-9


class View:
    """Who gets which positions by one version of the ring."""

    def __init__(self, version: int, holds: BoolArray) -> None:
        self.version = version
        self._at = [(node, np.flatnonzero(row)) for node, row in enumerate(holds) if row.any()]
        self._parts: list[tuple[int, Part]] = []
        self._records: FloatArray | None = None

    def parts(self, records: FloatArray, work: FloatArray) -> list[tuple[int, Part]]:
        """Return what each node gets of a batch with these records of each position, (M,)."""
        if self._records is not records:
            self._records = records
            self._parts = [(node, Part(at, records[at], records[at] * work[at])) for node, at in self._at]
        return self._parts


@dataclass(frozen=True)
class Network:
    """Who gets messages, and for each message in turn the share of the longest delay that it takes."""

    peers: Sequence[Peer]
    shares: Iterator[float]


class Mapper:
    """Sends a batch every tick, stamped by a clock of its own.

    ``records`` tells how many of each position, (M,), a batch has that is sent now.
    """

    def __init__(
        self, env: Environment, setting: RingSetting, number: int, skew_s: float, network: Network,
        records: Callable[[int], FloatArray],
    ) -> None:  # fmt: skip
        self.env, self.setting, self.number, self.skew_s = env, setting, number, skew_s
        self.view: View | None = None
        self._records, self._network = records, network
        self._free_s = [-np.inf] * len(network.peers)
        self._tick = 0
        tick_s = setting.tick_s
        after(env, tick_s * (number + 1) / setting.mappers, self._emit)

    def learn(self, view: View) -> None:
        """Send by another view of the ring from now on, and tell every node that what was sent before is all."""
        if self.view is not None and view.version <= self.view.version:
            return
        self.view = view
        for node in range(len(self._network.peers)):
            self._deliver(node, Marker(self.number, view.version))

    def _emit(self) -> None:
        assert self.view is not None
        batch = self._tick * self.setting.mappers + self.number
        now = float(self.env.now)
        for node, part in self.view.parts(self._records(batch), self.setting.work):
            self._deliver(node, Batch(batch, now + self.skew_s, part, now))
        self._tick += 1
        if self._tick < self.setting.ticks:
            after(self.env, self.setting.tick_s, self._emit)

    def _deliver(self, node: int, what: Batch | Marker) -> None:
        now = float(self.env.now)
        there = max(now + next(self._network.shares) * self.setting.timing.delay_s, self._free_s[node] + APART_S)
        self._free_s[node] = there
        peer = self._network.peers[node]
        if isinstance(what, Batch):
            after(self.env, there - now, lambda: peer.arrive(what))
        else:
            after(self.env, there - now, lambda: peer.mark(what))
