"""Asynchronous incremental checkpoints to the backups of each position, and full ones to who holds no copy yet.

[Kumbhare2015], V-C and V-D: a node swaps its fragments at once and goes on; nobody acknowledges. Two departures, both
needed so that nothing is lost. T_s is kept by position, not by node: a node that replays has applied records that are
newer than those which wait in its queue for other positions. And a checkpoint says on which one it builds: a backup
that has not got that one asks for a full copy, since its sender may have failed between two backups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.simulation.engine.clock import CONTROL, after
from ftplan.simulation.ring.copies import Counts
from ftplan.simulation.ring.world import World

#: Least time between two messages of one connection.
APART_S = 1e-9


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What an owner sends to one backup; ``at`` positions (P,)."""

    source: int
    target: int
    number: int  # of this checkpoint, higher than any before
    at: IntArray
    base: IntArray | None  # (P,) checkpoints that it builds on; None where it is full
    stamp: FloatArray  # (P,) T_s
    settled: IntArray  # (P,) version of the ring by which all that mappers sent before is in the state
    #: ``batch``, ``position``: pairs that were applied since ``base``
    batch: IntArray
    position: IntArray
    counts: Counts | None = None  # (P, batches) of a full one

    def only(self, which: BoolArray) -> Checkpoint:
        """Return what it says of some of its positions."""
        mask = np.zeros(int(self.at.max(initial=0)) + 1, dtype=np.bool_)
        mask[self.at[which]] = True
        pairs = np.isin(self.position, self.at[which]) if len(self.position) else np.zeros(0, dtype=np.bool_)
        return replace(
            self,
            at=self.at[which],
            base=None if self.base is None else self.base[which],
            stamp=self.stamp[which],
            settled=self.settled[which],
            batch=self.batch[pairs],
            position=self.position[pairs],
            counts=None if self.counts is None else self.counts[which],
        )


