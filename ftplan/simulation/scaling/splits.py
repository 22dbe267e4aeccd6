"""How an operator is split: algorithms 2 and 3 of [Mudassar2019], and with checkpoints that lie where tasks go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import numpy as np
from simpy import Environment
from simpy.events import ProcessGenerator

from ftplan.simulation.engine.clock import after, data_timeout
from ftplan.simulation.scaling.keyed_state import KeyedState, compose, decompose
from ftplan.simulation.scaling.operator_run import OperatorRun
from ftplan.simulation.scaling.setting import Ranges, SplitSetting, Technique
from ftplan.simulation.scaling.task import ScalableTask


class StatelessSplit:
    """New tasks are started with nothing, and get the input from then on; the old ones work off what they have."""

    def __init__(self, env: Environment, run: OperatorRun, ranges: Ranges, setting: SplitSetting) -> None:
        self.env, self.run, self.ranges, self.setting = env, run, ranges, setting
        #: ``prepared_s``, ``promoted_s``, ``ended_s``: when it was prepared, when it was to take over, and when it had;
        #: inf before
        self.prepared_s = self.promoted_s = self.ended_s = np.inf
        self.replayed = 0.0  # records that new tasks got from the upstream buffer, or from the queues of the old ones
        self.given_up = False
        self.ended: Callable[[], object] = lambda: None
        self.new: list[ScalableTask] = []
        self.late = False

    def prepare(self) -> None:
        """Begin when the alarming threshold is crossed: nodes for the new tasks are set up."""
        self.prepared_s = self.env.now

    def relapse(self) -> None:
        """Give up, as the load has fallen below the alarming threshold."""
        self.given_up = True
        self.run.progressed = lambda: None

    def promote(self) -> None:
        """Take over when the promotion threshold is crossed."""
        self.promoted_s = self.env.now
        self.late = self.env.now < self.prepared_s + self.setting.setup_s
        self.env.process(self.take_over())

    def take_over(self) -> ProcessGenerator:
        """Let new tasks take over as soon as they can."""
        yield from self.set_up()
        self.new = self.run.spawn(self.ranges)
        old, arrived = self.run.tasks, self.run.arrived
        for task in self.new:
            task.start(None, arrived)
        self.run.connect(self.new, keep_old=True)
        self._watch(lambda: all(task.done >= arrived for task in old), lambda: self._end(old))

    def set_up(self) -> ProcessGenerator:
        """Wait until the nodes of the new tasks are set up."""
        left_s = self.prepared_s + self.setting.setup_s - self.env.now
        if left_s > 0.0:
            yield data_timeout(self.env, left_s)

    def _watch(self, ready: Callable[[], bool], then: Callable[[], object]) -> None:
        """Do something when something is so: now, or after a task has put something out."""

        def look() -> None:
            if ready():
                self.run.progressed = lambda: None
                after(self.env, self.setting.delay_s, then)

        self.run.progressed = look
        look()

    def _end(self, old: list[ScalableTask]) -> None:
        self.run.stop(old)
        self.ended_s = self.env.now
        self.ended()


class StatefulSplit(StatelessSplit):
    """What the techniques for keyed state have in common: new tasks load it, and replay what it does not have."""

    #: Whether the old tasks get the input as well until the new ones take over.
    fed_both = True

    def load(self, state: KeyedState) -> None:
        """Let the new tasks fetch their parts of a state, and process what has come since.

        Lines 15 to 19 and 22 to 29 of algorithm 2, 12 to 16 and 20 to 34 of algorithm 3.
        """
        run = self.run
        run.secondary = self.new
        run.fed = [*run.tasks, *self.new] if self.fed_both else list(self.new)
        self.replay(state)
        for task, part in zip(self.new, decompose(state, self.ranges), strict=True):
            after(self.env, self.bytes_of(task) / self.setting.bytes_s, partial(self._start, task, part))

    def bytes_of(self, task: ScalableTask) -> float:
        """Return the bytes that a new task has to fetch."""
        return self.run.operator.bytes_of(task.first, task.last)

    def replay(self, state: KeyedState) -> None:
        """Send the new tasks what has come and is not in a state."""
        first = int(state.number.min()) + 1
        self.replayed = self.run.records_of(first - 1, self.run.arrived)
        for task in self.new:
            for number in range(first, self.run.arrived + 1):
                task.take(number)

    def agree(self) -> bool:
        """Return whether the new tasks have done all that the old ones have."""
        if any(task.state is None for task in self.new):
            return False
        ours = compose([task.state for task in self.new if task.state is not None])
        theirs = self.run.state()
        return theirs is None or bool((ours.number >= theirs.number).all())

    def switch(self) -> None:
        """Let the output of the new tasks go on, and stop the old ones."""
        self.run.connect(self.new)
        self._end([])

    def _start(self, task: ScalableTask, part: KeyedState) -> None:
        if not self.given_up:
            task.start(part)
            self.run.progressed()


class ActiveBackup(StatefulSplit):
    """Algorithm 2: from the alarm on a secondary runs beside the operator, and its output is withheld."""

    def prepare(self) -> None:
        """Start the secondary, copy the state to it, and send it all that comes then (lines 1 to 29)."""
        super().prepare()
        self.new = self.run.spawn(self.ranges)
        self.run.secondary = self.new
        self.env.process(self._begin())

    def relapse(self) -> None:
        """Stop the secondary."""
        super().relapse()
        self.run.give_up()

    def take_over(self) -> ProcessGenerator:
        """Connect the secondary's output as soon as it has done all that the operator has."""
        yield from self.set_up()
        self._watch(self.agree, self.switch)

    def _begin(self) -> ProcessGenerator:
        yield from self.set_up()
        if not self.given_up:
            state = self.run.state()
            assert state is not None
            self.load(state)


