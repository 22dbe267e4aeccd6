"""A job under a load that changes, operators that are split when they become bottlenecks, and what came of it.

That is over time, in figures, and whether every record counts once and in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from simpy import Environment

from ftplan.model.topology import FloatArray, IntArray
from ftplan.simulation.scaling.coordinator import ScalingCoordinator, SplitRecord
from ftplan.simulation.scaling.detector import StateChange
from ftplan.simulation.scaling.job_run import JobRun
from ftplan.simulation.scaling.keyed_state import Digests, KeyedState
from ftplan.simulation.scaling.operator_run import OperatorRun
from ftplan.simulation.scaling.setting import Ranges, ScalingSetting
from ftplan.simulation.scaling.splits import TECHNIQUES, Techniques


class SplitFigures(NamedTuple):
    """A split, times in seconds of the simulation; None where it did not come to it."""

    operator: int
    technique: str | None  # none without keyed state; ``restart`` where the topology was restarted
    #: ``tasks_from``, ``tasks_to``: parallelism before and after
    tasks_from: int
    tasks_to: int
    prepared_s: float | None
    promoted_s: float | None
    ended_s: float | None
    #: Longest time around it in which the operator had input and no output, beyond the usual; of a restart the longest
    #: time without output
    pause_s: float | None
    level_s: float | None  # from the promotion until its output is as little late as the new tasks allow
    late: bool  # whether it was promoted before what is prepared was set up
    replayed: float  # records that new tasks got again, or instead of the old ones


class ScalingFault(NamedTuple):
    """What is wrong at an operator, with how many batches, and the first of them."""

    operator: int
    what: str
    batches: int
    first: int


@dataclass(frozen=True, eq=False)
class ScalingOutcome:
    """What happened. Shapes: T bins of time, O operators, W windows, B batches."""

    time_s: FloatArray  # end of each bin, (T,)
    #: Records that have come to each operator and not gone on, at the ends of bins, (T, O); those that a source has
    #: wait in its log
    queue: FloatArray
    #: ``executors``, ``most_executors``: tasks that take cores, at the ends of bins and at most in each, (T, O)
    executors: IntArray
    most_executors: IntArray
    throughput: FloatArray  # records of the input a second whose last output came in each bin, (T,)
    #: From when input is there until its last output, mean over the records whose last output came in each bin, (T,);
    #: nan without such
    latency_s: FloatArray
    scores: FloatArray  # of operators that may be split, (W, O); nan where unknown
    batch_latency_s: FloatArray  # of each batch, (B,), also after the end of what is measured
    core_s: float  # core-seconds of all tasks until then
    changes: tuple[StateChange, ...]
    splits: tuple[SplitFigures, ...]
    faults: tuple[ScalingFault, ...]
    states: dict[int, KeyedState]  # state of each operator with keyed state at the end, by number


def faults(runs: Sequence[OperatorRun], batches: int, expected: Digests) -> list[ScalingFault]:
    """Return what keeps splits from being exactly-once and in order, nothing if nothing does; nothing is under way.

    - Each operator put every batch out, as a whole, in order.
    - Its state, composed of its tasks', is that of an operator that was never split.
    - Each task applied the batches of each key group in order, and left none out.
    - What it put out is what an operator that was never split does.
    """
    found: list[ScalingFault] = []
    for run in runs:

        def add(what: str, numbers: Sequence[int], operator: int = run.number) -> None:
            if numbers:
                found.append(ScalingFault(operator, what, len(set(numbers)), min(numbers)))

        add("never put out", range(min(run.released + 1, len(run.released_s)), batches))
        state = run.state() if run.tasks else None
        if state is not None:
            add("not in the state", range(int(state.number.min()) + 1, batches))
            if not state.right(expected):
                add("state differs", [int(state.number.min())])
        add("out of order", [number for task in run.every_task for number in task.left_out])
        add("other output", [number for task in run.every_task for number in task.wrong])
    return found


def pause_s(run: OperatorRun, began_s: float, ended_s: float) -> float:
    """Return the longest time around a split in which an operator had input and put nothing out, beyond the usual."""
    released = np.array(run.released_s)
    arrived = np.array(run.arrived_s[: len(released)])
    took = released - np.maximum(arrived, np.concatenate([[0.0], released[:-1]]))
    first = max(int(np.searchsorted(released, began_s)), 0)
    around = took[first : int(np.searchsorted(released, ended_s + run.load.batch_s)) + 1]
    usual = float(np.median(took[:first])) if first else 0.0
    return max(float(around.max()) - usual, 0.0) if around.size else 0.0


def outage_s(run: OperatorRun, began_s: float, ended_s: float) -> float:
    """Return the longest time between outputs around a restart, less the usual time between batches."""
    at = np.array(run.released_s)
    first = max(int(np.searchsorted(at, began_s)) - 1, 0)
    gaps = np.diff(at[first : int(np.searchsorted(at, ended_s + run.load.batch_s)) + 2])
    return max(float(gaps.max()) - run.load.batch_s, 0.0) if gaps.size else 0.0


def level_s(run: OperatorRun, ranges: Ranges, promoted_s: float, ended_s: float, until_s: float) -> float | None:
    """Return how long after its promotion an operator's output is as little late as tasks with *ranges* allow."""
    arrived, released = np.array(run.arrived_s[: len(run.released_s)]), np.array(run.released_s)
    longest = max(run.operator.use_of(*parts) for parts in ranges)
    usual = longest * np.asarray(run.load.seconds[: len(released)])
    level = (released - arrived <= usual + 0.05 * run.load.batch_s + 1e-9) & (released >= ended_s)
    at = float(released[level.argmax()]) if level.any() else np.inf
    return at - promoted_s if at <= until_s else None


