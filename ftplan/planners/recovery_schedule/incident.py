"""From a recovery plan and its inputs to the incident that the plan is judged against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.failure import Arrival, Fail, planned_times
from ftplan.model.names import natural_key, parse_selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.failures import Failed
from ftplan.planners.recovery_schedule.hosts import default_horizon_s, local_bytes
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.replay.incident import Incident, Transfers
from ftplan.planners.situation import Situation, situation_of


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
        delays=situation.recovery.delays(graph, cost, options.checkpoint_age, 1.0 / options.max_cpu, options.replay),
        may_pause=options.pause_lower_priority,
    )


def horizon_of(plan: Plan, incident: Incident) -> float:
    """Return the plan's horizon, else that of :func:`default_horizon_s`."""
    for name in ("horizon_s", "horizon"):
        if plan.options.get(name) is not None:
            return float(plan.options[name])
    hosting = [arrival for arrival in incident.arrivals if "tasks" in arrival.node.accepts]
    last = max((arrival.at_s[1] for arrival in hosting), default=0.0)
    later = max((entry.at_s for entry in incident.fail), default=0.0)
    return default_horizon_s(last, later, incident.delays, measured=plan.options.get("costs") is not None)


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
