"""Until when a repair is looked at where nobody says."""

from __future__ import annotations

import numpy as np

from ftplan.model.defaults import HORIZON_S
from ftplan.model.measures.recovery_time import RecoveryDelays


def default_horizon_s(last_s: float, later_s: float, delays: RecoveryDelays, *, measured: bool) -> float:
    """Return twice the last arrival, 600 s where nothing arrives; never before a later failure.

    Where checkpoints are stated, and no costs *measured*, catching up may take longer: then it is twice the time at
    which the slowest task has caught up that is down from the start and starts when the last node has arrived.

    Parameters
    ----------
    last_s
        The end of the last arrival's range, 0 where nothing arrives.
    later_s
        When the last failure strikes.
    delays
        What a recovery adds to the return of each task of the job.
    """
    least = 2.0 * last_s if last_s > 0.0 else HORIZON_S
    if not measured:
        behind = np.asarray(delays.replay_s) + np.asarray(delays.catch_up) * last_s
        least = max(least, 2.0 * (last_s + float(behind.max(initial=0.0))))
    return max(least, later_s)
