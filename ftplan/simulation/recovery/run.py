"""One run: a failure and the recovery from it, the coordinator on top of a flow of batches; and how far tasks got."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ftplan.model.topology import FloatArray, IntArray
from ftplan.simulation.dataflow.job import FlowOptions, Observed, StreamJob
from ftplan.simulation.recovery.coordinator import Coordinator
from ftplan.simulation.recovery.hosts import require_keeping_up
from ftplan.simulation.recovery.outcome import ControlEvent, RecoveryOutcome
from ftplan.simulation.recovery.setting import RecoverySetting

if TYPE_CHECKING:
    from ftplan.simulation.dataflow.compiled import CompiledPlane

#: Makes the flow of batches of a job; all its tasks are down and it has no node yet.
PlaneFactory = Callable[[StreamJob, FlowOptions], "CompiledPlane"]


def run_recovery(setting: RecoverySetting, plane_factory: PlaneFactory | None = None) -> RecoveryOutcome:
    """Let a failure and the recovery from it happen; None for the plane: the compiled one.

    Raises FtplanError if the job cannot keep up with its input before the failure.
    """
    require_keeping_up(setting)
    if plane_factory is None:
        from ftplan.simulation.dataflow.compiled import CompiledPlane

        plane_factory = partial(CompiledPlane, until_s=setting.until_s - setting.begin_s)
    plane = plane_factory(setting.job, flow_options(setting))
    coordinator = Coordinator(setting, plane)
    coordinator.recover()
    observed = plane.observed()
    observed.start_s = setting.begin_s
    observed.checkpoints = [item._replace(at_s=item.at_s + setting.begin_s) for item in observed.checkpoints]
    tasks = coordinator.tasks
    again = caught_up(observed, tasks.target, tasks.again_s, tasks.again_batch)
    observed = with_resent(observed, setting.job, tasks.events, tasks.target, setting.timing.replica_lag_s)
    return RecoveryOutcome(setting, observed, tuple(tasks.events), again)


def flow_options(setting: RecoverySetting) -> FlowOptions:
    """Return how batches flow in a setting; tasks' own checkpoints are spread evenly over the interval."""
    phase = None
    if not setting.mode.coordinated and np.isfinite(setting.checkpoint_s):
        golden = (np.arange(setting.job.tasks) * (np.sqrt(5.0) - 1.0) / 2.0) % 1.0
        phase = np.floor(golden * setting.checkpoint_s / setting.job.batch_s).astype(np.int64)
    return FlowOptions(
        delay_s=setting.delay_s,
        queue_batches=setting.queue_batches,
        checkpoint_s=setting.checkpoint_s,
        coordinated=setting.mode.coordinated,
        phase=phase,
        bin_s=setting.bin_s,
    )


def caught_up(observed: Observed, target: IntArray, again_s: FloatArray, again_batch: IntArray) -> FloatArray:
    """Return when tasks had processed as many batches as before they failed, shape (tasks,).

    Within a bin progress is taken as even. All but *observed* have shape (tasks,).

    *target*: batches that each task had processed before it failed. *again_s*, *again_batch*: when it worked again (NaN
    if it never failed, infinite if it did not), and with how many batches processed.
    """
    caught = np.where(np.isnan(again_s), np.nan, np.inf)
    ends = observed.start_s + (np.arange(len(observed.processed)) + 1.0) * observed.bin_s
    for task in np.flatnonzero(np.isfinite(again_s)).tolist():
        since, batch = float(again_s[task]), float(again_batch[task])
        first = int(np.searchsorted(ends, since, side="right"))
        after = observed.processed[first:, task]
        reached = np.flatnonzero(after >= target[task])
        if batch >= target[task]:
            caught[task] = since
        elif len(reached):
            i = int(reached[0])
            if i > 0 and after[i - 1] >= 0:
                since, batch = float(ends[first + i - 1]), float(after[i - 1])
            share = (target[task] - batch) / (after[i] - batch)
            caught[task] = since + share * (ends[first + i] - since)
    return caught


def with_resent(
    observed: Observed, job: StreamJob, events: list[ControlEvent], target: IntArray, lag_s: float
) -> Observed:
    """Count as duplicates what replicas sent again when they took over: the output of the last *lag_s* seconds.

    The receivers have it already, as the failed task had sent it ([SuZhou2016], section V-B).
    """
    taken = [(event.at_s, task) for event in events if event.what == "taken-over" for task in event.tasks]
    if not taken or lag_s <= 0.0 or not len(observed.duplicates):
        return observed
    before, duplicates = job.records_in(int(target.max()) + 1), observed.duplicates.copy()
    for at_s, task in taken:
        row = min(int((at_s - observed.start_s) / observed.bin_s), len(duplicates) - 1)
        known = int(target[task])
        first = max(0, known - round(lag_s / job.batch_s))
        for stream in np.flatnonzero(job.sender == task).tolist():
            records = job.records_on(stream, before)
            duplicates[row, job.receiver[stream]] += records[known] - records[first]
    return replace(observed, duplicates=duplicates)
