"""Placing what a policy chose, and mending the choice where its tasks do not fit onto the nodes one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ftplan.model.plan import Warn
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import now
from ftplan.planners.interrupts import solve_sat
from ftplan.planners.recovery.knapsack.instance import BoolArray
from ftplan.planners.recovery.schedule.choose_and_pack import HANDING_S, PAIRS, choose_and_pack, placements
from ftplan.planners.recovery.schedule.node_assignment import Part, Sites, Splittable, assign, assign_in_order, fits
from ftplan.planners.recovery.schedule.prefetch import next_tasks, profit_density
from ftplan.planners.recovery.schedule.repair_state import Progress
from ftplan.planners.recovery.schedule.schedule import Decision, State
from ftplan.planners.recovery.schedule.small_packing import MOST_TASKS, Nodes, TooMuch, whole_size

#: Queries in a row that do not fit before no more are tried.
MISSES = 300
#: Deterministic work of a solver that looks for a packing where the greedy one fails.
PACKING_WORK = 2.0


@dataclass(frozen=True, slots=True)
class Packed:
    """The parts in the order in which they are restored, what had to be given up, and a bound that placing proved."""

    parts: list[Part]
    warnings: list[Warn]
    bound: float | None = None
    cut: bool = False  # by the clock


def pack(
    state: State, decision: Decision, progress: Progress, splittable: Splittable, seconds: float, until_s: float
) -> Packed:
    """Place the tasks of a decision.

    First greedily (:func:`assign`), then by a solver. Where no packing is found queries and nodes are chosen together
    (:mod:`choose_and_pack`) or, where that is too much, queries are placed one by one, the densest first. Solvers
    take at most about *seconds*; without any, few tasks are packed by search all the same. What is not placed at
    *until_s*, a time of ``budget.clock``, stays down.
    """
    tasks = decision.tasks.tolist()
    sites = progress.sites(splittable)
    if decision.one_by_one:
        parts, cut = assign_in_order(tasks, state.cost, sites, until_s)
        return Packed(parts, [], cut=cut)
    placed, left = assign(tasks, state.cost, sites)
    if not left:
        return Packed(_in_order(placed, tasks), [])
    exact = packed_exactly(tasks, state.cost, sites, seconds / 4)
    if exact is not None:
        return Packed(_in_order(exact, tasks), [])
    wanted = _whole(state, tasks)
    placed, cut = _query_by_query(state, wanted, sites, until_s)
    together, bound = choose_and_pack(state, sites, min(seconds, until_s - now()))
    if _worth(state, together) > _worth(state, placed):
        placed = together
    kept = [part.task for part in placed]
    waiting = int((wanted & ~_whole(state, kept)).sum())
    text = (
        f"step {state.step}: the tasks of the {int(wanted.sum())} queries chosen fit in sum but not onto the nodes one "
        f"by one; {waiting} of them wait, others may come instead; --parallel-recovery splits tasks with key groups"
    )
    order = state.queries.task[np.isin(state.queries.task, kept)].tolist()
    return Packed(_in_order(placed, order), [Warn("PACKING_REPAIRED", text)], bound, cut)


def _whole(state: State, tasks: Sequence[int]) -> BoolArray:
    """Return which queries some tasks make whole, shape (Q,)."""
    back = np.zeros(len(state.down), dtype=np.bool_)
    back[list(tasks)] = True
    return ~np.isin(state.queries.query, state.queries.without(back).query)


def _worth(state: State, parts: list[Part]) -> float:
    """Return the summed priority of the queries that some parts make whole."""
    priority = state.problem.graph.per_task("priority")[state.queries.query]
    return float(priority[_whole(state, [part.task for part in parts])].sum())


def _in_order(parts: list[Part], tasks: Sequence[int]) -> list[Part]:
    place = {task: i for i, task in enumerate(tasks)}
    return sorted(parts, key=lambda part: (place[part.task], part.key_groups or (0, 0)))


def _query_by_query(state: State, wanted: BoolArray, sites: Sites, until_s: float) -> tuple[list[Part], bool]:
    """Place whole queries one by one: the *wanted* ones in the order of their density, then all others likewise.

    The others end after :data:`MISSES` in a row that do not fit. Also returns whether the clock ended it.
    """
    queries = state.queries
    density = profit_density(queries, state.cost, state.problem.graph)
    order = np.lexsort((np.arange(queries.queries), -density, ~wanted))
    by_bundle = np.argsort(queries.bundle, kind="stable")
    start = np.searchsorted(queries.bundle[by_bundle], np.arange(queries.bundles + 1))
    free, largest = _free(sites)
    placed: list[Part] = []
    done = np.zeros(queries.bundles, dtype=np.bool_)
    misses = 0
    for query in order.tolist():
        if now() > until_s:
            return placed, True
        bundles = [b for b in queries.members(query).tolist() if not done[b]]
        missing = [int(t) for b in bundles for t in queries.task[by_bundle[start[b] : start[b + 1]]]]
        costs = state.cost[missing]
        parts: list[Part] = []
        left = missing
        if fits(float(costs.sum()), free) and (sites.splittable or fits(float(costs.max(initial=0.0)), largest)):
            parts, left = assign(missing, state.cost, sites)
        if left:
            misses += not wanted[query]
            if misses >= MISSES:
                break
            continue
        misses = 0
        done[bundles] = True
        placed += parts
        sites = _after(sites, parts)
        free, largest = _free(sites)
    return placed, False


def _free(sites: Sites) -> tuple[float, float]:
    """Return the cores free on all hosts, and on the one with most room."""
    room = np.maximum(sites.room, 0.0)
    free = min(float(room[: sites.pooled].sum()), sites.pool) + float(room[sites.pooled :].sum())
    return free, float(room.max(initial=0.0))


def _after(sites: Sites, parts: list[Part]) -> Sites:
    room, pool = sites.room.copy(), sites.pool
    for part in parts:
        room[part.host] -= part.cpu
        pool -= part.cpu if part.host < sites.pooled else 0.0
    return replace(sites, room=room, pool=pool)


def packed_exactly(tasks: Sequence[int], cost: FloatArray, sites: Sites, seconds: float) -> list[Part] | None:
    """Return a packing, found by search or by CP-SAT, None where there is none or the problem is too large."""
    hosts = np.flatnonzero(sites.room > 0.0).tolist()
    if len(tasks) * len(hosts) > PAIRS or sites.splittable or not hosts:
        return None
    if len(tasks) <= MOST_TASKS:
        try:
            found = Nodes(sites, hosts).placed([whole_size(float(cost[task])) for task in tasks])
        except TooMuch:
            pass
        else:
            if found is None:
                return None
            return [Part(task, host, float(cost[task])) for task, host in zip(tasks, found, strict=True)]
    if seconds <= len(tasks) * len(hosts) * HANDING_S:
        return None
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    use = placements(model, tasks, hosts, cost, sites)
    for task in tasks:
        model.add_exactly_one([use[task, host] for host in hosts])
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = PACKING_WORK
    if solve_sat(model, solver, seconds) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return [Part(task, host, float(cost[task])) for (task, host), used in use.items() if solver.value(used)]


def pack_prefetch(
    state: State, decision: Decision, progress: Progress, splittable: Splittable, until_s: float
) -> list[Part]:
    """Place tasks of the next query, in topological order, while they fit; the rest of the capacity stays free."""
    ahead = decision.ahead
    if ahead is None:
        left = state.queries.without(~progress.down)
        ahead = next_tasks(left, state.cost, state.problem.graph, state.hopeless)
    still = ahead[progress.down[ahead]].tolist()
    return assign_in_order(still, state.cost, progress.sites(splittable), until_s)[0]
