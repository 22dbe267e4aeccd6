"""Why there are no replicas within the limits: what nodes lack and which node would help, or too few changes.

Changes are limited as in [SuZhou2016], V-C.
"""

from __future__ import annotations

import math

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.plan import Infeasible
from ftplan.model.topology import BoolArray, IntArray
from ftplan.planners.replicate_tasks.algorithms.replica_placement import in_place
from ftplan.planners.replicate_tasks.problem import ReplicationProblem


def too_few_changes(problem: ReplicationProblem) -> Infeasible | None:
    """Return the limit that no plan keeps where more replicas in place must stop than may change; None otherwise."""
    if problem.max_changes is None or problem.current is None:
        return None
    stops = problem.changes(in_place(problem).node)
    if stops <= problem.max_changes:
        return None
    cost = problem.cost(problem.current != NOWHERE)
    reason = (
        f"the replicas in place take {cost:.6g} of a budget of {problem.budget:.6g}: at least {stops} must stop, and "
        f"only {problem.max_changes} changes are allowed"
    )
    return Infeasible(reason, "max-changes", problem.max_changes, stops, f"--max-changes {stops}")


NO_ROOM = "NO_ROOM"
#: How finely the size of a node that would help is stated: cores, and 2^20 bytes.
GRAIN_CPU, GRAIN_MB = 1e-4, 1.0


def no_room(problem: ReplicationProblem, node: IntArray, lacking: BoolArray) -> Infeasible:
    """Say which tasks, (T,), find no node for a replica beside those on nodes *node*, (T,), and which would take them.

    Of the tasks that lack a node those count that the budget still holds, one after another.
    """
    hosts = problem.hosts
    assert hosts is not None
    placed = node != NOWHERE
    left, tasks = problem.limit - problem.cost(placed), []
    for task in np.flatnonzero(lacking).tolist():
        if problem.weight[task] <= left:
            tasks.append(task)
            left -= float(problem.weight[task])
    cpu, mb = float(hosts.cpu[tasks].sum()), float(hosts.memory_mb[tasks].sum())
    name = next(f"extra-{k}" for k in range(1, len(hosts.ids) + 2) if f"extra-{k}" not in hosts.position)
    size = max(GRAIN_CPU, math.ceil(round(cpu / hosts.max_cpu / GRAIN_CPU, 6)) * GRAIN_CPU)
    new = f"id: {name}, cpu: {size:.10g}"
    if mb > 0.0:
        new += f", memory_mb: {math.ceil(mb / GRAIN_MB) * GRAIN_MB:.10g}"
    operator, index = problem.graph.name(tasks[0])
    where = "outside their primary's zone" if hosts.same_zone == "never" else "beside their primary's node"
    one = len(tasks) == 1
    name_of = f"task:{operator}/{index}"
    what = f"a replica of {name_of}" if one else f"{len(tasks):,} replicas, such as that of {name_of}"
    find, need = ("finds", "it needs") if one else ("find", "they need")
    reason = (
        f"the budget holds {what} that {find} no node with room {where}: {need} {cpu:.6g} cores of the "
        f"{_left(problem, placed):.6g} that are free"
    )
    if mb > 0.0:
        reason += f" (memory: {mb:.6g} of 2^20 bytes without a node)"
    return Infeasible(
        reason,
        "room on a node",
        int(placed.sum()),
        int(placed.sum()) + len(tasks),
        f"add to the nodes of the cluster file: {{{new}}}",
    )


def _left(problem: ReplicationProblem, placed: BoolArray) -> float:
    """Return the cores that are free beside some replicas."""
    hosts = problem.hosts
    assert hosts is not None
    return max(0.0, round(hosts.free_cores - float(hosts.cpu[placed].sum()), 9))
