"""A node of the ring: records that it processes, and those that it keeps for others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from simpy import Environment

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.simulation.engine.clock import after
from ftplan.simulation.ring.copies import Copies, Holdings


class Part:
    """Some positions of a batch: their numbers, records and work, all (P,), and the sums."""

    __slots__ = ("at", "load", "records", "total", "work")

    def __init__(self, at: IntArray, records: FloatArray, work: FloatArray) -> None:
        self.at, self.records, self.work = at, records, work
        self.total, self.load = float(records.sum()), float(work.sum())

    def only(self, which: BoolArray) -> Part:
        """Return the positions for which a mask (P,) says so."""
        return Part(self.at[which], self.records[which], self.work[which])


class Batch(NamedTuple):
    """Records that a mapper sent at one moment; ``number`` is that of the batch, not of the mapper."""

    number: int
    stamp: float
    part: Part
    sent_s: float


class Marker(NamedTuple):
    """A mapper has sent by a version of the ring since: all that it sent by earlier ones came before this."""

    mapper: int
    version: int


class Replay:
    """Records that a node processes again since it took positions over: before all others, in order of their stamps."""

    def __init__(self, at: IntArray, batches: deque[Batch], done: Callable[[], None]) -> None:
        self.at, self.batches, self.done = at, batches, done
        self.begun = False


class Split(NamedTuple):
    """Who a node is for the positions of a part: owner, owner that still replays what came before, backup."""

    role: int
    own: Part | None
    held: Part | None
    kept: Part | None


class PeerPace(NamedTuple):
    """How fast a node is: load, and replayed records, per second; and for how long what has just come is fresh."""

    capacity: float
    replay_rate: float
    fresh_s: float


class Peer:
    """A node."""

    def __init__(self, env: Environment, positions: int, mappers: int, copies: Copies, pace: PeerPace) -> None:
        self.env, self.copies, self.pace = env, copies, pace
        self.alive = True
        self.holdings = Holdings(positions)
        #: ``owns``, ``backs``: (M,) positions that it processes, and those whose records it keeps
        self.owns: BoolArray = np.zeros(positions, dtype=np.bool_)
        self.backs: BoolArray = np.zeros(positions, dtype=np.bool_)
        #: (M,) positions that it owns and for which it has not yet replayed what it kept
        self.pending: BoolArray = np.zeros(positions, dtype=np.bool_)
        self.fragment: list[tuple[int, IntArray]] = []  # batch and positions that it applied since its last checkpoint
        #: (mappers,) latest version of the ring by which all is processed that a mapper sent before
        self.heard: IntArray = np.full(mappers, -1, dtype=np.int64)
        self.role = 0  # raised by whoever changes ``owns``, ``backs`` or ``pending``
        #: Called once when it processes what has just come, and then forgotten
        self.caught_up: list[Callable[[], None]] = []
        self.queue_records = self.queue_load = self.kept_records = 0.0
        self.processed = self.late_s = self.replayed = 0.0
        self._queue: deque[Batch | Marker] = deque()
        self._held: deque[Batch | Marker] = deque()
        self.kept: list[Batch] = []
        self._replays: deque[Replay] = deque()
        self._busy_s, self._since_s = 0.0, 0.0
        self._at_work: Batch | None = None
        self._splits: dict[Part, Split] = {}

    @property
    def busy(self) -> bool:
        """Whether it is at work."""
        return self._at_work is not None

    @property
    def busy_s(self) -> float:
        """Seconds at work until now."""
        return self._busy_s + (float(self.env.now) - self._since_s if self.busy else 0.0)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.busy or self._queue or self._held or self._replays or self.pending.any())

    def stop(self) -> None:
        """Fail: all that it holds is gone."""
        self._busy_s, self._at_work = self.busy_s, None
        self.alive = False
        self.owns[:] = self.backs[:] = self.pending[:] = False
        self.holdings.drop(np.arange(len(self.owns)), self.copies)
        for waiting in (self._queue, self._held, self._replays, self.kept, self.fragment, self.caught_up):
            waiting.clear()
        self.queue_records = self.queue_load = self.kept_records = 0.0
        self.role += 1

    def arrive(self, batch: Batch) -> None:
        """Process a batch, or keep it, each position by who the node is for it; others' are dropped."""
        if not self.alive:
            return
        split = self._split(batch.part)
        if split.kept is not None:
            self.kept.append(batch._replace(part=split.kept))
            self.kept_records += split.kept.total
        if split.held is not None:
            self._held.append(batch._replace(part=split.held))
            self._waits(split.held, 1.0)
        if split.own is not None:
            self._queue.append(batch._replace(part=split.own))
            self._waits(split.own, 1.0)
            self.serve()

    def mark(self, marker: Marker) -> None:
        """Remember, once all is processed that came before, that a mapper sends by another version of the ring."""
        if self.alive:
            (self._held if self.pending.any() else self._queue).append(marker)
            self.serve()

    def replay(self, at: IntArray, done: Callable[[], None]) -> Replay:
        """Take what is kept of some positions, to be processed again once :meth:`begin` says so."""
        mask = np.zeros(len(self.owns), dtype=np.bool_)
        mask[at] = True
        self.pending |= mask
        self.role += 1
        taken = self.take_kept(mask)
        taken.sort(key=lambda batch: (batch.stamp, batch.number))
        return Replay(at, deque(taken), done)

    def begin(self, replay: Replay) -> None:
        """Process what was taken, before all else."""
        if self.alive:
            self._replays.append(replay)
            self.serve()

    def take_kept(self, mask: BoolArray) -> list[Batch]:
        """Return what is kept of some positions, (M,), in order of arrival, and keep it no longer."""
        return self._sift(lambda batch: mask[batch.part.at])

    def evict(self, bound: FloatArray) -> None:
        """Drop what is kept and older than a bound by position, (M,); -inf keeps all."""
        latest = float(bound.max(initial=-np.inf))
        self._sift(lambda batch: None if batch.stamp >= latest else batch.stamp < bound[batch.part.at])

    def serve(self) -> None:
        """Begin with what comes next, unless the node is at work."""
        while self.alive and not self.busy:
            if self._replays:
                self._serve_replay()
            elif self._queue:
                self._serve_queue()
            else:
                self._tell_caught_up()
                return

    def _serve_replay(self) -> None:
        replay = self._replays[0]
        replay.begun = True
        if not replay.batches:
            self._replays.popleft()
            self.pending[replay.at] = False
            self.role += 1
            self._release()
            replay.done()
            return
        batch = replay.batches.popleft()
        mine = self.owns[batch.part.at]
        part = batch.part if mine.all() else batch.part.only(mine)
        self.replayed += part.total
        self._work(part.total / self.pace.replay_rate, batch._replace(part=part))

    def _serve_queue(self) -> None:
        item = self._queue.popleft()
        if isinstance(item, Marker):
            self.heard[item.mapper] = max(int(self.heard[item.mapper]), item.version)
            return
        self._waits(item.part, -1.0)
        if float(self.env.now) - item.sent_s <= self.pace.fresh_s:
            self._tell_caught_up()
        self._work(item.part.load / self.pace.capacity, item)

    def _work(self, seconds: float, batch: Batch) -> None:
        self._at_work, self._since_s = batch, float(self.env.now)
        after(self.env, seconds, lambda: self._done(batch))

    def _done(self, batch: Batch) -> None:
        if not self.alive:
            return
        self._busy_s, self._at_work = self.busy_s, None
        mine = self.owns[batch.part.at]
        part = batch.part if mine.all() else batch.part.only(mine)
        if len(part.at):
            self.copies.apply(self.holdings.row[part.at], batch.number, batch.stamp)
            self.fragment.append((batch.number, part.at))
            self.processed += part.total
            self.late_s += part.total * (float(self.env.now) - batch.sent_s)
        self.serve()

    def _split(self, part: Part) -> Split:
        known = self._splits.get(part)
        if known is None or known.role != self.role:
            if len(self._splits) > 16:  # of views that are gone
                self._splits.clear()
            own, backs, pending = self.owns[part.at], self.backs[part.at], self.pending[part.at]
            known = Split(self.role, *(_some(part, mask) for mask in (own & ~pending, own & pending, backs)))
            self._splits[part] = known
        return known

    def _release(self) -> None:
        """Put what waited for a replay into the queue, in its order, but for what waits for another replay."""
        waiting, self._held = self._held, deque()
        for item in waiting:
            if isinstance(item, Marker):
                (self._held if self.pending.any() else self._queue).append(item)
                continue
            later = self.pending[item.part.at]
            if later.any():
                self._held.append(item._replace(part=item.part.only(later)))
            if not later.all():
                self._queue.append(item._replace(part=item.part.only(~later)))

    def disown(self, mask: BoolArray) -> None:
        """Forget what waits of positions, (M,), that another node owns now."""
        for waiting in (self._queue, self._held):
            for _ in range(len(waiting)):
                item = waiting.popleft()
                if isinstance(item, Batch):
                    gone = mask[item.part.at]
                    if gone.any():
                        self._waits(item.part, -1.0)
                        item = item._replace(part=item.part.only(~gone))
                        self._waits(item.part, 1.0)
                    if not len(item.part.at):
                        continue
                waiting.append(item)
        self.pending &= ~mask
        self.role += 1

    def _sift(self, goes: Callable[[Batch], BoolArray | None]) -> list[Batch]:
        """Take out what is kept where a mask over the positions of a batch says so; return it."""
        stay, taken = [], []
        for batch in self.kept:
            mask = goes(batch)
            if mask is None or not mask.any():
                stay.append(batch)
                continue
            out = batch.part if mask.all() else batch.part.only(mask)
            self.kept_records -= out.total
            taken.append(batch._replace(part=out))
            if not mask.all():
                stay.append(batch._replace(part=batch.part.only(~mask)))
        self.kept = stay
        if not stay:
            self.kept_records = 0.0
        return taken

    def _waits(self, part: Part, sign: float) -> None:
        self.queue_records += sign * part.total
        self.queue_load += sign * part.load

    def waiting(self) -> Iterator[Batch]:
        """Yield what it owns and has not processed, what it is at work on too."""
        if self._at_work is not None:
            yield self._at_work._replace(part=self._at_work.part.only(self.owns[self._at_work.part.at]))
        for item in (*self._queue, *self._held, *(batch for replay in self._replays for batch in replay.batches)):
            if isinstance(item, Batch):
                yield item

    def _tell_caught_up(self) -> None:
        if self.caught_up and not self.pending.any():
            told, self.caught_up = self.caught_up, []
            for tell in told:
                tell()


def _some(part: Part, mask: BoolArray) -> Part | None:
    if mask.all() and len(mask):
        return part
    return part.only(mask) if mask.any() else None
