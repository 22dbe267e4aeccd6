"""Compiled moves of a placement: put a task on a host, take it off, start what a query misses, take a query out.

Tasks that fetch state stand in the queue of their host by step, key and number, as the schedule restores them; what a
move delays behind it is replayed at once.
"""

from __future__ import annotations

import numpy as np

from ftplan.compiled import only_within
from ftplan.planners.recovery_schedule.algorithms.random_draws import draw
from ftplan.planners.recovery_schedule.algorithms.repair.search import placement_rows as row
from ftplan.planners.recovery_schedule.algorithms.repair.search.placement_arrays import PlacementArrays, RepairArrays

#: Seconds that are none.
EPSILON = 1e-9


@only_within
def seconds(repair: RepairArrays, j: int, h: int) -> float:
    """Return the seconds of task j in a lane of host h."""
    for at in range(repair.near_start[j], repair.near_start[j + 1]):
        if repair.near[row.NEAR_HOST, at] == h:
            near: float = repair.near[row.NEAR_SECONDS, at]
            return near
    far: float = repair.of_task[row.RESTORE, j]
    return far


@only_within
def runs(repair: RepairArrays, j: int, at_s: float) -> float:
    """Return when task j runs without its state if it is started at a time."""
    from_s: float = max(at_s, repair.of_task[row.NOTICED, j]) + repair.span[2]
    return from_s


@only_within
def behind(repair: RepairArrays, j: int, ready: float) -> float:
    """Return when task j has caught up if it is ready at a time."""
    caught: float = (
        ready + repair.of_task[row.REPLAY, j] + repair.of_task[row.CATCH_UP, j] * (ready - repair.of_task[row.DOWN, j])
    )
    return caught


@only_within
def goes_before(placed: PlacementArrays, i: int, step: float, key: float, j: int) -> bool:
    """Return whether task i of a queue goes before task j with a step and a key."""
    if placed.task_real[row.STEP, i] != step:
        return bool(placed.task_real[row.STEP, i] < step)
    if placed.task_real[row.KEY, i] != key:
        return bool(placed.task_real[row.KEY, i] > key)
    return i < j


@only_within
def note_task(placed: PlacementArrays, j: int) -> None:
    """Remember where a task was before the round."""
    if placed.task_int[row.CHANGED_IN, j] == placed.counter[row.ROUND]:
        return
    placed.task_int[row.CHANGED_IN, j] = placed.counter[row.ROUND]
    many = placed.counter[row.TASKS]
    placed.task_int[row.CHANGED, many], placed.task_int[row.OLD_HOST, many] = j, placed.task_int[row.HOST, j]
    placed.task_real[row.OLD_KEY, many], placed.task_real[row.OLD_STEP, many] = (
        placed.task_real[row.KEY, j],
        placed.task_real[row.STEP, j],
    )
    placed.counter[row.TASKS] = many + 1


@only_within
def note_query(placed: PlacementArrays, q: int) -> None:
    """Remember what a query was before the round."""
    if placed.query_int[row.CHANGED_IN, q] == placed.counter[row.ROUND]:
        return
    placed.query_int[row.CHANGED_IN, q] = placed.counter[row.ROUND]
    many = placed.counter[row.QUERIES]
    placed.query_int[row.CHANGED, many], placed.query_int[row.OLD_CHOSEN, many] = q, placed.query_int[row.CHOSEN, q]
    placed.query_real[row.OLD_RANK, many], placed.query_real[row.OLD_BEGINS, many] = (
        placed.query_real[row.RANK, q],
        placed.query_real[row.BEGINS, q],
    )
    placed.counter[row.QUERIES] = many + 1


@only_within
def set_ready(repair: RepairArrays, placed: PlacementArrays, j: int, ready: float) -> None:
    """Let a task be ready at a time, infinite for never."""
    placed.task_real[row.READY, j] = ready
    placed.task_real[row.CAUGHT, j] = behind(repair, j, ready) if ready < np.inf else np.inf
    b = repair.bundle[j]
    if placed.bundle_int[row.IS_STALE, b] == 0:
        placed.bundle_int[row.IS_STALE, b] = 1
        placed.bundle_int[row.STALE_BUNDLE, placed.counter[row.STALE]] = b
        placed.counter[row.STALE] += 1


@only_within
def first_free(placed: PlacementArrays) -> int:
    """Return the lane that is free first."""
    first = 0
    for n in range(1, len(placed.lane)):
        if placed.lane[n] < placed.lane[first]:
            first = n
    return first


