"""Simulate a failure and the recovery from it: the coordinator on top of a flow of batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.dataflow.plane import DataPlane, FlowOptions
from ftplan.simulation.recovery.coordinator import Coordinator
from ftplan.simulation.recovery.outcome import RecoveryTrace
from ftplan.simulation.recovery.progress import caught_up, with_resent
from ftplan.simulation.recovery.setting import RecoverySetting
from ftplan.simulation.recovery.utilisation import require_keeping_up

#: Makes the flow of batches of a job; all its tasks are down and it has no node yet.
PlaneFactory = Callable[[StreamJob, FlowOptions], DataPlane]


def simulate(setting: RecoverySetting, plane_factory: PlaneFactory | None = None) -> RecoveryTrace:
    """Let a failure and the recovery from it happen; None for the plane: the compiled one.

    Raises
    ------
    FtplanError
        If the job cannot keep up with its input before the failure.
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
    return RecoveryTrace(setting, observed, tuple(tasks.events), again)


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
        snapshot_core_s=setting.snapshot_core_s,
        upload_s=setting.upload_s,
        phase=phase,
        bin_s=setting.bin_s,
    )
