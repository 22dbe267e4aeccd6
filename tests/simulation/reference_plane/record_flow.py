"""Tasks and streams together: what happens to messages, batches and snapshots between the coordinator's orders."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np
from simpy import Environment
from simpy.events import ProcessGenerator

from ftplan.simulation.dataflow.job import CompletedCheckpoint, FlowOptions, Observed, StreamJob
from ftplan.simulation.engine.clock import after, data_timeout
from ftplan.simulation.engine.series import LevelSeries, SumSeries
from tests.simulation.reference_plane.storage import CheckpointStore, SourceInput, SourceLog
from tests.simulation.reference_plane.streams import LOG, InputOrder, InputOrderFactory, Message, Records, Stream
from tests.simulation.reference_plane.task import Task
from tests.simulation.reference_plane.task_state import TaskState, rebuilt_state, task_role


class RecordFlow:
    """The ``Surroundings`` of tasks: streams, sources' logs, the store of checkpoints.

    Attributes
    ----------
    tasks, streams
        By their numbers in the job.
    buffering, batch_mode
        Whether tasks keep their output, and whether records wait for their batch.
    """

    def __init__(self, job: StreamJob, options: FlowOptions, identities: bool, order: InputOrderFactory) -> None:
        self.job = job
        self.options = options
        self.env = Environment()
        self.tasks = [Task(task_role(job, task), self) for task in range(job.tasks)]
        self.streams = [Stream(self.env, options.delay_s, self._receive) for _ in range(job.streams)]
        self.checkpoints = CheckpointStore(job.tasks, job.batch_s, options)
        self.log = SourceLog(job, identities)
        self.seen = Observations(self.env, job, options.bin_s)
        self.buffering = self.batch_mode = False
        self._sender: list[int] = job.sender.tolist()
        self._receiver: list[int] = job.receiver.tolist()
        self._identities = identities
        self._order = order
        self._nonces = count()
        self.env.process(self._fill_logs())

    # What follows from orders.

    def start(self, tasks: Sequence[Task], batch: int) -> None:
        """Let tasks go on from the state after *batch* batches, and those that feed them send what they have kept.

        [SuZhouTR], algorithm 2: all live tasks and those that start first, if all go back; later those that start.
        """
        for task in tasks:
            number = task.role.task
            state = self.checkpoints.snapshot(number, batch)
            if state is None:
                state = rebuilt_state(self.job, task.role, batch, self._identities)
            task.begin(state, self._input(task, state))
            self._note_progress(task)
            if self.checkpoints.begin(number, batch, self.env.now):
                self._trim()
        for stream in (stream for task in tasks for stream in task.role.inputs):
            sender = self.tasks[self._sender[stream]]
            for message in sender.buffers[stream].since(batch) if sender.state is not None else ():
                self.send(message)
        for stream, buffer in (item for task in tasks for item in task.buffers.items()):
            receiver = self.tasks[self._receiver[stream]]
            for message in buffer.since(receiver.order.arrived(stream)) if receiver.state is not None else ():
                self.send(message)

    def stop(self, task: Task) -> None:
        """Let a live task fail."""
        self.forget_input(task)
        task.end()
        if self.options.coordinated:  # else what it has kept is on disk, as its checkpoints are
            task.forget_output()
        task.stalled, task.pace = False, 1.0
        self.checkpoints.end(task.role.task)
        self._note_progress(task)

    def forget_input(self, task: Task) -> None:
        """Lose what is queued at a task and under way to it."""
        for stream in task.role.inputs:
            self.streams[stream].cut(self.queued(stream))

    def queued(self, stream: int) -> int:
        """Return how many records of a stream wait to be processed, or are at work."""
        task = self.tasks[self._receiver[stream]]
        if task.state is None:
            return 0
        at_work = sum(records.size for records in task.taken if records.stream == stream)
        return task.order.queued(stream) + at_work

    # What tasks need: see Surroundings.

    def nonce(self) -> int:
        """Return another number each time."""
        return next(self._nonces)

    def has_room(self, task: int, batch: int) -> bool:
        """Return whether a batch is less than ``queue_batches`` ahead of all live tasks that a task feeds."""
        fed = (self.tasks[self._receiver[stream]] for stream in self.tasks[task].buffers)
        return self.buffering or all(
            receiver.state is None or batch - receiver.batch < self.options.queue_batches for receiver in fed
        )

    def send(self, message: Message) -> None:
        """Send a message on its stream; it is lost if the receiver is down."""
        stream = self.streams[message.stream]
        stream.send(message)
        if self.tasks[self._receiver[message.stream]].state is None:
            stream.cut(queued=0)

    def finished(self, task: int, batch: int, taken: list[Records]) -> None:
        """Note that a task has processed a batch; those that feed it may have room now."""
        for records in taken:
            if records.stream != LOG:
                self.streams[records.stream].processed += records.size
        if self.job.output[task]:
            self.seen.output(task, batch, sum(records.size for records in taken), self.batch_mode)
        self._note_progress(self.tasks[task])
        for stream in self.tasks[task].role.inputs:
            self.tasks[self._sender[stream]].go_on()

    def snapshot_work(self, task: int, batch: int) -> float | None:
        """Return the core-seconds of the snapshot that is due after so many batches; None if none is due."""
        return 0.0 if self.checkpoints.due(task, batch) else None

    def upload(self, task: int, state: TaskState) -> None:
        """Bring a snapshot to where it is safe, unless the task fails or goes back before that."""
        life = self.tasks[task].life

        def safe() -> None:
            if self.tasks[task].life == life and self.checkpoints.add(task, state, self.env.now):
                self._trim()

        after(self.env, 0.0, safe)

    # What happens by itself.

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
        task = self.tasks[self._receiver[message.stream]]
        arrival = task.order.put(message)
        self.streams[message.stream].arrive(arrival)
        if arrival.duplicate:
            self.seen.duplicates.add(arrival.duplicate, task.role.task)
        self.seen.received.set(task.order.arrived(message.stream), message.stream)
        task.go_on()

    def _input(self, task: Task, state: TaskState) -> InputOrder:
        if task.role.inputs:
            return self._order(state.positions, state.batch)
        return SourceInput(self.log, task.role.task, state.batch)

    def _trim(self) -> None:
        """Forget what lies before the complete checkpoint."""
        batch = self.log.kept_from = self.checkpoints.complete
        self.seen.trimmed.set(batch)
        for task in self.tasks:
            for buffer in task.buffers.values():
                buffer.trim(batch)

    def _note_progress(self, task: Task) -> None:
        """Observe how far a task is, and its streams if it has just started, gone back or failed."""
        self.seen.processed.set(task.batch, task.role.task)
        for stream in task.role.inputs:
            self.seen.received.set(task.order.arrived(stream) if task.state else -1, stream)


class Observations:
    """Series of a plane, written as things happen."""

    def __init__(self, env: Environment, job: StreamJob, bin_s: float) -> None:
        self.env = env
        self.job = job
        self.bin_s = bin_s
        self.processed = LevelSeries(env, bin_s, job.tasks, -1)
        self.received = LevelSeries(env, bin_s, job.streams, -1)
        self.trimmed = LevelSeries(env, bin_s)
        self.buffering = LevelSeries(env, bin_s)
        self.latency_s = SumSeries(env, bin_s, job.tasks)
        self.finished = SumSeries(env, bin_s, job.tasks)
        self.duplicates = SumSeries(env, bin_s, job.tasks)

    def output(self, task: int, batch: int, records: int, batch_mode: bool) -> None:
        """Note that an output task has finished the records of a batch."""
        waits_from = batch + (0.5 if batch_mode else 1.0)
        self.latency_s.add(records * (self.env.now - waits_from * self.job.batch_s), task)
        self.finished.add(records, task)

    def observed(self, completed: list[CompletedCheckpoint]) -> Observed:
        """Return all series until now."""
        return Observed(
            start_s=self.processed.start_s,
            bin_s=self.bin_s,
            processed=self.processed.ends().astype(np.int64),
            received=self.received.ends().astype(np.int64),
            trimmed=self.trimmed.ends()[:, 0].astype(np.int64),
            buffering=self.buffering.ends()[:, 0] > 0,
            latency_s=self.latency_s.sums(),
            finished=self.finished.sums(),
            duplicates=self.duplicates.sums(),
            checkpoints=list(completed),
        )
