"""The parts of a migration: upstream instances with their output buffers, and the group's instance on a node."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

from simpy import Environment, Event
from simpy.events import ProcessGenerator

from ftplan.simulation.engine.clock import DataEvent, data_timeout
from ftplan.simulation.engine.network import FifoChannel
from ftplan.simulation.migration.group import GroupOutput, GroupRecord, GroupState
from ftplan.simulation.migration.setting import MessageTiming, RecordTiming

MessageKind = Literal["data", "toState", "toCheckpoint", "syncGroup"]


class GroupMessage(NamedTuple):
    """A message of an upstream instance to a node: fast ones do not wait in the input queue."""

    kind: MessageKind
    upstream: int
    records: tuple[GroupRecord, ...] = ()
    fast: bool = False
    queue_s: float = 0.0


class GroupInstance:
    """The operator's instance on a node, as far as one key group goes: its input queue, its state, its output."""

    def __init__(
        self, env: Environment, state: GroupState | None, record_time_s: float, emit: Callable[[GroupOutput], object]
    ) -> None:
        self.env = env
        self.state = state  # none where the group is not at home
        self.record_time_s = record_time_s
        self.emit = emit  # takes what is put out
        self.new = state is None
        #: What a message sets off; a generator, since working takes time
        self.handle: Callable[[GroupMessage], ProcessGenerator] = self.work_off
        self.idle: Callable[[], object] = lambda: None
        #: Records that were not the next of their upstream instance when they were applied
        self.disorder: list[GroupRecord] = []
        #: ``duplicates``, ``dropped``: records that came again, and that came while the group was not here
        self.duplicates = self.dropped = self.applied = 0
        self.down = False
        self._fast: deque[GroupMessage] = deque()
        self._normal: deque[GroupMessage] = deque()
        self._input_queue = FifoChannel[GroupMessage](self._ready)
        self._asleep: Event | None = None
        env.process(self._serve())

    def receive(self, message: GroupMessage) -> None:
        """Take a message that has come over the network."""
        if message.fast:
            self._fast.append(message)
            self._wake()
        else:
            self._input_queue.send(message, data_timeout(self.env, message.queue_s))

    def work_off(self, message: GroupMessage) -> ProcessGenerator:
        """Work off the records of a message."""
        for record in message.records:
            yield from self.process(record)

    def process(self, record: GroupRecord) -> ProcessGenerator:
        """Apply a record to the state, unless it has been, and put its output out."""
        if self.state is None:
            self.dropped += 1
            return
        if self.state.covers(record):
            self.duplicates += 1
            return
        yield data_timeout(self.env, self.record_time_s)
        if self.state is None:  # the group has left meanwhile
            self.dropped += 1
            return
        if not self.state.follows(record):
            self.disorder.append(record)
        self.applied += 1
        self.emit(GroupOutput(record, self.state.apply(record), self.env.now, self.new))

    def fail(self) -> None:
        """Lose everything, for good."""
        self.down = True
        self.state = None
        self._fast.clear()
        self._normal.clear()

    def _ready(self, message: GroupMessage) -> None:
        self._normal.append(message)
        self._wake()

    def _wake(self) -> None:
        if self._asleep is not None:
            asleep, self._asleep = self._asleep, None
            asleep.succeed()

    def _serve(self) -> ProcessGenerator:
        """Handle one message after another, fast ones first."""
        while True:
            while not self.down and (self._fast or self._normal):
                yield from self.handle((self._fast or self._normal).popleft())
            self.idle()
            self._asleep = DataEvent(self.env)
            yield self._asleep


class Upstream:
    """An upstream instance: sends the group's records where they are to go, and keeps them until they are safe."""

    def __init__(
        self,
        env: Environment,
        number: int,
        records: Iterator[RecordTiming],
        target: GroupInstance,
        wait_s: float,
        most: float,
    ) -> None:
        self.env = env
        self.number = number
        self.buffer: deque[GroupRecord] = deque()  # records that no stored checkpoint has
        self.targets: tuple[GroupInstance, ...] = (target,)  # where new records go
        self.sent: list[GroupRecord] = []  # all records so far
        #: By receiver, the number of the last record that it was sent as new
        self.sent_to: dict[GroupInstance, int] = {}
        self.most = most  # records after which there are no more
        self.stopped = False  # whether there are no more
        self._records = records
        self._wait_s = wait_s
        self._channels: dict[GroupInstance, FifoChannel[GroupMessage]] = {}
        env.process(self._make_records())

    def send(
        self, kind: MessageKind, to: GroupInstance, waiting: MessageTiming, *, fast: bool = False,
        records: Sequence[GroupRecord] = (), there: Event | None = None,
    ) -> None:  # fmt: skip
        """Send a message of the protocol; *there* says when it arrives, if not after its delay."""
        message = GroupMessage(kind, self.number, tuple(records), fast, waiting.queue_s)
        self._channel(to).send(message, there or data_timeout(self.env, waiting.delay_s))

    def trim(self, covered: Sequence[int]) -> None:
        """Forget the records that a stored checkpoint has."""
        while self.buffer and self.buffer[0].number <= covered[self.number]:
            self.buffer.popleft()

    def _make_records(self) -> ProcessGenerator:
        for timing in takewhile(lambda _: len(self.sent) < self.most, self._records):
            yield data_timeout(self.env, timing.gap_s + (0.0 if self.sent else self._wait_s))
            self._make(timing)
        self.stopped = True

    def _make(self, timing: RecordTiming) -> None:
        record = GroupRecord(self.number, len(self.sent), self.env.now, timing.delay_s, timing.queue_s)
        self.sent.append(record)
        self.buffer.append(record)
        for to in self.targets:
            self.sent_to[to] = record.number
            message = GroupMessage("data", self.number, (record,), False, record.queue_s)
            self._channel(to).send(message, data_timeout(self.env, record.delay_s))

    def _channel(self, to: GroupInstance) -> FifoChannel[GroupMessage]:
        if to not in self._channels:
            self._channels[to] = FifoChannel(to.receive)
        return self._channels[to]
