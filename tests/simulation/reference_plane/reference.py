"""The flow of batches with every message sent: to be read, and the oracle of the compiled plane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.simulation.dataflow.job import FlowOptions, Observed, StreamJob
from tests.simulation.reference_plane.processor import Processor
from tests.simulation.reference_plane.record_flow import RecordFlow
from tests.simulation.reference_plane.storage import SourceLog
from tests.simulation.reference_plane.streams import InputOrderFactory, Records, RepairedOrder
from tests.simulation.reference_plane.task import Task
from tests.simulation.reference_plane.task_state import StreamLedger, TaskHistory, rebuilt_state, task_role


class ReferencePlane:
    """A ``CompiledPlane`` in which every record is sent, queued, processed or dropped as a message.

    It follows the protocol of [SuZhouTR], section 4, with algorithm 1 repaired: streams number their records; tasks
    process batches, streams in a fixed order, and drop numbers that they have had; snapshots hold state, input
    positions and output counters.

    Parameters
    ----------
    job, options
        What runs, and how.
    identities
        Whether records have identities and tasks a :meth:`history`; costs memory and time for each record.
    order
        How tasks order their input; another one shows what breaks without the repairs.
    watch
        Called after each event and each order, for what has to hold at every moment.

    Attributes
    ----------
    flow
        Tasks, streams, logs, the store of checkpoints; to be looked at.
    """

    def __init__(
        self,
        job: StreamJob,
        options: FlowOptions,
        *,
        identities: bool = True,
        order: InputOrderFactory = RepairedOrder,
        watch: Callable[[ReferencePlane], None] | None = None,
    ) -> None:
        self.job = job
        self.flow = RecordFlow(job, options, identities, order)
        self._env = self.flow.env
        self._nodes: list[Processor] = []
        self._watch = watch

    @property
    def now_s(self) -> float:
        """Seconds from the begin of batch 0."""
        return float(self._env.now)

    @property
    def buffering(self) -> bool:
        """Whether tasks keep their output."""
        return self.flow.buffering

    def advance(self, until_s: float) -> None:
        """Let happen what happens before a time."""
        while self._env.peek() < until_s:
            self._env.step()
            self._look()
        if until_s > self._env.now:
            self._env.run(until=until_s)

    def add_node(self, cores: float) -> int:
        """Add a node; return its number."""
        self._nodes.append(Processor(self._env, cores))
        return len(self._nodes) - 1

    def pace(self, tasks: Sequence[int], factor: float) -> None:
        """Let live tasks work with at most *factor* times their threads."""
        for task in self._live(tasks):
            task.warm(factor)
        self._go_on()

    def stop(self, tasks: Sequence[int]) -> None:
        """Let tasks fail."""
        for task in self._live(tasks):
            self.flow.stop(task)
        self._go_on()

    def stall(self, tasks: Sequence[int]) -> None:
        """Let live tasks stop working and keep all that they have."""
        for task in self._live(tasks):
            task.stall()
        self._go_on()

    def resume(self, tasks: Sequence[int]) -> None:
        """Let stalled tasks go on."""
        for task in self._live(tasks):
            task.stalled = False
        self._go_on()

    def move(self, task: int, node: int) -> None:
        """Say where a task works from now on."""
        self.flow.tasks[task].move(self._nodes[node])
        self._go_on()

    def start(self, task: int, node: int, batch: int) -> None:
        """Start a task that is down, with the state after *batch* batches."""
        self.flow.tasks[task].move(self._nodes[node])
        self.flow.start([self.flow.tasks[task]], batch)
        self._go_on()

    def roll_back(self, tasks: Sequence[int], batch: int) -> None:
        """Let live tasks forget queues and buffers and go back to the state after *batch* batches.

        Where each task makes its own checkpoints, those of tasks that are down are forgotten beyond that batch.
        """
        live = self._live(tasks)
        self.flow.checkpoints.forget_of_dead(batch)
        for task in live:
            self.flow.forget_input(task)
            task.forget_output()
        self.flow.start(live, batch)
        self._go_on()

    def buffer(self, on: bool) -> None:
        """Let tasks keep or forget their output."""
        self.flow.buffering = on
        self.flow.seen.buffering.set(float(on))
        if not on:
            for task in self.flow.tasks:
                task.forget_output()
        self._go_on()

    def batch_mode(self, on: bool) -> None:
        """Say whether records wait for their batch; it counts in latencies alone."""
        self.flow.batch_mode = on

    def complete(self) -> int:
        """Return the batch of the last complete checkpoint of the whole job."""
        return self.flow.checkpoints.complete

    def own_checkpoint(self, task: int) -> int:
        """Return the batch of a task's last safe checkpoint."""
        return self.flow.checkpoints.own(task)

    def processed(self) -> IntArray:
        """Return the batches that each task has processed, -1 while it is down."""
        return np.array([task.batch for task in self.flow.tasks], dtype=np.int64)

    def observed(self) -> Observed:
        """Return what was seen until now."""
        return self.flow.seen.observed(self.flow.checkpoints.completed)

    def ledger(self) -> StreamLedger:
        """Return what became of all records sent until now; see :func:`audit`."""
        rows = [
            (
                stream.sent,
                stream.link.under_way,
                stream.lost + stream.link.lost,
                stream.duplicate,
                self.flow.queued(number),
                stream.processed,
            )
            for number, stream in enumerate(self.flow.streams)
        ]
        return StreamLedger(*np.array(rows, dtype=np.int64).reshape(-1, 6).T)

    def history(self, task: int) -> TaskHistory | None:
        """Return what the state of a task has come from; None while it is down or identities are not kept."""
        state = self.flow.tasks[task].state
        return state.history if state else None

    def kept(self) -> IntArray:
        """Return how many records the senders of streams keep in their buffers, shape (streams,)."""
        senders = self.job.sender.tolist()
        return np.array([self.flow.tasks[task].buffers[s].records for s, task in enumerate(senders)], dtype=np.int64)

    def _live(self, tasks: Iterable[int]) -> list[Task]:
        return [self.flow.tasks[task] for task in tasks if self.flow.tasks[task].state is not None]

    def _go_on(self) -> None:
        """Let every task begin what it can begin after an order."""
        for task in self.flow.tasks:
            task.go_on()
        self._look()

    def _look(self) -> None:
        if self._watch is not None:
            self._watch(self)


