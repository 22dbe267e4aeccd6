"""A job under a load that changes, and operators that are split when they become bottlenecks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from simpy import Environment

from ftplan.simulation.scaling.coordinator import ScalingCoordinator, SplitRecord
from ftplan.simulation.scaling.job_run import JobRun
from ftplan.simulation.scaling.outcome import ScalingOutcome, SplitFigures, faults, level_s, outage_s, pause_s
from ftplan.simulation.scaling.setting import ScalingSetting
from ftplan.simulation.scaling.splits import TECHNIQUES, Techniques


def run_scaling(setting: ScalingSetting, techniques: Techniques = TECHNIQUES) -> ScalingOutcome:
    """Simulate a job under a load, with splits at given times or when detection asks for them.

    Queues are unbounded: what back-pressure would hold back waits before the bottleneck. An operator begins a batch
    when all its inputs have put it out, and gives it on when all its tasks have processed it: order is restored by the
    batches' numbers, as by the sequence numbers of records in [Mudassar2019, figure 6]. Costs O(batches (tasks + key
    groups)).

    Parameters
    ----------
    techniques
        By name, what splits an operator with keyed state.
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
