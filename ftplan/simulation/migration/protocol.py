"""A key group that moves, by algorithm 1 (CPA) of [Madsen2015] unless a step is another.

``old`` is o_a of the paper, ``new`` o_b, ``upstreams`` O_{i-1}; comments give the lines of the listings.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from simpy import Environment, Resource
from simpy.events import ProcessGenerator

from ftplan.simulation.engine.clock import after, data_timeout
from ftplan.simulation.engine.network import transfer
from ftplan.simulation.migration.group import GroupOutput, GroupState, NewestCheckpoint
from ftplan.simulation.migration.parts import GroupInstance, GroupMessage, Upstream
from ftplan.simulation.migration.setting import MoveSetting


class Links:
    """The links of nodes, one in and one out each; None: every transfer has a link of its own."""

    def __init__(self, env: Environment, shared: bool = True) -> None:
        self._env = env
        self._shared = shared
        self._links: dict[tuple[str, int], Resource] = {}

    def of(self, direction: str, node: int) -> list[Resource]:
        """Return the link of a node, ``out`` or ``in``, as a list to add to others."""
        if not self._shared:
            return []
        if (direction, node) not in self._links:
            self._links[direction, node] = Resource(self._env)
        return [self._links[direction, node]]


class MigrationProtocol:
    """Algorithm 1 under way: the new node turns its checkpoint into state and replays what came in since.

    Time 0 is when it is ordered. Other protocols override steps of it.
    """

    #: Whether the old node's checkpoint has all that it was sent.
    complete_checkpoint = True
    #: Whether nothing may be put out twice, even before duplicates are dropped.
    single_output = False

    def __init__(self, env: Environment, setting: MoveSetting, links: Links) -> None:
        self.env, self.setting, self.links = env, setting, links
        self.outputs: list[GroupOutput] = []  # all that was put out, by either node, in order
        #: ``withheld``: outputs that the new node kept back
        #: ``replayed``: records that were sent from buffers
        self.withheld = self.replayed = 0
        #: ``paused_s``: from when the group is not processed any more; infinite before
        #: ``level_s``: when the new node had nothing left to work off, all steps behind it; infinite before
        #: ``converted_s``: when the old node's state had become a checkpoint; infinite before
        self.paused_s = self.level_s = self.converted_s = np.inf
        self.old = GroupInstance(env, GroupState(setting.upstreams), setting.record_time_s, self._put_out)
        self.new = GroupInstance(env, None, setting.record_time_s, self._put_out)
        self.old.handle, self.new.handle, self.new.idle = self.at_old, self.at_new, self._idle
        wait_s = -setting.age_s - setting.warm_up_s - env.now
        most = setting.most_records / setting.upstreams
        self.upstreams = [
            Upstream(env, j, setting.records(j), self.old, wait_s, most) for j in range(setting.upstreams)
        ]
        #: The newest checkpoint, where migrations that it assists find it.
        self.store = NewestCheckpoint(setting.upstreams)
        #: What the old node has once it has given the group away.
        self.left_behind: GroupState | None = None
        self._replayed_from: set[int] = set()
        self._no_more_from: set[int] = set()
        env.process(self._make_checkpoints())
        after(env, -env.now, self.begin)

    def begin(self) -> None:
        """Let the controller inform the upstream instances (line 1)."""
        self._tell(self.order)

    def order(self, upstream: Upstream) -> None:
        """Carry out lines 2 to 5 of algorithm 1 at an upstream instance."""
        self._pause()
        self._send_buffer(upstream, fast=True)
        upstream.targets = (self.new,)
        upstream.send("toCheckpoint", self.old, self.setting.waiting())

    def at_old(self, message: GroupMessage) -> ProcessGenerator:
        """Carry out lines 6 and 7, or work records off."""
        if message.kind == "toCheckpoint":
            self._no_more_from.add(message.upstream)
            if len(self._no_more_from) == self.setting.upstreams:
                self.convert()
            return
        yield from self.old.work_off(message)

    def at_new(self, message: GroupMessage) -> ProcessGenerator:
        """Carry out lines 8 to 10, or work records off."""
        if message.kind == "toState" and self.new.state is None:
            yield from self.revive()
        yield from self.new.work_off(message)
        if message.kind == "toState":
            self._replayed_from.add(message.upstream)

    def convert(self) -> None:
        """Turn the old node's state into a checkpoint."""
        if self.old.state is not None:
            self.left_behind, self.old.state = self.old.state, None
            self.converted_s = self.env.now

    def revive(self) -> ProcessGenerator:
        """Turn the new node's checkpoint into state."""
        self.store.in_use = True
        if self.setting.restart_s > 0.0:
            yield data_timeout(self.env, self.setting.restart_s)
        self.new.state = self.store.checkpoint.copy()

    def kept_back(self, output: GroupOutput) -> bool:
        """Return whether the new node has to keep an output to itself."""
        return False

    @property
    def synchronised(self) -> bool:
        """Whether the new node has replayed all buffers, and has nothing more to wait for."""
        return len(self._replayed_from) == self.setting.upstreams

    def _pause(self) -> None:
        self.paused_s = min(self.paused_s, self.env.now)

    def _put_out(self, output: GroupOutput) -> None:
        if output.new and self.kept_back(output):
            self.withheld += 1
        else:
            self.outputs.append(output)

    def _idle(self) -> None:
        if self.level_s == np.inf and self.synchronised:
            self.level_s = self.env.now
            for upstream in self.upstreams:
                upstream.most = min(upstream.most, len(upstream.sent) + self.setting.tail)

    def _send_buffer(self, upstream: Upstream, *, fast: bool) -> None:
        setting, waiting = self.setting, self.setting.waiting()
        seconds = len(upstream.buffer) * setting.record_bytes / setting.bytes_s
        there = transfer(self.env, self.links.of("in", setting.target), seconds, waiting.delay_s)
        self.replayed += len(upstream.buffer)
        upstream.send("toState", self.new, waiting, fast=fast, records=tuple(upstream.buffer), there=there)

    def _make_checkpoints(self) -> ProcessGenerator:
        """Let the old node make checkpoints and store them, and the upstream instances forget what is in them."""
        yield data_timeout(self.env, -self.setting.age_s - self.env.now)
        while self.old.state is not None and not all(upstream.stopped for upstream in self.upstreams):
            self._checkpoint(self.old.state.copy())
            if not np.isfinite(self.setting.interval_s):
                return
            yield data_timeout(self.env, self.setting.interval_s)

    def _checkpoint(self, checkpoint: GroupState) -> None:
        after(self.env, self.setting.waiting().delay_s, lambda: self._stored(checkpoint))

    def _stored(self, checkpoint: GroupState) -> None:
        if self.store.store(checkpoint):
            self._tell(lambda upstream: upstream.trim(checkpoint.last))

    def _tell(self, what: Callable[[Upstream], object]) -> None:
        """Let each upstream instance do something when a message to it is there."""
        for upstream in self.upstreams:
            after(self.env, self.setting.waiting().delay_s, partial(what, upstream))

    def _send_state(self, links: list[Resource], *, written: bool = False) -> ProcessGenerator:
        """Write a state down unless it is, send it to the new node, and read it there."""
        setting = self.setting
        if not written:
            yield data_timeout(self.env, setting.state_bytes / setting.serialisation_s)
        yield transfer(self.env, links, setting.state_bytes / setting.bytes_s, setting.waiting().delay_s)
        yield data_timeout(self.env, setting.state_bytes / setting.serialisation_s)
