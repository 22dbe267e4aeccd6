"""The coordinator of a recovery: what fails, when it is noticed, what goes back, and what starts where and when."""

from __future__ import annotations

from collections.abc import Callable

from ftplan.simulation.dataflow.job import StreamJob
from ftplan.simulation.dataflow.plane import DataPlane, FlowOptions
from ftplan.simulation.recovery.setting import RecoverySetting
from ftplan.simulation.recovery.trace import RecoveryTrace

#: Makes the flow of batches of a job; all its tasks are down and it has no node yet.
PlaneFactory = Callable[[StreamJob, FlowOptions], DataPlane]


def simulate(setting: RecoverySetting, plane_factory: PlaneFactory | None = None) -> RecoveryTrace:
    """Let a failure and the recovery from it happen; None for the plane: the compiled one.

    Raises
    ------
    FtplanError
        If the setting cannot be simulated (a start or a failure names a node that there is not, for instance).
    """
    raise NotImplementedError
