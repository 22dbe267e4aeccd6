"""How key groups are moved: algorithms 1 (CPA) and 2 (CPAL) of [Madsen2015], and what is built on them.

No node fails in the midst of a migration here. CPA needs the old node no more once it is ordered. With CPAL the outputs
that the new node withheld would be needed; direct and lazy migrations whose checkpoint has not come yet, and any whose
new node fails, have to be followed by a recovery. With ``recover`` and ``fetch`` the old node is lost first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simpy import Environment
from simpy.events import ProcessGenerator

from ftplan.planners.rebalance.migration_costs import CPA, CPAL, DIRECT, FETCH, LAZY, RECOVER
from ftplan.simulation.engine.clock import after
from ftplan.simulation.migration.group import GroupOutput, GroupRecord, GroupState
from ftplan.simulation.migration.parts import GroupMessage, Upstream
from ftplan.simulation.migration.protocol import Links, MigrationProtocol
from ftplan.simulation.migration.setting import MoveSetting


class CpalMigration(MigrationProtocol):
    """Algorithm 2: the new node replays while the old one goes on; they are synchronised then."""

    single_output = True

    def __init__(self, env: Environment, setting: MoveSetting, links: Links) -> None:
        self._synchronising: set[int] = set()
        self._held: list[GroupRecord] = []
        self._said = False
        super().__init__(env, setting, links)

    def order(self, upstream: Upstream) -> None:
        """Carry out lines 2 to 4 at an upstream instance."""
        self._send_buffer(upstream, fast=False)
        upstream.targets = (self.old, self.new)

    def synchronise(self, upstream: Upstream) -> None:
        """Carry out lines 10 to 13 at an upstream instance."""
        waiting = self.setting.waiting()
        after(self.env, waiting.delay_s + waiting.queue_s, self._pause)
        upstream.send("syncGroup", self.new, waiting)
        upstream.targets = (self.new,)
        upstream.send("toCheckpoint", self.old, self.setting.waiting())

    def at_new(self, message: GroupMessage) -> ProcessGenerator:
        """Carry out lines 5 to 9 and 16 to 19, or work records off."""
        if message.kind == "syncGroup":
            self._synchronising.add(message.upstream)
            if self.synchronised:
                for record in self._held:
                    yield from self.new.process(record)
        elif message.kind == "data" and message.upstream in self._synchronising and not self.synchronised:
            self._held.extend(message.records)
        else:
            yield from super().at_new(message)
            if message.kind == "toState" and not self.setting.catch_up_first:
                self._say_replayed()

    def kept_back(self, output: GroupOutput) -> bool:
        """Return whether the old node still puts out what the new one does."""
        return not self.synchronised

    @property
    def synchronised(self) -> bool:
        """Whether there is a syncGroup message of each upstream instance."""
        return len(self._synchronising) == self.setting.upstreams

    def _idle(self) -> None:
        # the listing has the nodes synchronised right after the replay; but what came in meanwhile still waits at the
        # new node then, and all that comes later waits behind it: the pause would grow with the replay
        self._say_replayed()
        super()._idle()

    def _say_replayed(self) -> None:
        """Send processedAllReplay, a fast message, when all is replayed."""
        if len(self._replayed_from) == self.setting.upstreams and not self._said:
            self._said = True
            self._tell(self.synchronise)


class AfterTransfer(MigrationProtocol):
    """The new node gets a checkpoint from the old one; when it is stored, buffers are trimmed, and CPA follows."""

    def place(self, checkpoint: GroupState) -> ProcessGenerator:
        """Send a checkpoint to the new node, and let that acknowledge it to the upstream instances."""
        setting = self.setting
        yield from self._send_state(self.links.of("out", setting.source) + self.links.of("in", setting.target))
        self.store.store(checkpoint)
        self._tell(lambda upstream: self.stored_for(upstream, checkpoint))

    def stored_for(self, upstream: Upstream, checkpoint: GroupState) -> None:
        """Go on at an upstream instance when the checkpoint is stored."""
        upstream.trim(checkpoint.last)
        self.order(upstream)


class DirectMigration(AfterTransfer):
    """The old node stops, and makes a fresh checkpoint."""

    #: What the old node is sent after it has stopped is in the buffers.
    complete_checkpoint = False

    def begin(self) -> None:
        """Let the controller inform the old node."""
        after(self.env, self.setting.waiting().delay_s, self.stop)

    def stop(self) -> None:
        """Turn the state into a checkpoint at once, and send that."""
        self._pause()
        self.convert()
        assert self.left_behind is not None
        self.env.process(self.place(self.left_behind.copy()))


class LazyMigration(AfterTransfer):
    """The next checkpoint goes to the new node, while the old one goes on."""

    def __init__(self, env: Environment, setting: MoveSetting, links: Links) -> None:
        self._placed = False
        super().__init__(env, setting, links)

    def begin(self) -> None:
        """Wait: the controller has only told the old node where its next checkpoint goes."""

    def _checkpoint(self, checkpoint: GroupState) -> None:
        if self.env.now < 0.0:
            super()._checkpoint(checkpoint)
        elif not self._placed:
            self._placed = True
            self.env.process(self.place(checkpoint))


class RecoverAfterLoss(MigrationProtocol):
    """The old node is gone; when that is noticed, CPA without it."""

    complete_checkpoint = False

    def begin(self) -> None:
        """Lose the old node, and notice it later."""
        self._pause()
        self.old.fail()
        self.converted_s = self.env.now
        after(self.env, self.setting.detection_s, self.notice)

    def notice(self) -> None:
        """Let the controller inform the upstream instances."""
        super().begin()


class FetchAfterLoss(RecoverAfterLoss):
    """The same where the checkpoint lies on another node, which sends it first."""

    def notice(self) -> None:
        """Let the other node send the checkpoint, which no later one replaces meanwhile."""
        self.store.in_use = True
        self.env.process(self._fetch())

    def _fetch(self) -> ProcessGenerator:
        yield from self._send_state(self.links.of("in", self.setting.target), written=True)
        super().notice()


PROTOCOLS: Final[Mapping[str, type[MigrationProtocol]]] = {
    CPA: MigrationProtocol,
    CPAL: CpalMigration,
    LAZY: LazyMigration,
    DIRECT: DirectMigration,
    RECOVER: RecoverAfterLoss,
    FETCH: FetchAfterLoss,
}