class CheckpointSplit(StatefulSplit):
    """Algorithm 3: from the alarm on checkpoints are made, from which new tasks begin when the operator is promoted.

    The text leaves open whether the old tasks get the input that comes from then on. Lines 27 to 34 split it for the
    new tasks: so these alone get it, and the old ones work off what they have, until outputs agree.
    """

    fed_both = False

    def __init__(self, env: Environment, run: OperatorRun, ranges: Ranges, setting: SplitSetting) -> None:
        super().__init__(env, run, ranges, setting)
        self.stored: KeyedState | None = None

    def prepare(self) -> None:
        """Begin to make checkpoints (lines 1 and 2)."""
        super().prepare()
        self.env.process(self._checkpoints())

    def take_over(self) -> ProcessGenerator:
        """Split the newest checkpoint, replay what came since, and stop the old tasks when outputs agree."""
        yield from self.set_up()
        while self.stored is None:
            yield data_timeout(self.env, self.setting.delay_s or 0.001)
        self.new = self.run.spawn(self.ranges)
        self.load(self.stored)
        self._watch(self.agree, self.switch)

    def _checkpoints(self) -> ProcessGenerator:
        while not self.given_up and not self.new:
            state = self.run.state()
            assert state is not None
            largest = max(self.run.operator.bytes_of(task.first, task.last) for task in self.run.tasks)
            yield data_timeout(self.env, largest / self.setting.bytes_s)
            if not self.new:
                self.stored = state
            yield data_timeout(self.env, max(self.setting.interval_s - largest / self.setting.bytes_s, 0.001))


class AssistedSplit(CheckpointSplit):
    """New tasks turn checkpoints on their nodes into state, and fetch what is not there; the old ones go on meanwhile.

    Ours, after CPAL of [Madsen2015]: neither a pause for the replay nor a secondary from the alarm on.
    """

    fed_both = True

    def bytes_of(self, task: ScalableTask) -> float:
        """Return the bytes of the key groups that have no checkpoint on the node of a new task."""
        missing = self.run.operator.missing
        return super().bytes_of(task) if missing is None else float(missing[task.first : task.last + 1].sum())


Techniques = Mapping[Technique, type[StatefulSplit]]

TECHNIQUES: Final[Techniques] = {
    "active-backup": ActiveBackup,
    "checkpoint": CheckpointSplit,
    "assisted": AssistedSplit,
}