@only_within
def replay_queue(repair: RepairArrays, placed: PlacementArrays, h: int, j: int) -> None:
    """Find anew when tasks of a host are ready, from task j of its queue on, which has changed."""
    if len(placed.lane) > 1:
        for n in range(len(placed.lane)):
            placed.lane[n] = repair.lanes[h, n]
        i, changed = placed.head[h], False
        while i >= 0:
            changed = changed or i == j
            first, ready = first_free(placed), placed.task_real[row.READY, i]
            if changed:
                ready = max(runs(repair, i, placed.task_real[row.STEP, i]), placed.lane[first]) + seconds(repair, i, h)
            if ready != placed.task_real[row.READY, i]:
                set_ready(repair, placed, i, ready)
            placed.lane[first] = ready
            i = placed.task_int[row.LATER, i]
        return
    i = j
    while i >= 0:
        front = placed.task_int[row.EARLIER, i]
        lane = placed.task_real[row.READY, front] if front >= 0 else repair.lanes[h, 0]
        ready = max(runs(repair, i, placed.task_real[row.STEP, i]), lane) + seconds(repair, i, h)
        if ready == placed.task_real[row.READY, i]:
            return  # so is what stands behind it
        set_ready(repair, placed, i, ready)
        i = placed.task_int[row.LATER, i]


@only_within
def put(repair: RepairArrays, placed: PlacementArrays, j: int, h: int, step: float, key: float) -> None:
    """Start task j, which is nowhere, on host h."""
    note_task(placed, j)
    placed.task_int[row.HOST, j], placed.task_real[row.STEP, j], placed.task_real[row.KEY, j] = h, step, key
    placed.free[h] -= repair.of_task[row.COST, j]
    if h < repair.pooled:
        placed.free[-1] -= repair.of_task[row.COST, j]
    if seconds(repair, j, h) <= 0.0:
        set_ready(repair, placed, j, runs(repair, j, step))
        return
    front, i = -1, placed.head[h]
    while i >= 0 and goes_before(placed, i, step, key, j):
        front, i = i, placed.task_int[row.LATER, i]
    placed.task_int[row.EARLIER, j], placed.task_int[row.LATER, j] = front, i
    if front >= 0:
        placed.task_int[row.LATER, front] = j
    else:
        placed.head[h] = j
    if i >= 0:
        placed.task_int[row.EARLIER, i] = j
    replay_queue(repair, placed, h, j)


@only_within
def take(repair: RepairArrays, placed: PlacementArrays, j: int) -> None:
    """Take task j off its host."""
    note_task(placed, j)
    h = placed.task_int[row.HOST, j]
    placed.task_int[row.HOST, j] = -1
    placed.free[h] += repair.of_task[row.COST, j]
    if h < repair.pooled:
        placed.free[-1] += repair.of_task[row.COST, j]
    set_ready(repair, placed, j, np.inf)
    if seconds(repair, j, h) <= 0.0:
        return
    front, after = placed.task_int[row.EARLIER, j], placed.task_int[row.LATER, j]
    if front >= 0:
        placed.task_int[row.LATER, front] = after
    else:
        placed.head[h] = after
    if after >= 0:
        placed.task_int[row.EARLIER, after] = front
        replay_queue(repair, placed, h, after)
    placed.task_int[row.EARLIER, j], placed.task_int[row.LATER, j] = -1, -1


@only_within
def has_room(repair: RepairArrays, placed: PlacementArrays, j: int, h: int) -> bool:
    """Return whether task j fits onto host h."""
    cost = repair.of_task[row.COST, j]
    return cost <= placed.free[h] and (h >= repair.pooled or cost <= placed.free[-1])


@only_within
def caught_on(
    repair: RepairArrays, placed: PlacementArrays, j: int, h: int, step: float, key: float, until: float
) -> float:
    """Return when task j, which is nowhere, catches up on host h; infinite where that is later than a time."""
    lasts = seconds(repair, j, h)
    ready = runs(repair, j, step) + max(lasts, 0.0)
    if lasts <= 0.0 or behind(repair, j, ready) > until:
        caught: float = behind(repair, j, ready)
        return caught if caught <= until else np.inf
    for n in range(len(placed.lane)):
        placed.lane[n] = repair.lanes[h, n]
    first, i = first_free(placed), placed.head[h]
    while i >= 0 and goes_before(placed, i, step, key, j):
        placed.lane[first] = placed.task_real[row.READY, i]
        first, i = first_free(placed), placed.task_int[row.LATER, i]
        if behind(repair, j, placed.lane[first] + lasts) > until:
            return np.inf  # no lane is free in time any more
    caught = behind(repair, j, max(ready, placed.lane[first] + lasts))
    return caught if caught <= until else np.inf


@only_within
def best_host(
    repair: RepairArrays, placed: PlacementArrays, j: int, step: float, key: float, way: int, until: float
) -> int:
    """Return the host for task j, which is nowhere, -1 where none takes it by a time.

    *step* below 0 stands for the first step of each host; else hosts that come later are left out. SOONEST: where it
    catches up first, then the fullest. LATEST: the last that is in time, then the fullest. TIGHTEST: the fullest.
    """
    best, best_s, best_free = -1, np.inf, np.inf
    limit, blink = until, placed.noise[row.BLINK]
    for h in range(len(repair.there)):
        there = repair.there[h]
        if blink > 0.0 and draw(placed.counter) < blink:
            continue
        if not has_room(repair, placed, j, h) or there > step >= 0.0 or there >= repair.span[1]:
            continue
        if way == row.LATEST and best >= 0 and (there < best_s or (there == best_s and placed.free[h] >= best_free)):
            continue
        if way == row.TIGHTEST and placed.free[h] >= best_free:
            continue
        caught = caught_on(repair, placed, j, h, there if step < 0.0 else step, key, limit)
        if caught == np.inf:
            continue
        if way == row.SOONEST:
            if best >= 0 and caught == best_s and placed.free[h] >= best_free:
                continue
            best_s, limit = caught, caught
        else:
            best_s = there
        best, best_free = h, placed.free[h]
    return best


