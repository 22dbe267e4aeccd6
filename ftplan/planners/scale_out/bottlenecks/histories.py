"""How the tasks of operators were used, window by window: what tells a bottleneck; and the states that follow.

Algorithm 1 of [Mudassar2019]: from the alarming threshold on a secondary is started, above the promotion threshold it
becomes primary; it is stopped where the score falls back first. Below the threshold of scaling in there are too many
tasks.

Back pressure makes observed rates useless: a task that waits processes little, whether it waits for its inputs or for a
slow operator after it. The true rate of DS2 [Kalavri2018] counts the time of work alone.

Shapes: W windows, T tasks of one operator, or of all in the order of a
:class:`~ftplan.model.task_graph.TaskGraph`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.measures.measured_tasks import MeasuredTasks
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray
from ftplan.model.units import MS_PER_CORE_SECOND
from ftplan.planners.scale_out.problem import State


class ScoreThresholds(NamedTuple):
    """Scores, from 0 to 100, at which an operator changes its state; in this order from low to high."""

    scale_in: float
    alarming: float
    promote: float


class Transition(NamedTuple):
    """A change of state, in the window whose score made it.

    ``late``: the operator is to be split before a secondary that was started at the alarming threshold is set up.
    """

    window: int
    before: State
    after: State
    late: bool = False


class Timeline(NamedTuple):
    """The state after each window, and where it changed."""

    states: tuple[State, ...]
    events: tuple[Transition, ...]


def timeline(scores: Sequence[float], thresholds: ScoreThresholds, setup_windows: float, hold: int) -> Timeline:
    """Return the states of an operator over W windows, by its scores, (W,); a window without a score changes nothing.

    A secondary that is started after one window is set up *setup_windows* later. An operator is scaled in when its
    score stays below that threshold for *hold* windows in a row: the paper names the threshold only. The records show
    no operator that was split by this plan: one that was promoted stays so while its score is at the alarming
    threshold or above.
    """
    states: list[State] = []
    events: list[Transition] = []
    state: State = "normal"
    since, below = 0, 0
    for window, score in enumerate(scores):
        before = state
        late = False
        if not math.isnan(score):
            below = below + 1 if score < thresholds.scale_in else 0
            if score > thresholds.promote:
                state = "promoted"
                late = before != "promoted" and (before != "prepared" or window - since < setup_windows)
            elif score >= thresholds.alarming:
                state = "promoted" if before == "promoted" else "prepared"
            else:
                state = "scale-in" if below >= hold else "normal"
        if state != before:
            events.append(Transition(window, before, state, late))
            since = window
        states.append(state)
    return Timeline(tuple(states), tuple(events))


def check_thresholds(thresholds: ScoreThresholds, reachable: tuple[float, float]) -> None:
    """Raise FtplanError unless thresholds rise, and scores reach both sides of each; *reachable* are the outermost."""
    low, high = reachable
    named = {"--scale-in": thresholds.scale_in, "--alarming": thresholds.alarming, "--promote": thresholds.promote}
    for name, value in named.items():
        if not low < value < high:
            never = "below" if value <= low else "above"
            raise FtplanError(
                f"{name}: {value:g}: no score lies {never} it: with these rules they are from {low:.4g} to {high:.4g}; "
                f"give a threshold between"
            )
    if thresholds.scale_in >= thresholds.alarming:
        raise FtplanError(
            f"--alarming: {thresholds.alarming:g}: must be above --scale-in, which is {thresholds.scale_in:g}"
        )
    if thresholds.alarming > thresholds.promote:
        raise FtplanError(
            f"--alarming: {thresholds.alarming:g}: must not be above --promote, which is {thresholds.promote:g}"
        )


@dataclass(frozen=True, eq=False)
class OperatorHistory:
    """What one operator did in each window, and what it would have had to do.

    The three inputs of the fuzzy inference are percentages, NaN where unknown. The paper does not say what its data
    size measures [Mudassar2019]: that it is the records that a task processed or that wait for it, over those that it
    can process in a window, is ours.
    """

    operator: str
    cpu: FloatArray  # (W, T) share of the window in which the task was busy
    memory: FloatArray  # (W, T) memory that it held over what it may hold
    #: (W, T) records that came or waited in the window over what it processes in a window without a pause
    data: FloatArray
    processed: FloatArray  # (W, T) records that it processed: those that it read, of sources those that it wrote
    demand: FloatArray  # (W,) records/s that the sources offered it, NaN where nothing tells
    true_rate: float  # mean records/s that a task would process without a pause, in the look-back; NaN where unknown

    @property
    def inputs(self) -> FloatArray:
        """The three inputs as the fuzzy inference takes them, (W, T, 3)."""
        return np.stack([self.cpu, self.memory, self.data], axis=-1)

    @property
    def needed(self) -> FloatArray:
        """Tasks that the demand would have kept busy in each window, (W,); 0 where the true rate is unknown."""
        if not self.true_rate > 0.0:
            return np.zeros(len(self.demand))
        return np.nan_to_num(self.demand / self.true_rate)


def true_rates(records: FloatArray, busy_s: FloatArray) -> FloatArray:
    """Return the true rate of each task in records/s, (T,): records over the seconds in which it was busy.

    *records*, *busy_s*: of each window and task, (W, T). Windows whose busy time is unknown (NaN) are left out.

    It is NaN for a task that never worked, or whose busy time is unknown.
    """
    known = ~np.isnan(busy_s) & ~np.isnan(records)
    processed = np.where(known, records, 0.0).sum(axis=0)
    busy = np.where(known, busy_s, 0.0).sum(axis=0)
    rates = np.full(records.shape[1], np.nan)
    np.divide(processed, busy, out=rates, where=(busy > 0.0) & (processed > 0.0))
    return rates


def mean_true_rate(rates: FloatArray) -> float:
    """Return the true rate of a task of an operator: DS2's aggregated rate over the number of tasks.

    Tasks that never worked count like the mean of the others. NaN where none did.
    """
    known = rates[~np.isnan(rates)]
    return float(known.mean()) if len(known) else math.nan


def histories(
    graph: TaskGraph,
    measured: MeasuredTasks,
    demand: FloatArray,
    window_s: float,
    window: slice,
    task_capacity: float | None = None,
    task_memory: FloatArray | None = None,
) -> tuple[OperatorHistory, ...]:
    """Return the history of each operator, by position in the topology. Cost O(W T).

    *demand*: (operators, W) in records/s. *window*: the windows that true rates follow from; those of a task that did
    not work in them follow from all. *task_capacity*: records/s that a task takes, in place of true rates.
    *task_memory*: (T,) bytes that each task may hold, infinite or NaN where unknown.
    """
    operators = graph.topology.operators
    stated = np.full(graph.tasks, np.nan)
    for i, operator in enumerate(operators):
        if operator.record_time_s is not None:
            stated[graph.slice_of(i)] = operator.record_time_s
    busy = busy_seconds(measured, graph.per_task("cpu"), stated)
    rate = true_rates(measured.processed[window], busy[window])
    rate = np.where(np.isnan(rate), true_rates(measured.processed, busy), rate)
    if task_capacity is not None:
        rate = np.full(graph.tasks, task_capacity)
        busy = np.where(np.isnan(busy), measured.processed / task_capacity, busy)
    room = np.full(graph.tasks, np.nan) if task_memory is None else np.where(task_memory > 0.0, task_memory, np.nan)
    memory = _percent(measured.memory_bytes, np.where(np.isinf(room), np.nan, room))
    cpu = _percent(busy, np.full(graph.tasks, window_s))
    waiting = measured.processed + np.nan_to_num(measured.queue_length)
    made = []
    for i, operator in enumerate(operators):
        part = graph.slice_of(i)
        mean = mean_true_rate(rate[part])
        takes = np.where(np.isnan(rate[part]), mean, rate[part]) * window_s
        made.append(
            OperatorHistory(
                operator=operator.id,
                cpu=cpu[:, part],
                memory=memory[:, part],
                data=_percent(waiting[:, part], takes),
                processed=measured.processed[:, part],
                demand=demand[i],
                true_rate=mean,
            )
        )
    return tuple(made)


def _percent(values: FloatArray, whole: FloatArray) -> FloatArray:
    """Return values (W, T) over what is the whole of each task (T,), at most 100; NaN where unknown."""
    return np.asarray(np.clip(100.0 * values / whole, 0.0, 100.0))


def busy_seconds(measured: MeasuredTasks, cpu: FloatArray, record_time_s: FloatArray) -> FloatArray:
    """Return the seconds in which each task was busy, (W, T), NaN where nothing tells.

    In this order: ``busy_ms``; ``cpu_ms`` over the task's cores; records times the time per record over the cores.

    *cpu*: cores that each task reserves, (T,). *record_time_s*: cpu seconds per record, (T,), NaN where unknown.
    """
    cores = np.where(cpu > 0.0, cpu, np.nan)
    by_cpu = measured.cpu_ms / (MS_PER_CORE_SECOND * cores)
    by_records = measured.processed * (record_time_s / cores)
    busy = measured.busy_ms / 1000.0
    busy = np.where(np.isnan(busy), by_cpu, busy)
    return np.asarray(np.where(np.isnan(busy), by_records, busy))
