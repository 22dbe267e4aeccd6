"""A recovery schedule: which task is restored in which step, where, and when its query is whole."""

from __future__ import annotations

from dataclasses import dataclass

from ftplan.model.plan import Objective


@dataclass(frozen=True, slots=True)
class Restore:
    """A task, or with parallel recovery the part of one with key groups ``[first, last]``, starts on a host.

    It failed at ``failed_s`` and has not been up to date since ``down_s``; from ``ready_s`` on it runs with its state,
    from ``caught_up_s`` on it is up to date. ``savepoint``: it gave way before, and processes nothing again. ``host``
    is -1 where a task goes back that runs nobody knows where.
    """

    task: int
    host: int
    cpu: float
    ready_s: float
    prefetch: bool = False
    key_groups: tuple[int, int] | None = None
    failed_s: float = 0.0
    down_s: float = 0.0
    caught_up_s: float = 0.0
    savepoint: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """A task that runs gives way to queries of higher priority; with ``replica`` its standby does, for good."""

    task: int
    host: int
    cpu: float
    replica: bool = False


@dataclass(frozen=True, slots=True)
class ScheduleStep:
    """What is decided at one time. ``restored`` are (output task, time at which its query is whole again).

    Before it ``rolled_back`` went back to the last checkpoint, and restore first; ``pause`` gives way.
    """

    at_s: float
    trigger: str
    capacity: float
    used: float
    objective: Objective
    global_rollback: bool
    recover: tuple[Restore, ...]
    restored: tuple[tuple[int, float], ...]
    rolled_back: tuple[Restore, ...] = ()
    pause: tuple[Pause, ...] = ()


@dataclass(frozen=True, slots=True)
class Downtime:
    """A query that was down: since when, until when (None: not within the schedule), and why.

    ``rolled_back``: it lost no task, and was down only because all tasks went back to the last checkpoint.
    """

    query: int  # output task
    priority: float
    down_s: float
    back_s: float | None
    reason: str
    rolled_back: bool = False


@dataclass(frozen=True, slots=True)
class Schedule:
    """The answer of every recovery planner. A query that fails twice has two downtimes."""

    steps: tuple[ScheduleStep, ...]
    downtimes: tuple[Downtime, ...]  # by query and time
    unrecovered: tuple[tuple[int, str], ...]  # (task, reason)
    beside: ComparedSchedules | None = None


@dataclass(frozen=True, slots=True)
class ComparedSchedules:
    """What an answer is held against, as far as the time lasted; None in place of a schedule: no query returns."""

    step_by_step: Schedule | None
    blocking: tuple[Schedule | None, ...]  # one, or none where the time did not last
    random: tuple[Schedule | None, ...]  # as many of ``orders`` as the time lasted for
    orders: int
    most_back: tuple[tuple[float, float], ...] = ()  # (at_s, the most summed priority that can be whole then)
