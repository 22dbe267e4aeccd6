"""Storm's way: checkpoints of the whole topology all the time, and a restart of all of it with more tasks by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from simpy import Environment
from simpy.events import ProcessGenerator

from ftplan.simulation.engine.clock import data_timeout
from ftplan.simulation.scaling.job_run import Feed
from ftplan.simulation.scaling.keyed_state import KeyedState, compose
from ftplan.simulation.scaling.operator_run import OperatorRun
from ftplan.simulation.scaling.setting import Ranges, RestartSetting, SplitSetting
from ftplan.simulation.scaling.task import ScalableTask


class Restart(NamedTuple):
    """A restart: from when to when the topology was down, the parallelism before and after of operators that changed.

    ``replayed`` are the records that the sources sent again, or for the first time after it.
    """

    began_s: float
    ended_s: float
    changed: Mapping[int, tuple[int, int]]
    replayed: float


class TopologyRestarts:
    """A barrier goes through the topology with the input, ahead of a batch; each task with state stores it then.

    A checkpoint is complete when all tasks have seen it, those without state too: then nothing before it is under way.
    After a restart the sources send again what came after the last complete one. What went out of the job since comes
    out twice; whoever gets it drops that.

    Attributes
    ----------
    complete
        Last batch of the newest complete checkpoint, -1 before the first.
    restarted
        The restarts so far.
    """

    def __init__(
        self, env: Environment, runs: Sequence[OperatorRun], feed: Feed, setting: RestartSetting, split: SplitSetting
    ) -> None:
        self.env, self.runs, self.feed, self.setting, self.split = env, runs, feed, setting, split
        self.complete = -1
        self.restarted: list[Restart] = []
        self.stopped = False
        self._barriers: dict[int, int] = {}
        self._parts: dict[int, dict[ScalableTask, KeyedState | None]] = {}
        self._stored: dict[int, KeyedState] = {
            run.number: KeyedState.empty(run.operator.key_groups) for run in self._keyed
        }
        self._watch_barriers()
        env.process(self._send_barriers())

    @property
    def down(self) -> bool:
        """Whether the topology is being restarted."""
        return self.feed.held

    @property
    def _keyed(self) -> list[OperatorRun]:
        return [run for run in self.runs if run.operator.key_groups]

    def restart(self, ranges: Callable[[OperatorRun], Ranges]) -> ProcessGenerator:
        """Stop all tasks, and start others, those of each operator with its ranges, from the last checkpoint."""
        began_s = self.env.now
        self.feed.held = True
        self._barriers.clear()
        self._parts.clear()
        after = {run.number: ranges(run) for run in self.runs}
        changed = {
            run.number: (run.parallelism, len(after[run.number]))
            for run in self.runs
            if run.parallelism != len(after[run.number])
        }
        for run in self.runs:
            run.reset(self.complete, self.feed.sent if not run.operator.inputs else self.complete)
        loads = [run.operator.bytes_of(*parts) for run in self._keyed for parts in after[run.number]]
        yield data_timeout(self.env, self.setting.restart_s + max(loads, default=0.0) / self.split.bytes_s)
        for run in self.runs:
            run.arrived = self.complete
            run.begin(after[run.number], self._stored[run.number].copy() if run.operator.key_groups else None)
        self._watch_barriers()
        self.feed.held = False
        replayed = sum(run.records_of(self.complete, self.feed.sent) for run in self.feed.sources)
        self.feed.replay(self.complete + 1)
        self.restarted.append(Restart(began_s, self.env.now, changed, replayed))

    def _watch_barriers(self) -> None:
        for run in self.runs:
            for task in run.tasks:
                task.beforehand = self._store

    def _send_barriers(self) -> ProcessGenerator:
        while not self.stopped:
            yield data_timeout(self.env, self.setting.interval_s)
            if not self.down:
                ahead_of = self.feed.sent + 1
                self._barriers[ahead_of] = self._barriers.get(ahead_of, 0) + 1

    def _store(self, task: ScalableTask, number: int) -> float:
        """Store the state of a task where a barrier is ahead of a batch; return for how long that takes."""
        checkpoints = self._barriers.get(number, 0)
        if not checkpoints:
            return 0.0
        parts = self._parts.setdefault(number, {})
        parts[task] = None if task.state is None else task.state.copy()
        if all(other in parts for run in self.runs for other in run.tasks):
            for run in self._keyed:
                self._stored[run.number] = compose([part for other in run.tasks if (part := parts[other]) is not None])
            self.complete = number - 1
            self._parts = {later: value for later, value in self._parts.items() if later > number}
            self._barriers = {later: value for later, value in self._barriers.items() if later > number}
        if task.state is None:
            return 0.0
        written_s = task.operator.bytes_of(task.first, task.last) / self.split.bytes_s
        return checkpoints * (self.setting.overhead_s + written_s)
