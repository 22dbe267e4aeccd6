"""What is certain of a repair whatever is planned, to a clairvoyant who knows every failure that is stated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ftplan.model.failed_queries import FailedQueries, failed_queries
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.recovery_schedule.algorithms.repair.rollbacks import Rollbacks
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import RepairState
from ftplan.planners.recovery_schedule.problem import RecoveryProblem, decision_points

#: Pairs of task and host up to which each is looked at.
MOST_CELLS = 2_000_000
#: Failures that are foreseen; nothing is counted after the last one.
MOST_EPOCHS = 64


@dataclass(frozen=True, eq=False)
class Epoch:
    """The time between two stated failures, ``[from_s, until_s)``, for J tasks and H hosts.

    A query is up at a time of it only if all its tasks of ``needed`` run on hosts that live, started after
    ``since_s``, and have caught up. Where its failure sends all tasks back to the last checkpoint those of ``needed``
    start again, and no query is up before ``again_s``.
    """

    from_s: float
    until_s: float
    needed: BoolArray  # (J,) has failed by then, or may have given way
    struck: BoolArray  # (J,) has failed by then
    since_s: FloatArray  # (J,) not started before, nor before its failure was noticed, which may be an earlier one
    down_s: FloatArray  # (J,) not up to date since then at the latest
    replay_s: FloatArray  # (J,) processed again at least: nothing by what may have been moved once it was back
    lives: BoolArray  # (H,) arrives before its end and does not fail before
    room: FloatArray  # (H,) cores
    again_s: FloatArray  # (Q,) when the tasks of a query have caught up that went back, 0 where none did


@dataclass(frozen=True, eq=False)
class ClairvoyantRepair:
    """A repair with all failures known: the tasks that ever fail and that a query needs, and where they can go.

    With ``problem.may_pause`` also the running tasks that may give way, whose cores count as room.
    """

    problem: RecoveryProblem
    parallel: bool  # tasks with key groups may be split over hosts
    queries: FailedQueries  # ``task`` are the J tasks
    epochs: tuple[Epoch, ...]
    there_s: FloatArray  # (H,)
    cost: FloatArray  # (J,) cores
    grain: FloatArray  # (J,) cores, the least that one host must have room for
    catch_up: FloatArray  # (J,)
    priority: FloatArray  # (Q,)
    pool: float | None  # cores that the hosts of the start have together, None without a cap
    beside: float  # priority × seconds for which queries are down that lose no task, as all go back

    @cached_property
    def far_s(self) -> FloatArray:
        """Seconds that the state of each task keeps a lane of a host where none of it lies, shape (J,)."""
        problem, task = self.problem, self.queries.task
        size = np.zeros(len(task)) if problem.state_bytes is None else problem.state_bytes[task]
        return np.array([problem.restore_s(float(b)) for b in size], dtype=np.float64)

    @cached_property
    def near(self) -> tuple[tuple[int, int, float], ...]:
        """Seconds where some of the state lies: (task, host, seconds)."""
        problem, row = self.problem, {number: j for j, number in enumerate(self.queries.task.tolist())}
        size = problem.state_bytes
        return tuple(
            (row[task], host, problem.restore_s(float(size[task]) - there))
            for (task, host), there in problem.local_bytes.items()
            if size is not None and task in row
        )

    @cached_property
    def nearest_s(self) -> FloatArray:
        """Seconds on the nearest host, shape (J,)."""
        least = self.far_s.copy()
        for j, _, seconds in self.near:
            least[j] = min(least[j], seconds)
        return least

    @cached_property
    def seconds(self) -> FloatArray:
        """Seconds that the state of each task keeps a lane of each host, shape (J, H)."""
        table = np.repeat(self.far_s[:, None], len(self.problem.hosts), axis=1)
        for j, host, seconds in self.near:
            table[j, host] = seconds
        return table

    @property
    def is_small(self) -> bool:
        """Whether each pair of task and host may be looked at."""
        return len(self.cost) * len(self.problem.hosts) <= MOST_CELLS

    @cached_property
    def split(self) -> BoolArray:
        """Which tasks may be split, shape (J,)."""
        return np.asarray(self.grain < self.cost)

    def begins(self, epoch: Epoch) -> FloatArray:
        """Return from when on each task can run on each host, without its state, infinite for never, shape (J, H)."""
        starts_s = np.where(
            epoch.struck, self.problem.delays.restart_s, 0.0
        )  # what gives way has never stopped at best
        begins = np.maximum(self.there_s[None, :], epoch.since_s[:, None]) + starts_s[:, None]
        fits = self.grain[:, None] <= (epoch.room * (1.0 + ROUNDING) + ROUNDING)[None, :]
        return np.asarray(np.where(fits & epoch.lives[None, :], begins, np.inf))

    def first_runs(self, epoch: Epoch) -> FloatArray:
        """Return when each host can first run some task, infinite for never, shape (H,)."""
        if self.is_small:
            begins = np.where(epoch.needed[:, None], self.begins(epoch), np.inf)
            return np.asarray(begins.min(axis=0, initial=np.inf))
        earliest = float(epoch.since_s[epoch.needed].min(initial=np.inf))
        stopped = bool(epoch.struck[epoch.needed].all())
        runs = np.maximum(self.there_s, earliest) + (self.problem.delays.restart_s if stopped else 0.0)
        least = float(self.grain[epoch.needed].min(initial=np.inf))
        return np.where(epoch.lives & (least <= epoch.room * (1.0 + ROUNDING) + ROUNDING), runs, np.inf)

    def ready_s(self, epoch: Epoch) -> FloatArray:
        """Return before when no task runs with its state, infinite for never, shape (J,).

        Parts of a split task are fetched side by side.
        """
        if self.is_small:
            lasts = np.where(self.split[:, None], 0.0, self.seconds)
            return np.asarray((self.begins(epoch) + lasts).min(axis=1, initial=np.inf))
        lives = np.flatnonzero(epoch.lives)
        lives = lives[np.argsort(self.there_s[lives], kind="stable")]
        largest = np.maximum.accumulate(epoch.room[lives])
        first = np.searchsorted(largest, self.grain / (1.0 + ROUNDING) - ROUNDING)
        there = np.append(self.there_s[lives], np.inf)[first]
        lasts = np.where(self.split, 0.0, self.nearest_s)
        return np.asarray(np.maximum(there, epoch.since_s) + self.problem.delays.restart_s + lasts)

    def up_s(self, epoch: Epoch) -> FloatArray:
        """Return before when no task has caught up, infinite for never, shape (J,)."""
        ready = self.ready_s(epoch)
        behind_s = np.where(np.isfinite(ready), np.maximum(0.0, ready - epoch.down_s), 0.0)
        return np.where(epoch.struck, ready + epoch.replay_s + self.catch_up * behind_s, 0.0)

    def ready_by(self, epoch: Epoch, at_s: FloatArray) -> FloatArray:
        """Return when each task must run with its state to have caught up by some times, shape (J, times)."""
        add, down_s = epoch.replay_s[:, None], epoch.down_s[:, None]
        return np.asarray((at_s[None, :] - add + self.catch_up[:, None] * down_s) / (1.0 + self.catch_up[:, None]))

    def last_ready_by(self, epoch: Epoch, at_s: FloatArray, tasks: BoolArray) -> FloatArray:
        """Return when the last of some tasks must run at the latest, at some times, shape (times,).

        A mean of two numbers, of which one is the same for all with the fastest replay.
        """
        if int(tasks.sum()) * len(at_s) <= MOST_CELLS:
            return np.asarray(self.ready_by(epoch, at_s)[tasks].max(axis=0))
        rate, down_s = float(self.catch_up[tasks].min()), float(epoch.down_s[tasks].max())
        ready = (at_s - float(epoch.replay_s[tasks].min()) + rate * down_s) / (1.0 + rate)
        return np.asarray(np.maximum(ready, down_s))


def clairvoyant_repair(problem: RecoveryProblem, parallel: bool = False) -> ClairvoyantRepair:
    """Return what is certain of a repair. Cost O(failures · tasks)."""
    walk = _EpochWalk(problem)
    may_stop = _may_stop(problem) if problem.may_pause else np.zeros_like(problem.failed)
    queries = failed_queries(problem.graph, walk.ever | may_stop)
    task = queries.task
    cost = problem.cost[task]
    groups = problem.graph.key_groups[1][task]
    grain = np.where(groups > 1, cost / np.maximum(groups, 1), cost) if parallel else cost
    never = problem.delays.never(problem.graph.tasks) & ~may_stop
    grain = np.where(never[task], problem.to_start[task], grain)
    _, catch_up = problem.delays.of_tasks(task)
    extra = np.zeros(len(problem.hosts))  # cores that may be freed
    if problem.may_pause:
        settled = may_stop & (problem.home >= 0)
        np.add.at(extra, problem.home[settled], problem.cost[settled])
        spare = problem.standby >= 0
        np.add.at(extra, problem.standby[spare], problem.cost[spare])
    epochs = tuple(walk.epochs(queries, grain, may_stop, extra))
    return ClairvoyantRepair(
        problem=problem,
        parallel=parallel,
        queries=queries,
        epochs=epochs,
        there_s=walk.there_s,
        cost=cost,
        grain=grain,
        catch_up=np.broadcast_to(np.asarray(catch_up, dtype=np.float64), len(task)),
        priority=problem.graph.per_task("priority")[queries.query],
        pool=None if problem.capacity is None else problem.capacity + float(extra[: problem.live_hosts].sum()),
        beside=walk.beside,
    )


def _may_stop(problem: RecoveryProblem) -> BoolArray:
    """Return which tasks have only queries of less priority than some that ever fails, without standbys, (tasks,)."""
    graph = problem.graph
    ever = _EpochWalk(replace(problem, standby=np.full_like(problem.standby, -1))).ever
    priority = graph.per_task("priority")
    highest = float(priority[failed_queries(graph, ever).query].max(initial=0.0))
    high = graph.output & (priority >= highest)
    return np.asarray(~graph.upstream(high))


class _EpochWalk:
    """Failures and arrivals in the order of time, with nothing recovered."""

    def __init__(self, problem: RecoveryProblem) -> None:
        self._problem = problem
        state = RepairState(problem)
        self._times, self._down, self._since = [0.0], [state.down.copy()], [np.zeros(problem.graph.tasks)]
        self._noticed_s = np.where(state.down, problem.delays.detection_s, 0.0)
        self._room, self._home = [state.room.copy()], [state.home()]
        self.there_s = np.full(len(problem.hosts), np.inf)
        self.there_s[: problem.live_hosts] = 0.0
        self._gone_s = np.full(len(problem.hosts), np.inf)
        self._end_s = problem.horizon_s
        self._goes_back_s = {0.0} if problem.failed.any() else set()  # when a task that runs is lost for sure
        for point in decision_points(problem):
            if point.failures and len(self._times) >= MOST_EPOCHS:
                self._end_s = min(self._end_s, point.at_s)
                break
            for event in point.failures:
                before = state.there.copy()
                struck = state.fail(event)
                self._goes_back_s |= {event.at_s} if struck.any() else set()
                self._gone_s[before & ~state.there] = event.at_s
                since = self._since[-1].copy()
                since[struck] = event.at_s
                self._noticed_s[struck] = event.at_s + problem.delays.detection_s
                named = event.tasks[state.down[event.tasks]]
                since[named] = event.at_s
                self._add(event.at_s, state, since)
            for arrival in point.arrivals:
                state.arrive(arrival.host)
                self.there_s[arrival.host] = min(self.there_s[arrival.host], point.at_s)
        self.ever = state.down.copy()
        self.beside = 0.0

    def _add(self, at_s: float, state: RepairState, since: FloatArray) -> None:
        if at_s <= self._times[-1]:
            for kept in (self._times, self._down, self._since, self._room, self._home):
                kept.pop()
        self._times.append(at_s)
        self._down.append(state.down.copy())
        self._since.append(since)
        self._room.append(state.room.copy())
        self._home.append(state.home())

    def epochs(self, queries: FailedQueries, grain: FloatArray, may_stop: BoolArray, extra: FloatArray) -> list[Epoch]:
        """Return the time between failures, up to the horizon; *extra* are cores that may be freed, shape (H,)."""
        epochs, task, back = [], queries.task, Rollbacks(self._problem, self._goes_back_s)
        rest = np.where(self._problem.graph.output, self._problem.graph.per_task("priority"), 0.0)
        rest[queries.query] = 0.0
        horizon_s = self._end_s
        ends = [*self._times[1:], horizon_s]
        rooms = np.maximum(np.array(self._room), 0.0) + extra
        down_s = np.zeros(len(task))
        replay_s = np.broadcast_to(self._problem.delays.of_tasks(task)[0], len(task))
        replay_s = np.where(np.isinf(replay_s), 0.0, replay_s)
        first = 0 if self._down[0].any() else 1  # when something fails first, and others may give way
        for k, (from_s, until_s) in enumerate(zip(self._times, ends, strict=True)):
            if from_s >= horizon_s:
                break
            struck, since_s, noticed_s = self._down[k][task], self._since[k][task], self._noticed_s[task]
            if k > first:  # what may have given way before is not hit where it was, and comes back unnoticed
                struck = struck & (~may_stop | self._down[first])[task]
                noticed_s = np.where(may_stop[task], self._times[first] + self._problem.delays.detection_s, noticed_s)
            down_s = np.maximum(down_s, np.where(struck, since_s, 0.0))
            if k > 0:  # a task may have been up where a host failed just now
                lost = (self._gone_s == from_s) & (self.there_s < from_s)
                largest = float(rooms[k - 1][lost].max(initial=-1.0))
                again = struck & self._down[k - 1][task] & (grain <= largest * (1.0 + ROUNDING) + ROUNDING)
                down_s = np.where(again | (struck & may_stop[task]), from_s, down_s)
            lives = (self.there_s < min(until_s, horizon_s)) & (self._gone_s > from_s)
            needed = struck | (may_stop & (self._home[k] >= 0))[task]  # what runs on no known node does not give way
            since_s = np.where(struck, np.maximum(since_s, noticed_s), 0.0)
            since_s, down_s = back.fail(from_s, self._down[k], task, since_s, down_s)
            again_s = back.up_s[queries.query]
            self.beside += float(rest @ np.maximum(np.minimum(back.up_s, min(until_s, horizon_s)) - from_s, 0.0))
            least_s = np.where(may_stop[task] & (k > 0), 0.0, replay_s)
            until_s = min(until_s, horizon_s)
            epochs.append(Epoch(from_s, until_s, needed, struck, since_s, down_s, least_s, lives, rooms[k], again_s))
        return epochs
