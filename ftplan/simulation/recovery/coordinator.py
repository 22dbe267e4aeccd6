"""The coordinator of a recovery: what fails, when it is noticed, what goes back, and what starts where and when."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ftplan.model.topology import BoolArray, IntArray
from ftplan.simulation.recovery.agenda import Agenda, Kind, PendingStarts
from ftplan.simulation.recovery.controlled_tasks import ControlledTasks, all_keep_pace, batch_of_job
from ftplan.simulation.recovery.hosts import Hosts, busy_cores
from ftplan.simulation.recovery.setting import NodeFailure, RecoverySetting, RecoveryStart

if TYPE_CHECKING:
    from ftplan.simulation.dataflow.compiled import CompiledPlane

#: How often it is looked for a complete checkpoint, in intervals between checkpoints.
LOOKS = 0.05


class Coordinator:
    """Recovers a job on a data plane, after [SuZhouTR], section 4.4, and as other systems do (:class:`Mode`).

    It keeps all that it knows where it survives, and starts again on the first node that is there; so that it fails
    with its node matters only when no node is left: then nothing is noticed before the next arrives (section 6).
    """

    def __init__(self, setting: RecoverySetting, plane: CompiledPlane) -> None:
        job = setting.job
        self.setting, self.mode, self.timing, self.plane = setting, setting.mode, setting.timing, plane
        self.agenda, self.hosts, self.starts = Agenda(), Hosts(setting), PendingStarts(setting)
        for node in setting.nodes:
            plane.add_node(node.cores)
        self.tasks = ControlledTasks(setting, plane, self.agenda)
        self.last_node = setting.home.astype(np.int64)
        self.known: BoolArray = np.zeros(job.tasks, dtype=bool)  # down, and detected
        self.replica: IntArray = np.full(job.tasks, -1) if setting.replica is None else setting.replica.astype(np.int64)
        self.busy = busy_cores(job)
        self.incremental = False
        self.lost_nodes = self.checkpoint = 0  # nodes lost since this checkpoint
        self.whole_from = 0  # batch that was read first after no task was down any more
        self.watches = False  # whether it looks for the next complete checkpoint
        plane.buffer(self.mode.buffers == "always")
        plane.batch_mode(self.mode.batches == "always")
        self._plan()

    def _plan(self) -> None:
        setting = self.setting
        for failure in setting.failures:
            self.agenda.add(failure.at_s, Kind.FAILURE, partial(self._fail, failure))
        for number, node in enumerate(setting.nodes):
            if node.from_s > setting.begin_s:
                self.agenda.add(node.from_s, Kind.ARRIVAL, partial(self._arrive, number))
        for start in setting.starts if self.mode.waits != "nothing" else ():
            at_s = max(start.at_s, setting.nodes[start.node].from_s)
            self.agenda.add(at_s, Kind.START, partial(self._start_of_schedule, start))

    @property
    def together(self) -> bool:
        """Whether tasks start together with the rollback of the whole job, as output is not kept."""
        return self.mode.rolls_back == "always" or (self.mode.rolls_back == "once" and not self.incremental)

    @property
    def forced(self) -> bool:
        """Whether each failure takes the whole job back, as a task might not do the same again.

        Tasks with checkpoints of their own have none in common: they go back to the oldest and build their states.
        """
        return not self.mode.logs_order and not bool(self.setting.job.deterministic.all())

    def recover(self) -> None:
        """Let everything happen until the end."""
        while (at_s := self.agenda.next_s()) < self.setting.until_s:
            self.tasks.advance(at_s)
            while self.agenda.next_s() == at_s:
                self.agenda.take()()
            self._start_placed()
            self._watch()
        self.tasks.advance(self.setting.until_s)

    # Failures

    def _fail(self, failure: NodeFailure) -> None:
        """Take nodes and tasks down; replicas that live are about to take over."""
        lost = self.hosts.fail(failure.nodes)
        self._count(len(lost))
        for start in self.starts.leave(lost):
            self.tasks.note("skipped", (start.task,), start.node)
        self.replica[~self.hosts.there[self.replica]] = -1
        where = self._where()
        struck = np.isin(where, lost) | (self.tasks.waits_for_replica & (self.replica < 0))
        struck[failure.tasks] |= where[failure.tasks] >= 0
        for node in lost:
            self.tasks.note("failure", np.flatnonzero(where == node).tolist(), node)
        if (alone := struck & ~np.isin(where, lost)).any():
            self.tasks.note("failure", np.flatnonzero(alone).tolist())
        self._stall(np.flatnonzero(struck & (self.replica >= 0)).tolist())
        self._take_down(np.flatnonzero(struck & (self.replica < 0)).tolist())

    def _count(self, lost: int) -> None:
        """Count the nodes that were lost since the last complete checkpoint."""
        if self.plane.complete() != self.checkpoint:
            self.lost_nodes, self.checkpoint = 0, self.plane.complete()
        self.lost_nodes += lost

    def _where(self) -> IntArray:
        """Return the node where each task works or loads its state, -1 where none does."""
        where = np.where(self.tasks.waits_for_replica, -1, self.tasks.node)
        for task in self.starts.loaded_s:
            where[task] = self.starts.placed[task].node
        return where

    def _stall(self, tasks: list[int]) -> None:
        if tasks:
            self.tasks.wait_for_replica(tasks)
            self.tasks.note("stalled", tasks)
            at_s = self.tasks.now_s + self.timing.detection_s + self.timing.takeover_s
            self.agenda.add(at_s, Kind.TAKEOVER, partial(self._take_over, tasks))

    def _take_over(self, tasks: list[int]) -> None:
        for task in tasks:
            if self.tasks.waits_for_replica[task]:
                self.tasks.take_over(task, int(self.replica[task]))
                self.last_node[task], self.replica[task] = self.replica[task], -1

    def _take_down(self, tasks: list[int]) -> None:
        if not tasks:
            return
        now = self.tasks.now_s
        self.tasks.fail([task for task in tasks if self.tasks.node[task] >= 0])
        for task in tasks:
            self.starts.remove(task)
        self.known[tasks] = False
        self.agenda.add(now + self.timing.detection_s, Kind.DETECTION, partial(self._detect, tasks))

    def _detect(self, tasks: list[int]) -> None:
        """Learn of failed tasks; none of them starts before."""
        if not self.hosts.there.any():
            again_s = self.hosts.next_arrival_s()
            if np.isfinite(again_s):
                self.agenda.add(again_s, Kind.DETECTION, partial(self._detect, tasks))
            return
        self.known[tasks] = True
        self.tasks.note("detected", tasks)
        if self.mode.stops == "all":
            self.tasks.stop_job()
        many = self.lost_nodes >= self.timing.correlated_failures
        if self.mode.rolls_back == "once" and not self.incremental and many:
            self._keep_output(True)
            self._roll_back(self._batch())
        elif self.forced and not self.together:
            self._roll_back(self._batch())
        for start in self.starts.take_early():
            self.agenda.add(self.tasks.now_s, Kind.START, partial(self._start_of_schedule, start))
        if self.mode.waits == "nothing":
            self._place_at_once()

    def _keep_output(self, on: bool) -> None:
        self.incremental = on
        self.plane.buffer(on)
        self.plane.batch_mode(on)
        self.tasks.note("buffers-on" if on else "buffers-off")

    # Starts

    def _arrive(self, node: int) -> None:
        self.hosts.arrive(node)
        self.tasks.note("node-arrived", node=node)
        if self.mode.waits == "nothing":
            self._place_at_once()

    def _start_of_schedule(self, start: RecoveryStart) -> None:
        """Place a task where the schedule starts it, if it is down and the node lives."""
        task = start.task
        down = self.tasks.node[task] < 0 and task not in self.starts.placed
        if down and not self.known[task]:
            self.starts.early.append(start)
            return
        self.starts.passed(task)
        if down and self.hosts.there[start.node]:
            self.starts.place(start)
        else:
            self.tasks.note("skipped", (task,), start.node)

    def _place_at_once(self) -> None:
        """Place failed tasks on the nodes that are there, each on the one with the least work for its cores."""
        failed = [task for task in np.flatnonzero(self.known).tolist() if task not in self.starts.placed]
        for task, node in self.hosts.emptiest(failed, self.tasks.node, self.busy).items():
            self.starts.place(RecoveryStart(self.tasks.now_s, task, node))

    def _start_placed(self) -> None:
        """Start the tasks that have a place, together once all that is to come has come, or each for itself."""
        starts = self.starts
        if not self.together:
            for task in list(starts.placed):
                loaded_s = starts.loaded_s[task] if task in starts.loaded_s else self._loaded_at(task)
                self._start(task, loaded_s, self._batch())
            return
        placed = starts.not_ordered()
        waits = self.mode.waits == "last-step" or self.mode.rolls_back == "once"
        if not placed or (waits and starts.comes(np.flatnonzero(self.known).tolist())):
            return
        for task in placed:
            starts.loaded_s[task] = self._loaded_at(task)
        self.agenda.add(self.tasks.now_s, Kind.REPLAY, self._replay)

    def _loaded_at(self, task: int) -> float:
        """Order to load a task's state where it is placed; return when it is there."""
        start, size = self.starts.placed[task], float(self.setting.job.state_bytes[task])
        here = self.mode.fetches == "moved" and start.node == self.last_node[task]
        size = 0.0 if here or self.mode.fetches == "none" else max(0.0, size - start.local_bytes)
        return self.hosts.restore(start.node, self.tasks.now_s + self.timing.restart_s, size)

    def _start(self, task: int, loaded_s: float, batch: int) -> None:
        start = self.starts.remove(task)
        assert start is not None
        if not self.mode.coordinated and not self.forced:
            batch = self.plane.own_checkpoint(task)
        self.known[task], self.last_node[task] = False, start.node
        self.whole_from = int(np.ceil((self.tasks.now_s - self.setting.begin_s) / self.setting.job.batch_s - 1e-9))
        self.tasks.start(task, start.node, batch, loaded_s)

    # Rollback

    def _batch(self) -> int:
        return batch_of_job(self.setting, self.plane, self.tasks.target)

    def _roll_back(self, batch: int) -> None:
        """Let all live tasks go back to the last complete checkpoint."""
        begins = self.tasks.now_s + self.timing.restart_s
        size = self.setting.job.state_bytes if self.mode.fetches == "all" else np.zeros(self.setting.job.tasks)
        ready = {
            task: self.hosts.restore(int(self.tasks.node[task]), begins, float(size[task]))
            for task in self.tasks.live()
        }
        self.tasks.roll_back(batch, ready)

    def _replay(self) -> None:
        """Let the whole job go back and the sources replay: live tasks, and those that have loaded or still load."""
        if self.starts.loaded_s:
            batch = self._batch()
            self._roll_back(batch)
            for task, loaded_s in list(self.starts.loaded_s.items()):
                self._start(task, loaded_s, batch)

    def _watch(self) -> None:
        """Look now and then whether a checkpoint is complete, once all tasks that failed have started."""
        if self.incremental and not self.watches and not self.known.any() and np.isfinite(self.setting.checkpoint_s):
            self.watches = True
            later_s = max(self.setting.job.batch_s, LOOKS * self.setting.checkpoint_s)
            self.agenda.add(self.tasks.now_s + later_s, Kind.LOOK, self._look)

    def _look(self) -> None:
        """End the recovery when a checkpoint is complete whose punctuation was made after no task was down any more.

        A departure from [SuZhouTR], section 4.2.2: also, no task may be further behind than queues allow. One that came
        late still catches up by then. Without what is kept for it, those that feed it would have to wait for it, and
        all queries that they feed with them.
        """
        self.watches = False
        whole = self.incremental and not self.known.any() and self.plane.complete() >= self.whole_from
        if whole and all_keep_pace(self.setting, self.plane.processed()):
            self._keep_output(False)
