"""Load that moves to a neighbour, nodes that join since nobody can take more, and nodes that leave.

[Kumbhare2015], VI; who asks whom is :mod:`ftplan.planners.peer_ring.negotiation`. A node joins or leaves when all
copies are made that the ring afterwards has, not only those of what moves, so that no failure meanwhile loses anything.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.peer_ring.negotiation import Request, Watch, negotiated
from ftplan.planners.peer_ring.problem import RingThresholds
from ftplan.planners.peer_ring.ring import scaled_out, without
from ftplan.simulation.engine.clock import CONTROL, after
from ftplan.simulation.ring.membership import Membership
from ftplan.simulation.ring.setting import Leave
from ftplan.simulation.ring.world import Change, World


class Balance:
    """Looks at all nodes each window, and lets load move; lets nodes leave when they are told to."""

    def __init__(self, world: World, members: Membership) -> None:
        self.world, self.members = world, members
        #: When nobody could take more and no spare node was left; None if that never was so
        self.out_of_room_s: float | None = None
        nodes = len(world.peers)
        self._watch, self._busy_s = Watch.of(nodes), np.zeros(nodes)
        self._spares = list(world.setting.spares)
        if world.setting.thresholds is not None:
            after(world.env, world.setting.window_s, self._look(world.setting.thresholds), CONTROL)
        for leave in world.setting.leaves:
            after(world.env, leave.at_s, self._leaves(leave), CONTROL)

    def _look(self, thresholds: RingThresholds) -> Callable[[], None]:
        world = self.world

        def look() -> None:
            busy_s = np.array([peer.busy_s for peer in world.peers])
            share, self._busy_s = (busy_s - self._busy_s) / world.setting.window_s, busy_s
            ring = world.ring
            if world.now >= world.setting.until_s:
                return
            if self.members.reserved is None and ring.simple and world.alive[ring.node].all():
                self._negotiate(share, thresholds)
            after(world.env, world.setting.window_s, look, CONTROL)

        return look

    def _negotiate(self, share: FloatArray, thresholds: RingThresholds) -> None:
        world = self.world
        queue_s = np.array([peer.queue_load / peer.pace.capacity for peer in world.peers])
        requests, _, watch = negotiated(world.ring, world.setting.position, queue_s, share, thresholds, self._watch)
        if not all(self._sound(request) for request in requests):
            return  # copies are still made: they ask again
        self._watch = watch
        for request in requests:
            for (giver, taker), ring in zip(request.moves, request.rings, strict=True):
                self.members.install(ring, [Change("balance", taker, (giver,), world.now)])
        needy = [request.node for request in requests if request.outcome == "scale-out"]
        if needy:
            self._scale_out(needy[0])

    def _sound(self, request: Request) -> bool:
        """Return whether each node that is to take load has a sound copy of it."""
        world, owner = self.world, self.world.owner
        for ring in request.rings:
            then, _ = world.placed(ring)
            moved = np.flatnonzero(then != owner)
            if not world.sound[then[moved], moved].all():
                return False
            owner = then
        return True

    def _scale_out(self, node: int) -> None:
        """Let a spare join midway in a node's arc."""
        world = self.world
        ready = [spare for spare in self._spares if world.peers[spare].alive]
        if not ready:
            self.out_of_room_s = world.now if self.out_of_room_s is None else self.out_of_room_s
            return
        self._spares.remove(ready[0])
        change = Change("scale-out", ready[0], (node,), world.now)
        self.members.reserved = change

        def there() -> None:
            ring = scaled_out(world.ring, world.setting.position, node, change.node)
            if self.members.reserved is change and ring is not None:
                self.members.prepare(ring, change)
            else:
                self._spares.insert(0, change.node)

        after(world.env, world.setting.timing.provision_s, there, CONTROL)

    def _leaves(self, leave: Leave) -> Callable[[], None]:
        world = self.world

        def leaves() -> None:
            few = len(world.ring.nodes) <= world.setting.replication + 1
            if few or leave.node not in world.ring.node or not world.alive[leave.node]:
                return
            if self.members.reserved is not None or not world.alive[world.ring.node].all():
                after(world.env, world.setting.window_s, leaves, CONTROL)
                return
            gone = np.zeros(len(world.peers), dtype=np.bool_)
            gone[leave.node] = True
            ring = without(world.ring, gone)
            at = ring.owner(world.setting.position)
            takes = sorted(set(ring.node[at][world.owner == leave.node].tolist()))
            taker = int(takes[0] if takes else ring.node[0])  # who has no key group gives none
            change = Change("scale-in", taker, (leave.node,), world.now)
            self.members.prepare(ring, change)

        return leaves
