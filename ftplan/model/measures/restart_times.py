"""How long a node is away in a drain: its restart and, where their costs are known, the recovery of its tasks."""

from __future__ import annotations

import numpy as np

from ftplan.model.measures.recovery_time import (
    RecoveryParameters,
    input_rate,
    longest_interval,
    outside_fitted_range,
    recovery_time,
    require_keeping_up,
)
from ftplan.model.plan import Warn
from ftplan.model.recovery_costs import RecoveryCosts
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray


def restart_times(
    restart_s: float,
    state_bytes: FloatArray,
    tasks: FloatArray,
    graph: TaskGraph,
    costs: RecoveryCosts,
    move: bool,
    bandwidth_mb_s: float | None = None,
) -> tuple[FloatArray, tuple[Warn, ...]]:
    """Return the seconds from each node's stop until its tasks have caught up, shape (N,).

    A node that is left to stand still is back after its restart, or when the loss is noticed if that is later; then its
    tasks start, restore remote state, and process what has come in meanwhile and what a checkpoint is behind, with the
    capacity that the job's input leaves. Tasks that are moved start and restore twice, before the restart and after it;
    nobody has to notice a loss. Nodes without tasks take their restart. Restores of different nodes run side by side.

    Parameters
    ----------
    restart_s
        What a node itself takes.
    state_bytes, tasks
        State and number of the tasks on each node, shape (N,).
    move
        Whether tasks are moved for the time of the restart.
    bandwidth_mb_s
        Of restores, in units of 2^20 bytes per second; None: they take no time.

    Raises
    ------
    OverloadError
        If the job's input takes all of the capacity, so that it never catches up.
    """
    rate, interval = input_rate(graph), longest_interval(graph)
    require_keeping_up(costs, rate, "a restart")
    parameters = RecoveryParameters.of(costs)
    noticed = 0.0 if costs.detection_s is None else costs.detection_s.value
    parameters = parameters._replace(detection_s=0.0 if move else max(restart_s, noticed))
    parameters = parameters._replace(bandwidth_mb_s=np.inf if bandwidth_mb_s is None else bandwidth_mb_s)
    fetched = state_bytes if move or costs.state == "remote" else np.zeros(len(tasks))
    recovery = recovery_time(parameters, rate, interval or 0.0, fetched)
    away = recovery.total_s + (restart_s + recovery.stopped_s if move else 0.0)
    return np.where(tasks > 0, away, restart_s), tuple(outside_fitted_range(costs, rate, interval))
