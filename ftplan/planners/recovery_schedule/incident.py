"""What a recovery schedule is judged against: what failed, what it costs, where there is room, and what comes next.

An incident comes from a plan and its inputs, and asks no planner.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.defaults import HORIZON_S, MAX_CPU
from ftplan.model.failure import Arrival, Fail, planned_times
from ftplan.model.measures.recovery_time import AT_ONCE, RecoveryDelays
from ftplan.model.names import natural_key, parse_selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.failures import Failed
from ftplan.planners.recovery_schedule.hosts import horizon_of_situation, local_bytes
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.situation import Situation, situation_of


@dataclass(frozen=True, eq=False)
class Transfers:
    """How long state takes to reach a node.

    ``at_once`` restores run at a time on a node, each with an equal part of the bandwidth; others wait for them.

    ``local_bytes`` is the state of a task, by (task, node id), that lies on a node of the start.
    """

    state_bytes: FloatArray  # (T,)
    bandwidth_bytes_s: float  # > 0
    delay_s: float = 0.0
    local_bytes: Mapping[tuple[int, str | None], float] = field(default_factory=dict)
    at_once: int = 1

    def seconds(self, task: int, node: str | None, share: float, *, empty: bool) -> float:
        """Return how long a share of a task's state is under way to a node; *empty*: nothing lies there yet."""
        local = 0.0 if empty else self.local_bytes.get((task, node), 0.0)
        size = max(0.0, float(self.state_bytes[task]) - local) * share
        return self.delay_s + self.at_once * size / self.bandwidth_bytes_s if size > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class Incident:
    """A failure and what there is to recover from it, as the files tell. Tasks are numbered as in ``TaskGraph``.

    A node takes tasks up to ``max_cpu`` of its cores, minus its ``used_cpu``, what is ``reserved`` there and the
    cost of the live tasks and live replicas that stand on it. Without a cluster there is one place without a name,
    with ``capacity`` cores; with one, ``capacity`` caps what the nodes that are there at the start take together.
    """

    graph: TaskGraph
    cost: FloatArray  # (T,) cores
    fail: tuple[Fail, ...]
    cluster: Cluster | None = None
    arrivals: tuple[Arrival, ...] = ()
    max_cpu: float = MAX_CPU
    capacity: float | None = None
    replicas: Mapping[int, str | None] = field(default_factory=dict)  # task -> node of its replica; None: no node
    reserved: Mapping[str, float] = field(default_factory=dict)  # node id -> cores, where it arrives
    complete: bool = False  # everything failed at the start, wherever it stood
    transfers: Transfers | None = None  # None: restores take no time
    delays: RecoveryDelays = AT_ONCE
    may_pause: bool = False  # running queries of lower priority may give way to failed ones
    horizon_s: float = HORIZON_S  # until when it is looked at where a plan does not say

    @property
    def rolls_back(self) -> bool:
        """Whether every failure sends all tasks that run back to the last checkpoint ([SuZhouTR], section 4.3)."""
        return not all(operator.deterministic for operator in self.graph.topology.operators)

    def share(self, task: int, entry: Mapping[str, Any]) -> float:
        """Return which share of a task an entry of a plan starts: less than all where it names key groups."""
        cost = float(self.cost[task])
        split = entry.get("key_groups") and entry.get("cpu") is not None and cost > 0.0
        return float(entry["cpu"]) / cost if split else 1.0


