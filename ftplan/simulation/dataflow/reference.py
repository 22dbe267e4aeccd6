"""The flow of batches with every message sent: to be read, and the oracle of the compiled plane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count

import numpy as np
from simpy import Environment
from simpy.events import ProcessGenerator

from ftplan.model.topology import IntArray
from ftplan.simulation.dataflow.checkpoint import CheckpointStore
from ftplan.simulation.dataflow.input_order import InputOrderFactory, RepairedOrder
from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.dataflow.ledger import StreamLedger, TaskHistory
from ftplan.simulation.dataflow.message import LOG, Message, Records
from ftplan.simulation.dataflow.observations import Observations
from ftplan.simulation.dataflow.plane import FlowOptions, Observed
from ftplan.simulation.dataflow.source_log import SourceInput, SourceLog
from ftplan.simulation.dataflow.stream import Stream
from ftplan.simulation.dataflow.task import Task
from ftplan.simulation.dataflow.task_state import TaskState, rebuilt_state, task_role
from ftplan.simulation.engine.clock import after, data_timeout
from ftplan.simulation.engine.processor import Processor


class ReferencePlane:
    """A ``DataPlane`` in which every record is sent, queued, processed, dropped, one by one.

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
        self.options = options
        self.env = Environment()
        self.buffering = False
        self.tasks = [Task(task_role(job, task), self) for task in range(job.tasks)]
        self.streams = [Stream(self.env, options.delay_s, self._receive) for _ in range(job.streams)]
        self.checkpoints = CheckpointStore(job.tasks, job.batch_s, options)
        self.log = SourceLog(job, identities)
        self._identities = identities
        self._order = order
        self._watch = watch
        self._batch_mode = False
        self._nodes: list[Processor] = []
        self._nonces = count()
        self._seen = Observations(self.env, job, options.bin_s)
        self.env.process(self._fill_logs())

    # What the coordinator asks for: see DataPlane.

    @property
    def now_s(self) -> float:
        """Seconds from the begin of batch 0."""
        return float(self.env.now)

    def advance(self, until_s: float) -> None:
        """Let happen what happens before a time."""
        while self.env.peek() < until_s:
            self.env.step()
            self._look()
        if until_s > self.env.now:
            self.env.run(until=until_s)

    def add_node(self, cores: float) -> int:
        """Add a node; return its number."""
        self._nodes.append(Processor(self.env, cores))
        return len(self._nodes) - 1

    def stop(self, tasks: Sequence[int]) -> None:
        """Let tasks fail."""
        for task in self._live(tasks):
            self._forget_input(task)
            task.end()
            task.stalled = False
            self.checkpoints.end(task.role.task)
            self._note_progress(task)
        self._all_go_on()

    def stall(self, tasks: Sequence[int]) -> None:
        """Let tasks stop working and keep all that they have."""
        for task in self._live(tasks):
            task.stall()
        self._look()

    def resume(self, tasks: Sequence[int]) -> None:
        """Let stalled tasks go on."""
        for task in tasks:
            self.tasks[task].stalled = False
        self._all_go_on()

    def move(self, task: int, node: int) -> None:
        """Say where a task works from now on."""
        self.tasks[task].move(self._nodes[node])
        self._all_go_on()

    def start(self, task: int, node: int, batch: int) -> None:
        """Start a task that is down, with the state after *batch* batches."""
        self.tasks[task].move(self._nodes[node])
        self._go_on_from([self.tasks[task]], batch)

    def roll_back(self, tasks: Sequence[int], batch: int) -> None:
        """Let live tasks forget queues and buffers and go back to the state after *batch* batches."""
        live = self._live(tasks)
        for task in live:
            self._forget_input(task)
        self._go_on_from(live, batch)

    def buffer(self, on: bool) -> None:
        """Let tasks keep or forget their output."""
        self.buffering = on
        self._seen.buffering.set(float(on))
        if not on:
            for task in self.tasks:
                for buffer in task.buffers.values():
                    buffer.clear()
        self._all_go_on()

    def batch_mode(self, on: bool) -> None:
        """Say whether records wait for their batch; it counts in latencies alone."""
        self._batch_mode = on

    def complete(self) -> int:
        """Return the batch of the last complete checkpoint of the whole job."""
        return self.checkpoints.complete

    def own_checkpoint(self, task: int) -> int:
        """Return the batch of a task's last safe checkpoint."""
        return self.checkpoints.own(task)

    def processed(self) -> IntArray:
        """Return the batches that each task has processed, -1 while it is down."""
        return np.array([task.batch for task in self.tasks], dtype=np.int64)

    def observed(self) -> Observed:
        """Return what was seen until now."""
        return self._seen.observed(self.checkpoints.completed)

    # What can be checked.

    def ledger(self) -> StreamLedger:
        """Return what became of all records sent until now."""
        rows = [
            (stream.sent, stream.link.under_way, stream.lost + stream.link.lost, stream.duplicate, queued, processed)
            for stream, queued, processed in (
                (stream, self._queued(number), stream.processed) for number, stream in enumerate(self.streams)
            )
        ]
        return StreamLedger(*np.array(rows, dtype=np.int64).reshape(-1, 6).T)

    def history(self, task: int) -> TaskHistory:
        """Return what the state of a live task has come from.

        Raises
        ------
        ValueError
            If the task is down, or identities are not kept.
        """
        state = self.tasks[task].state
        if state is None or state.history is None:
            raise ValueError(f"nothing is known of what the state of task {task} has come from")
        return state.history

    # What tasks need: see Surroundings.

    def nonce(self) -> int:
        """Return another number each time."""
        return next(self._nonces)

    def has_room(self, task: int, batch: int) -> bool:
        """Return whether a batch is less than ``queue_batches`` ahead of all live tasks that a task feeds."""
        fed = (self.tasks[self.job.receiver[stream]] for stream in self.tasks[task].buffers)
        return self.buffering or all(
            receiver.state is None or batch - receiver.batch < self.options.queue_batches for receiver in fed
        )

    def send(self, message: Message) -> None:
        """Send a message on its stream; it is lost if the receiver is down."""
        stream = self.streams[message.stream]
        stream.send(message)
        if self.tasks[self.job.receiver[message.stream]].state is None:
            stream.cut(queued=0)

    def finished(self, task: int, batch: int, taken: list[Records]) -> None:
        """Note that a task has processed a batch; those that feed it may have room now."""
        for records in taken:
            if records.stream != LOG:
                self.streams[records.stream].processed += records.count
        if self.job.output[task]:
            self._seen.output(task, batch, sum(records.count for records in taken), self._batch_mode)
        self._note_progress(self.tasks[task])
        for stream in self.tasks[task].role.inputs:
            self.tasks[self.job.sender[stream]].go_on()

    def snapshot_work(self, task: int, batch: int) -> float | None:
        """Return the core-seconds of the snapshot that is due after so many batches; None if none is due."""
        if not self.checkpoints.due(task, batch):
            return None
        work = self.options.snapshot_core_s
        return 0.0 if work is None else float(work[task])

    def upload(self, task: int, state: TaskState) -> None:
        """Bring a snapshot to where it is safe, unless the task fails or goes back before that."""
        life = self.tasks[task].life

        def safe() -> None:
            if self.tasks[task].life == life and self.checkpoints.add(task, state, self.now_s):
                self._trim()

        seconds = self.options.upload_s
        after(self.env, 0.0 if seconds is None else float(seconds[task]), safe)

    # What follows from orders and events.

    def _fill_logs(self) -> ProcessGenerator:
        """Let sources' logs get batch after batch."""
        for batch in count():
            yield data_timeout(self.env, max((batch + 1) * self.job.batch_s - self.env.now, 0.0))
            self.log.batches = batch + 1
            for task in self.tasks:
                if not task.role.inputs:
                    task.go_on()

    def _receive(self, message: Message) -> None:
        """Let the receiver of a message put it in order."""
        task = self.tasks[self.job.receiver[message.stream]]
        arrival = task.order.put(message)
        self.streams[message.stream].arrive(arrival)
        self._seen.duplicates.add(arrival.duplicate, task.role.task)
        self._seen.received.set(task.order.arrived(message.stream), message.stream)
        task.go_on()

    def _go_on_from(self, tasks: Sequence[Task], batch: int) -> None:
        """Let tasks go on from the state after *batch* batches, and those that feed them send what they have kept."""
        for task in tasks:
            number = task.role.task
            state = self.checkpoints.snapshot(number, batch) or rebuilt_state(
                self.job, task.role, batch, self._identities
            )
            source = not task.role.inputs
            task.begin(state, SourceInput(self.log, number, batch) if source else self._order(state.positions, batch))
            self._note_progress(task)
            if self.checkpoints.begin(number, batch, self.now_s):
                self._trim()
        for stream in (stream for task in tasks for stream in task.role.inputs):
            for message in self.tasks[self.job.sender[stream]].buffers[stream].since(batch):
                self.send(message)
        self._all_go_on()

    def _live(self, tasks: Iterable[int]) -> list[Task]:
        return [self.tasks[task] for task in tasks if self.tasks[task].state is not None]

    def _queued(self, stream: int) -> int:
        """Return how many records of a stream wait to be processed, or are at work."""
        task = self.tasks[self.job.receiver[stream]]
        if task.state is None:
            return 0
        return task.order.queued(stream) + sum(records.count for records in task.taken if records.stream == stream)

    def _forget_input(self, task: Task) -> None:
        """Lose what is queued at a task and under way to it."""
        for stream in task.role.inputs:
            self.streams[stream].cut(self._queued(stream))

    def _trim(self) -> None:
        """Forget what lies before the complete checkpoint."""
        batch = self.log.kept_from = self.checkpoints.complete
        self._seen.trimmed.set(batch)
        for task in self.tasks:
            for buffer in task.buffers.values():
                buffer.trim(batch)

    def _note_progress(self, task: Task) -> None:
        """Observe how far a task is, and its streams if it has just started, gone back or failed."""
        self._seen.processed.set(task.batch, task.role.task)
        for stream in task.role.inputs:
            self._seen.received.set(task.order.arrived(stream) if task.state else -1, stream)

    def _all_go_on(self) -> None:
        """Let every task begin what it can begin after an order."""
        for task in self.tasks:
            task.go_on()
        self._look()

    def _look(self) -> None:
        if self._watch is not None:
            self._watch(self)
