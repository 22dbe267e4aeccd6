"""Compiled moves of whole queries: start one, take one out, count what is lost, undo a round."""

from __future__ import annotations

import numpy as np

from ftplan.compiled import in_place, only_within
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.repair.search import placement_rows as row
from ftplan.planners.recovery_schedule.algorithms.repair.search.placement_arrays import PlacementArrays, RepairArrays
from ftplan.planners.recovery_schedule.algorithms.repair.search.placement_moves import (
    defer_listed,
    list_missing,
    note_query,
    place_listed,
    pull,
    put,
    take,
    take_listed,
)


@only_within
def insert(repair: RepairArrays, placed: PlacementArrays, q: int, key: float, way: int) -> float:
    """Start all that query q, which is not chosen, misses; return when it is whole, infinite where that cannot be."""
    many = list_missing(repair, placed, q)
    placed.counter[row.LISTED_NOW] = many
    step = -1.0
    if not repair.prefetch:
        step = step_for(repair, placed, q, many, key)
        if step < 0.0:
            return np.inf
    until: float = place_listed(repair, placed, q, many, step, key)
    if until == np.inf:
        return np.inf
    if not repair.prefetch:
        until = bring_forward(repair, placed, q, until, step)
    else:
        until = pull(repair, placed, q, until, key)
    if way != row.SOONEST and many > 0:
        defer_listed(repair, placed, many, step, way, until)
    note_query(placed, q)
    placed.query_int[row.CHOSEN, q], placed.query_real[row.RANK, q], placed.query_real[row.BEGINS, q] = 1, key, step
    for at in range(repair.start[q], repair.start[q + 1]):
        placed.bundle_int[row.NEED, repair.member[at]] += 1
    return until


@only_within
def step_for(repair: RepairArrays, placed: PlacementArrays, q: int, many: int, key: float) -> float:
    """Return the step at which all that query q misses is started together so that it is whole first, -1 for none."""
    lowest = repair.span[0]
    for at in range(repair.start[q], repair.start[q + 1]):
        b = repair.member[at]
        for position in range(repair.task_start[b], repair.task_start[b + 1]):
            h = placed.task_int[row.HOST, repair.tasks[position]]
            if h >= 0:
                lowest = max(lowest, repair.there[h])
    best, best_s = -1.0, np.inf
    for k in range(len(repair.steps)):
        step = repair.steps[k]
        if step < lowest or step >= min(best_s, repair.span[1]):
            continue
        until = place_listed(repair, placed, q, many, step, key)
        if until == np.inf:
            continue
        take_listed(repair, placed, many)
        if until < best_s:
            best, best_s = step, until
        if many == 0:
            break
    return best


@only_within
def bring_forward(repair: RepairArrays, placed: PlacementArrays, q: int, until: float, step: float) -> float:
    """Start what is placed for query q at a step, where it would start later; return when the query is whole."""
    for at in range(repair.start[q], repair.start[q + 1]):
        b = repair.member[at]
        for position in range(repair.task_start[b], repair.task_start[b + 1]):
            j = repair.tasks[position]
            if placed.task_real[row.STEP, j] > step:
                h, key = placed.task_int[row.HOST, j], placed.task_real[row.KEY, j]
                take(repair, placed, j)
                put(repair, placed, j, h, step, key)
            until = max(until, placed.task_real[row.CAUGHT, j])
    return until


@only_within
def remove(repair: RepairArrays, placed: PlacementArrays, q: int) -> None:
    """Take query q out, with the tasks that no other chosen one needs."""
    if placed.query_int[row.CHOSEN, q] == 0:
        return
    note_query(placed, q)
    placed.query_int[row.CHOSEN, q] = 0
    for at in range(repair.start[q], repair.start[q + 1]):
        b = repair.member[at]
        placed.bundle_int[row.NEED, b] -= 1
        if placed.bundle_int[row.NEED, b] == 0:
            for position in range(repair.task_start[b], repair.task_start[b + 1]):
                take(repair, placed, repair.tasks[position])
        elif not repair.prefetch:
            put_back(repair, placed, b)


@only_within
def put_back(repair: RepairArrays, placed: PlacementArrays, b: int) -> None:
    """Start the tasks of a bundle when the first of the chosen queries that need it starts all that it needs."""
    step = np.inf
    for at in range(repair.by_start[b], repair.by_start[b + 1]):
        q = repair.by_query[at]
        if placed.query_int[row.CHOSEN, q] == 1:
            step = min(step, placed.query_real[row.BEGINS, q])
    for position in range(repair.task_start[b], repair.task_start[b + 1]):
        j = repair.tasks[position]
        if placed.task_real[row.STEP, j] != step:
            h, key = placed.task_int[row.HOST, j], placed.task_real[row.KEY, j]
            take(repair, placed, j)
            put(repair, placed, j, h, step, key)


@only_within
def lost_by(repair: RepairArrays, q: int, back: float) -> float:
    """Return the priority × seconds that query q loses if it is back at a time."""
    loss: float = repair.of_query[row.PRIORITY, q] * max(0.0, min(back, repair.span[1]) - repair.span[0])
    return loss


@only_within
def look_again(repair: RepairArrays, placed: PlacementArrays, q: int) -> None:
    """Find anew when query q is back, and what is lost."""
    back = repair.of_query[row.FLOOR, q]
    for at in range(repair.start[q], repair.start[q + 1]):
        back = max(back, placed.whole[repair.member[at]])
    if back != placed.query_real[row.BACK, q]:
        placed.loss[0] += lost_by(repair, q, back) - lost_by(repair, q, placed.query_real[row.BACK, q])
        placed.query_real[row.BACK, q] = back


