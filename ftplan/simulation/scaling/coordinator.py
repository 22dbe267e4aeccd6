"""Who carries out what the detector asks for, or what is ordered: prepares operators, splits them, restarts the job."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from simpy import Environment
from simpy.events import ProcessGenerator

from ftplan.simulation.engine.clock import after, data_timeout
from ftplan.simulation.scaling.detector import Detector
from ftplan.simulation.scaling.job_run import JobRun
from ftplan.simulation.scaling.operator_run import OperatorRun
from ftplan.simulation.scaling.restart import TopologyRestarts
from ftplan.simulation.scaling.setting import Ranges, ScalingSetting, SplitOrder
from ftplan.simulation.scaling.splits import StatelessSplit, Techniques


class SplitRecord(NamedTuple):
    """A split, given up or carried out, and the parallelism before and after."""

    operator: int
    technique: str | None
    tasks_from: int
    tasks_to: int
    split: StatelessSplit


class ScalingCoordinator:
    """Splits operators one way or another.

    Attributes
    ----------
    records
        Splits that have ended or were given up.
    restarts
        What restarts the whole topology instead; None: nobody does.
    """

    def __init__(self, env: Environment, job: JobRun, setting: ScalingSetting, techniques: Techniques) -> None:
        self.env, self.job, self.setting, self.techniques = env, job, setting, techniques
        self.records: list[SplitRecord] = []
        self.restarts: TopologyRestarts | None = None
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
