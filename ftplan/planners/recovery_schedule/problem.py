"""What a recovery schedule is asked about: what failed, where there is room, and what will happen next.

Decisions are taken at the failure, at later failures, and when nodes arrive (:func:`decision_points`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from ftplan.model.defaults import HORIZON_S
from ftplan.model.failure import FailureEvent
from ftplan.model.measures.recovery_time import AT_ONCE, RecoveryDelays
from ftplan.model.plan import Warn
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray


@dataclass(slots=True)
class DecisionPoint:
    """All that happens at one time."""

    at_s: float
    failures: list[FailureEvent] = field(default_factory=list)
    arrivals: list[ArrivalEvent] = field(default_factory=list)

    def trigger(self, problem: RecoveryProblem) -> str:
        """Return what the step is called after: the failure if there is one, else the nodes that arrived."""
        if self.failures:
            return "failure:" + ",".join(event.selector for event in self.failures)
        if self.arrivals:
            return "arrival:" + ",".join(str(problem.hosts[event.host].id) for event in self.arrivals)
        return "failure"


def decision_points(problem: RecoveryProblem) -> list[DecisionPoint]:
    """Return the times at which something happens, in order; the first is the failure itself, at 0."""
    points = {0.0: DecisionPoint(0.0)}
    for failure in problem.failures:
        points.setdefault(failure.at_s, DecisionPoint(failure.at_s)).failures.append(failure)
    for arrival in problem.arrivals:
        points.setdefault(arrival.at_s, DecisionPoint(arrival.at_s)).arrivals.append(arrival)
    return [points[at_s] for at_s in sorted(points)]


#: Failed nodes from which on recovery goes step by step; with fewer, [SuZhouTR], section 4.2, recovers blocking.
INCREMENTAL_FROM = 2

RecoveryObjective = Literal["priority-time", "priority", "fidelity-time"]


@dataclass(frozen=True, slots=True)
class Host:
    """A node that can take recovered tasks, now or after its arrival.

    ``room`` is its cores times ``--max-cpu`` minus what runs there when the schedule begins or the node arrives.
    ``overload`` is by how much what runs there is above that share: a task that ends frees nothing before it is gone.
    Without a cluster one host without an id stands for the cores of ``--capacity``.
    """

    id: str | None
    room: float  # cores, >= 0
    zone: str | None = None
    overload: float = 0.0  # cores, >= 0


@dataclass(frozen=True, slots=True)
class ArrivalEvent:
    """A host can take tasks from ``at_s`` on, the time planned for; the true one is uniform in ``range_s``."""

    at_s: float
    host: int
    range_s: tuple[float, float]


@dataclass(frozen=True, eq=False)
class RecoveryProblem:
    """A failure and what there is to recover from it. Tasks are numbered as in :class:`TaskGraph`; T tasks, H hosts.

    Hosts ``[0, live_hosts)`` are live at the start, in natural order of their ids; the others arrive, sorted by planned
    time and id. ``home`` is the host of each task that lives at the start, -1 where it is down or its node unknown.
    ``standby`` is the host of a live active replica that has not taken over yet, -1 where there is none, -2 where it
    has no node and therefore never fails.
    """

    graph: TaskGraph
    cost: FloatArray  # (T,) cores
    failed: BoolArray  # (T,) down at the start; tasks with a live replica are not
    home: IntArray  # (T,)
    standby: IntArray  # (T,)
    hosts: tuple[Host, ...]
    live_hosts: int
    arrivals: tuple[ArrivalEvent, ...] = ()
    failures: tuple[FailureEvent, ...] = ()
    capacity: float | None = None  # caps the summed use of the hosts that are live at the start
    state_bytes: FloatArray | None = None  # (T,)
    local_bytes: Mapping[tuple[int, int], float] = field(default_factory=dict)  # (task, host): state that lies there
    bandwidth_bytes_s: float | None = None  # None: restores take no time
    delay_s: float = 0.0
    restores_at_once: int = 1  # on a node, each with an equal part of the bandwidth
    delays: RecoveryDelays = AT_ONCE
    rolls_back: bool = False  # each failure sends every task that runs back to the last checkpoint
    rolls_back_from_s: float = 0.0  # but none before: to see what waiting for a later failure would lose
    may_pause: bool = False  # running queries of low priority may give way
    horizon_s: float = HORIZON_S
    failed_nodes: int = 0  # since the last checkpoint, at the start
    warnings: tuple[Warn, ...] = ()

    @cached_property
    def to_start(self) -> FloatArray:
        """Cores without which a task that is down is not started, (T,).

        More than there ever are for one that would never catch up: no plan starts it, and every bound knows that.
        """
        never = self.delays.never(self.graph.tasks)
        if not never.any():
            return self.cost
        cores = float(self.cost.sum()) + sum(host.room for host in self.hosts)
        return np.where(never, (1.0 + 2.0 * cores) * max(1, int(self.graph.key_groups[1].max(initial=1))), self.cost)

    def restore_s(self, size: float) -> float:
        """Return how long a restore of so many bytes keeps its lane, 0 where there is nothing to fetch."""
        if size <= 0.0 or not self.bandwidth_bytes_s:
            return 0.0
        return self.delay_s + self.restores_at_once * size / self.bandwidth_bytes_s


@dataclass(frozen=True, slots=True)
class RecoveryOptions:
    """How to plan: shared by all recovery planners."""

    objective: RecoveryObjective = "priority-time"
    prefetch: bool = True
    parallel_recovery: bool = False
    seed: int = 0
    time_limit_s: float = 10.0
    iterations: int | None = None


def pauses_are_instant(problem: RecoveryProblem) -> bool:
    """Return whether tasks only give way at the start, and one that starts where it stood has never stopped.

    Others may give way at later failures, also some that have come back; what goes back to a checkpoint, and whatever
    takes time to start, is late.
    """
    late = problem.delays.detection_s > 0.0 or problem.delays.restart_s > 0.0
    return not (problem.failures or problem.rolls_back or late)