def run_scaling(setting: ScalingSetting, techniques: Techniques = TECHNIQUES) -> ScalingOutcome:
    """Simulate a job under a load, with splits at given times or when detection asks for them.

    Queues are unbounded: what back-pressure would hold back waits before the bottleneck. An operator begins a batch
    when all its inputs have put it out, and gives it on when all its tasks have processed it: order is restored by the
    batches' numbers, as by the sequence numbers of records in [Mudassar2019, figure 6]. Costs O(batches (tasks + key
    groups)).

    *techniques*: by name, what splits an operator with keyed state.
    """
    env = Environment()
    job = JobRun(env, setting.operators, setting.load, setting.every_s, setting.split.delay_s)
    coordinator = ScalingCoordinator(env, job, setting, techniques)
    env.run(until=setting.until_s)
    bins = int(setting.until_s / setting.every_s + 1e-9)
    output = job.output.sums()[:bins]
    queue, executors = job.queue.ends()[:bins], job.executors.ends()[:bins]
    most, mean = job.executors.highest()[:bins], job.executors.means()[:bins]
    detector = coordinator.detector
    scores = [] if detector is None else list(detector.scores)
    coordinator.close()
    env.run()
    cores = np.array([run.operator.cpu for run in job.runs])
    with np.errstate(invalid="ignore", divide="ignore"):
        latency_s = output[:, 1] / output[:, 0]
    return ScalingOutcome(
        time_s=setting.every_s * np.arange(1.0, bins + 1.0),
        queue=queue,
        executors=executors.round().astype(np.int64),
        most_executors=most.round().astype(np.int64),
        throughput=output[:, 0] / setting.every_s,
        latency_s=latency_s,
        scores=np.array(scores).reshape(len(scores), len(job.runs)),
        batch_latency_s=job.out_s - setting.load.at_s,
        core_s=float((mean * cores).sum() * setting.every_s),
        changes=() if detector is None else tuple(detector.changes),
        splits=tuple(_splits(job, coordinator, setting.until_s)),
        faults=tuple(faults(job.runs, len(setting.load.at_s), job.expected)),
        states={run.number: state for run in job.runs if (state := run.state()) is not None},
    )


def _splits(job: JobRun, coordinator: ScalingCoordinator, until_s: float) -> Iterator[SplitFigures]:
    """Yield the splits in the order in which they ended, and restarts."""
    for record in coordinator.records:
        yield _split(job, record, until_s)
    if coordinator.restarts is not None:
        for began_s, ended_s, changed, replayed in coordinator.restarts.restarted:
            for operator, (before, after) in changed.items():
                paused_s = outage_s(job.runs[operator], began_s, ended_s)
                yield SplitFigures(
                    operator, "restart", before, after, None, began_s, ended_s, paused_s, None, False, replayed
                )


def _split(job: JobRun, record: SplitRecord, until_s: float) -> SplitFigures:
    split, run = record.split, job.runs[record.operator]
    ended = bool(np.isfinite(split.ended_s))
    return SplitFigures(
        record.operator,
        record.technique,
        record.tasks_from,
        record.tasks_to,
        _known(split.prepared_s),
        _known(split.promoted_s),
        _known(split.ended_s),
        pause_s(run, split.promoted_s, split.ended_s) if ended else None,
        level_s(run, split.ranges, split.promoted_s, split.ended_s, until_s) if ended else None,
        split.late,
        split.replayed,
    )


def _known(at_s: float) -> float | None:
    return at_s if np.isfinite(at_s) else None
