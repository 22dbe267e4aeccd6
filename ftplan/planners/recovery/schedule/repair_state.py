"""What is down, what runs where and what is free while a schedule is made."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.failure import FailureEvent
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray
from ftplan.planners.fillable import fillable
from ftplan.planners.recovery.problem import ArrivalEvent, RecoveryProblem
from ftplan.planners.recovery.schedule.node_assignment import Assignment, ResidualCapacity
from ftplan.planners.recovery.schedule.schedule import State


class RepairState:
    """A cluster under repair, changed by failures, arrivals and recoveries in the order of time.

    *parallel*: tasks with key groups may be split over nodes.
    """

    def __init__(self, problem: RecoveryProblem, parallel: bool = False) -> None:
        self.problem, self._parallel = problem, parallel
        self.down: BoolArray = problem.failed.copy()
        self.there: BoolArray = np.arange(len(problem.hosts)) < problem.live_hosts
        self.room: FloatArray = np.array([host.room - host.overload for host in problem.hosts], dtype=np.float64)
        self.pool = np.inf if problem.capacity is None else problem.capacity
        self.caught_up = np.zeros(problem.graph.tasks)  # since when each task is up to date
        self.failed_s = np.zeros(problem.graph.tasks)  # when each task that is down failed
        self.down_s = np.zeros(problem.graph.tasks)  # and since when it has not been up to date
        self._home = problem.home.copy()
        self._standby = problem.standby.copy()
        self._parts: dict[int, list[Assignment]] = {}  # recovered tasks only
        self._lanes = np.zeros((len(problem.hosts), problem.restores_at_once))  # when each is free
        self._local: dict[int, dict[int, float]] = {}
        for (task, host), size in problem.local_bytes.items():
            self._local.setdefault(task, {})[host] = size

    @property
    def open_room(self) -> FloatArray:
        """Cores left on each host, 0 where it is not there, and never more than the pool on those that share it."""
        room = np.where(self.there, np.maximum(self.room, 0.0), 0.0)
        room[: self.problem.live_hosts] = np.minimum(room[: self.problem.live_hosts], max(0.0, self.pool))
        return np.asarray(room, dtype=np.float64)

    @property
    def capacity(self) -> float:
        """Cores free on all hosts that are there."""
        return self._in_sum(np.where(self.there, np.maximum(self.room, 0.0), 0.0))

    def _in_sum(self, room: FloatArray) -> float:
        live = self.problem.live_hosts
        return float(min(room[:live].sum(), max(0.0, float(self.pool))) + room[live:].sum())

    def residual(self) -> ResidualCapacity:
        """Return the hosts as the placement of tasks sees them."""
        room = np.where(self.there, np.maximum(self.room, 0.0), -1.0)
        splittable = {}
        if self._parallel:
            first, groups = self.problem.graph.key_groups
            splittable = {int(t): (int(first[t]), int(groups[t])) for t in np.flatnonzero(self.down & (groups > 1))}
        return ResidualCapacity(room, self.problem.live_hosts, max(0.0, self.pool), self._local, splittable)

    def observe(self, step: int, at_s: float, queries: FailedQueries, coming: tuple[ArrivalEvent, ...]) -> State:
        """Return what a policy sees at a step."""
        problem, cost, room = self.problem, self.problem.cost, self.open_room
        grain, usable = cost, room
        if self._parallel:
            _, groups = problem.graph.key_groups
            grain = np.where(groups > 1, cost / np.maximum(groups, 1), cost)
        else:
            usable = fillable(room, cost[queries.task])
        largest = float(room.max(initial=0.0))
        expected = max([largest, *(problem.hosts[event.host].room for event in coming)])
        too_large = grain > largest * (1.0 + ROUNDING) + ROUNDING
        if not self.there.any():
            too_large = np.ones(problem.graph.tasks, dtype=np.bool_)
        return State(
            problem=problem,
            step=step,
            at_s=at_s,
            queries=queries,
            down=self.down.copy(),
            cost=cost,
            room=room,
            capacity=self.capacity,
            fillable=min(self.capacity, self._in_sum(usable)),
            too_large=too_large,
            hopeless=grain > expected * (1.0 + ROUNDING) + ROUNDING,
            coming=coming,
            there=self.there.copy(),
            free=self.room.copy(),
            pool=float(self.pool),
            lanes=self._lanes.copy(),
            failed_s=self.failed_s.copy(),
            down_s=self.down_s.copy(),
            caught_up=self.caught_up.copy(),
        )

    def arrive(self, host: int) -> None:
        """Add a node that has arrived."""
        self.there[host] = True

    def fail(self, event: FailureEvent) -> BoolArray:
        """Take down what an event hits; return the tasks that were running and are down now, shape (tasks,)."""
        before = self.down.copy()
        gone = {h for h, host in enumerate(self.problem.hosts) if self.there[h] and host.id in event.nodes}
        self.there[list(gone)] = False
        struck = np.isin(self._home, list(gone))
        struck[event.tasks] = True
        for task, parts in self._parts.items():
            struck[task] |= any(part.host in gone for part in parts)
        self._standby[np.isin(self._standby, list(gone))] = -1
        for task in np.flatnonzero(struck & ~self.down).tolist():
            self._stop(task, gone)
        struck = self.down & ~before
        self.failed_s[struck] = event.at_s
        self.down_s[struck & (self.caught_up <= event.at_s)] = event.at_s
        return struck

    def _stop(self, task: int, gone: Iterable[int]) -> None:
        """Free what a task used on nodes that live on; its replica takes over if there is one."""
        if task in self._parts:
            for part in self._parts.pop(task):
                if part.host not in gone:
                    self._use(part.host, -part.cpu)
        elif self._home[task] >= 0 and self._home[task] not in gone:
            self.room[self._home[task]] += float(self.problem.cost[task])
        standby = int(self._standby[task])
        self._home[task] = max(standby, -1)
        self._standby[task] = -1
        self.down[task] = standby == -1

    def _use(self, host: int, cores: float) -> None:
        self.room[host] -= cores
        if host < self.problem.live_hosts:
            self.pool -= cores

    def recover(self, parts: Iterable[Assignment], at_s: float) -> list[float]:
        """Start tasks on their hosts in the order given; return when each part runs.

        A task starts when its failure is noticed; then it fetches its state. A node restores so many tasks at a time as
        it has lanes; without a bandwidth, or where the state lies on the node already, it takes no time.
        """
        times = []
        for part in parts:
            self._use(part.host, part.cpu)
            first = part.task not in self._parts
            self._parts.setdefault(part.task, []).append(part)
            self.down[part.task] = False
            self._home[part.task] = -1
            ready = self.problem.delays.starts(at_s, float(self.failed_s[part.task]))
            lasts = self.problem.restore_s(self._transfer_bytes(part))
            if lasts > 0.0:
                lane = int(np.argmin(self._lanes[part.host]))
                ready = max(ready, float(self._lanes[part.host, lane])) + lasts
                self._lanes[part.host, lane] = ready
            times.append(ready)
            back = self.problem.delays.caught_up(ready, float(self.down_s[part.task]), part.task)
            self.caught_up[part.task] = back if first else max(back, float(self.caught_up[part.task]))
        return times

    def _transfer_bytes(self, part: Assignment) -> float:
        """Return the state that must be brought to the host."""
        if self.problem.state_bytes is None:
            return 0.0
        cost = float(self.problem.cost[part.task])
        share = 1.0 if part.key_groups is None or cost <= 0.0 else part.cpu / cost
        local = self._local.get(part.task, {}).get(part.host, 0.0)
        return max(0.0, float(self.problem.state_bytes[part.task]) - local) * share
