"""Queries and nodes chosen together, for steps in which the sum of free cores says more than the nodes can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.interrupts import solve_sat
from ftplan.planners.recovery.knapsack.instance import BoolArray
from ftplan.planners.recovery.schedule.node_assignment import Part, Sites
from ftplan.planners.recovery.schedule.schedule import State
from ftplan.planners.recovery.schedule.small_packing import (
    MOST_BUNDLES,
    MOST_TASKS,
    UNIT,
    Nodes,
    TooMuch,
    best_that_fits,
    whole_size,
)

#: Pairs of task and node up to which a solver places tasks, and its deterministic work for that.
PAIRS = 20_000
WORK = 8.0
#: Seconds that it takes to hand the solver one pair: where there is no time for that it is not asked.
HANDING_S = 5e-5
#: Priorities that are no whole numbers count in these parts.
PARTS = 1e4


def choose_and_pack(state: State, sites: Sites, seconds: float) -> tuple[list[Part], float | None]:
    """Return the queries of largest priority that can be placed whole, as parts, with the solver's bound on it.

    Without parts where the problem is too large (:data:`PAIRS`), or the work (:data:`WORK`) or the *seconds* did not
    bring anything. One worker: the same input gives the same answer unless the clock ends it. Cost: exponential at
    worst.

    Notes
    -----
    Maximise Σ priority z over queries z <= bundle y, Σ over nodes of use[t, n] = y for each task t of the bundle, and
    Σ cores of t use[t, n] <= room of n. Cores are rounded up and room down, so that what is placed fits.
    """
    queries = state.queries
    hosts = np.flatnonzero(sites.room >= 0.0).tolist()
    open_bundles, open_queries = _possible(state)
    tasks = queries.tasks_of(open_bundles).tolist()
    if not hosts or not tasks or len(tasks) * len(hosts) > PAIRS or sites.splittable:
        return [], None
    if len(tasks) <= MOST_TASKS and int(open_bundles.sum()) <= MOST_BUNDLES:
        try:
            return _by_search(state, sites, hosts, open_bundles, open_queries)
        except TooMuch:
            pass
    if seconds <= len(tasks) * len(hosts) * HANDING_S:
        return [], None
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    bundle_of = dict(zip(queries.task.tolist(), queries.bundle.tolist(), strict=True))
    back = {int(b): model.new_bool_var("") for b in np.flatnonzero(open_bundles)}
    use = placements(model, tasks, hosts, state.cost, sites)
    for task in tasks:
        model.add(sum(use[task, host] for host in hosts) == back[bundle_of[task]])
    priority = state.problem.graph.per_task("priority")[queries.query]
    scale = 1.0 if np.all(priority == np.floor(priority)) else PARTS
    whole = {}
    for query in np.flatnonzero(open_queries).tolist():
        whole[query] = model.new_bool_var("")
        for bundle in queries.members(query).tolist():
            model.add_implication(whole[query], back[bundle])
    model.maximize(sum(int(np.ceil(priority[q] * scale)) * variable for q, variable in whole.items()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = WORK
    status = solve_sat(model, solver, seconds)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return [], None
    bound = float(np.floor(solver.best_objective_bound + 1e-6)) / scale
    needed = np.zeros(queries.bundles, dtype=np.bool_)
    for query, variable in whole.items():
        if solver.value(variable):
            needed[queries.members(query)] = True
    kept = set(queries.tasks_of(needed).tolist())
    parts = [
        Part(task, host, float(state.cost[task]))
        for (task, host), used in use.items()
        if task in kept and solver.value(used)
    ]
    return parts, bound


def _by_search(
    state: State, sites: Sites, hosts: Sequence[int], open_bundles: BoolArray, open_queries: BoolArray
) -> tuple[list[Part], float]:
    """Return what :func:`choose_and_pack` does, proven best, for few tasks."""
    queries = state.queries
    bundles = np.flatnonzero(open_bundles).tolist()
    bit = {bundle: 1 << place for place, bundle in enumerate(bundles)}
    open_ = np.flatnonzero(open_queries)
    needs = [sum(bit[b] for b in queries.members(q).tolist()) for q in open_.tolist()]
    tasks = [queries.task[queries.bundle == bundle].tolist() for bundle in bundles]
    sizes = [[whole_size(float(state.cost[task])) for task in own] for own in tasks]
    priority = state.problem.graph.per_task("priority")[queries.query[open_]]
    value, chosen, where = best_that_fits(Nodes(sites, hosts), needs, priority, sizes)
    kept = [task for place, own in enumerate(tasks) if chosen >> place & 1 for task in own]
    return [Part(task, host, float(state.cost[task])) for task, host in zip(kept, where, strict=True)], value


def placements(
    model: Any, tasks: Sequence[int], hosts: Sequence[int], cost: FloatArray, sites: Sites
) -> dict[tuple[int, int], Any]:
    """Add to a CP-SAT model a variable for each task on each host, within the room of the hosts and the pool."""
    size = {task: int(np.ceil(cost[task] * UNIT - 1e-3)) for task in tasks}
    use = {(task, host): model.new_bool_var("") for task in tasks for host in hosts}
    for host in hosts:
        room = int(np.floor(sites.room[host] * UNIT + 1e-3))
        model.add(sum(size[task] * use[task, host] for task in tasks) <= room)
    if np.isfinite(sites.pool):
        pooled = [size[task] * use[task, host] for task in tasks for host in hosts if host < sites.pooled]
        model.add(sum(pooled) <= int(np.floor(sites.pool * UNIT + 1e-3)))
    return use


def _possible(state: State) -> tuple[BoolArray, BoolArray]:
    """Return the bundles and queries without a task that fits on no node, shapes (bundles,) and (Q,)."""
    queries = state.queries
    shut = np.zeros(queries.bundles, dtype=np.bool_)
    shut[queries.bundle[state.too_large[queries.task]]] = True
    blocked = np.zeros(queries.queries, dtype=np.bool_)
    blocked[queries.row[shut[queries.member]]] = True
    needed = np.zeros(queries.bundles, dtype=np.bool_)
    needed[queries.member[~blocked[queries.row]]] = True
    return needed & ~shut, ~blocked
