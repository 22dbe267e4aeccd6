"""Nodes that fail, neighbours that notice, and those that take over ([Kumbhare2015], VII)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.planners.peer_ring.ring import Ring
from ftplan.simulation.engine.clock import CONTROL, after
from ftplan.simulation.ring.checkpoints import Checkpoints
from ftplan.simulation.ring.membership import Membership
from ftplan.simulation.ring.world import Change, World


class Failures:
    """Lets nodes fail and others take over.

    Each node watches the one before it on the ring. When it misses its checkpoint (or heartbeat) it asks those before
    that one whether they are alive, and takes over all whose answer does not come: their positions, and their place on
    the ring. Where it holds no sound copy of an arc, the first that does takes that arc.
    """

    def __init__(self, world: World, checkpoints: Checkpoints, members: Membership, phase_s: list[float]) -> None:
        self.world, self.checkpoints, self.members = world, checkpoints, members
        self.phase_s = phase_s
        self.expected = 0
        for failure in world.setting.failures:
            after(world.env, failure.at_s, partial(self.fail, failure.nodes), CONTROL)

    def fail(self, nodes: tuple[int, ...]) -> None:
        """Let nodes stop, and their neighbours find out."""
        world = self.world
        self.members.give_up()
        for node in nodes:
            if world.peers[node].alive:
                world.peers[node].stop()
        gone = ~(world.sound & world.alive[:, None]).any(axis=0)
        world.fails_s[gone] = np.minimum(world.fails_s[gone], world.now)
        world.again_s[gone] = -np.inf
        for watcher, node in self._watched():
            self.expected += 1
            after(world.env, max(self._missed_s(watcher, node) - world.now, 0.0), self._walks(watcher, node), CONTROL)

    def _watched(self) -> Iterator[tuple[int, int]]:
        """Yield live nodes and the dead one that stands before them, each pair once."""
        alive, node = self.world.alive, self.world.ring.node
        pairs = {(int(b), int(a)) for a, b in zip(np.roll(node, 1), node, strict=True) if alive[b] and not alive[a]}
        yield from sorted(pairs)

    def _missed_s(self, watcher: int, node: int) -> float:
        """Return when a node knows that the one before it is late."""
        timing, phase_s = self.world.setting.timing, self.phase_s[node]
        if timing.detection_s is not None:
            return self.world.now + timing.detection_s
        beat_s = timing.heartbeat_s
        if beat_s is not None:
            last_s = phase_s + np.floor((self.world.now - phase_s) / beat_s) * beat_s + timing.delay_s
            return float(last_s) + timing.missed * beat_s + timing.grace_s
        sent_s = phase_s + np.floor((self.world.now - phase_s) / timing.interval_s) * timing.interval_s
        last_s = self.checkpoints.beat_s.get((watcher, node), float(sent_s) + timing.delay_s)  # else an empty one
        return last_s + timing.missed * timing.interval_s + timing.grace_s

    def _walks(self, watcher: int, node: int) -> Callable[[], None]:
        """Ask the nodes before, one after the other, which are alive; then take over."""
        begun_s, world = self.world.now, self.world

        def walk() -> None:
            if not world.peers[watcher].alive or not self._run(watcher, node).size:
                self.expected -= 1
                return
            dead = len(set(world.ring.node[self._run(watcher, node)].tolist()))
            after(world.env, dead * 2.0 * world.setting.timing.delay_s, take_over, CONTROL)

        def take_over() -> None:
            self.expected -= 1
            if world.peers[watcher].alive:
                self._take_over(watcher, node, begun_s)

        return walk

    def _run(self, watcher: int, node: int) -> IntArray:
        """Return the tokens of dead nodes that stand right before a token of a live one, a dead *node* last of them."""
        owner, alive = self.world.ring.node, self.world.alive
        found = list[int]()
        for last in np.flatnonzero((owner == watcher) & (np.roll(owner, 1) == node)).tolist():
            at = (last - 1) % len(owner)
            while not alive[owner[at]]:
                found.append(at)
                at = (at - 1) % len(owner)
        return np.array(sorted(set(found)), dtype=np.int64)

    def _take_over(self, watcher: int, node: int, begun_s: float) -> None:
        world, run = self.world, self._run(watcher, node)
        if not run.size:
            return
        others = tuple(sorted(set(world.ring.node[run].tolist())))
        place = world.ring.owner(world.setting.position)
        ring, takers = world.ring.node.copy(), dict[int, Change]()
        for token in run.tolist():
            at = np.flatnonzero(place == token)
            ring[token] = taker = self._taker(watcher, at, token)
            if at.size:
                takers.setdefault(taker, Change("failure", taker, others, begun_s))
        changed = merged(Ring(world.ring.token, ring))
        self.members.install(changed, list(takers.values()), world.setting.timing.fixed_s)

    def _taker(self, watcher: int, at: IntArray, token: int) -> int:
        """Return the first node from the watcher on that has a sound copy of all of an arc, else the watcher."""
        world = self.world
        node = world.ring.node
        clockwise = list(dict.fromkeys(node[(token + 1 + np.arange(len(node) - 1)) % len(node)].tolist()))
        for candidate in [watcher, *clockwise]:
            peer = world.peers[candidate]
            if peer.alive and peer.holdings.sound[at].all():
                return int(candidate)
        return watcher


def merged(ring: Ring) -> Ring:
    """Return a ring without tokens that follow one of the same node: their arcs are one."""
    keep = np.roll(ring.node, 1) != ring.node
    if not keep.any():  # one node is left
        keep[0] = True
    return Ring(ring.token[keep], ring.node[keep])
