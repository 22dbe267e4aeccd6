"""An operator as it runs: it divides its input among its tasks, and puts what comes out in order again."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from simpy import Environment

from ftplan.simulation.engine.network import Link
from ftplan.simulation.engine.series import LevelSeries
from ftplan.simulation.scaling.keyed_state import Digests, KeyedState, compose, decompose
from ftplan.simulation.scaling.setting import BatchedLoad, Ranges, SimulatedOperator
from ftplan.simulation.scaling.task import ScalableTask


class CoveredParts:
    """Which parts of a batch have been put out; others may not come again."""

    def __init__(self) -> None:
        self.covered = 0
        self._ranges: list[tuple[int, int]] = []

    def add(self, first: int, last: int) -> None:
        """Add the parts of a range that are not there yet."""
        new, begin = [], first
        for a, b in self._ranges:
            if b < begin:
                continue
            if a > last:
                break
            if a > begin:
                new.append((begin, a - 1))
            begin = b + 1
        if begin <= last:
            new.append((begin, last))
        for item in new:
            insort(self._ranges, item)
        self.covered += sum(b - a + 1 for a, b in new)


class OperatorSeries(NamedTuple):
    """What is measured of all operators: the records that each has, and the tasks that take cores."""

    queue: LevelSeries
    executors: LevelSeries


class OperatorRun:
    """An operator under way."""

    def __init__(
        self, env: Environment, number: int, operator: SimulatedOperator, load: BatchedLoad, expected: Digests,
        series: OperatorSeries,
    ) -> None:  # fmt: skip
        self.env, self.number, self.operator, self.load, self.expected = env, number, operator, load, expected
        self.series = series
        self.tasks: list[ScalableTask] = []  # whose output goes on
        self.secondary: list[ScalableTask] = []  # whose output is withheld: those of a split that has not taken over
        self.fed: list[ScalableTask] = []  # tasks that new batches go to
        self.every_task: list[ScalableTask] = []
        self.links: list[Link[int]] = []
        #: ``arrived``, ``released``: last batch that has come as a whole, and that has gone on as a whole
        self.arrived = self.released = -1
        #: ``arrived_s``, ``released_s``: when each batch came, and went on, the first time; by batch
        self.arrived_s: list[float] = []
        self.released_s: list[float] = []
        #: What happens when a batch has gone on the first time, and when a task has put something out.
        self.went_on: Callable[[int], object] = lambda number: None
        self.progressed: Callable[[], object] = lambda: None
        self._records = np.concatenate([[0.0], np.cumsum(load.seconds)]) * operator.records_s
        self._inputs = dict.fromkeys(operator.inputs, -1)
        self._open: dict[int, CoveredParts] = {}
        self._kept_back: dict[int, list[tuple[int, int]]] = {}

    @property
    def parallelism(self) -> int:
        """Tasks whose output goes on."""
        return len(self.tasks)

    def records_of(self, before: int, until: int) -> float:
        """Return the records of the batches after *before* up to *until*."""
        return float(self._records[until + 1] - self._records[before + 1])

    def spawn(self, ranges: Ranges) -> list[ScalableTask]:
        """Return new tasks, which take cores, but are neither started nor fed."""
        tasks = [
            ScalableTask(self.env, self.operator, self.load, self.expected, parts, self.put_out) for parts in ranges
        ]
        self.every_task += tasks
        self.series.executors.change(len(tasks), self.number)
        return tasks

    def begin(self, ranges: Ranges, state: KeyedState | None) -> None:
        """Let new tasks do all the work from now on, with a state; what comes next is the batch after ``arrived``."""
        self.tasks = self.spawn(ranges)
        self.fed = list(self.tasks)
        parts: Sequence[KeyedState | None] = [None] * len(ranges) if state is None else decompose(state, ranges)
        for task, part in zip(self.tasks, parts, strict=True):
            task.start(part, self.arrived)

    def stop(self, tasks: Iterable[ScalableTask]) -> None:
        """Stop tasks and free their cores."""
        for task in tasks:
            if not task.stopped:
                task.stop()
                self.series.executors.change(-1, self.number)

    def state(self) -> KeyedState | None:
        """Return a copy of the state, composed of its tasks'; None without keyed state."""
        if not self.operator.key_groups:
            return None
        return compose([task.state for task in self.tasks if task.state is not None]).copy()

    def come_from(self, source: int, number: int) -> None:
        """Take what an operator that feeds this one has released; batches go on when all inputs have them."""
        self._inputs[source] = number
        while self.arrived < min(self._inputs.values()):
            self.come(self.arrived + 1)

    def come(self, number: int) -> None:
        """Feed a batch to the tasks."""
        self.arrived = number
        if number == len(self.arrived_s):
            self.arrived_s.append(self.env.now)
        self.say()
        for task in self.fed:
            task.take(number)

    def put_out(self, task: ScalableTask, number: int, first: int, last: int) -> None:
        """Take what a task puts out: it goes on, or is kept back where another does the work still."""
        if task in self.secondary:
            self._kept_back.setdefault(number, []).append((first, last))
        else:
            self._cover(number, first, last)
        self.progressed()

    def connect(self, new: list[ScalableTask], *, keep_old: bool = False) -> None:
        """Let the output of new tasks go on instead of that of the old ones, also what was kept back of it."""
        old, self.tasks = self.tasks, new
        self.secondary = []
        self.fed = list(new)
        if not keep_old:
            self.stop(old)
        for number in sorted(self._kept_back):
            for first, last in self._kept_back[number]:
                self._cover(number, first, last)
        self._kept_back.clear()

    def give_up(self) -> None:
        """Stop the tasks whose output is withheld."""
        self.stop(self.secondary)
        self.fed = [task for task in self.fed if task not in self.secondary]
        self.secondary = []
        self.drop_withheld()

    def drop_withheld(self) -> None:
        """Forget what was kept back."""
        self._kept_back.clear()

    def reset(self, number: int, arrived: int) -> None:
        """Go back to after a batch, with nothing under way; *arrived* is the last one that is there already."""
        for link in self.links:
            link.cut()
        self.stop(self.every_task)
        self.tasks, self.secondary, self.fed = [], [], []
        self._open.clear()
        self._kept_back.clear()
        self._inputs = dict.fromkeys(self._inputs, number)
        self.released, self.arrived = number, arrived
        self.say()

    def _cover(self, number: int, first: int, last: int) -> None:
        if number > self.released:  # else it was put out again, and is dropped
            self._open.setdefault(number, CoveredParts()).add(first, last)
        while (batch := self._open.get(self.released + 1)) and batch.covered == self.operator.parts:
            self.released += 1
            del self._open[self.released]
            self._release(self.released)

    def _release(self, number: int) -> None:
        self.say()
        if number == len(self.released_s):
            self.released_s.append(self.env.now)
            self.went_on(number)
        for link in self.links:
            link.send(number)

    def say(self) -> None:
        """Tell the series how many records it has."""
        self.series.queue.set(self.records_of(self.released, self.arrived), self.number)
