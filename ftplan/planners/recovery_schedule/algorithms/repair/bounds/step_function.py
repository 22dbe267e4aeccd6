"""A step-function bound: how much priority can be up at a time at most, by the cores and restore slots there are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ftplan.model.tolerances import NOISE, ROUNDING
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.budget import Budget
from ftplan.planners.fillable import fillable
from ftplan.planners.recovery_schedule.algorithms.knapsack.instance import SetUnionKnapsack
from ftplan.planners.recovery_schedule.algorithms.knapsack.project_selection import most_by_capacity
from ftplan.planners.recovery_schedule.algorithms.repair.clairvoyant import ClairvoyantRepair, Epoch

#: Times at which the bound is told where restores take time.
MOST_TIMES = 400
#: Groups of times that are priced apart, each with the queries that can be up by its end.
GROUPS = 4
#: Entries of (query, bundle) above which times are not priced apart.
MANY_ENTRIES = 20_000
#: Seconds in lanes for each core, relative to what there is of both, at which the two are priced together.
EXCHANGE = (0.25, 1.0, 4.0)


@dataclass(frozen=True, eq=False)
class StepFunctionBound:
    """From ``at_s[i]`` until the next one at most ``most[i]`` of ``asked[i]`` is up, in priority; N pieces.

    ``asked`` is the priority of the queries that have failed by then (or may have given way); the last piece ends at
    ``end_s``.
    """

    at_s: FloatArray  # (N,) ascending
    most: FloatArray  # (N,)
    asked: FloatArray  # (N,)
    end_s: float

    @property
    def lasts_s(self) -> FloatArray:
        """Seconds of each piece, shape (N,)."""
        return np.diff(np.append(self.at_s, self.end_s))

    @property
    def lost(self) -> float:
        """The priority × seconds that are down at least."""
        return float((self.asked - self.most) @ self.lasts_s)


def step_function_bound(repair: ClairvoyantRepair, budget: Budget) -> StepFunctionBound:
    """Return for each time a bound on the priority that is up, whatever the schedule.

    Each epoch alone: what is up at a time needs cores for all its tasks on the hosts that live, and seconds in lanes
    until the tasks have to be there. Both are surrogates of one set-union knapsack at several rates of exchange; its
    Lagrangian prices bound every time of the epoch. No less where the clock ends it early. Cost of ``PRICED`` chains of
    minimum cuts for each epoch, rate and group.
    """
    parts = []
    for k, epoch in enumerate(repair.epochs):
        part = budget.part(1.0 / (len(repair.epochs) - k))
        parts.append(_bound_of_epoch(repair, epoch, part))
        budget.cut |= part.cut
    at_s, most, asked = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return StepFunctionBound(at_s, most, asked, float(repair.epochs[-1].until_s))


def waiting_queries(repair: ClairvoyantRepair, epoch: Epoch) -> BoolArray:
    """Return which queries need some task back in an epoch, or wait for tasks that went back, shape (Q,)."""
    queries = repair.queries
    needed = np.zeros(queries.bundles, dtype=np.bool_)
    needed[queries.bundle[epoch.needed]] = True
    missing = np.bincount(queries.row, needed[queries.member], queries.queries) > 0
    return np.asarray(missing | (epoch.again_s > epoch.from_s))


def query_up_s(repair: ClairvoyantRepair, epoch: Epoch) -> FloatArray:
    """Return before when no query is whole in an epoch, each alone, infinite for never, shape (Q,)."""
    queries = repair.queries
    of_bundle = np.zeros(queries.bundles)
    np.maximum.at(of_bundle, queries.bundle, np.where(epoch.needed, repair.up_s(epoch), 0.0))
    up_s = np.maximum(epoch.from_s, epoch.again_s)
    np.maximum.at(up_s, queries.row, of_bundle[queries.member])
    return up_s


def _bound_of_epoch(
    repair: ClairvoyantRepair, epoch: Epoch, budget: Budget
) -> tuple[FloatArray, FloatArray, FloatArray]:
    asked = waiting_queries(repair, epoch)
    up_s = query_up_s(repair, epoch)
    wanted = repair.priority[asked]
    total = float(wanted.sum())
    inside = up_s[asked & (up_s > epoch.from_s) & (up_s < epoch.until_s)]
    room = _RoomAtTime(repair, epoch)
    at_s = _pieces(epoch, np.concatenate((inside, room.changes)), bool(room.lanes_matter))
    ends = np.append(at_s[1:], epoch.until_s)
    most = np.zeros(len(at_s))
    many = len(repair.queries.member) > MANY_ENTRIES
    for group in np.array_split(np.arange(len(at_s)), 1 if many else min(GROUPS, len(at_s))):
        possible = asked & (up_s < ends[group[-1]])
        part = budget.part(0.5)
        most[group] = room.most(possible, ends[group], part)
        budget.cut |= part.cut
    order = np.argsort(up_s, kind="stable")
    summed = np.append(0.0, np.cumsum(np.where(asked, repair.priority, 0.0)[order]))
    alone = summed[np.searchsorted(up_s[order], ends, side="left")] * (1.0 + NOISE)
    return at_s, np.minimum(np.minimum(most, alone), total), np.full(len(at_s), total)


def _pieces(epoch: Epoch, changes: FloatArray, finely: bool) -> FloatArray:
    """Return the times at which pieces begin: where something changes, and finely in between where lanes fill."""
    changes = np.unique(changes[(changes > epoch.from_s) & (changes < epoch.until_s)])
    if len(changes) > MOST_TIMES:
        changes = changes[:: -(-len(changes) // MOST_TIMES)]
    times = np.concatenate(([epoch.from_s], changes))
    if not finely:
        return times
    ends = np.append(times[1:], epoch.until_s)
    step = max(1e-3, (epoch.until_s - epoch.from_s) / MOST_TIMES)
    fine = [
        np.linspace(a, b, max(1, int(np.ceil((b - a) / step))), endpoint=False) for a, b in pairwise([*times, ends[-1]])
    ]
    return np.asarray(np.concatenate(fine), dtype=np.float64)


def cores_by(repair: ClairvoyantRepair, epoch: Epoch, ends: FloatArray) -> FloatArray:
    """Return the cores on which tasks can have come up before some times of an epoch."""
    return _RoomAtTime(repair, epoch).cores(ends)


class _RoomAtTime:
    """Cores and lanes of the hosts that live in an epoch, for what is up at any time of it."""

    def __init__(self, repair: ClairvoyantRepair, epoch: Epoch) -> None:
        self._repair, self._epoch = repair, epoch
        self._first_s = repair.first_runs(epoch)
        sizes = repair.cost[epoch.needed]
        room = np.where(epoch.lives, epoch.room, 0.0)
        self._usable = room if repair.parallel else np.minimum(room, fillable(room, sizes))
        self._seconds = np.where(epoch.struck, repair.nearest_s, 0.0)  # (J,)
        restored = self._seconds > 0.0
        self.lanes_matter = restored.any()
        self._from = np.unique(epoch.since_s[restored]).tolist()
        self._held = _held(self._seconds[restored], repair.cost[restored], room) if self.lanes_matter else room * 0.0
        # a host that parts of split tasks reach holds as many seconds as its lanes have
        self.changes = self._first_s[np.isfinite(self._first_s)]

    def cores(self, ends: FloatArray) -> FloatArray:
        """Return the cores on which tasks can have come up before some times."""
        order = np.argsort(self._first_s, kind="stable")
        count = np.searchsorted(self._first_s[order], ends, side="left")
        pooled = order < self._repair.problem.live_hosts
        pool = self._repair.pool
        usable = self._usable[order]
        first, later = (np.append(0.0, np.cumsum(np.where(part, usable, 0.0)))[count] for part in (pooled, ~pooled))
        return np.asarray((first if pool is None else np.minimum(first, pool)) + later)

    def lanes(self, ends: FloatArray, since_s: float) -> FloatArray:
        """Return the seconds in lanes before some times, of tasks not started before another."""
        repair = self._repair
        mine = (self._seconds > 0.0) & (self._epoch.since_s >= since_s)
        until = repair.last_ready_by(self._epoch, ends, mine)
        from_s = np.maximum(repair.there_s, since_s)[self._epoch.lives] + repair.problem.delays.restart_s
        held = np.full(len(from_s), np.inf) if repair.parallel else self._held[self._epoch.lives]
        many = repair.problem.restores_at_once
        return np.array([np.minimum(many * np.maximum(t - from_s, 0.0), held).sum() for t in until.tolist()])

    def most(self, possible: BoolArray, ends: FloatArray, budget: Budget) -> FloatArray:
        """Return bounds on the priority of queries that are up before some times, of those that can be at all."""
        repair, needed = self._repair, self._epoch.needed
        cost = np.where(needed, repair.cost, 0.0)
        cores = self.cores(ends)
        most = self._chain(possible, cost, cores, budget)
        if not self.lanes_matter:
            return most
        for since_s in self._from:
            lanes = self.lanes(ends, since_s)
            seconds = np.where(self._epoch.since_s >= since_s, self._seconds, 0.0)
            most = np.minimum(most, self._chain(possible, seconds, lanes, budget))
            scale = float(cost.sum()) / max(float(seconds.sum()), 1e-12)
            for rate in EXCHANGE:
                both = cost + rate * scale * seconds
                most = np.minimum(most, self._chain(possible, both, cores + rate * scale * lanes, budget))
        return most

    def _chain(self, possible: BoolArray, weight: FloatArray, capacity: FloatArray, budget: Budget) -> FloatArray:
        queries, priority = self._repair.queries, self._repair.priority
        sums = np.bincount(queries.bundle, weight, queries.bundles).astype(np.float64)
        whole = SetUnionKnapsack(priority, sums, queries.start, queries.member, float(capacity.max(initial=0.0)))
        return most_by_capacity(whole, possible, capacity, budget)


def _held(seconds: FloatArray, cost: FloatArray, room: FloatArray) -> FloatArray:
    """Return the most seconds of restores that tasks have together which fit onto each host, tasks divided, (H,)."""
    order = np.argsort(-seconds / np.maximum(cost, 1e-12), kind="stable")
    used = np.concatenate(([0.0], np.cumsum(cost[order])))
    summed = np.concatenate(([0.0], np.cumsum(seconds[order])))
    return np.asarray(np.interp(room * (1.0 + ROUNDING) + ROUNDING, used, summed), dtype=np.float64)


def sharper(coarse: StepFunctionBound, at_s: FloatArray, most: FloatArray) -> StepFunctionBound:
    """Return stairs that are nowhere above either; *most* holds from each of ``at_s`` until the next."""
    times = np.unique(np.concatenate((coarse.at_s, at_s)))
    place = np.searchsorted(coarse.at_s, times, side="right") - 1
    other = np.searchsorted(at_s, times, side="right") - 1
    least = np.where(other >= 0, np.minimum(coarse.most[place], most[np.maximum(other, 0)]), coarse.most[place])
    return replace(coarse, at_s=times, most=least, asked=coarse.asked[place])