@only_within
def settle(repair: RepairArrays, placed: PlacementArrays) -> None:
    """Bring queries up to date with what has changed of their tasks."""
    queries = 0
    for n in range(placed.counter[row.STALE]):
        b = placed.bundle_int[row.STALE_BUNDLE, n]
        placed.bundle_int[row.IS_STALE, b] = 0
        whole = 0.0
        for position in range(repair.task_start[b], repair.task_start[b + 1]):
            whole = max(whole, placed.task_real[row.CAUGHT, repair.tasks[position]])
        if whole == placed.whole[b]:
            continue
        placed.whole[b] = whole
        for at in range(repair.by_start[b], repair.by_start[b + 1]):
            q = repair.by_query[at]
            if placed.query_int[row.IS_STALE, q] == 0:
                placed.query_int[row.IS_STALE, q] = 1
                placed.query_int[row.STALE_QUERY, queries] = q
                queries += 1
    placed.counter[row.STALE] = 0
    for n in range(queries):
        placed.query_int[row.IS_STALE, placed.query_int[row.STALE_QUERY, n]] = 0
        look_again(repair, placed, placed.query_int[row.STALE_QUERY, n])


@only_within
def begin_round(placed: PlacementArrays) -> None:
    """Forget what earlier rounds changed."""
    placed.counter[row.ROUND] += 1
    placed.counter[row.TASKS] = 0
    placed.counter[row.QUERIES] = 0


@only_within
def undo(repair: RepairArrays, placed: PlacementArrays, loss: float) -> None:
    """Put everything back that the round has changed, before which so much was lost."""
    for n in range(placed.counter[row.TASKS]):
        j = placed.task_int[row.CHANGED, n]
        if placed.task_int[row.HOST, j] >= 0:
            take(repair, placed, j)
    for n in range(placed.counter[row.TASKS]):
        j = placed.task_int[row.CHANGED, n]
        if placed.task_int[row.OLD_HOST, n] >= 0:
            put(
                repair,
                placed,
                j,
                placed.task_int[row.OLD_HOST, n],
                placed.task_real[row.OLD_STEP, n],
                placed.task_real[row.OLD_KEY, n],
            )
        placed.task_real[row.KEY, j], placed.task_real[row.STEP, j] = (
            placed.task_real[row.OLD_KEY, n],
            placed.task_real[row.OLD_STEP, n],
        )
    for n in range(placed.counter[row.QUERIES]):
        q = placed.query_int[row.CHANGED, n]
        change = placed.query_int[row.OLD_CHOSEN, n] - placed.query_int[row.CHOSEN, q]
        placed.query_int[row.CHOSEN, q] = placed.query_int[row.OLD_CHOSEN, n]
        placed.query_real[row.RANK, q], placed.query_real[row.BEGINS, q] = (
            placed.query_real[row.OLD_RANK, n],
            placed.query_real[row.OLD_BEGINS, n],
        )
        for at in range(repair.start[q], repair.start[q + 1]):
            placed.bundle_int[row.NEED, repair.member[at]] += change
    settle(repair, placed)
    placed.loss[0] = loss


@only_within
def clear(repair: RepairArrays, placed: PlacementArrays) -> None:
    """Take everything off."""
    begin_round(placed)
    for j in range(placed.task_int.shape[1]):
        if placed.task_int[row.HOST, j] >= 0:
            take(repair, placed, j)
    for h in range(len(placed.free)):
        placed.free[h] = repair.limit[h]
    for b in range(placed.bundle_int.shape[1]):
        placed.bundle_int[row.NEED, b] = 0
    for q in range(placed.query_real.shape[1]):
        placed.query_int[row.CHOSEN, q] = 0
    settle(repair, placed)
    placed.loss[0] = 0.0
    for q in range(placed.query_real.shape[1]):
        placed.query_real[row.BACK, q] = np.inf
        placed.loss[0] += lost_by(repair, q, np.inf)
        look_again(repair, placed, q)


@in_place
def construct(repair: RepairArrays, placed: PlacementArrays, order: IntArray, way: int) -> None:
    """Start queries anew in an order, each so that it is whole as early as it can be with what is there by then."""
    clear(repair, placed)
    for position in range(len(order)):
        q = order[position]
        placed.query_real[row.RANK, q] = -position
        if insert(repair, placed, q, float(-position), way) >= repair.span[1]:
            remove(repair, placed, q)
    settle(repair, placed)


@in_place
def load(repair: RepairArrays, placed: PlacementArrays, host: IntArray, key: FloatArray, step: FloatArray) -> None:
    """Start from a given placement, without the tasks that no query needs which is back before the horizon."""
    clear(repair, placed)
    for j in range(len(host)):
        if host[j] >= 0:
            put(repair, placed, j, host[j], step[j], key[j])
    settle(repair, placed)
    for q in range(placed.query_real.shape[1]):
        lowest, begins = 0.0, 0.0
        for at in range(repair.start[q], repair.start[q + 1]):
            b = repair.member[at]
            for position in range(repair.task_start[b], repair.task_start[b + 1]):
                lowest = min(lowest, key[repair.tasks[position]])
                begins = max(begins, step[repair.tasks[position]])
        placed.query_real[row.RANK, q], placed.query_real[row.BEGINS, q] = lowest, begins
        if placed.query_real[row.BACK, q] < repair.span[1]:
            placed.query_int[row.CHOSEN, q] = 1
            for at in range(repair.start[q], repair.start[q + 1]):
                placed.bundle_int[row.NEED, repair.member[at]] += 1
    for b in range(placed.bundle_int.shape[1]):
        for position in range(repair.task_start[b], repair.task_start[b + 1]):
            j = repair.tasks[position]
            if placed.bundle_int[row.NEED, b] == 0 and placed.task_int[row.HOST, j] >= 0:
                take(repair, placed, j)
    settle(repair, placed)
