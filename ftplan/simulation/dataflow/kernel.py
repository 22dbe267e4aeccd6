"""The flow of batches as an event loop over rows of numbers.

Three things happen, in the order of time: a batch of the sources' logs is whole (one event for all sources), a task
ends its work (a heap) and maybe keeps a snapshot, output arrives (one event for all streams of a task; in the order of
sending, since all take as long). Within a moment their order makes no difference, and what follows from them happens
at its end: free tasks begin, nodes share their cores anew. An event takes O(streams of the task + tasks at work on its
node + log tasks).

Rows are indexed number by number, so that the functions run on arrays compiled, and on lists as they are.
"""

from __future__ import annotations

import math

from ftplan.compiled import in_place, inlined_in_place
from ftplan.simulation.dataflow import rows as k
from ftplan.simulation.dataflow.rows import FlowState, FlowTables


@in_place
def sink(key: list[float], heap: list[int], place: list[int], at: int, size: int) -> None:
    """Let an entry of a heap sink to where its key belongs."""
    entry = heap[at]
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and key[heap[below + 1]] < key[heap[below]]:
            below += 1
        if key[entry] <= key[heap[below]]:
            break
        heap[at] = heap[below]
        place[heap[below]] = at
        at = below
    heap[at] = entry
    place[entry] = at


