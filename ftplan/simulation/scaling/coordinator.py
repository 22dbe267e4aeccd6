"""Who carries out what the detector asks for, or what is ordered: prepares operators, splits them, restarts the job.

A restart is Storm's way: checkpoints of the whole topology all the time, and more tasks for it by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from simpy import Environment
from simpy.events import ProcessGenerator

from ftplan.simulation.engine.clock import after, data_timeout
from ftplan.simulation.scaling.detector import Detector
from ftplan.simulation.scaling.job_run import Feed, JobRun
from ftplan.simulation.scaling.keyed_state import KeyedState, compose
from ftplan.simulation.scaling.operator_run import OperatorRun
from ftplan.simulation.scaling.setting import Ranges, RestartSetting, ScalingSetting, SplitOrder, SplitSetting
from ftplan.simulation.scaling.splits import StatelessSplit, Techniques
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
    """

    def __init__(
        self, env: Environment, runs: Sequence[OperatorRun], feed: Feed, setting: RestartSetting, split: SplitSetting
    ) -> None:
        self.env, self.runs, self.feed, self.setting, self.split = env, runs, feed, setting, split
        self.complete = -1  # last batch of the newest complete checkpoint, -1 before the first
        self.restarted: list[Restart] = []  # the restarts so far
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


class SplitRecord(NamedTuple):
    """A split, given up or carried out, and the parallelism before and after."""

    operator: int
    technique: str | None
    tasks_from: int
    tasks_to: int
    split: StatelessSplit


class ScalingCoordinator:
    """Splits operators one way or another."""

    def __init__(self, env: Environment, job: JobRun, setting: ScalingSetting, techniques: Techniques) -> None:
        self.env, self.job, self.setting, self.techniques = env, job, setting, techniques
        self.records: list[SplitRecord] = []  # splits that have ended or were given up
        self.restarts: TopologyRestarts | None = None  # what restarts the whole topology instead; None: nobody does
        self.detector: Detector | None = None
        self._splits: dict[int, StatelessSplit] = {}
        self._awaited: set[int] = set()
        self._closed = False
        if setting.restart is not None:
            self.restarts = TopologyRestarts(env, job.runs, job.feed, setting.restart, setting.split)
            for at_s in (at_s for at_s in setting.restart.at_s if at_s < setting.until_s):
                after(env, at_s, self._restart)
        if setting.detection is not None:
            self.detector = Detector(env, job.runs, setting.detection, None if setting.by_orders else self)
        for order in setting.orders:
            env.process(self._carry_out(order))

    def busy_with(self, operator: int) -> bool:
        """Return whether an operator is being split, so that its scores say nothing."""
        if self.restarts is not None:
            return self.restarts.down
        split = self._splits.get(operator)
        return split is not None and bool(np.isfinite(split.promoted_s))

    def prepare(self, operator: int) -> None:
        """Prepare an operator, if it is split at all and not by a restart."""
        if self._closed:
            return
        run = self.job.runs[operator]
        ranges = self.setting.ranges(operator, run.parallelism)
        if self.restarts is not None or operator in self._splits or ranges is None:
            return
        kind = self.techniques[self.setting.techniques[operator]] if run.operator.key_groups else StatelessSplit
        own = self.setting.split
        own = replace(own, interval_s=self.setting.intervals.get(operator, own.interval_s))
        split = self._splits[operator] = kind(self.env, run, ranges, own)
        split.ended = partial(self._ended, operator, run.parallelism)
        split.prepare()

    def relapse(self, operator: int) -> None:
        """Give up what was prepared."""
        self._awaited.discard(operator)
        if (split := self._splits.pop(operator, None)) is not None:
            split.relapse()
            self._record(operator, self.job.runs[operator].parallelism, split)

    def promote(self, operator: int) -> None:
        """Split an operator, prepared or not; or let the topology be restarted, as soon as somebody has come for it."""
        if self.restarts is not None:
            restart, waited_for = self.restarts.setting, bool(self._awaited)
            self._awaited.add(operator)
            if not restart.at_s and not waited_for:
                after(self.env, restart.reaction_s, self._restart)
            return
        self.prepare(operator)
        if operator in self._splits:
            self._splits[operator].promote()

    def close(self) -> None:
        """End what would go on for ever, and what has only been prepared."""
        self._closed = True
        for part in (self.detector, self.restarts):
            if part is not None:
                part.stopped = True
        for operator, split in list(self._splits.items()):
            if not np.isfinite(split.promoted_s):
                self.relapse(operator)

    def _carry_out(self, order: SplitOrder) -> ProcessGenerator:
        yield data_timeout(self.env, order.prepare_s)
        self.prepare(order.operator)
        if order.promote_s < self.setting.until_s:
            yield data_timeout(self.env, order.promote_s - order.prepare_s)
            self.promote(order.operator)

    def _ended(self, operator: int, before: int) -> None:
        self._record(operator, before, self._splits.pop(operator))
        if self.detector is not None:
            self.detector.forget(operator)

    def _record(self, operator: int, before: int, split: StatelessSplit) -> None:
        technique = self.setting.techniques[operator] if self.job.runs[operator].operator.key_groups else None
        self.records.append(SplitRecord(operator, technique, before, len(split.ranges), split))

    def _restart(self) -> None:
        self.env.process(self._restarted())

    def _restarted(self) -> ProcessGenerator:
        """Restart the topology with more tasks of the operators that are bottlenecks."""
        assert self.restarts is not None
        if self.restarts.down or self._closed:
            return
        wanted, self._awaited = {*self._awaited, *self.restarts.setting.operators}, set()

        def ranges(run: OperatorRun) -> Ranges:
            now = tuple((task.first, task.last) for task in run.tasks)
            return (self.setting.ranges(run.number, run.parallelism) or now) if run.number in wanted else now

        yield from self.restarts.restart(ranges)
        if self.detector is not None:
            for run in self.job.runs:
                self.detector.forget(run.number)
