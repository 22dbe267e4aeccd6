"""How long a node is away in a drain: its restart and, where their costs are known, the recovery of its tasks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.plan import Warn
from ftplan.model.rates import rates
from ftplan.model.recovery_costs import RecoveryCosts
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB


def restart_times(
    restart_s: float, state_bytes: FloatArray, tasks: FloatArray, graph: TaskGraph, costs: RecoveryCosts, move: bool
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

    Raises
    ------
    FtplanError
        If the job's input takes all of the capacity, so that it never catches up.
    """
    parts = {name: item.value for name, item in costs.estimates.items()}
    start = np.full(len(tasks), parts.get("restart_s", 0.0))
    if "bandwidth_mb_s" in parts and (move or costs.state == "remote"):
        start = start + state_bytes / (parts["bandwidth_mb_s"] * MB)
    if move:
        stopped, away = start, start + restart_s + start
    else:
        stopped = away = max(restart_s, parts.get("detection_s", 0.0)) + start
    rate, interval = input_rate(graph), longest_interval(graph)
    if "capacity_records_s" in parts:
        capacity = parts["capacity_records_s"]
        if rate >= capacity:
            raise FtplanError(
                f"--costs: the job can process {capacity:g} records/s and gets {rate:g}: it never catches up after a "
                "restart"
            )
        behind = stopped + parts.get("replay_share", 0.0) * (interval or 0.0)
        away = away + rate * behind / (capacity - rate)
    return np.where(tasks > 0, away, restart_s), tuple(_outside(costs, rate, interval))


def _outside(costs: RecoveryCosts, rate: float, interval: float | None) -> Iterator[Warn]:
    """Say where a job lies outside the recoveries that its costs were fitted on."""
    for what, fitted, now in (
        ("records/s", costs.rates, rate),
        ("seconds between checkpoints", costs.intervals_s, interval),
    ):
        if fitted is not None and now is not None and not fitted.holds(now):
            text = f"the recovery costs were fitted on {fitted.low:g} to {fitted.high:g} {what}, the job has {now:g}"
            yield Warn("OUTSIDE_FITTED_RANGE", f"{text}: durations are a guess")


def input_rate(graph: TaskGraph) -> float:
    """Return the records per second that come into a job: what its sources emit."""
    sources = np.array([not edges for edges in graph.in_edges], dtype=np.bool_)
    return float(rates(graph).out[sources[graph.operator_of]].sum())


def longest_interval(graph: TaskGraph) -> float | None:
    """Return the longest checkpoint interval of a job in seconds, None where no operator states one."""
    stated = [operator.checkpoint.interval_s for operator in graph.topology.operators]
    return max((seconds for seconds in stated if seconds is not None), default=None)
