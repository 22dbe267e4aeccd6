"""Who looks at the tasks: scores in every window, states, and what is done about them [Mudassar2019, algorithm 1]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from simpy import Environment
from simpy.events import ProcessGenerator

from ftplan.model.topology import FloatArray
from ftplan.planners.scale_out.problem import State
from ftplan.simulation.engine.clock import data_timeout
from ftplan.simulation.scaling.operator_run import OperatorRun
from ftplan.simulation.scaling.setting import Detection
from ftplan.simulation.scaling.task import ScalableTask


class Responder(Protocol):
    """Who acts on states."""

    def busy_with(self, operator: int) -> bool:
        """Return whether an operator is being split, so that its scores say nothing."""

    def prepare(self, operator: int) -> None:
        """Act on normal -> prepared."""

    def relapse(self, operator: int) -> None:
        """Act on prepared -> normal."""

    def promote(self, operator: int) -> None:
        """Act on -> promoted."""


class StateChange(NamedTuple):
    """An operator's state after a window."""

    at_s: float
    operator: int
    state: State


class Detector:
    """Scores the operators that may be split, window by window; without a responder nobody acts on it."""

    def __init__(
        self, env: Environment, runs: Sequence[OperatorRun], detection: Detection, responder: Responder | None
    ) -> None:
        self.env, self.runs, self.detection, self.responder = env, runs, detection, responder
        self.scores: list[FloatArray] = []  # of each window that has ended, (operators,) each; nan while nothing runs
        self.changes: list[StateChange] = []  # changes of states
        self.state: list[State] = ["normal"] * len(runs)
        self.stopped = False
        self._history: list[list[float]] = [[] for _ in runs]
        self._rests_until_s = [-np.inf] * len(runs)
        self._busy_s: dict[ScalableTask, float] = {}
        env.process(self._look())

    def forget(self, operator: int) -> None:
        """Begin anew with an operator that has been split: it is normal at its new parallelism."""
        self._history[operator] = []
        self._rests_until_s[operator] = self.env.now + self.detection.rest_s
        self._busy_s = {task: task.busy_s for run in self.runs for task in run.tasks}
        self._change(operator, "normal")

    def _look(self) -> ProcessGenerator:
        while not self.stopped:
            yield data_timeout(self.env, self.detection.window_s)
            if self.stopped:
                return
            scores = np.full(len(self.runs), np.nan)
            for number, run in enumerate(self.runs):
                if run.operator.scales and run.tasks:
                    scores[number] = self._score(run)
            self.scores.append(scores)
            self._busy_s = {task: task.busy_s for run in self.runs for task in run.tasks}
            for number, score in enumerate(scores.tolist()):
                if score == score and not self._rests(number):
                    self._history[number].append(score)
                    self._act(number, self.detection.state(self._history[number]))

    def _rests(self, number: int) -> bool:
        """Return whether the scores of an operator say nothing at present."""
        split = self.responder is not None and self.responder.busy_with(number)
        return split or self.env.now < self._rests_until_s[number]

    def _score(self, run: OperatorRun) -> float:
        """Return the score of the worst task in the window that ends now.

        Data size is what a task got or had in the window, over what it takes in one: ours, as the paper leaves it open.
        """
        window_s, inputs = self.detection.window_s, np.full((len(run.tasks), 3), np.nan)
        for row, task in zip(inputs, run.tasks, strict=True):
            busy_s = task.busy_s - self._busy_s.get(task, 0.0)
            row[0] = 100.0 * busy_s / window_s
            if np.isfinite(run.operator.task_memory):
                row[1] = 100.0 * run.operator.bytes_of(task.first, task.last) / run.operator.task_memory
            row[2] = 100.0 * (busy_s + task.waiting_s) / window_s
        return float(self.detection.scores(np.clip(inputs, 0.0, 100.0)).max())

    def _act(self, number: int, state: State) -> None:
        before = self.state[number]
        if state == before:
            return
        self._change(number, state)
        if self.responder is None:
            return
        act: dict[State, Callable[[int], None]] = {
            "prepared": self.responder.prepare,
            "promoted": self.responder.promote,
        }
        if state in act:
            act[state](number)
        elif before == "prepared":
            self.responder.relapse(number)

    def _change(self, number: int, state: State) -> None:
        if state != self.state[number]:
            self.state[number] = state
            self.changes.append(StateChange(self.env.now, number, state))
