"""Changes of the ring: who processes, keeps and sends what from then on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.peer_ring.ring import Ring
from ftplan.simulation.engine.clock import after
from ftplan.simulation.ring.checkpoints import Checkpoints
from ftplan.simulation.ring.world import Change, World


class Membership:
    """Carries changes of the ring out: at once, or when all copies are there that they need."""

    def __init__(self, world: World, checkpoints: Checkpoints) -> None:
        self.world = world
        self.reserved: Change | None = None  # the change that is being prepared; no load moves meanwhile
        self._ahead: Ring | None = None
        checkpoints.sounded.append(self._sounded)

    def install(self, ring: Ring, changes: list[Change], fixed_s: float = 0.0) -> None:
        """Let a ring hold from now on: new owners take over from the copies that they have, new backups get copies.

        *changes*: by the node that takes over; each gets what comes of it. *fixed_s*: from now until a node replays.
        """
        world = self.world
        owner, holds = world.placed(ring)
        before, was = world.owner, world.holds | world.extra
        world.version += 1
        world.ring, world.owner, world.holds, world.extra = ring, owner, holds, np.zeros_like(holds)
        self._tell_beliefs(before, was)
        for node in range(len(world.peers)):
            if world.peers[node].alive:
                self._redefine(node, before, was[node])
        for change in changes:
            change.decided_s = world.now
        world.changes += [change for change in changes if change not in world.changes]
        for node in sorted(set(owner[owner != before].tolist())):
            own = [change for change in changes if change.node == node]
            self._promote(node, np.flatnonzero((owner == node) & (before != node)), own, fixed_s)
        self._tell_mappers()
        self._restored()

    def prepare(self, ring: Ring, change: Change) -> None:
        """Let copies be made for all who will hold more, and then let the ring hold."""
        world = self.world
        _, holds = world.placed(ring)
        world.changes.append(change)
        self.reserved, self._ahead = change, ring
        world.version += 1
        world.extra = holds & ~world.holds & world.alive[:, None]
        for node in np.flatnonzero(world.extra.any(axis=1)).tolist():
            peer, at = world.peers[node], world.extra[node]
            peer.holdings.begin(at, world.version)
            peer.backs |= at
            peer.role += 1
            world.told[node, at] = False
        self._tell_mappers()
        self._sounded()

    def give_up(self) -> None:
        """Leave the ring as it is, and forget the copies that were made for another."""
        if self.reserved is None:
            return
        world = self.world
        self.reserved.given_up = True
        self.reserved = self._ahead = None
        for node in np.flatnonzero(world.extra.any(axis=1)).tolist():
            if world.peers[node].alive:
                self._drop(node, world.extra[node].copy())
        world.extra[:] = False
        world.version += 1
        self._tell_mappers()

    def _tell_beliefs(self, before: IntArray, was: BoolArray) -> None:
        """Set what owners believe that others hold: a new owner takes for granted that other backups have its copy."""
        world = self.world
        moved = world.owner != before
        demoted = np.zeros_like(was)
        demoted[before, np.arange(len(before))] = moved
        world.told = np.where(moved, was & ~demoted, world.told & was) & world.holds

    def _redefine(self, node: int, before: IntArray, was: BoolArray) -> None:
        world, peer = self.world, self.world.peers[node]
        now = world.holds[node]
        demoted = peer.owns & now & (world.owner != node)
        self._drop(node, (was & ~now) | demoted)
        for at in (demoted, now & ~was):
            peer.holdings.begin(at, world.version)
        peer.owns = now & (world.owner == node)
        peer.backs = now & ~peer.owns
        peer.role += 1

    def _drop(self, node: int, gone: BoolArray) -> None:
        """Let a node forget positions: what waits of them, what is kept, and the copies."""
        if not gone.any():
            return
        peer = self.world.peers[node]
        peer.disown(gone & peer.owns)
        peer.fragment = [(number, at[~gone[at]]) for number, at in peer.fragment]
        peer.take_kept(gone)
        peer.holdings.drop(np.flatnonzero(gone), self.world.copies)
        peer.backs &= ~gone
        peer.role += 1

    def _promote(self, node: int, at: IntArray, changes: list[Change], fixed_s: float) -> None:
        """Let a node process positions that it kept, from its last copy of them; from nothing where none is sound."""
        world, peer = self.world, self.world.peers[node]
        if not peer.alive:
            return
        holdings = peer.holdings
        lost = at[~holdings.sound[at]]
        holdings.drop(lost, world.copies)
        holdings.row[lost] = world.copies.take(len(lost))
        holdings.sound[at] = True
        world.told[:, lost] = False
        world.again_s[lost] = world.now + world.setting.timing.latency_bound_s

        def done() -> None:
            for change in changes:
                change.ready_s = world.now
                peer.caught_up.append(self._catches_up(change))

        replay = peer.replay(at, done)
        for change in changes:
            change.at, change.lost = at, lost
            change.rate = float(world.rate[at].sum())
            change.own_rate = float(world.rate[peer.owns].sum()) - change.rate
            change.replayed = sum(batch.part.total for batch in replay.batches)
        after(world.env, fixed_s, lambda: peer.begin(replay))

    def _catches_up(self, change: Change) -> Callable[[], None]:
        """Return what notes that a node processes records as they come; after the end of the input none come."""

        def caught_up() -> None:
            if self.world.now <= self.world.setting.until_s:
                change.caught_up_s = self.world.now

        return caught_up

    def _tell_mappers(self) -> None:
        """Let each mapper know who holds what now, after a time within the bound of latency."""
        world = self.world
        view = world.view()
        for mapper in world.mappers:
            wait_s = next(world.random) * world.setting.timing.latency_bound_s
            after(world.env, wait_s, partial(mapper.learn, view))

    def _sounded(self) -> None:
        """Carry out what was prepared when all copies are there, and note what is whole again."""
        world = self.world
        if self._ahead is not None and self.reserved is not None:
            ring, change = self._ahead, self.reserved
            _, holds = world.placed(ring)
            if not (holds & ~world.sound).any():
                self.reserved = self._ahead = None
                self.install(ring, [change])
        self._restored()

    def _restored(self) -> None:
        world = self.world
        waiting = [change for change in world.changes if change.decided_s is not None and change.restored_s is None]
        if waiting and not (world.holds & ~world.sound).any():
            for change in waiting:
                change.restored_s = world.now
