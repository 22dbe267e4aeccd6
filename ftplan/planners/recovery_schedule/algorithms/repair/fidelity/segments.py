"""Stretches of a repair within which nothing new fails and no node becomes of use: what can run by the end of each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.fillable import fillable
from ftplan.planners.recovery_schedule.algorithms.repair.clairvoyant import ClairvoyantRepair, Epoch

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


def segments(repair: ClairvoyantRepair) -> Iterator[Segment]:
    """Yield the epochs of a repair, divided into pieces.

    What runs was started on a node that is still there, no earlier than the node and the task's failure allow, and has
    fetched its state there. Cost O(failures · (tasks + nodes · log nodes)).
    """
    for epoch in repair.epochs:
        yield _EpochTasks(repair, epoch).segment()


class _EpochTasks:
    """The D tasks that are down in an epoch unless they are recovered, and the H nodes that live, as they come."""

    def __init__(self, repair: ClairvoyantRepair, epoch: Epoch) -> None:
        self.repair, self.epoch = repair, epoch
        self.row = np.flatnonzero(epoch.needed)
        self.free = ~epoch.struck[self.row]  # it runs, and comes back at once where it gave way
        self.cost = repair.cost[self.row]
        self.seconds = np.where(self.free, 0.0, repair.nearest_s[self.row])
        self.since_s, self.down_s = epoch.since_s[self.row], epoch.down_s[self.row]
        self.replay_s, self.catch_up = epoch.replay_s[self.row], repair.catch_up[self.row]
        hosts = np.flatnonzero(epoch.lives)
        self.hosts = hosts[np.argsort(repair.there_s[hosts], kind="stable")]
        self.there_s = repair.there_s[self.hosts]

    def segment(self) -> Segment:
        """Return the segment, divided into pieces."""
        repair, epoch = self.repair, self.epoch
        room = epoch.room[self.hosts]
        usable = room if repair.parallel else np.minimum(room, fillable(room, self.cost))
        pooled = self.hosts < repair.problem.live_hosts
        pool = np.inf if repair.pool is None else max(0.0, repair.pool)
        cores = np.minimum(np.cumsum(np.where(pooled, usable, 0.0)), pool)
        cores = cores + np.cumsum(np.where(pooled, 0.0, usable))
        of_use_s = self._of_use_s()
        caught_up_s = repair.up_s(epoch)[self.row]
        pieces = []
        for begin, end in itertools.pairwise(self._times(of_use_s, caught_up_s)):
            many = int(np.searchsorted(of_use_s, begin, side="right"))
            pieces.append(
                SegmentPiece(
                    begin,
                    end,
                    np.asarray(caught_up_s < end, dtype=np.bool_),
                    many,
                    float(cores[many - 1]) * (1.0 + ROUNDING) + ROUNDING if many else 0.0,
                    self._lane_s(end, many),
                )
            )
        few = repair.is_small and not repair.parallel and len(self.row) * len(self.hosts) <= FEW_PAIRS
        nodes = self._nodes() if few else None
        down = repair.queries.task[self.row]
        return Segment(down, self.cost, self.seconds, room, pooled, pool, tuple(pieces), nodes)

    def _nodes(self) -> SegmentNodes:
        """Return when each task can have caught up on each node, and its seconds in a lane there."""
        place, free = np.ix_(self.row, self.hosts), self.free[:, None]
        seconds = np.where(free, 0.0, self.repair.seconds[place])
        ready = self.repair.begins(self.epoch)[place] + seconds
        behind = np.maximum(np.where(np.isfinite(ready), ready - self.down_s[:, None], 0.0), 0.0)
        caught_up_s = ready + self.replay_s[:, None] + self.catch_up[:, None] * behind
        return SegmentNodes(np.where(free, 0.0, caught_up_s), seconds)

    def _of_use_s(self) -> FloatArray:
        """Return before when nothing that is started on each node has caught up, shape (H,), ascending."""
        if len(self.row) == 0 or self.free.any():
            return self.there_s
        ready = np.maximum(self.there_s, self.since_s.min()) + self.repair.problem.delays.restart_s + self._least_s()
        behind = np.maximum(ready - float(self.down_s.max()), 0.0)
        return np.asarray(ready + self.replay_s.min() + self.catch_up.min() * behind, dtype=np.float64)

    def _least_s(self) -> float:
        """Return the least seconds for which any task fetches its state; parts of one do so side by side."""
        return float(np.where(self.repair.split[self.row], 0.0, self.seconds).min())

    def _times(self, of_use_s: FloatArray, caught_up_s: FloatArray) -> list[float]:
        """Return the ends of the pieces, ascending."""
        at_s, until_s = self.epoch.from_s, self.epoch.until_s
        own = np.unique(caught_up_s[(caught_up_s > at_s) & (caught_up_s < until_s)])
        if len(own) > MOST_TIMES:
            own = own[np.linspace(0, len(own) - 1, MOST_TIMES).astype(np.int64)]
        times = [at_s, until_s, *of_use_s.tolist(), *own.tolist()]
        restores = float(self.seconds.sum())
        if restores > 0.0 and len(of_use_s):
            from_s = max(at_s, float(of_use_s[0]))
            lanes = self.repair.problem.restores_at_once
            to_s = min(until_s, from_s + restores * (1.0 + float(self.catch_up.max())) / lanes)
            times += np.linspace(from_s, max(from_s, to_s), PARTS + 1).tolist()
        return sorted({t for t in times if at_s <= t <= until_s})

    def _lane_s(self, end_s: float, hosts: int) -> FloatArray:
        """Return the seconds of restores that the first nodes can have ended for what has caught up by a time."""
        fetches = ~self.free & (self.repair.far_s[self.row] > 0.0)  # on some node
        some = fetches & np.isfinite(self.replay_s + self.catch_up)
        if not some.any():
            return np.full(hosts, np.inf)
        replay_s, catch_up, down_s = self.replay_s[some], self.catch_up[some], self.down_s[some]
        latest = np.minimum((end_s - replay_s + catch_up * down_s) / (1.0 + catch_up), end_s - replay_s)
        since_s, restart_s = float(self.since_s[some].min()), self.repair.problem.delays.restart_s
        begins = np.maximum(self.there_s[:hosts], since_s) + restart_s
        ended = np.maximum(float(latest.max()) - begins, 0.0) * self.repair.problem.restores_at_once
        return np.asarray(ended * (1.0 + ROUNDING) + ROUNDING, dtype=np.float64)
