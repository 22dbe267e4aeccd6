"""How much priority can be up at one time, each task on a host: solved by CP-SAT where it is small."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import Budget
from ftplan.planners.recovery_schedule.algorithms.repair.bounds.step_function import (
    StepFunctionBound,
    sharper,
    waiting_queries,
)
from ftplan.planners.recovery_schedule.algorithms.repair.clairvoyant import ClairvoyantRepair, Epoch
from ftplan.planners.solver import solve_sat

#: Pairs of task and host, and entries of (query, bundle), above which single times are not solved.
MOST_PAIRS, MOST_ENTRIES = 10_000, 5_000
#: Times that are solved at most, and the share of the time left for each.
TIMES, ALONE = 24, 0.2
#: Whole units of a core and a second, and of the largest sum of either.
_UNIT, _LARGEST = 1e6, 2.0**40


def single_machine_bounds(
    repair: ClairvoyantRepair, stairs: StepFunctionBound, budget: Budget, seed: int
) -> StepFunctionBound:
    """Return stairs that are nowhere higher, lower at times for which the choice was solved with its hosts.

    What is up by a time is no less than what was up before in the same epoch, so that one solved time bounds all before
    it. First the ends of epochs, and just before more hosts can be used, then halfway between two that differ.
    """
    integral = bool(np.all(repair.priority == np.floor(repair.priority)))
    pairs = len(repair.cost) * len(repair.there_s)
    if bool(repair.split.any()) or repair.problem.may_pause or not integral or pairs > MOST_PAIRS:
        return stairs
    if len(repair.queries.member) > MOST_ENTRIES:
        return stairs
    left = TIMES
    for epoch in repair.epochs:
        found: dict[float, float] = {}
        changes = repair.first_runs(epoch)
        inside = np.unique(changes[(changes > epoch.from_s) & (changes < epoch.until_s)])
        queue = [*inside[:: -(-max(1, len(inside)) // TIMES)].tolist(), epoch.until_s]
        while queue and left > 0 and not budget.over():
            left -= 1
            at_s = queue.pop(0)
            known = float(stairs.most[max(0, int(np.searchsorted(stairs.at_s, at_s, side="left")) - 1)])
            part = budget.part(ALONE)
            found[at_s] = _most(repair, epoch, at_s, known, part, seed)
            budget.cut |= part.cut
            if not queue:
                queue = _between(epoch, found)
        stairs = _lower(stairs, epoch, found)
    return stairs


def _between(epoch: Epoch, found: dict[float, float]) -> list[float]:
    """Return the middle of the two neighbouring times between which most is uncertain; none where little is."""
    times = [epoch.from_s, *sorted(found)]
    doubt = [((b - a) * (found[b] - found.get(a, 0.0)), a, b) for a, b in pairwise(times)]
    most, a, b = max(doubt)
    return [0.5 * (a + b)] if most > 1e-3 * max(found.values()) * (epoch.until_s - epoch.from_s) else []


def _lower(stairs: StepFunctionBound, epoch: Epoch, found: dict[float, float]) -> StepFunctionBound:
    """Return stairs cut at the times that were solved."""
    times = [epoch.from_s, *sorted(found)]
    least = np.minimum.accumulate([found[t] for t in times[:0:-1]])[::-1] if found else np.zeros(0)
    if not len(least):
        return stairs
    after = [(epoch.until_s, np.inf)]
    if times[-1] < epoch.until_s:
        after = [(times[-1], np.inf), *after]
    at_s = np.array([*times[:-1], *(t for t, _ in after)])
    most = np.array([*least.tolist(), *(m for _, m in after)])
    inside = at_s < stairs.end_s
    return sharper(stairs, at_s[inside], most[inside])


def _most(repair: ClairvoyantRepair, epoch: Epoch, at_s: float, known: float, budget: Budget, seed: int) -> float:
    """Return a bound on the priority that is up before a time, at most what is *known* of it."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    until = repair.ready_by(epoch, np.array([at_s]))[:, 0]
    ready = repair.begins(epoch) + repair.seconds
    on: dict[int, list[Any]] = defaultdict(list)
    by_host: dict[int, list[tuple[int, Any]]] = defaultdict(list)
    for j, h in np.argwhere((ready < until[:, None] + ROUNDING) & epoch.needed[:, None]).tolist():
        variable = model.new_bool_var("")
        on[j].append(variable)
        by_host[h].append((j, variable))
    for variables in on.values():
        model.add_at_most_one(variables)
    pooled: list[tuple[Any, float]] = []
    for h, items in by_host.items():
        cores = [(variable, float(repair.cost[j])) for j, variable in items]
        _fits(model, cores, float(epoch.room[h]))
        pooled += cores if h < repair.problem.live_hosts else []
        begins = {j: max(float(repair.there_s[h]), float(epoch.since_s[j])) for j, _ in items}
        for since_s in sorted(set(begins.values())):
            mine = [(v, float(repair.seconds[j, h])) for j, v in items if begins[j] >= since_s]
            latest = max(float(until[j]) for j, _ in items if begins[j] >= since_s)
            lanes = repair.problem.restores_at_once * (latest - since_s - repair.problem.delays.restart_s)
            _fits(model, mine, max(0.0, lanes))
    if repair.pool is not None:
        _fits(model, pooled, repair.pool)
    whole = _whole(repair, epoch, model, on)
    worth = sum(worth for worth, _ in whole)
    if not whole:
        return 0.0
    gained = sum(worth * variable for worth, variable in whole)
    if known < worth:
        model.add(gained <= int(known))
    model.maximize(gained)
    answer = solve_sat(model, budget, seed)
    return min(known, float(worth if answer.bound is None else answer.bound))


def _whole(repair: ClairvoyantRepair, epoch: Epoch, model: Any, on: dict[int, list[Any]]) -> list[tuple[int, Any]]:
    """Return the queries that can be up, each with its priority and variable, which is at most that of each task."""
    queries = repair.queries
    of_bundle: list[list[int]] = [[] for _ in range(queries.bundles)]
    for j in np.flatnonzero(epoch.needed).tolist():
        of_bundle[int(queries.bundle[j])].append(j)
    whole = []
    for q in np.flatnonzero(waiting_queries(repair, epoch)).tolist():
        missing = [j for b in queries.members(q).tolist() for j in of_bundle[b]]
        if all(j in on for j in missing):
            variable = model.new_bool_var("")
            whole.append((int(repair.priority[q]), variable))
            for j in missing:
                model.add_bool_or([*on[j], ~variable])
    return whole


def _fits(model: Any, items: list[tuple[Any, float]], limit: float) -> None:
    """Add Σ size ≤ limit in whole units, sizes rounded down and the limit up."""
    unit = min(_UNIT, _LARGEST / max(1e-9, limit, sum(size for _, size in items)))
    sizes = [(variable, int(np.floor(size * unit + 1e-3))) for variable, size in items]
    if sum(size for _, size in sizes) > limit * unit:
        model.add(sum(size * variable for variable, size in sizes) <= int(np.ceil(limit * unit + 1e-3)))
