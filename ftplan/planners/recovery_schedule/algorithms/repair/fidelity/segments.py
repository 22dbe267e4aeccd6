"""Stretches of a repair within which nothing new fails and no node becomes of use: what can run by the end of each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.fillable import fillable
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import RepairState
from ftplan.planners.recovery_schedule.problem import RecoveryProblem, decision_points

#: Pairs of tasks and nodes up to which each is looked at.
FEW_PAIRS = 400
#: Times at which tasks can have caught up that divide a stretch between failures, and parts of one in which restores
#: limit what runs.
MOST_TIMES, PARTS = 12, 24


@dataclass(frozen=True, slots=True, eq=False)
class SegmentPiece:
    """From ``at_s`` until ``until_s`` no more runs than by its end, whatever the schedule."""

    at_s: float
    until_s: float
    able: BoolArray  # (D,) the tasks that can have caught up
    hosts: int  # nodes of use: the first of the segment's
    cores: float  # what tasks can use of these
    lane_s: FloatArray  # (hosts,) seconds of restores that have ended on each, at most; infinite without restores


@dataclass(frozen=True, slots=True, eq=False)
class SegmentNodes:
    """Each task on each node, where these are few."""

    caught_up_s: FloatArray  # (D, H) not before
    seconds: FloatArray  # (D, H) in a lane


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Time between two failures: D tasks are down unless they are recovered, on H nodes that are there."""

    down: IntArray  # (D,) numbers in the graph, ascending
    cost: FloatArray  # (D,) cores
    seconds: FloatArray  # (D,) in a lane of some node, at least
    room: FloatArray  # (H,) cores, by when nodes become of use
    pooled: BoolArray  # (H,) nodes that share the pool
    pool: float  # cores
    pieces: tuple[SegmentPiece, ...]
    nodes: SegmentNodes | None


def segments(problem: RecoveryProblem, *, parallel: bool = False) -> Iterator[Segment]:
    """Yield the time from 0 to the horizon between failures, as somebody sees it who knows them all.

    What runs was started on a node that is still there, no earlier than the node and the task's failure allow, and has
    fetched its state there. Cost O(failures · (tasks + nodes · log nodes)).
    """
    repair = RepairState(problem, parallel)
    points = decision_points(problem)
    named = np.zeros(problem.graph.tasks)  # whoever these failures hit starts behind them
    there_s = np.zeros(len(problem.hosts))
    for event in problem.arrivals:
        there_s[event.host] = event.at_s
    begins = [k for k, point in enumerate(points) if k == 0 or point.failures]
    last_s = 0.0
    for k, point in enumerate(points):
        if point.at_s >= problem.horizon_s:
            return
        for failure in point.failures:
            repair.fail(failure)
            named[failure.tasks] = failure.at_s
            last_s = failure.at_s
        for arrival in point.arrivals:
            repair.arrive(arrival.host)
        if k in begins:
            later = [at for at in begins if at > k]
            end = later[0] if later else len(points)
            until_s = min(points[end].at_s if later else problem.horizon_s, problem.horizon_s)
            coming = [arrival.host for later_on in points[k + 1 : end] for arrival in later_on.arrivals]
            yield _SegmentWalk(problem, repair, parallel, named, last_s).of(point.at_s, until_s, coming, there_s)


