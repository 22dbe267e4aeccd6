"""Placing what a policy chose, and mending the choice where its tasks do not fit onto the nodes one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray
from ftplan.planners.recovery.node_assignment import Part, Sites, assign
from ftplan.planners.recovery.prefetch import next_tasks, profit_density
from ftplan.planners.recovery.progress import Progress
from ftplan.planners.recovery.schedule import Decision, State

#: Pairs of task and node up to which a solver looks for a packing where the greedy one fails, and its work.
EXACT_PAIRS = 20_000
EXACT_WORK = 2.0
_UNIT = 1e6


def pack(
    state: State, decision: Decision, progress: Progress, splittable: dict[int, int]
) -> tuple[list[Part], list[Warn]]:
    """Place the tasks of a decision; return the parts in the order of the decision, and what had to be given up.

    First greedily (:func:`assign`), then by a solver. Where no packing is found queries are placed one by one, the
    densest first, and those that do not fit wait.
    """
    tasks = decision.tasks.tolist()
    sites = progress.sites(splittable)
    placed, left = assign(tasks, state.cost, sites)
    if not left:
        return _in_order(placed, tasks), []
    exact = packed_exactly(tasks, state.cost, sites)
    if exact is not None:
        return _in_order(exact, tasks), []
    placed, waiting, chosen = _query_by_query(state, decision, sites)
    kept = {part.task for part in placed}
    text = (
        f"step {state.step}: {waiting} of {chosen} queries chosen wait: their tasks fit in sum but not onto the nodes "
        "one by one; --parallel-recovery may split heavy tasks with key groups"
    )
    return _in_order(placed, [task for task in tasks if task in kept]), [Warn("PACKING_REPAIRED", text)]


def _in_order(parts: list[Part], tasks: Sequence[int]) -> list[Part]:
    place = {task: i for i, task in enumerate(tasks)}
    return sorted(parts, key=lambda part: (place[part.task], part.key_groups or (0, 0)))


def _query_by_query(state: State, decision: Decision, sites: Sites) -> tuple[list[Part], int, int]:
    """Place whole queries in the order of their density; return the parts, how many queries wait, and of how many."""
    queries = state.queries
    wanted = np.zeros(len(state.down), dtype=np.bool_)
    wanted[decision.tasks] = True
    chosen = np.flatnonzero(~np.isin(queries.query, queries.without(wanted).query))
    if len(chosen) == 0:  # a policy that thinks in tasks
        placed, _ = assign(decision.tasks.tolist(), state.cost, sites)
        return placed, 0, 0
    density = profit_density(queries, state.cost, state.problem.graph)
    order = chosen[np.lexsort((chosen, -density[chosen]))]
    placed, waiting = [], 0
    done: set[int] = set()
    for query in order.tolist():
        needed = np.zeros(queries.bundles, dtype=np.bool_)
        needed[queries.members(query)] = True
        missing = [task for task in queries.tasks_of(needed).tolist() if task not in done]
        parts, left = assign(missing, state.cost, sites)
        if left:
            waiting += 1
            continue
        done.update(missing)
        placed += parts
        sites = _after(sites, parts)
    return placed, waiting, len(chosen)


def _after(sites: Sites, parts: list[Part]) -> Sites:
    room, pool = sites.room.copy(), sites.pool
    for part in parts:
        room[part.host] -= part.cpu
        pool -= part.cpu if part.host < sites.pooled else 0.0
    return replace(sites, room=room, pool=pool)


def packed_exactly(tasks: Sequence[int], cost: FloatArray, sites: Sites) -> list[Part] | None:
    """Return a packing found by CP-SAT, None where there is none or the problem is too large."""
    hosts = np.flatnonzero(sites.room > 0.0).tolist()
    if len(tasks) * len(hosts) > EXACT_PAIRS or sites.splittable or not hosts:
        return None
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    size = {task: int(np.ceil(cost[task] * _UNIT - 1e-3)) for task in tasks}
    use = {(task, host): model.new_bool_var("") for task in tasks for host in hosts}
    for task in tasks:
        model.add_exactly_one([use[task, host] for host in hosts])
    for host in hosts:
        room = int(np.floor(sites.room[host] * _UNIT + 1e-3))
        model.add(sum(size[task] * use[task, host] for task in tasks) <= room)
    if np.isfinite(sites.pool):
        pooled = [size[task] * use[task, host] for task in tasks for host in hosts if host < sites.pooled]
        model.add(sum(pooled) <= int(np.floor(sites.pool * _UNIT + 1e-3)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = EXACT_WORK
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return [Part(task, host, float(cost[task])) for (task, host), used in use.items() if solver.value(used)]


def pack_prefetch(state: State, decision: Decision, progress: Progress, splittable: dict[int, int]) -> list[Part]:
    """Place tasks of the next query, in topological order, while they fit; the rest of the capacity stays free."""
    ahead = decision.ahead
    if ahead is None:
        left = state.queries.without(~progress.down)
        ahead = next_tasks(left, state.cost, state.problem.graph, state.hopeless)
    placed: list[Part] = []
    sites = progress.sites(splittable)
    for task in ahead.tolist():
        if not progress.down[task]:
            continue
        parts, short = assign([task], state.cost, sites)
        if short:
            break
        placed += parts
        sites = _after(sites, parts)
    return placed