class Checkpoints:
    """Makes, sends and merges checkpoints of all nodes."""

    def __init__(self, world: World, phase_s: FloatArray) -> None:
        self.world = world
        self.beat_s: dict[tuple[int, int], float] = {}  # by backup and owner, when the last checkpoint arrived
        self.sounded: list[Callable[[], None]] = []  # called when a copy has become sound
        self.sent_bytes = 0.0  # of full copies that have arrived
        self._number = 0
        self._free_s: dict[tuple[int, int, bool], float] = {}
        nodes, positions = world.holds.shape
        self._under_way_s: FloatArray = np.full((nodes, positions), -np.inf)
        for node in range(nodes):
            after(world.env, float(phase_s[node]), self._periodic(node), CONTROL)

    def make(self, node: int) -> None:
        """Let a node make a checkpoint of all that it owns and has replayed, and send it.

        Before it has, a full one would take records from a backup that has got a later one of the owner before.
        """
        world, peer = self.world, self.world.peers[node]
        ready = peer.owns & ~peer.pending
        owned = np.flatnonzero(ready)
        if not owned.size:
            return
        self._number += 1
        holdings = peer.holdings
        batch, position = _pairs(peer.fragment, ready)
        settled = np.full(len(owned), int(peer.heard.min()))
        stamp, base = world.copies.latest[holdings.row[owned]], holdings.tag[owned].copy()
        whole = Checkpoint(node, -1, self._number, owned, base, stamp, settled, batch, position)
        holders = np.flatnonzero(world.holds[:, owned].any(axis=1) | world.extra[:, owned].any(axis=1))
        targets = holders[holders != node].tolist()
        for rank, target in enumerate(targets):
            self._send_all(whole, target, (rank + 1) / len(targets))
        holdings.tag[owned] = self._number
        peer.fragment = [(number, at[peer.pending[at]]) for number, at in peer.fragment if peer.pending[at].any()]

    def _send_all(self, whole: Checkpoint, target: int, share: float) -> None:
        """Send what a backup knows as a difference, and the rest as it is; what a full copy is ahead of, after it.

        It leaves when a share of the time is over that a checkpoint takes: backups get it one after the other.
        """
        world, at = self.world, whole.at
        holds = world.holds[target, at] | world.extra[target, at]
        known = holds & world.told[target, at]
        behind = known & (self._under_way_s[target, at] > world.now)
        for bulk, which in ((False, known & ~behind), (True, behind)):
            if which.any():
                self._send(_to(whole, target, which), bulk, 0.0, share)
        new = holds & ~known
        if new.any():
            copy = _to(whole, target, new)
            rows = world.peers[whole.source].holdings.row[copy.at]
            size = float(world.setting.state_bytes[copy.at][np.isinf(world.fails_s[copy.at])].sum())  # but what is lost
            counts = world.copies.applied[rows]
            full = replace(copy, base=None, batch=copy.batch[:0], position=copy.position[:0], counts=counts)
            self._under_way_s[target, copy.at] = self._send(full, True, size, share)
            world.told[target, copy.at] = True

    def _send(self, message: Checkpoint, bulk: bool, size: float, share: float) -> float:
        """Send over a connection, first in first out; return when it is there."""
        world, timing = self.world, self.world.setting.timing
        connection = (message.source, message.target, bulk)
        begins = max(world.now, self._free_s.get(connection, 0.0)) if bulk else world.now
        sent_s = begins + share * timing.checkpoint_s + size / timing.bandwidth
        there_s = max(sent_s + next(world.random) * timing.delay_s, self._free_s.get(connection, 0.0) + APART_S)
        self._free_s[connection] = there_s

        def leave() -> None:
            if world.peers[message.source].alive:
                after(world.env, there_s - world.now, arrive)

        def arrive() -> None:
            self.sent_bytes += size
            self._merge(message)

        after(world.env, sent_s - world.now, leave)
        return there_s

    def _merge(self, message: Checkpoint) -> None:
        """Bring copies up to a checkpoint, and drop records that they no longer need."""
        world, peer = self.world, self.world.peers[message.target]
        if not peer.alive:
            return
        self.beat_s[message.target, message.source] = world.now
        holdings, at = peer.holdings, message.at
        valid = (world.owner[at] == message.source) & (
            world.holds[message.target, at] | world.extra[message.target, at]
        )
        if message.base is not None:
            fits = valid & (holdings.tag[at] == message.base) & (holdings.row[at] >= 0)
            self._refuse(message, at[valid & ~fits])
            valid = fits
        if not valid.any():
            return
        message = message if valid.all() else message.only(valid)
        at = message.at
        bare = at[holdings.row[at] < 0]
        holdings.row[bare] = world.copies.take(len(bare))
        rows = holdings.row[at]
        if message.counts is not None:
            world.copies.applied[rows] = message.counts
        else:
            np.add.at(world.copies.applied, (holdings.row[message.position], message.batch), 1)
        world.copies.latest[rows] = message.stamp
        holdings.tag[at] = message.number
        bound = np.full(len(world.owner), -np.inf)
        bound[at] = message.stamp - world.setting.timing.keep_s
        peer.evict(bound)
        now_sound = ~holdings.sound[at] & (message.settled >= holdings.since[at])
        if now_sound.any():
            holdings.sound[at[now_sound]] = True
            for tell in list(self.sounded):
                tell()

    def _refuse(self, message: Checkpoint, at: IntArray) -> None:
        """Ask the owner for full copies."""
        if not at.size:
            return
        world = self.world

        def asked() -> None:
            still = at[world.owner[at] == message.source]
            world.told[message.target, still] = False

        after(world.env, next(world.random) * world.setting.timing.delay_s, asked)

    def _periodic(self, node: int) -> Callable[[], None]:
        def due() -> None:
            if self.world.peers[node].alive:
                self.make(node)
                after(self.world.env, self.world.setting.timing.interval_s, due, CONTROL)

        return due


def _to(whole: Checkpoint, target: int, which: BoolArray) -> Checkpoint:
    return replace(whole if which.all() else whole.only(which), target=target)


def _pairs(fragment: list[tuple[int, IntArray]], owns: BoolArray) -> tuple[IntArray, IntArray]:
    """Return batch and position of all that was applied, of positions that are still owned."""
    if not fragment:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    position = np.concatenate([at for _, at in fragment])
    batch = np.repeat([number for number, _ in fragment], [len(at) for _, at in fragment])
    mine = owns[position]
    return batch[mine], position[mine]