class _SegmentWalk:
    """What is down and what room there is from one failure to the next."""

    def __init__(
        self, problem: RecoveryProblem, repair: RepairState, parallel: bool, named: FloatArray, last_s: float
    ) -> None:
        self.problem, self.parallel = problem, parallel
        self.restart_s = problem.delays.restart_s
        down = repair.down.copy()
        self.room, self.pool = np.maximum(repair.room, 0.0), max(0.0, float(repair.pool))
        paused = np.zeros(len(down), dtype=np.bool_)
        if problem.may_pause:  # what runs on a known node may give way, move or come back where it was
            home = repair.home()
            paused = ~down & (home >= 0)
            for at in (home, np.where(home == problem.home, problem.standby, -1)):
                known = np.flatnonzero(at >= 0)
                np.add.at(self.room, at[known], problem.cost[known])
                self.pool += float(problem.cost[known].sum())
        self.task = np.flatnonzero(down | paused)
        free = paused[self.task]
        self.there = repair.there
        failed_s, down_s = repair.failed_s[self.task], repair.down_s[self.task]
        delays = problem.delays
        self.notice_s = np.where(free, 0.0, np.maximum(failed_s + delays.detection_s, named[self.task]))
        # what is back before another failure and is hit by it has been up to date in between
        self.down_s = np.where(free | (last_s > failed_s), np.maximum(last_s, down_s), down_s)
        replay_s, catch_up = delays.of_tasks(self.task)
        moved = problem.may_pause and last_s > 0.0  # whatever was back before may have given way since
        self.replay_s = np.where(free | moved, 0.0, replay_s)
        self.catch_up = np.broadcast_to(np.asarray(catch_up, dtype=np.float64), len(self.task))
        self.seconds = np.where(free, 0.0, self._least_seconds())
        self.free = free

    def _least_seconds(self) -> FloatArray:
        """Return the least time in a lane of each task, wherever it is started, shape (D,)."""
        problem = self.problem
        if problem.state_bytes is None:
            return np.zeros(len(self.task))
        left = problem.state_bytes.copy()
        for (task, _), size in problem.local_bytes.items():
            left[task] = min(left[task], float(problem.state_bytes[task]) - size)
        return np.array([problem.restore_s(float(size)) for size in left[self.task]], dtype=np.float64)

    def of(self, at_s: float, until_s: float, coming: list[int], there_s: FloatArray) -> Segment:
        """Return the segment, divided into pieces."""
        cost = self.problem.cost[self.task]
        hosts = np.concatenate((np.flatnonzero(self.there), np.array(coming, dtype=np.int64)))
        hosts = hosts[np.argsort(there_s[hosts], kind="stable")]
        room = np.maximum(self.room[hosts], 0.0)
        usable = room if self.parallel else np.minimum(room, fillable(room, cost))
        pooled = hosts < self.problem.live_hosts
        cores = np.minimum(np.cumsum(np.where(pooled, usable, 0.0)), max(0.0, self.pool))
        cores = cores + np.cumsum(np.where(pooled, 0.0, usable))
        of_use_s = self._of_use_s(there_s[hosts])
        caught_up_s = self._caught_up_s(cost, room, there_s[hosts])
        pieces = []
        times = self._times(at_s, until_s, of_use_s, caught_up_s)
        for begin, end in itertools.pairwise(times):
            many = int(np.searchsorted(of_use_s, begin, side="right"))
            pieces.append(
                SegmentPiece(
                    begin,
                    end,
                    np.asarray(caught_up_s < end, dtype=np.bool_),
                    many,
                    float(cores[many - 1]) * (1.0 + ROUNDING) + ROUNDING if many else 0.0,
                    self._lane_s(end, there_s[hosts[:many]]),
                )
            )
        nodes = None
        if not self.parallel and len(self.task) * len(hosts) <= FEW_PAIRS:
            nodes = self._nodes(hosts, there_s[hosts])
        return Segment(self.task, cost, self.seconds, room, pooled, self.pool, tuple(pieces), nodes)

    def _nodes(self, hosts: IntArray, there_s: FloatArray) -> SegmentNodes:
        """Return when each task can have caught up on each node, and its seconds in a lane there."""
        problem = self.problem
        seconds = np.zeros((len(self.task), len(hosts)))
        if problem.state_bytes is not None:
            for i, task in enumerate(self.task.tolist()):
                for k, host in enumerate(hosts.tolist()):
                    there = problem.local_bytes.get((task, host), 0.0)
                    seconds[i, k] = 0.0 if self.free[i] else problem.restore_s(float(problem.state_bytes[task]) - there)
        begins = np.maximum(there_s[None, :], self.notice_s[:, None]) + self.restart_s
        return SegmentNodes(self._behind(begins + seconds), seconds)

    def _behind(self, ready: FloatArray) -> FloatArray:
        """Return before when tasks have not caught up that run from some times on, shape (D, ...)."""
        shape = (len(self.task), *(1 for _ in ready.shape[1:]))
        down_s, replay_s, catch_up, free = (
            values.reshape(shape) for values in (self.down_s, self.replay_s, self.catch_up, self.free)
        )
        behind = np.where(np.isfinite(ready), np.maximum(ready - down_s, 0.0), 0.0)
        return np.where(free, 0.0, ready + replay_s + catch_up * behind)

    def _of_use_s(self, there_s: FloatArray) -> FloatArray:
        """Return before when nothing that is started on each node has caught up, shape (H,), ascending."""
        if len(self.task) == 0 or self.free.any():
            return there_s
        ready = np.maximum(there_s, self.notice_s.min()) + self.restart_s + self.seconds.min()
        behind = np.maximum(ready - float(self.down_s.max()), 0.0)
        return np.asarray(ready + self.replay_s.min() + self.catch_up.min() * behind, dtype=np.float64)

    def _caught_up_s(self, cost: FloatArray, room: FloatArray, there_s: FloatArray) -> FloatArray:
        """Return before when each task has not caught up, infinite where it fits nowhere, shape (D,)."""
        largest = np.maximum.accumulate(room) if len(room) else room
        least = np.zeros(len(cost)) if self.parallel else cost
        first = np.searchsorted(largest * (1.0 + ROUNDING) + ROUNDING, least)
        begins = np.maximum(np.append(there_s, np.inf)[first], self.notice_s) + self.restart_s
        return self._behind(begins if self.parallel else begins + self.seconds)

    def _times(self, at_s: float, until_s: float, of_use_s: FloatArray, caught_up_s: FloatArray) -> list[float]:
        """Return the ends of the pieces, ascending."""
        own = np.unique(caught_up_s[(caught_up_s > at_s) & (caught_up_s < until_s)])
        if len(own) > MOST_TIMES:
            own = own[np.linspace(0, len(own) - 1, MOST_TIMES).astype(np.int64)]
        times = [at_s, until_s, *of_use_s.tolist(), *own.tolist()]
        restores = float(self.seconds.sum())
        if restores > 0.0 and len(of_use_s):
            from_s = max(at_s, float(of_use_s[0]))
            lanes = self.problem.restores_at_once
            to_s = min(until_s, from_s + restores * (1.0 + float(self.catch_up.max())) / lanes)
            times += np.linspace(from_s, max(from_s, to_s), PARTS + 1).tolist()
        return sorted({t for t in times if at_s <= t <= until_s})

    def _lane_s(self, end_s: float, there_s: FloatArray) -> FloatArray:
        """Return the seconds of restores that each node can have ended for what has caught up by a time."""
        size = self.problem.state_bytes
        fetches = np.zeros(len(self.task), dtype=np.bool_) if size is None else size[self.task] > 0.0  # somewhere
        some = fetches & ~self.free & np.isfinite(self.replay_s + self.catch_up)
        if not some.any():
            return np.full(len(there_s), np.inf)
        replay_s, catch_up, down_s = self.replay_s[some], self.catch_up[some], self.down_s[some]
        latest = np.minimum((end_s - replay_s + catch_up * down_s) / (1.0 + catch_up), end_s - replay_s)
        begins = np.maximum(there_s, float(self.notice_s[some].min())) + self.restart_s
        ended = np.maximum(float(latest.max()) - begins, 0.0) * self.problem.restores_at_once
        return np.asarray(ended * (1.0 + ROUNDING) + ROUNDING, dtype=np.float64)
