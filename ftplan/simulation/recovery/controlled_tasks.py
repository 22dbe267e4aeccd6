"""The tasks under a coordinator's orders: which live, where, what keeps them from working, and what they go back to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.simulation.recovery.agenda import Agenda, Kind
from ftplan.simulation.recovery.outcome import ControlEvent
from ftplan.simulation.recovery.setting import RecoverySetting

if TYPE_CHECKING:
    from ftplan.simulation.dataflow.compiled import CompiledPlane


class ControlledTasks:
    """Gives a data plane its orders, with times in seconds from the first failure, and notes them.

    A live task works unless it loads its state, waits for its replica to take over, or the job is stopped.
    """

    def __init__(self, setting: RecoverySetting, plane: CompiledPlane, agenda: Agenda) -> None:
        tasks = setting.job.tasks
        self.now_s = setting.begin_s
        #: Node of each live task, -1 while it is down, shape (tasks,)
        self.node: IntArray = setting.home.astype(np.int64)
        #: Batches that each task had processed before it failed, -1 if it never did, shape (tasks,)
        self.target: IntArray = np.full(tasks, -1, dtype=np.int64)
        #: ``again_s``, ``again_batch``: when each task that failed worked again, infinite while it does not, and from
        #: which batch on, shape (tasks,)
        self.again_s: FloatArray = np.full(tasks, np.nan)
        self.again_batch: IntArray = np.zeros(tasks, dtype=np.int64)
        self.events: list[ControlEvent] = []  # what was ordered, in the order of time
        self._plane, self._agenda, self._timing, self._begin_s = plane, agenda, setting.timing, setting.begin_s
        self._loading: BoolArray = np.zeros(tasks, dtype=bool)
        self._loads: IntArray = np.zeros(tasks, dtype=np.int64)
        #: Tasks that have failed, and whose replica is about to take over, shape (tasks,)
        self.waits_for_replica: BoolArray = np.zeros(tasks, dtype=bool)
        self._stalled: BoolArray = np.zeros(tasks, dtype=bool)
        self._job_stopped = False
        for task in range(tasks):
            plane.start(task, int(self.node[task]), 0)

    def note(self, what: str, tasks: Iterable[int] = (), node: int | None = None) -> None:
        """Note an event."""
        self.events.append(ControlEvent(self.now_s, what, tuple(tasks), node))

    def advance(self, at_s: float) -> None:
        """Let batches flow until a time."""
        self._plane.advance(at_s - self._begin_s)
        self.now_s = at_s

    def live(self) -> list[int]:
        """Return the live tasks, ascending."""
        return np.flatnonzero(self.node >= 0).tolist()

    def fail(self, tasks: Sequence[int]) -> None:
        """Let live tasks fail."""
        self._remember(tasks)
        if tasks:
            self._plane.stop(tasks)
        self.node[tasks] = -1
        self._loads[tasks] += 1
        for reason in (self._loading, self.waits_for_replica, self._stalled):
            reason[tasks] = False

    def wait_for_replica(self, tasks: Sequence[int]) -> None:
        """Let live tasks fail that have replicas: they go on as these later.

        A replica has processed all along what here waits until it takes over, a few seconds of input; and it takes as
        many cores of its node, which is not simulated while its output is off.
        """
        self._remember(tasks)
        self.waits_for_replica[tasks] = True
        self._apply()

    def take_over(self, task: int, node: int) -> None:
        """Let the replica of a task go on for it."""
        self._plane.move(task, node)
        self.node[task], self.waits_for_replica[task] = node, False
        self.again_s[task], self.again_batch[task] = self.now_s, self._plane.processed()[task]
        self.note("taken-over", (task,), node)
        self._apply()

    def stop_job(self) -> None:
        """Let all live tasks stop until they go back."""
        self._job_stopped = True
        self.note("job-stopped", self.live())
        self._apply()

    def start(self, task: int, node: int, batch: int, ready_s: float) -> None:
        """Start a task that is down; it has loaded its state and works at a time."""
        self._plane.start(task, node, batch)
        self.node[task], self.again_batch[task] = node, batch
        self.note("started", (task,), node)
        self._load(task, ready_s)

    def roll_back(self, batch: int, ready_s: dict[int, float]) -> None:
        """Let all live tasks go back, to work again at a time each; those that load already, not before they have."""
        live = self.live()
        self._job_stopped = False
        if not live:
            return
        self._plane.roll_back(live, batch)
        self.note("rolled-back", live)
        for task in live:
            if not self._loading[task]:
                self._load(task, ready_s[task])
        self._apply()

    def _remember(self, tasks: Sequence[int]) -> None:
        processed = self._plane.processed()
        self.target[tasks] = np.maximum(self.target[tasks], processed[tasks])
        self.again_s[tasks] = np.inf

    def _load(self, task: int, ready_s: float) -> None:
        self._loading[task] = ready_s > self.now_s
        self._loads[task] += 1
        if not self._loading[task]:
            self._work(task)
            return
        load = int(self._loads[task])
        self._agenda.add(ready_s, Kind.LOADED, lambda: self._loaded(task, load))
        self._apply()

    def _loaded(self, task: int, load: int) -> None:
        if load == self._loads[task]:
            self._loading[task] = False
            self._work(task)

    def _work(self, task: int) -> None:
        if self._timing.warming_s > 0.0:
            load = int(self._loads[task])
            self._plane.pace([task], self._timing.warming_pace)
            self._agenda.add(self.now_s + self._timing.warming_s, Kind.LOADED, lambda: self._warm(task, load))
        if np.isinf(self.again_s[task]) and not self.waits_for_replica[task]:
            self.again_s[task] = self.now_s
            self.note("running", (task,), int(self.node[task]))
        self._apply()

    def _warm(self, task: int, load: int) -> None:
        if load == self._loads[task]:
            self._plane.pace([task], 1.0)

    def _apply(self) -> None:
        """Stall and resume tasks as what keeps them from working has changed."""
        kept = (self._loading | self.waits_for_replica | self._job_stopped) & (self.node >= 0)
        stall, resume = np.flatnonzero(kept & ~self._stalled), np.flatnonzero(~kept & self._stalled)
        if len(stall):
            self._plane.stall(stall.tolist())
        if len(resume):
            self._plane.resume(resume.tolist())
        self._stalled = kept


def batch_of_job(setting: RecoverySetting, plane: CompiledPlane, target: IntArray) -> int:
    """Return the batches whose effects are in the states that the whole job goes back to.

    They are those of the last complete checkpoint. Where there are none and states are rebuilt from a window, they are
    those that the window leaves of what the slowest task has processed, or had (*target*) before it failed.
    """
    window_s = setting.timing.replay_window_s
    if window_s == 0.0 or np.isfinite(setting.checkpoint_s):
        return plane.complete()
    processed = plane.processed()
    least = int(np.where(processed < 0, target, processed).min())
    return max(0, least - round(window_s / setting.job.batch_s))


def all_keep_pace(setting: RecoverySetting, processed: IntArray) -> bool:
    """Return whether no task is further behind those that feed it than queues allow."""
    job = setting.job
    return bool((processed[job.sender] - processed[job.receiver] <= setting.queue_batches).all())
