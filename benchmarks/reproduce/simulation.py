"""One simulated recovery of the papers' experiments, from documents to what its queries were like over time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import ftplan
from ftplan.model.task_graph import TaskGraph
from ftplan.simulation.recovery.contenders import Contender, setting_of
from ftplan.simulation.recovery.options import RecoverySimulationOptions
from ftplan.simulation.recovery.outcome import QuerySeries, RecoveryOutcome
from ftplan.simulation.recovery.run import run_recovery
from ftplan.simulation.recovery.scene import scene_of
from ftplan.simulation.recovery.schedules import GivenSchedule
from ftplan.simulation.recovery.series import query_series

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fifteen-queries"
#: Assumed of all experiments of the technical report: until a failure is noticed, and until a task starts.
DETECTION_S, RESTART_S = 5.0, 2.0

Document = dict[str, Any]


@dataclass(frozen=True)
class Inputs:
    """Documents of a job, of its nodes, and of what fails and arrives."""

    topology: Document
    cluster: Document
    failure: Document


@dataclass(frozen=True, eq=False)
class Simulated:
    """A recovery that was simulated; ``queries`` has the operators of the queries in the order of the series."""

    trace: RecoveryOutcome
    series: QuerySeries
    queries: tuple[str, ...]
    graph: TaskGraph

    def of(self, names: tuple[str, ...] | None = None) -> np.ndarray:
        """Return the columns of some queries, or all."""
        return np.array([i for i, name in enumerate(self.queries) if names is None or name in names], dtype=np.int64)

    def after(self, from_s: float, until_s: float = np.inf) -> np.ndarray:
        """Return the bins within a time."""
        return np.flatnonzero((self.series.time_s > from_s) & (self.series.time_s <= until_s))

    def latency(self, names: tuple[str, ...] | None = None) -> np.ndarray:
        """Return the mean relative latency of some queries over time, NaN where none has output; shape (bins,)."""
        return known_mean(self.series.relative_latency[:, self.of(names)], axis=1)

    def down_s(self, names: tuple[str, ...] | None = None) -> np.ndarray:
        """Return for how long each query was not available after the failure, shape (queries,)."""
        time = self.series.time_s
        return (~self.series.available[np.ix_(self.after(0.0), self.of(names))]).sum(axis=0) * (time[1] - time[0])

    def back_s(self, names: tuple[str, ...] | None = None) -> float:
        """Return when the last of some queries was available for good; the end of the simulation if one is not."""
        bins = self.after(0.0)
        away = np.flatnonzero(~self.series.available[np.ix_(bins, self.of(names))].all(axis=1))
        return float(self.series.time_s[bins[away[-1]]]) if away.size else 0.0


def known_mean(values: np.ndarray, axis: int) -> np.ndarray:
    """Return the mean of what is a number along an axis, NaN where nothing is."""
    known = np.isfinite(values)
    count = known.sum(axis=axis)
    return np.where(count, np.where(known, values, 0.0).sum(axis=axis) / np.maximum(count, 1), np.nan)


def fifteen_queries(rate: float, failed: tuple[str, ...], new: int) -> Inputs:
    """Return the example with another rate, other failed nodes and fewer new ones."""
    topology, cluster, failure = (
        yaml.safe_load((EXAMPLE / f"{name}.yaml").read_text()) for name in ("topology", "cluster", "failure")
    )
    topology["operators"][0]["rate_out"] = rate
    failure["fail"] = [f"node:{name}" for name in failed]
    failure["arrivals"] = failure["arrivals"][:new]
    return Inputs(topology, cluster, failure)


def simulated(
    inputs: Inputs, mode: str, run: int | None = None, replay_window_s: float = 0.0, **options: Any
) -> Simulated:
    """Simulate a recovery under a mode.

    Parameters
    ----------
    run
        Which of the random arrivals; None: the expected ones.
    replay_window_s
        Source time from which tasks are rebuilt, without any checkpoints; 0: there are checkpoints.
    options
        As ``simulate recovery`` takes them.
    """
    problem = ftplan.load(topology=inputs.topology, cluster=inputs.cluster, failure=inputs.failure)
    given = {"algorithm": "best-density", "detection_s": DETECTION_S, "restart_s": RESTART_S, **options}
    scene = scene_of(problem, None, RecoverySimulationOptions(**given))
    by_step = replace(scene, schedule_options=replace(scene.schedule_options, objective="priority"))
    setting = setting_of(scene, Contender(mode, GivenSchedule.made(by_step, given["algorithm"])), run)
    if replay_window_s > 0.0:
        timing = replace(setting.timing, replay_window_s=replay_window_s)
        setting = replace(setting, timing=timing, checkpoint_s=np.inf, checkpoint_age_s=0.0)
    trace = run_recovery(setting)
    series = query_series(trace)
    names = tuple(scene.question.situation.graph.name(task)[0] for task in series.query.tolist())
    return Simulated(trace, series, names, scene.question.situation.graph)