def audit(plane: ReferencePlane) -> list[str]:
    """Return what is wrong at this moment, a sentence each; empty if nothing is.

    - Conservation: each copy of a record that was sent is under way, queued, processed, dropped or lost.
    - Exactly-once: the state of each live task holds the records of each input stream by their numbers, without gap,
      repetition or change of order.
    - Consistency: what it holds of a batch of a stream is what the sender's state says that it has emitted. A task
      that is not deterministic breaks this when it alone goes back.
    """
    wrong = [
        f"stream {stream}: {missing} records are not accounted for"
        for stream, missing in enumerate(plane.ledger().missing())
        if missing
    ]
    for stream, (sender, receiver) in enumerate(zip(plane.job.sender, plane.job.receiver, strict=True)):
        history, origin = plane.history(int(receiver)), plane.history(int(sender))
        if history is None:
            continue
        numbers = history.numbers(stream)
        first = 1 if history.since == 0 or not numbers else numbers[0]
        if numbers != list(range(first, first + len(numbers))):
            wrong.append(f"stream {stream}: task {receiver} holds not each number once and in order")
        if origin is not None:
            wrong.extend(
                f"stream {stream}: task {receiver} holds another batch {batch} than task {sender} has emitted"
                for batch, taken, emitted in _batches_of_both(stream, history, origin)
                if taken != emitted
            )
    return wrong


def failure_free(job: StreamJob, batches: int) -> list[TaskHistory]:
    """Return the histories of all tasks after the first batches of a run without failure; no time passes in it."""
    log = SourceLog(job, identities=True)
    roles = [task_role(job, task) for task in range(job.tasks)]
    states = [rebuilt_state(job, role, 0, identities=True) for role in roles]
    nonces = count()
    histories = [state.history or TaskHistory() for state in states]
    for batch in range(batches):
        on: dict[int, Records] = {}
        for task in job.order.tolist():
            role = roles[task]
            taken = [on[stream] for stream in role.inputs if on[stream].size] or []
            if not role.inputs:
                taken = [log.read(task, batch)]
            on |= {records.stream: records for records in states[task].process(role, taken, nonces.__next__)}
    return histories


def _batches_of_both(
    stream: int, history: TaskHistory, origin: TaskHistory
) -> Iterator[tuple[int, tuple[Records, ...], tuple[Records, ...]]]:
    """Yield batches of a stream that both ends know, with the records that each holds."""
    first = max(history.since, origin.since)
    last = min(history.since + len(history.taken), origin.since + len(origin.taken))
    for batch in range(first, last):
        yield batch, history.of(stream, batch), origin.emission(stream, batch)
