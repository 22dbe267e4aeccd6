"""Which states tasks go back to, and when nobody needs what is kept since."""

from __future__ import annotations

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.simulation.dataflow.plane import DataPlane
from ftplan.simulation.recovery.setting import RecoverySetting


def batch_of_job(setting: RecoverySetting, plane: DataPlane, target: IntArray) -> int:
    """Return the batches whose effects are in the states that the whole job goes back to.

    They are those of the last complete checkpoint. Where there are none and states are rebuilt from a window, they are
    those that the window leaves of what the slowest task has processed, or had (*target*) before it failed.
    """
    window_s = setting.timing.replay_window_s
    if window_s == 0.0 or np.isfinite(setting.checkpoint_s):
        return plane.complete()
    processed = plane.processed()
    least = int(np.where(processed < 0, target, processed).min())
    return max(0, least - round(window_s / setting.job.batch_s))


def all_keep_pace(setting: RecoverySetting, processed: IntArray) -> bool:
    """Return whether no task is further behind those that feed it than queues allow."""
    job = setting.job
    return bool((processed[job.sender] - processed[job.receiver] <= setting.queue_batches).all())