@in_place
def schedule(key: list[float], heap: list[int], place: list[int], size: int, entry: int) -> int:
    """Put an entry into a heap, or move it to where its key belongs now; return the heap's size."""
    at = place[entry]
    if at < 0:
        at = size
        size += 1
    while at > 0:
        above = heap[(at - 1) // 2]
        if key[above] <= key[entry]:
            break
        heap[at] = above
        place[above] = at
        at = (at - 1) // 2
    heap[at] = entry
    place[entry] = at
    sink(key, heap, place, at, size)
    return size


@in_place
def pop(key: list[float], heap: list[int], place: list[int], size: int) -> int:
    """Return the first entry of a heap, and put it behind the others."""
    entry, last = heap[0], heap[size - 1]
    heap[0], heap[size - 1] = last, entry
    place[last] = 0
    sink(key, heap, place, 0, size - 1)
    place[entry] = -1
    return entry


@in_place
def note(s: FlowState, task: int) -> None:
    """Remember that a task may begin."""
    if not s.task[k.LISTED][task]:
        s.task[k.LISTED][task] = 1
        s.task[k.TODO][s.tally[k.TODOS]] = task
        s.tally[k.TODOS] += 1


@in_place
def put(s: FlowState, task: int, spot: int) -> None:
    """Let a task trade places with another of its node, which shares its cores anew then."""
    member, spots, node = s.task[k.MEMBER], s.task[k.SPOT], s.task[k.NODE][task]
    other, old = member[spot], spots[task]
    member[old], member[spot] = other, task
    spots[other], spots[task] = old, spot
    if not s.node[k.MARKED][node]:
        s.node[k.MARKED][node] = 1
        s.node[k.TO_SHARE][s.tally[k.DIRTY]] = node
        s.tally[k.DIRTY] += 1


@in_place
def waits(f: FlowTables, s: FlowState, task: int) -> bool:
    """Return whether a task is too far ahead of a live task that it feeds."""
    batch = s.task[k.PROCESSED][task]
    for i in range(f.role[k.OUT_START][task], f.role[k.OUT_START][task + 1]):
        receiver = f.stream[k.RECEIVER][f.stream[k.BY_SENDER][i]]
        if s.task[k.LIVE][receiver] and batch - s.task[k.PROCESSED][receiver] >= f.queue_batches:
            return True
    return False


@in_place
def examine(f: FlowTables, s: FlowState, counted: list[float], task: int) -> None:
    """Let a task begin with its next batch, or go on with its work, if it can."""
    if not s.task[k.LIVE][task] or s.task[k.STALLED][task]:
        return
    batch, tasks, work = s.task[k.PROCESSED][task], len(s.task[k.PROCESSED]), s.task[k.AT_BATCH]
    if not work[task] and s.task[k.MISSING][task] == 0 and batch < s.tally[k.TICKS]:
        blocked = s.tally[k.BUFFERING] == 0 and waits(f, s, task)
        s.task[k.BLOCKED][task] = blocked
        if not blocked:
            records = counted[(batch + 1) * tasks + task] - counted[batch * tasks + task]
            work[task] = 1
            s.pace[k.LEFT][task] = records * f.record_s[task]
            s.pace[k.CORES][task] = 0.0
    node = s.task[k.NODE][task]
    end = s.node[k.START][node] + s.node[k.BUSY][node]
    if work[task] and s.task[k.PLACE][task] < 0 and s.task[k.SPOT][task] >= end:
        s.pace[k.SINCE][task] = s.clock[0]
        if s.pace[k.LEFT][task] > 0.0:
            put(s, task, end)
            s.node[k.BUSY][node] += 1
        else:
            s.pace[k.FINISH][task] = s.clock[0]
            s.tally[k.AT_WORK] = schedule(s.pace[k.FINISH], s.task[k.HEAP], s.task[k.PLACE], s.tally[k.AT_WORK], task)


@inlined_in_place
def share_cores(s: FlowState, node: int) -> None:
    """Share a node's cores max-min fair: each task gets what it can use up to one level."""
    cap, left, rate, since = s.pace[k.CAP], s.pace[k.LEFT], s.pace[k.CORES], s.pace[k.SINCE]
    member, place, now = s.task[k.MEMBER], s.task[k.PLACE], s.clock[0]
    start = s.node[k.START][node]
    end = start + s.node[k.BUSY][node]
    wanted, level, higher = 0.0, -1.0, math.inf
    for spot in range(start, end):
        wanted += cap[member[spot]]
    if wanted > s.cores[node]:
        higher = s.cores[node] / (end - start)
    while level < higher < math.inf:  # those below the level leave more to the others
        level, rest, above = higher, s.cores[node], 0
        for spot in range(start, end):
            if cap[member[spot]] <= level:
                rest -= cap[member[spot]]
            else:
                above += 1
        if above > 0:
            higher = rest / above
    for spot in range(start, end):
        task = member[spot]
        cores = min(cap[task], higher)
        if cores != rate[task] or place[task] < 0:
            left[task] = max(left[task] - rate[task] * (now - since[task]), 0.0)
            rate[task], since[task] = cores, now
            s.pace[k.FINISH][task] = now + left[task] / cores if cores > 0.0 else math.inf
            s.tally[k.AT_WORK] = schedule(s.pace[k.FINISH], s.task[k.HEAP], place, s.tally[k.AT_WORK], task)


@inlined_in_place
def end_batch(f: FlowTables, s: FlowState, counted: list[float], task: int) -> None:
    """Let a task send the output of its batch, and those that feed it see that it has room."""
    tasks, now, batch = len(s.task[k.PROCESSED]), s.clock[0], s.task[k.PROCESSED][task]
    s.task[k.PROCESSED][task] = batch + 1
    if f.role[k.OUTPUT][task]:
        records = counted[(batch + 1) * tasks + task] - counted[batch * tasks + task]
        s.seen[k.FINISHED][task] += records
        s.seen[k.LATENCY][task] += records * (now - (batch + 1 - 0.5 * s.tally[k.BATCHING]) * f.batch_s)
    if f.role[k.OUT_START][task] < f.role[k.OUT_START][task + 1]:
        at = s.tally[k.LAST] % len(s.sent_s)
        s.tally[k.LAST] += 1
        s.sent_s[at], s.sent[k.BY][at], s.sent[k.SENT_AFTER][at] = now + f.delay_s, task, s.tally[k.ORDERS]
        s.sent[k.FROM][at], s.sent[k.TO][at] = batch, batch + 1
    missing = 0
    for i in range(f.role[k.IN_START][task], f.role[k.IN_START][task + 1]):
        stream = f.stream[k.BY_RECEIVER][i]
        if s.received[stream] <= batch + 1:
            missing += 1
        if s.task[k.BLOCKED][f.stream[k.SENDER][stream]]:
            note(s, f.stream[k.SENDER][stream])
    s.task[k.MISSING][task] = missing


@in_place
def complete_checkpoint(f: FlowTables, s: FlowState) -> None:
    """Note the oldest of all tasks' safe snapshots as complete if it is younger than the last, and who lacks the next.

    Coordinated checkpoints are multiples of their distance, and all tasks must be alive; O(tasks).
    """
    safe, live = s.task[k.SAFE], s.task[k.LIVE]
    step = max(f.every, 1) if f.coordinated else 1
    oldest, alive = safe[0], True
    for task in range(len(safe)):
        oldest = min(oldest, safe[task])
        alive = alive and live[task] != 0
    oldest -= oldest % step
    if oldest > s.tally[k.COMPLETE] and f.every > 0 and (alive or not f.coordinated):
        s.log[0][s.tally[k.LOGGED]], s.log[1][s.tally[k.LOGGED]] = s.clock[0], oldest
        s.tally[k.LOGGED] += 1
        s.tally[k.COMPLETE] = oldest
    s.tally[k.BEHIND] = 0
    for task in range(len(safe)):
        if safe[task] < s.tally[k.COMPLETE] + step or (f.coordinated and not live[task]):
            s.tally[k.BEHIND] += 1


@inlined_in_place
def keep_safe(f: FlowTables, s: FlowState, task: int) -> None:
    """Let a task's state be safe as a snapshot."""
    batch, safe = s.task[k.PROCESSED][task], s.task[k.SAFE]
    if batch > safe[task]:
        if safe[task] < s.tally[k.COMPLETE] + (f.every if f.coordinated else 1) <= batch:
            s.tally[k.BEHIND] -= 1
        safe[task] = batch
        if s.tally[k.BEHIND] == 0:
            complete_checkpoint(f, s)


@inlined_in_place
def end_work(f: FlowTables, s: FlowState, counted: list[float]) -> None:
    """Let the task that ends its work first send its output, and keep a snapshot if one is due."""
    task = pop(s.pace[k.FINISH], s.task[k.HEAP], s.task[k.PLACE], s.tally[k.AT_WORK])
    s.tally[k.AT_WORK] -= 1
    node = s.task[k.NODE][task]
    if s.task[k.SPOT][task] < s.node[k.START][node] + s.node[k.BUSY][node]:
        s.node[k.BUSY][node] -= 1
        put(s, task, s.node[k.START][node] + s.node[k.BUSY][node])
    s.task[k.AT_BATCH][task] = 0
    note(s, task)
    end_batch(f, s, counted, task)
    if f.every > 0 and (s.task[k.PROCESSED][task] - f.role[k.PHASE][task]) % f.every == 0:
        keep_safe(f, s, task)


@inlined_in_place
def deliver(f: FlowTables, s: FlowState, counted: list[float]) -> None:
    """Let what was sent first arrive."""
    at, tasks = s.tally[k.FIRST] % len(s.sent_s), len(s.task[k.PROCESSED])
    s.tally[k.FIRST] += 1
    by, begin, end = s.sent[k.BY][at], s.sent[k.FROM][at], s.sent[k.TO][at]
    low, high = 0, 1
    if by >= 0:
        low, high = f.role[k.OUT_START][by], f.role[k.OUT_START][by + 1]
    for i in range(low, high):
        stream = f.stream[k.BY_SENDER][i] if by >= 0 else -1 - by
        task, following = f.stream[k.RECEIVER][stream], s.received[stream]
        if not s.task[k.LIVE][task] or s.sent[k.SENT_AFTER][at] < s.task[k.RESET][task] or begin > following:
            continue
        if end > following:
            s.received[stream] = end
            if following <= s.task[k.PROCESSED][task]:
                s.task[k.MISSING][task] -= 1
                if s.task[k.MISSING][task] == 0:
                    note(s, task)
        if begin < following:
            before = f.share[stream] * counted[begin * tasks + f.stream[k.SENDER][stream]]
            after = f.share[stream] * counted[min(end, following) * tasks + f.stream[k.SENDER][stream]]
            s.seen[k.DUPLICATES][task] += math.floor(after + 1e-9) - math.floor(before + 1e-9)


@in_place
def arrange(f: FlowTables, s: FlowState, counted: list[float]) -> None:
    """Set what follows from the rest of the state after an order, and let tasks begin; O(tasks + streams + nodes)."""
    now, tasks, nodes = s.clock[0], len(s.task[k.NODE]), len(s.cores)
    start, busy, home, left = s.node[k.START], s.node[k.BUSY], s.task[k.NODE], s.pace[k.LEFT]
    for node in range(nodes):
        start[node + 1], busy[node], s.node[k.MARKED][node] = 0, 0, 0
    for task in range(tasks):
        if home[task] >= 0:
            start[home[task] + 1] += 1
    for node in range(nodes):
        start[node + 1] += start[node]
    s.tally[k.DIRTY], s.tally[k.TODOS], s.tally[k.AT_WORK] = 0, 0, 0
    for task in range(tasks):
        if home[task] >= 0:
            s.task[k.SPOT][task] = start[home[task]] + busy[home[task]]
            s.task[k.MEMBER][s.task[k.SPOT][task]] = task
            busy[home[task]] += 1
        left[task] = max(left[task] - s.pace[k.CORES][task] * (now - s.pace[k.SINCE][task]), 0.0)
        s.pace[k.CORES][task], s.pace[k.SINCE][task] = 0.0, now
        s.task[k.PLACE][task], s.task[k.BLOCKED][task], s.task[k.LISTED][task], s.task[k.MISSING][task] = -1, 0, 0, 0
        for i in range(f.role[k.IN_START][task], f.role[k.IN_START][task + 1]):
            if s.received[f.stream[k.BY_RECEIVER][i]] <= s.task[k.PROCESSED][task]:
                s.task[k.MISSING][task] += 1
    for node in range(nodes):
        busy[node] = 0
    for task in range(tasks):
        examine(f, s, counted, task)
    complete_checkpoint(f, s)


@in_place
def flow(f: FlowTables, s: FlowState, counted: list[float], until_s: float, events: int) -> bool:
    """Let happen what happens before a time, at most so many events; return whether that was all.

    *counted* holds how many records each task processes before each batch, (batches + 1) * T. The loop ends early
    where the room for what is under way is full.
    """
    for _ in range(events):
        while s.tally[k.TODOS] > 0:
            s.tally[k.TODOS] -= 1
            task = s.task[k.TODO][s.tally[k.TODOS]]
            s.task[k.LISTED][task] = 0
            examine(f, s, counted, task)
        tick = (s.tally[k.TICKS] + 1) * f.batch_s
        ends = s.pace[k.FINISH][s.task[k.HEAP][0]] if s.tally[k.AT_WORK] > 0 else math.inf
        arrives = s.sent_s[s.tally[k.FIRST] % len(s.sent_s)] if s.tally[k.FIRST] < s.tally[k.LAST] else math.inf
        following = min(tick, min(ends, arrives))
        if s.tally[k.DIRTY] > 0 and following > s.clock[0]:
            while s.tally[k.DIRTY] > 0:
                s.tally[k.DIRTY] -= 1
                node = s.node[k.TO_SHARE][s.tally[k.DIRTY]]
                s.node[k.MARKED][node] = 0
                share_cores(s, node)
            continue
        if following >= until_s:
            s.clock[0] = max(until_s, s.clock[0])
            return True
        if s.tally[k.LAST] - s.tally[k.FIRST] == len(s.sent_s) or s.tally[k.LOGGED] == len(s.log[0]):
            return False
        s.clock[0] = following
        if ends == following:
            end_work(f, s, counted)
        elif arrives == following:
            deliver(f, s, counted)
        else:
            s.tally[k.TICKS] += 1
            for i in range(f.sources):
                note(s, f.role[k.SOURCE][i])
    return False
