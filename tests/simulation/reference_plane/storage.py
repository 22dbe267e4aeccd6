"""What survives failures: the logs that sources read, kept since the last complete checkpoint, and snapshots of tasks.

Snapshots of all tasks make a checkpoint of the whole job ([SuZhouTR], section 4.1).
"""

from __future__ import annotations

import numpy as np

from ftplan.simulation.dataflow.job import CompletedCheckpoint, FlowOptions, StreamJob
from tests.simulation.reference_plane.streams import LOG, Arrival, Message, Records
from tests.simulation.reference_plane.task_state import TaskState


class CheckpointStore:
    """Where snapshots are safe, and where it is known which of them make a checkpoint of the whole job.

    Attributes
    ----------
    complete
        Batch of the last complete checkpoint of the whole job.
    completed
        All of them, in the order of time.
    """

    def __init__(self, tasks: int, batch_s: float, options: FlowOptions) -> None:
        self.complete = 0
        self.completed: list[CompletedCheckpoint] = []
        self._coordinated = options.coordinated
        self._every = round(options.checkpoint_s / batch_s) if np.isfinite(options.checkpoint_s) else None
        self._phase = np.zeros(tasks, dtype=np.int64) if options.phase is None else options.phase
        self._safe = np.zeros(tasks, dtype=np.int64)
        self._live = np.zeros(tasks, dtype=bool)
        self._snapshots: list[dict[int, TaskState]] = [{} for _ in range(tasks)]

    def due(self, task: int, batch: int) -> bool:
        """Return whether a task takes a snapshot when it has processed *batch* batches."""
        phase = 0 if self._coordinated else int(self._phase[task])
        return self._every is not None and batch > 0 and (batch - phase) % self._every == 0

    def snapshot(self, task: int, batch: int) -> TaskState | None:
        """Return a task's safe snapshot after *batch* batches, if there is one."""
        state = self._snapshots[task].get(batch)
        return state.copy() if state else None

    def own(self, task: int) -> int:
        """Return the batch of a task's last safe checkpoint."""
        return self.complete if self._coordinated else int(self._safe[task])

    def begin(self, task: int, batch: int, at_s: float) -> bool:
        """Note that a task goes on from the state after *batch* batches; return whether a checkpoint got complete."""
        self._live[task] = True
        self._safe[task] = batch
        return self._look(at_s)

    def end(self, task: int) -> None:
        """Note that a task failed."""
        self._live[task] = False

    def forget_of_dead(self, batch: int) -> None:
        """Forget tasks' own snapshots beyond a batch where the tasks are down: others go back, and may do otherwise."""
        if self._coordinated:
            return
        for task in np.flatnonzero(~self._live).tolist():
            self._safe[task] = min(self._safe[task], batch)
            for younger in [own for own in self._snapshots[task] if own > batch]:
                del self._snapshots[task][younger]

    def add(self, task: int, state: TaskState, at_s: float) -> bool:
        """Note that a snapshot of a live task is safe; return whether a checkpoint got complete by it."""
        self._snapshots[task][state.batch] = state
        self._safe[task] = state.batch
        return self._look(at_s)

    def _look(self, at_s: float) -> bool:
        batch = int(self._safe.min())
        if self._every is None or (self._coordinated and not self._live.all()):
            return False
        if self._coordinated:
            batch -= batch % self._every
        if batch <= self.complete:
            return False
        self.complete = batch
        self.completed.append(CompletedCheckpoint(at_s, batch))
        for snapshots in self._snapshots:
            for older in [batch for batch in snapshots if batch < self.complete]:
                del snapshots[older]
        return True


class SourceLog:
    """What the logs of all sources have got, by batch.

    Attributes
    ----------
    batches
        Whole batches that the logs have got.
    kept_from
        Batch from which on they are kept.
    """

    def __init__(self, job: StreamJob, identities: bool) -> None:
        self.batches = 0
        self.kept_from = 0
        self._job = job
        self._identities = identities
        self._read = job.read(64)

    def read(self, task: int, batch: int) -> Records:
        """Return a source's records of a batch.

        Raises
        ------
        LookupError
            If the log has been trimmed beyond it.
        """
        if batch < self.kept_from:
            raise LookupError(f"the log of source {task} is kept from batch {self.kept_from} on, batch {batch} is gone")
        while len(self._read) <= batch + 1:
            self._read = self._job.read(2 * len(self._read))
        before, after = int(self._read[batch, task]), int(self._read[batch + 1, task])
        numbers = range(before + 1, after + 1)
        names = tuple((task, number) for number in numbers) if self._identities else ()
        return Records(LOG, batch, before + 1, after - before, names)


class SourceInput:
    """A source's input: an ``InputOrder`` that takes batches from the log."""

    def __init__(self, log: SourceLog, task: int, batch: int) -> None:
        self._log = log
        self._task = task
        self._batch = batch

    def put(self, message: Message) -> Arrival:
        """Refuse: nothing is sent to a source."""
        raise TypeError(f"{message} was sent to a source")

    def take(self) -> list[Records] | None:
        """Return the next batch once the log has all of it."""
        if self._batch >= self._log.batches:
            return None
        self._batch += 1
        return [self._log.read(self._task, self._batch - 1)]

    def arrived(self, stream: int) -> int:
        """Return 0: a source has no streams."""
        return 0

    def queued(self, stream: int) -> int:
        """Return 0: what waits is in the log."""
        return 0