def incident_of(plan: Plan, problem: Problem, fail: Iterable[str] = (), *, nothing: bool = False) -> Incident:
    """Return what a plan is judged against: the failure of *problem*, the plan's own ``--fail``, and more.

    Parameters
    ----------
    fail
        Selectors of what fails at the start besides.
    nothing
        Nothing at all may fail, as in one of several scenarios.

    Raises
    ------
    FtplanError
        If the topology is missing, nothing fails, or the plan's options name what is not there.
    """
    if problem.topology is None:
        raise FtplanError("a recovery schedule is judged against its topology: give --topology")
    options = RecoveryScheduleOptions.of_plan(plan)
    selectors = list(dict.fromkeys((*options.fail, *fail)))
    situation = situation_of(problem, replace(options, fail=tuple(selectors)))
    graph, cluster = situation.graph, situation.cluster
    complete = options.complete_failure
    listed = problem.failure.fail if problem.failure is not None else ()
    if nothing and not (listed or selectors or complete):
        failed, arrivals = Failed(frozenset(), np.zeros(graph.tasks, dtype=np.bool_)), situation.stated_arrivals
    else:
        failed, arrivals = situation.failed, situation.arrivals[0]
    replicas = {item.task: item.node for item in situation.replicas}
    cost = _cost(plan, situation)
    headroom = 1.0 / options.max_cpu
    delays = situation.recovery.delays(graph, cost, options.checkpoint_age, headroom, options.replay)
    return Incident(
        graph=graph,
        cost=cost,
        fail=(*listed, *(Fail(parse_selector(text)) for text in selectors)),
        cluster=cluster,
        arrivals=arrivals,
        max_cpu=options.max_cpu,
        capacity=options.capacity,
        replicas=replicas,
        reserved=_reserved(arrivals, options.coordinator_cpu) if complete else {},
        complete=complete,
        transfers=_transfers(plan, situation, failed.nodes),
        delays=delays,
        may_pause=options.pause_lower_priority,
        horizon_s=horizon_of_situation(situation, failed, arrivals, delays),
    )


def horizon_of(plan: Plan, incident: Incident) -> float:
    """Return the plan's horizon, else that of the incident."""
    for name in ("horizon_s", "horizon"):
        if plan.options.get(name) is not None:
            return float(plan.options[name])
    return incident.horizon_s


def at_planned_times(incident: Incident) -> Incident:
    """Return the incident with every node arriving when plans expect it, where it arrives within a range."""
    times = planned_times(incident.arrivals)
    fixed = tuple(replace(a, at_s=(t, t)) for a, t in zip(incident.arrivals, times, strict=True))
    return replace(incident, arrivals=fixed)


def _cost(plan: Plan, situation: Situation) -> FloatArray:
    """Return the cores of each task from where the plan has them."""
    source = plan.options.get("cost")
    if source == "statistics" and situation.stats is None:
        raise FtplanError("the plan's costs come from statistics: give --stats")
    return (replace(situation, stats=None) if source == "topology" else situation).costs.cost


def _reserved(arrivals: tuple[Arrival, ...], cpu: float) -> dict[str, float]:
    """Return what the coordinator takes on the first node that arrives ([SuZhouTR], section 6)."""
    hosting = [arrival for arrival in arrivals if "tasks" in arrival.node.accepts]
    order = sorted(
        zip(planned_times(hosting), hosting, strict=True), key=lambda item: (item[0], natural_key(item[1].node.id))
    )
    return {order[0][1].node.id: cpu} if order else {}


def bandwidth_of(options: RecoveryScheduleOptions, problem: Problem) -> float | None:
    """Return the bandwidth of restores in units of 2^20 bytes per second, None where nobody says."""
    return situation_of(problem, options).bandwidth_mb_s


def _transfers(plan: Plan, situation: Situation, failed: frozenset[str]) -> Transfers | None:
    """Return how long restores take, None where they take no time."""
    bandwidth = plan.options.get("bandwidth_mb_s") or situation.bandwidth_mb_s
    state = situation.state
    if not bandwidth or not state.total.any():
        return None
    copies, cluster = situation.useful_copies, situation.cluster
    live = [node.id for node in cluster.nodes if node.id not in failed] if cluster is not None else []
    local = local_bytes(situation.graph, state, copies, {node: i for i, node in enumerate(live)})
    return Transfers(
        state.total,
        float(bandwidth) * MB,
        situation.network.delay_s or 0.0,
        {(task, live[host]): size for (task, host), size in local.items()},
        situation.network.restores_at_once,
    )
