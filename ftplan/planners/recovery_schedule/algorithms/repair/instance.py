"""The whole repair as one problem: tasks with cores, nodes that arrive, restores, queries that need tasks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.measures.downtimes import whole_from
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import StepState

#: In place of a host: the task is not started.
NOWHERE = -1


@dataclass(frozen=True, eq=False)
class RepairInstance:
    """What is left of a repair from ``at_s`` on, without failures to come: J tasks, H hosts, Q queries, B bundles.

    Tasks are those that a failed query misses, in topological order. Hosts are those that are there or will arrive
    before the horizon. A placement gives each task a host and the tasks an order; a task starts at the first step of
    its host (``there_s``), unless tasks may only be begun for queries that become whole with them (``prefetch``).
    """

    at_s: float
    horizon_s: float
    prefetch: bool
    # tasks
    task: IntArray  # (J,) number in the graph
    cost: FloatArray  # (J,) cores
    noticed_s: FloatArray  # (J,) not started before
    down_s: FloatArray  # (J,) not up to date since
    replay_s: FloatArray  # (J,)
    catch_up: FloatArray  # (J,)
    restore_s: FloatArray  # (J,) seconds in a lane of a host where nothing of its state lies
    near: tuple[tuple[int, int, float], ...]  # (task, host, seconds) where some of its state lies, by task and host
    # hosts
    host: IntArray  # (H,) number in the problem, by arrival
    room: FloatArray  # (H,) cores
    there_s: FloatArray  # (H,) the time of the first step at which tasks can start there, ascending
    lanes: FloatArray  # (H, N) when each lane is free
    pooled: int  # hosts [0, pooled) share the pool
    pool: float  # cores, infinite without a cap
    restart_s: float
    # queries
    queries: FailedQueries  # bundles are sets of tasks that the same queries need
    bundle: IntArray  # (J,) bundle of each task
    priority: FloatArray  # (Q,)
    floor_s: FloatArray  # (Q,) not whole before: live tasks upstream are catching up
    late: tuple[tuple[int, float], ...] = ()  # (task of the graph, seconds): runs, and has caught up then, by task

    @property
    def steps(self) -> FloatArray:
        """Times at which tasks can be started, ascending, shape (K,)."""
        return np.unique(np.append(self.there_s, self.at_s))

    @cached_property
    def seconds(self) -> FloatArray:
        """Seconds in a lane of each task on each host, shape (J, H)."""
        table = np.repeat(self.restore_s[:, None], len(self.host), axis=1)
        for task, host, seconds in self.near:
            table[task, host] = seconds
        return table

    def starts(self, at_s: FloatArray | float, task: IntArray | int) -> FloatArray:
        """Return from when on tasks run that are started at some time, without their state."""
        return np.asarray(np.maximum(at_s, self.noticed_s[task]) + self.restart_s, dtype=np.float64)

    def caught_up(self, ready_s: FloatArray | float, task: IntArray | int) -> FloatArray:
        """Return when tasks have caught up that run with their state from *ready_s* on."""
        ready = np.asarray(ready_s, dtype=np.float64)
        down_s = np.where(np.isfinite(ready), ready - self.down_s[task], 0.0)
        return np.asarray(ready + self.replay_s[task] + self.catch_up[task] * down_s, dtype=np.float64)

    def fits(self, host: IntArray) -> bool:
        """Return whether tasks fit onto their hosts, up to rounding; *host* has shape (J,)."""
        placed = host >= 0
        used = np.bincount(host[placed], self.cost[placed], minlength=len(self.host))
        pooled = float(used[: self.pooled].sum())
        each = used <= self.room + ROUNDING * np.maximum(1.0, np.abs(self.room))
        return bool(each.all()) and pooled <= self.pool + ROUNDING * max(1.0, abs(self.pool))

    @property
    def nothing(self) -> float:
        """What no recovery at all loses from ``at_s`` on, in priority × seconds."""
        return float(self.priority.sum()) * max(0.0, self.horizon_s - self.at_s)


@dataclass(frozen=True, eq=False)
class RepairPlacement:
    """An answer: the host of each task, ``NOWHERE`` for none, and the order in which restores begin, both shape (J,).

    ``step_s`` is the time at which each task is started, shape (J,), None for the first step of its host.
    """

    host: IntArray
    order: IntArray
    step_s: FloatArray | None = None


def nothing_started(instance: RepairInstance) -> RepairPlacement:
    """Return the placement that starts no task."""
    tasks = len(instance.task)
    return RepairPlacement(np.full(tasks, NOWHERE, dtype=np.int64), np.arange(tasks), np.zeros(tasks))


def instance_of(state: StepState, prefetch: bool = True) -> RepairInstance:
    """Return what is left of a repair as a policy sees it at a step. Cost O(tasks + hosts + copies)."""
    problem, queries = state.problem, state.queries
    task = queries.task
    arrives = np.full(len(problem.hosts), np.inf)
    arrives[state.there] = state.at_s
    for event in state.coming:
        if event.at_s < problem.horizon_s:
            arrives[event.host] = min(arrives[event.host], event.at_s)
    host = np.flatnonzero(np.isfinite(arrives))
    host = host[np.argsort(arrives[host], kind="stable")]
    pooled = host < problem.live_hosts
    host = np.concatenate((host[pooled], host[~pooled]))
    place = {number: i for i, number in enumerate(host.tolist())}
    replay_s, catch_up = problem.delays.of_tasks(task)
    size = np.zeros(len(task)) if problem.state_bytes is None else problem.state_bytes[task]
    row = {number: i for i, number in enumerate(task.tolist())}
    near = tuple(
        (row[t], place[h], problem.restore_s(float(size[row[t]]) - there))
        for (t, h), there in sorted(problem.local_bytes.items())
        if t in row and h in place and there > 0.0 and h < problem.live_hosts and not state.paused[t]
    )
    paused = state.paused[task]
    stood = np.flatnonzero(paused & (state.kept[task] >= 0)).tolist()
    near += tuple((j, place[int(state.kept[task[j]])], 0.0) for j in stood)
    count = len(task)
    late = ~state.down & (state.caught_up > state.at_s)
    return RepairInstance(
        at_s=state.at_s,
        horizon_s=problem.horizon_s,
        prefetch=prefetch,
        task=task,
        cost=state.cost[task],
        noticed_s=state.failed_s[task] + problem.delays.detection_s,
        down_s=state.down_s[task],
        replay_s=np.where(paused | np.isinf(replay_s), 0.0, replay_s),
        catch_up=np.broadcast_to(np.asarray(catch_up, dtype=np.float64), count),
        restore_s=np.array([problem.restore_s(float(b)) for b in size], dtype=np.float64),
        near=near,
        host=host,
        room=np.maximum(state.free[host], 0.0),
        there_s=arrives[host],
        lanes=state.lanes[host],
        pooled=int(pooled.sum()),
        pool=max(0.0, float(state.pool)),
        restart_s=problem.delays.restart_s,
        queries=queries,
        bundle=queries.bundle,
        priority=state.priority,
        floor_s=_floor(state),
        late=tuple((t, min(float(state.caught_up[t]), problem.horizon_s)) for t in np.flatnonzero(late).tolist()),
    )


def _floor(state: StepState) -> FloatArray:
    """Return when all that runs upstream of each query has caught up, at the horizon for never, shape (Q,)."""
    caught_up = np.where(state.down, 0.0, np.minimum(state.caught_up, max(state.problem.horizon_s, state.at_s)))
    latest = whole_from(state.problem.graph, caught_up)
    return np.maximum(latest[state.queries.query], state.at_s)


def whole(instance: RepairInstance, caught_up: FloatArray) -> FloatArray:
    """Return when each query is whole, infinite for never; *caught_up*, shape (J,), is when each task has caught up."""
    of_bundle = np.zeros(instance.queries.bundles)
    np.maximum.at(of_bundle, instance.bundle, caught_up)
    back_s = instance.floor_s.copy()
    np.maximum.at(back_s, instance.queries.row, of_bundle[instance.queries.member])
    return back_s


def lost(instance: RepairInstance, back_s: FloatArray) -> float:
    """Return Σ priority × seconds down from ``at_s`` until the horizon."""
    down = np.clip(np.minimum(back_s, instance.horizon_s) - instance.at_s, 0.0, None)
    return float(instance.priority @ down)


def is_ready(instance: RepairInstance, placement: RepairPlacement) -> FloatArray:
    """Return when each task runs with its state, infinite where it is not started, shape (J,). Cost O(J · lanes)."""
    at_s = np.append(instance.there_s, np.inf)[placement.host] if placement.step_s is None else placement.step_s
    every = np.arange(len(instance.task))
    placed = placement.host >= 0
    ready = np.where(placed, instance.starts(at_s, every), np.inf)
    lasts = np.zeros(len(every))
    lasts[placed] = instance.seconds[every[placed], placement.host[placed]]
    queued = placement.order[lasts[placement.order] > 0.0]
    queued = queued[np.argsort(at_s[queued], kind="stable")]  # a step's list goes behind those of earlier steps
    lanes = instance.lanes.copy() if len(queued) else instance.lanes
    for task in queued.tolist():
        host = int(placement.host[task])
        lane = int(np.argmin(lanes[host]))
        lanes[host, lane] = ready[task] = max(float(ready[task]), float(lanes[host, lane])) + float(lasts[task])
    return ready
    lanes = instance.lanes.copy()
    at_s = np.append(instance.there_s, np.inf)[placement.host] if placement.step_s is None else placement.step_s
    started = placement.order[placement.host[placement.order] >= 0]
    started = started[np.argsort(at_s[started], kind="stable")]  # a step's list goes behind those of earlier steps
    for task in started.tolist():
        host = int(placement.host[task])
        begins = float(instance.starts(float(at_s[task]), task))
        lasts = float(instance.seconds[task, host])
        if lasts > 0.0:
            lane = int(np.argmin(lanes[host]))
            begins = max(begins, float(lanes[host, lane])) + lasts
            lanes[host, lane] = begins
        ready[task] = begins
    return ready


def value(instance: RepairInstance, placement: RepairPlacement) -> float:
    """Return what a placement loses, in priority × seconds from ``at_s`` on; it is not checked here."""
    caught_up = instance.caught_up(is_ready(instance, placement), np.arange(len(instance.task)))
    return lost(instance, whole(instance, caught_up))


def started(placement: RepairPlacement) -> BoolArray:
    """Return which tasks are started, shape (J,)."""
    return np.asarray(placement.host >= 0, dtype=np.bool_)
