"""A task at work: takes batches, processes them on its node, keeps and sends what it emits, takes snapshots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from simpy import Event

from tests.simulation.reference_plane.processor import Processor, WorkItem
from tests.simulation.reference_plane.streams import Barrier, InputOrder, Message, OutputBuffer, Records
from tests.simulation.reference_plane.task_state import TaskRole, TaskState


class Surroundings(Protocol):
    """What a task needs of the plane that it is in."""

    buffering: bool

    def nonce(self) -> int:
        """Return another number each time."""

    def has_room(self, task: int, batch: int) -> bool:
        """Return whether the tasks that a task feeds are far enough for it to process a batch."""

    def send(self, message: Message) -> None:
        """Send a message on its stream."""

    def finished(self, task: int, batch: int, taken: list[Records]) -> None:
        """Take note that a task has processed a batch."""

    def snapshot_work(self, task: int, batch: int) -> float | None:
        """Return the core-seconds of the snapshot that is due after so many batches; None if none is due."""

    def upload(self, task: int, state: TaskState) -> None:
        """Bring a snapshot to where it is safe."""


@dataclass
class Work:
    """Core-seconds of a batch or a snapshot, how many of them are left, and what follows."""

    core_s: float
    left_core_s: float
    then: Callable[[], None]


class Task:
    """One task; down until it is started.

    Attributes
    ----------
    state
        After the last batch processed; None while it is down.
    order
        Its input.
    taken
        The batch at work.
    buffers
        What it keeps of its output, by stream.
    stalled
        Whether it has been told to stop working.
    pace
        Share of its threads that it can use.
    life
        How often it has started, gone back or failed.
    """

    state: TaskState | None = None
    order: InputOrder

    def __init__(self, role: TaskRole, surroundings: Surroundings) -> None:
        self.role = role
        self.buffers = {stream: OutputBuffer() for stream in role.outputs}
        self.taken: list[Records] = []
        self.stalled = False
        self.pace = 1.0
        self.life = 0
        self._around = surroundings
        self._node: Processor | None = None
        self._work: Work | None = None
        self._item: WorkItem | None = None

    @property
    def batch(self) -> int:
        """Batches that it has processed, -1 while it is down."""
        return -1 if self.state is None else self.state.batch

    def begin(self, state: TaskState, order: InputOrder) -> None:
        """Go on from a state, with nothing queued; of the output that is kept, what comes after that state is not."""
        self.end()
        self.state, self.order = state, order
        for buffer in self.buffers.values():
            buffer.keep_until(state.batch)

    def end(self) -> None:
        """Lose state, queues, the batch under way."""
        self._interrupt()
        self._work, self.taken, self.state = None, [], None
        self.life += 1

    def forget_output(self) -> None:
        """Lose what it has kept of its output."""
        for buffer in self.buffers.values():
            buffer.clear()

    def move(self, node: Processor) -> None:
        """Work on another node from now on; work under way begins again."""
        self._interrupt()
        self._node = node
        if self._work is not None:
            self._work.left_core_s = self._work.core_s

    def stall(self) -> None:
        """Stop working, keep all."""
        self._interrupt()
        self.stalled = True

    def warm(self, pace: float) -> None:
        """Work at another pace from now on."""
        self._interrupt()
        self.pace = pace

    def go_on(self) -> None:
        """Begin what can be begun: go on with work that was interrupted, or take the next batch."""
        if self.state is None or self._node is None or self.stalled or self._item is not None:
            return
        if self._work is None and self._around.has_room(self.role.task, self.state.batch):
            self._take()
        if self._work is not None:
            self._item = self._node.work(self._work.left_core_s, self.pace * self.role.threads)
            self._item.callbacks.append(self._done)

    def _take(self) -> None:
        taken = self.order.take()
        if taken is not None:
            self.taken = taken
            self._plan(sum(records.size for records in taken) * self.role.record_time_s, self._finish)

    def _finish(self) -> None:
        """Process the batch taken, send what it emits with a barrier behind, and see to the snapshot that is due."""
        assert self.state is not None
        taken, self.taken = self.taken, []
        for records in self.state.process(self.role, taken, self._around.nonce):
            for message in (records, Barrier(records.stream, records.batch)):
                if self._around.buffering:
                    self.buffers[records.stream].keep(message)
                self._around.send(message)
        snapshot_core_s = self._around.snapshot_work(self.role.task, self.state.batch)
        if snapshot_core_s is not None:
            self._plan(snapshot_core_s, self._snapshot)
        self._around.finished(self.role.task, self.state.batch - 1, taken)

    def _snapshot(self) -> None:
        assert self.state is not None
        self._around.upload(self.role.task, self.state.copy())

    def _plan(self, core_s: float, then: Callable[[], None]) -> None:
        self._work = Work(core_s, core_s, then)

    def _interrupt(self) -> None:
        if self._item is not None and self._work is not None and self._node is not None:
            self._work.left_core_s = self._node.cancel(self._item)
        self._item = None

    def _done(self, event: Event) -> None:
        if event is self._item and self._work is not None:  # not one that was interrupted at this very moment
            then = self._work.then
            self._item = self._work = None
            then()
            self.go_on()
