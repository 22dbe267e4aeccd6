"""Queries and nodes chosen together, for steps in which the sum of free cores says more than the nodes can hold."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.schedule.exact_packing import (
    HANDING_S,
    MOST_TASKS,
    PAIRS,
    Bins,
    SearchLimitReached,
    chosen_placements,
    placements,
    whole_size,
)
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import ResidualCapacity, StepAssignment
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import StepState
from ftplan.planners.solver import solve_sat

#: Bundles up to which all sets of them are looked at, and the deterministic work of the solver for more.
MOST_BUNDLES, WORK = 12, 8.0
#: Priorities that are no whole numbers count in these parts.
PARTS = 1e4


def choose_and_pack(
    state: StepState, residual: ResidualCapacity, seconds: float, seed: int
) -> tuple[list[StepAssignment], float | None]:
    """Return the queries of largest priority that can be placed whole, as assignments, with the proven bound on it.

    maximise Σ priority z over queries, z <= bundle y, Σ over nodes of use[t, n] = y for each task t of the bundle, and
    Σ cores of t use[t, n] <= room of n. Cores are rounded up and room down, so that what is placed fits.

    Nothing where the problem is too large (``PAIRS``), or the work (``WORK``) or the *seconds* did not bring anything.
    The same input gives the same answer unless the clock ends it. Cost: exponential at worst.
    """
    queries = state.queries
    hosts = np.flatnonzero(residual.room >= 0.0).tolist()
    open_bundles, open_queries = _possible(state)
    tasks = queries.tasks_of(open_bundles).tolist()
    if not hosts or not tasks or len(tasks) * len(hosts) > PAIRS or residual.splittable:
        return [], None
    if len(tasks) <= MOST_TASKS and int(open_bundles.sum()) <= MOST_BUNDLES:
        with suppress(SearchLimitReached):
            return _by_search(state, Bins(residual, hosts), open_bundles, open_queries)
    if seconds <= len(tasks) * len(hosts) * HANDING_S:
        return [], None
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    bundle_of = dict(zip(queries.task.tolist(), queries.bundle.tolist(), strict=True))
    back = {int(b): model.new_bool_var("") for b in np.flatnonzero(open_bundles)}
    use = placements(model, tasks, hosts, state.cost, residual)
    for task in tasks:
        model.add(sum(use[task, host] for host in hosts) == back[bundle_of[task]])
    scale = 1.0 if np.all(state.priority == np.floor(state.priority)) else PARTS
    whole = {}
    for query in np.flatnonzero(open_queries).tolist():
        whole[query] = model.new_bool_var("")
        for bundle in queries.members(query).tolist():
            model.add_implication(whole[query], back[bundle])
    model.maximize(sum(int(np.ceil(state.priority[q] * scale)) * variable for q, variable in whole.items()))
    answer = solve_sat(model, Budget(seconds), seed, work_s=WORK)
    if not answer.found or answer.bound is None:
        return [], None
    needed = np.zeros(queries.bundles, dtype=np.bool_)
    for query in answer.chosen(whole):
        needed[queries.members(query)] = True
    kept = set(queries.tasks_of(needed).tolist())
    placed = [item for item in chosen_placements(answer, use, state.cost) if item.task in kept]
    return placed, answer.bound / scale


def _by_search(
    state: StepState, bins: Bins, open_bundles: BoolArray, open_queries: BoolArray
) -> tuple[list[StepAssignment], float]:
    """Return what :func:`choose_and_pack` does, proven best, for few tasks."""
    queries = state.queries
    bundles = np.flatnonzero(open_bundles).tolist()
    bit = {bundle: 1 << place for place, bundle in enumerate(bundles)}
    open_ = np.flatnonzero(open_queries)
    needs = [sum(bit[b] for b in queries.members(q).tolist()) for q in open_.tolist()]
    tasks = [queries.task[queries.bundle == bundle].tolist() for bundle in bundles]
    sizes = [[whole_size(float(state.cost[task])) for task in own] for own in tasks]
    value, chosen, hosts = best_that_fits(bins, needs, state.priority[open_], sizes)
    kept = [task for place, own in enumerate(tasks) if chosen >> place & 1 for task in own]
    return [StepAssignment(task, host, float(state.cost[task])) for task, host in zip(kept, hosts, strict=True)], value


def best_that_fits(
    bins: Bins, needs: Sequence[int], priority: FloatArray, sizes: Sequence[Sequence[int]]
) -> tuple[float, int, list[int]]:
    """Return the largest summed priority of queries that can be placed whole, their bundles, and a host for each task.

    Every set of bundles is looked at, the most valuable first, of equal ones the cheapest: the first that can be
    packed is the best.

    Parameters
    ----------
    needs, priority
        Bundles of each query as a bit mask, and its priority.
    sizes
        What the tasks of each bundle take, in millionths of a core. The hosts stand in the order of the tasks.

    Raises
    ------
    SearchLimitReached
        If packing takes more placements than there may be.
    """
    sets = np.arange(1 << len(sizes), dtype=np.int64)
    value = np.zeros(len(sets))
    for need, gain in zip(needs, priority.tolist(), strict=True):
        value += gain * ((sets & need) == need)
    cost = np.zeros(len(sets), dtype=np.int64)
    for bundle, tasks in enumerate(sizes):
        cost += sum(tasks) * ((sets >> bundle) & 1)
    order = np.lexsort((sets, cost, -value))
    for bundles in order[cost[order] <= bins.free].tolist():
        hosts = bins.pack([size for bundle, own in enumerate(sizes) if bundles >> bundle & 1 for size in own])
        if hosts is not None:
            return float(value[bundles]), bundles, hosts
    return 0.0, 0, []


def _possible(state: StepState) -> tuple[BoolArray, BoolArray]:
    """Return the bundles and queries without a task that fits on no node, shapes (bundles,) and (Q,)."""
    queries = state.queries
    shut = np.zeros(queries.bundles, dtype=np.bool_)
    shut[queries.bundle[state.too_large[queries.task]]] = True
    blocked = np.zeros(queries.queries, dtype=np.bool_)
    blocked[queries.row[shut[queries.member]]] = True
    needed = np.zeros(queries.bundles, dtype=np.bool_)
    needed[queries.member[~blocked[queries.row]]] = True
    return needed & ~shut, ~blocked