@only_within
def list_missing(repair: RepairArrays, placed: PlacementArrays, q: int) -> int:
    """List the tasks that query q misses, those with most cores first; return how many."""
    many = 0
    for at in range(repair.start[q], repair.start[q + 1]):
        b = repair.member[at]
        for position in range(repair.task_start[b], repair.task_start[b + 1]):
            j = repair.tasks[position]
            if placed.task_int[row.HOST, j] < 0:
                placed.task_int[row.LISTED, many] = j
                many += 1
            else:
                break  # the tasks of a bundle are placed together
    gap = many // 2
    while gap > 0:  # Shell's sort: in place, and no two tasks have the same rank
        for i in range(gap, many):
            j, at = placed.task_int[row.LISTED, i], i
            while (
                at >= gap
                and repair.of_task[row.BULK, placed.task_int[row.LISTED, at - gap]] > repair.of_task[row.BULK, j]
            ):
                placed.task_int[row.LISTED, at] = placed.task_int[row.LISTED, at - gap]
                at -= gap
            placed.task_int[row.LISTED, at] = j
        gap //= 2
    return many


@only_within
def key_of(repair: RepairArrays, placed: PlacementArrays, j: int, key: float) -> float:
    """Return the key of a task of a query with a key."""
    jitter = placed.noise[row.JITTER]
    if jitter > 0.0:
        key += jitter * (draw(placed.counter) - repair.of_task[row.URGENCY, j])
    own: float = key + repair.of_task[row.URGENCY, j]
    return own


@only_within
def place_listed(repair: RepairArrays, placed: PlacementArrays, q: int, many: int, step: float, key: float) -> float:
    """Put the listed tasks where each catches up first; return when query q is whole, infinite if some fit nowhere."""
    until: float = repair.of_query[row.FLOOR, q]
    for i in range(many):
        j = placed.task_int[row.LISTED, i]
        own = key_of(repair, placed, j, key)
        h = best_host(repair, placed, j, step, own, row.SOONEST, np.inf)
        if h < 0:
            take_listed(repair, placed, i)
            return np.inf
        put(repair, placed, j, h, repair.there[h] if step < 0.0 else step, own)
    for i in range(many):
        until = max(until, placed.task_real[row.CAUGHT, placed.task_int[row.LISTED, i]])
    return until


@only_within
def take_listed(repair: RepairArrays, placed: PlacementArrays, many: int) -> None:
    """Take the first of the listed tasks off again."""
    for i in range(many):
        take(repair, placed, placed.task_int[row.LISTED, i])


@only_within
def pull(repair: RepairArrays, placed: PlacementArrays, q: int, until: float, key: float) -> float:
    """Move tasks that are placed, and that query q would wait for, to where they catch up sooner; return until when."""
    for at in range(repair.start[q], repair.start[q + 1]):
        b = repair.member[at]
        for position in range(repair.task_start[b], repair.task_start[b + 1]):
            j = repair.tasks[position]
            if placed.task_real[row.CAUGHT, j] <= until:
                continue
            h, step, old, caught = (
                placed.task_int[row.HOST, j],
                placed.task_real[row.STEP, j],
                placed.task_real[row.KEY, j],
                placed.task_real[row.CAUGHT, j],
            )
            take(repair, placed, j)
            raised = max(key + repair.of_task[row.URGENCY, j], old)
            other = best_host(repair, placed, j, -1.0, raised, row.SOONEST, caught - EPSILON)
            if other >= 0:
                put(repair, placed, j, other, repair.there[other], raised)
            else:
                put(repair, placed, j, h, step, old)
            until = max(until, placed.task_real[row.CAUGHT, j])
    return until


@only_within
def defer_listed(repair: RepairArrays, placed: PlacementArrays, many: int, step: float, way: int, until: float) -> None:
    """Move the listed tasks to hosts that early queries need less, as far as the query is not later for it."""
    if placed.noise[row.SLACK] > 0.0:
        until += placed.noise[row.SLACK] * max(0.0, repair.span[1] - until)
    for i in range(many):
        j = placed.task_int[row.LISTED, i]
        h, at_s, key = placed.task_int[row.HOST, j], placed.task_real[row.STEP, j], placed.task_real[row.KEY, j]
        take(repair, placed, j)
        other = best_host(repair, placed, j, step, key, way, until)
        if other < 0:
            put(repair, placed, j, h, at_s, key)
        else:
            put(repair, placed, j, other, repair.there[other] if step < 0.0 else step, key)
