"""The whole repair as PyJobShop says it: the same question to a scheduling library that knows nothing of streams.

A task to recover is a task of PyJobShop with one mode a node: its restore, on the node's lane (a machine, or a
renewable resource where a node has several), with its cores from a consumable resource. A node that arrives later has a
break until then. One more mode needs nothing and ends at the horizon: the task is not recovered. A query is a job of
its priority's weight, whose only task takes no time and follows all that the query needs; the sum of weighted flow
times is priority × seconds down.

What it cannot say, so that it is asked about failures of which none comes later: tasks whose catching up takes longer
the longer they were down, unless all do alike; tasks that may only begin once their query has room
(``--no-prefetch``); and failures under way. Times are rounded up to :data:`TICK_S`, cores towards what fits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ftplan.planners.recovery_schedule.algorithms.repair.instance import NOWHERE, RepairInstance, RepairPlacement

#: Seconds and cores that count as 1.
TICK_S, CORES = 0.01, 1e-6


class Peer(NamedTuple):
    """What PyJobShop answers: a placement, None for none in time, and its bound on priority × seconds down."""

    placement: RepairPlacement | None
    bound: float
    proven: bool


def by_pyjobshop(instance: RepairInstance, time_limit_s: float) -> Peer:
    """Ask PyJobShop for the order and the nodes of a repair; priorities are whole numbers."""
    from pyjobshop import Model

    model = Model()
    end = math.floor((instance.horizon_s - instance.at_s) / TICK_S)
    cores, lanes, doors = _resources(model, instance)
    pool = None
    if math.isfinite(instance.pool):
        pool = model.add_consumable(math.floor(instance.pool / CORES))
    tasks = [model.add_task(latest_end=end) for _ in instance.task]
    modes: list[int] = []  # the node of each mode
    for j, task in enumerate(tasks):
        demand = math.ceil(instance.cost[j] / CORES)
        for h in range(len(instance.host)):
            if demand > cores[h].capacity:
                continue
            lasts = instance.seconds[j, h]
            needs, demands = [cores[h], lanes[h] if lasts > 0.0 else doors[h]], [demand, 1]
            if pool is not None and h < instance.pooled:
                needs, demands = [*needs, pool], [*demands, demand]
            model.add_mode(task, needs, max(1, math.ceil(lasts / TICK_S)), demands)
            modes.append(h)
        model.add_mode(task, [], end)
        modes.append(NOWHERE)
    _queries(model, instance, tasks, end)
    result = model.solve(time_limit=time_limit_s, display=False, num_workers=1)
    bound = float(result.lower_bound) * TICK_S
    if not math.isfinite(result.objective):
        return Peer(None, bound, False)
    chosen = result.best.tasks[: len(tasks)]
    host = np.array([modes[item.mode] for item in chosen], dtype=np.int64)
    order = np.argsort([item.start for item in chosen], kind="stable")
    return Peer(RepairPlacement(host, order), bound, result.status == "Optimal")


def _resources(model: Any, instance: RepairInstance) -> tuple[list[Any], list[Any], list[Any]]:
    """Return of each node its cores, its lanes, and a door that opens when it is there, for what needs no lane."""
    cores = [model.add_consumable(math.floor(room / CORES)) for room in instance.room]
    count = instance.lanes.shape[1]
    noticed_s = float(instance.noticed_s.max(initial=0.0))
    lanes, doors = [], []
    for there_s in instance.there_s.tolist():
        opens = math.ceil((max(there_s, noticed_s) + instance.restart_s - instance.at_s) / TICK_S)
        breaks = [(0, opens)] if opens > 0 else []
        lanes.append(model.add_machine(breaks) if count == 1 else model.add_renewable(count, breaks))
        doors.append(model.add_renewable(len(instance.task), breaks))
    return cores, lanes, doors


def _queries(model: Any, instance: RepairInstance, tasks: list[Any], end: int) -> None:
    """Add a job for each query, which is done when all that it needs is."""
    of_bundle = [np.flatnonzero(instance.bundle == b).tolist() for b in range(instance.queries.bundles)]
    for q, priority in enumerate(instance.priority):
        done = model.add_task(model.add_job(weight=round(priority)), latest_end=end)
        model.add_mode(done, [], 0)
        for bundle in instance.queries.members(q).tolist():
            for j in of_bundle[bundle]:
                model.add_end_before_start(tasks[j], done)
    model.set_objective(weight_total_flow_time=1)
