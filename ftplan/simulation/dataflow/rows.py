"""The flow of batches as rows of numbers: what they mean, and how they begin.

Rows are lists, or as few arrays as possible where the loop is compiled: each costs time to compile and to call.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from ftplan.model.topology import IntArray
from ftplan.simulation.dataflow.job import FlowOptions, StreamJob

#: Complete checkpoints between two looks at them, at most.
LOG = 64
#: ``FlowTables.stream``; streams by sender and by receiver, in the order of the tasks' starts in ``role``.
SENDER, RECEIVER, BY_SENDER, BY_RECEIVER = range(4)
#: ``FlowTables.role``: where a task's streams begin; whether it is an output task; its phase; the sources' numbers.
OUT_START, IN_START, OUTPUT, PHASE, SOURCE = range(5)
#: ``FlowState.tally``: batches that the logs have got; how many are in heaps and lists; what was sent is a ring from
#: FIRST to LAST; orders given; the last complete checkpoint and how many tasks have no younger one; flags.
TICKS, AT_WORK, TODOS, DIRTY, LOGGED, FIRST, LAST, ORDERS, COMPLETE, BEHIND, BUFFERING, BATCHING = range(12)
COUNTS = 12
#: ``FlowState.task``: batch from which on output is kept, and of the last safe snapshot; the order by which it last
#: started, failed or went back; whether it works on its batch; a heap of tasks at work by FINISH, and its place there
#: (-1: none); streams that have not brought the next batch; whether it waits for a task that it feeds; tasks that may
#: begin, and whether it is one; tasks by node, those that share its cores first, and its spot there.
LIVE, STALLED, NODE, PROCESSED, KEPT, SAFE, RESET, AT_BATCH = range(8)
HEAP, PLACE, MISSING, BLOCKED, TODO, LISTED, MEMBER, SPOT = range(8, 16)
TASK_ROWS = 16
#: ``FlowState.pace``: most cores; core-seconds left when its cores last changed, at SINCE; when it ends its work.
CAP, LEFT, CORES, SINCE, FINISH = range(5)
PACE_ROWS = 5
#: ``FlowState.seen``, since the bin began.
LATENCY, FINISHED, DUPLICATES = range(3)
#: ``FlowState.node``: where its tasks begin in MEMBER; how many share its cores; nodes to be shared anew, whether one.
START, BUSY, TO_SHARE, MARKED = range(4)
#: ``FlowState.sent``: by task, or -1 - stream; first batch; after the last batch; the order that came last.
BY, FROM, TO, SENT_AFTER = range(4)


class FlowTables(NamedTuple):
    """What runs and how: T tasks, S streams."""

    stream: list[list[int]]  # (4, S)
    share: list[float]  # (S,)
    role: list[list[int]]  # (5, T + 1)
    record_s: list[float]  # (T,) core-seconds of a record
    sources: int
    batch_s: float
    delay_s: float
    queue_batches: int
    every: int  # batches between checkpoints, 0 for none
    coordinated: bool


class FlowState(NamedTuple):
    """Where everything is: N nodes, room for R messages under way and L checkpoints."""

    clock: list[float]  # (1,)
    tally: list[int]  # (COUNTS,)
    task: list[list[int]]  # (TASK_ROWS, T)
    pace: list[list[float]]  # (PACE_ROWS, T)
    seen: list[list[float]]  # (3, T)
    received: list[int]  # (S,)
    node: list[list[int]]  # (4, N + 1)
    cores: list[float]  # (N,)
    sent: list[list[int]]  # (4, R)
    sent_s: list[float]  # (R,) when it arrives
    log: list[list[float]]  # (2, L) complete checkpoints: when, batch


def flow_tables(job: StreamJob, options: FlowOptions) -> FlowTables:
    """Return what runs and how."""
    tasks = job.tasks
    sources = np.flatnonzero(job.source)
    phase = np.zeros(tasks, np.int64) if options.phase is None or options.coordinated else options.phase
    roles = [_starts(job.sender, tasks), _starts(job.receiver, tasks), job.output, phase, sources]
    streams = [job.sender, job.receiver, np.argsort(job.sender, kind="stable"), np.argsort(job.receiver, kind="stable")]
    return FlowTables(
        stream=[ends.tolist() for ends in streams],
        share=job.share.tolist(),
        role=[[int(number) for number in row] + [0] * (tasks + 1 - len(row)) for row in roles],
        record_s=job.record_time_s.tolist(),
        sources=len(sources),
        batch_s=float(job.batch_s),
        delay_s=float(options.delay_s),
        queue_batches=int(options.queue_batches),
        every=round(options.checkpoint_s / job.batch_s) if math.isfinite(options.checkpoint_s) else 0,
        coordinated=bool(options.coordinated),
    )


def _starts(ends: IntArray, tasks: int) -> IntArray:
    """Return where the streams of each task begin among those sorted by it, shape (tasks + 1,)."""
    return np.concatenate(([0], np.cumsum(np.bincount(ends, minlength=tasks))))


def flow_state(job: StreamJob) -> FlowState:
    """Return the state of a job before anything has started."""
    tasks, room = job.tasks, 4 * job.tasks
    state = FlowState(
        clock=[0.0],
        tally=[0] * COUNTS,
        task=[[0] * tasks for _ in range(TASK_ROWS)],
        pace=[[0.0] * tasks for _ in range(PACE_ROWS)],
        seen=[[0.0] * tasks for _ in range(3)],
        received=[0] * job.streams,
        node=[[0] for _ in range(4)],
        cores=[],
        sent=[[0] * room for _ in range(4)],
        sent_s=[0.0] * room,
        log=[[0.0] * LOG for _ in range(2)],
    )
    state.pace[CAP][:] = job.threads.tolist()
    state.task[NODE][:] = [-1] * tasks
    return state


def as_arrays(rows: Any) -> Any:
    """Return tables or state with arrays instead of lists."""
    kinds = {list[int]: np.int64, list[list[int]]: np.int64, list[float]: np.float64, list[list[float]]: np.float64}
    hints = get_type_hints(type(rows))
    return rows._replace(
        **{name: np.array(getattr(rows, name), kinds[hint]) for name, hint in hints.items() if hint in kinds}
    )


def longer(rows: Any, more: Any) -> Any:
    """Return rows of numbers, or a row, with more at the end of each."""
    if not isinstance(rows, list):
        return np.concatenate((rows, np.asarray(more, rows.dtype)), axis=-1)
    if rows and isinstance(rows[0], list):
        return [row + extra for row, extra in zip(rows, more, strict=True)]
    return rows + more
