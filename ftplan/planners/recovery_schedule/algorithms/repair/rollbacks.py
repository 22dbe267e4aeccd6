"""What is certain of failures that send all tasks of a job back to the last checkpoint."""

from __future__ import annotations

import numpy as np

from ftplan.model.measures.downtimes import whole_from
from ftplan.model.measures.recovery_time import longest_interval
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.recovery_schedule.problem import RecoveryProblem


class Rollbacks:
    """What is certain of tasks that go back to the last checkpoint, failure by failure.

    All that is down or goes back counts as not up to date since the incident began. Until everything can have been up
    to date for a whole checkpoint interval that is when it began before. Where tasks may give way nothing is certain.
    """

    def __init__(self, problem: RecoveryProblem, sure_s: set[float]) -> None:
        self._problem, self._sure_s = problem, sure_s
        self._replay_s, self._catch_up = (
            np.broadcast_to(np.asarray(array, dtype=np.float64), problem.graph.tasks)
            for array in problem.delays.of_tasks(np.arange(problem.graph.tasks))
        )
        size = np.zeros(problem.graph.tasks) if problem.state_bytes is None else problem.state_bytes.copy()
        for (task, _), there in problem.local_bytes.items():
            if problem.state_bytes is not None:
                size[task] = min(size[task], float(problem.state_bytes[task]) - there)
        self._fetch_s = np.array([problem.restore_s(float(each)) for each in size], dtype=np.float64)
        self._interval_s = longest_interval(problem.graph) or 0.0
        self._met = False  # whether something has failed for sure
        self._incident_s = self._last_s = self._settled_s = 0.0
        self.up_s = np.zeros(problem.graph.tasks)  # before when no query of an output task is up

    def fail(
        self, at_s: float, down: BoolArray, task: IntArray, since_s: FloatArray, down_s: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return since when the tasks that have failed can have been started, and have not been up to date."""
        problem = self._problem
        if not problem.rolls_back or problem.may_pause:
            return since_s, down_s
        calm_s = self._settled_s + self._interval_s
        if not self._met or calm_s <= at_s + ROUNDING * max(1.0, at_s):
            self._incident_s = at_s
        self._met = self._met or at_s in self._sure_s
        if at_s in self._sure_s and at_s >= problem.rolls_back_from_s:
            self._last_s, down_s = at_s, np.full(len(task), self._incident_s)
            again_s = self._caught_up(problem.delays.starts(at_s, at_s) + self._fetch_s, self._incident_s)
            self.up_s = whole_from(problem.graph, np.where(down, 0.0, again_s))
            self._settled_s = float(again_s[~down].max(initial=0.0))
        else:
            down_s = np.maximum(down_s, self._incident_s)
        struck = down[task]
        since_s = np.where(struck, np.maximum(since_s, self._last_s), since_s)
        back_s = self._caught_up(since_s + problem.delays.restart_s, down_s, task)
        self._settled_s = max(self._settled_s, float(back_s[struck].max(initial=0.0)))
        return since_s, down_s

    def _caught_up(
        self, ready_s: FloatArray | float, down_s: FloatArray | float, task: IntArray | slice = slice(None)
    ) -> FloatArray:
        behind_s = np.maximum(0.0, np.asarray(ready_s) - down_s)
        return np.asarray(ready_s + self._replay_s[task] + self._catch_up[task] * behind_s)
