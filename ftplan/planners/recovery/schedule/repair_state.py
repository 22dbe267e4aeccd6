"""What is down, what runs where and what is free while a schedule is made."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.model.failure import FailureEvent
from ftplan.model.task_graph import BoolArray
from ftplan.model.topology import FloatArray
from ftplan.planners.recovery.problem import RecoveryProblem
from ftplan.planners.recovery.schedule.node_assignment import Part, Sites, Splittable


class Progress:
    """The state of a repair, changed by failures, arrivals and recoveries in the order of time."""

    def __init__(self, problem: RecoveryProblem) -> None:
        self.problem = problem
        self.down: BoolArray = problem.failed.copy()
        self.there: BoolArray = np.arange(len(problem.hosts)) < problem.present
        self.room: FloatArray = np.array([host.room - host.overload for host in problem.hosts], dtype=np.float64)
        self.pool = np.inf if problem.capacity is None else problem.capacity
        self.home = problem.home.copy()
        self.standby = problem.standby.copy()
        self.parts: dict[int, list[Part]] = {}  # recovered tasks only
        self.ready = np.zeros(problem.graph.tasks)  # when each recovered task runs again
        self._busy_until = np.zeros(len(problem.hosts))
        self._local: dict[int, dict[int, float]] = {}
        for (task, host), size in problem.local_bytes.items():
            self._local.setdefault(task, {})[host] = size

    @property
    def open_room(self) -> FloatArray:
        """Cores left on each host, 0 where it is not there, and never more than the pool on those that share it."""
        room = np.where(self.there, np.maximum(self.room, 0.0), 0.0)
        room[: self.problem.present] = np.minimum(room[: self.problem.present], max(0.0, self.pool))
        return np.asarray(room, dtype=np.float64)

    @property
    def capacity(self) -> float:
        """Cores free on all hosts that are there."""
        room = np.where(self.there, np.maximum(self.room, 0.0), 0.0)  # rounding errors leave less than nothing
        first = self.problem.present
        return float(min(room[:first].sum(), max(0.0, self.pool)) + room[first:].sum())

    def sites(self, splittable: Splittable) -> Sites:
        """Return the hosts as the placement of tasks sees them."""
        room = np.where(self.there, np.maximum(self.room, 0.0), -1.0)
        return Sites(room, self.problem.present, max(0.0, self.pool), self._local, splittable)

    def arrive(self, host: int) -> None:
        """Add a node that has arrived."""
        self.there[host] = True

    def fail(self, event: FailureEvent) -> BoolArray:
        """Take down what an event hits; return the tasks that were running and are down now, shape (tasks,)."""
        before = self.down.copy()
        gone = {h for h, host in enumerate(self.problem.hosts) if self.there[h] and host.id in event.nodes}
        for host in gone:
            self.there[host] = False
        struck = np.zeros(len(self.down), dtype=np.bool_)
        struck[event.tasks] = True
        for task, parts in self.parts.items():
            struck[task] |= any(part.host in gone for part in parts)
        struck[np.isin(self.home, list(gone))] = True
        self.standby[np.isin(self.standby, list(gone))] = -1
        for task in np.flatnonzero(struck & ~self.down).tolist():
            self._stop(task, gone)
        return self.down & ~before

    def _stop(self, task: int, gone: Iterable[int]) -> None:
        """Free what a task used on nodes that live on; its replica takes over if there is one."""
        if task in self.parts:
            for part in self.parts.pop(task):
                if part.host not in gone:
                    self._release(part.host, part.cpu)
        elif self.home[task] >= 0 and self.home[task] not in gone:
            self._release(int(self.home[task]), float(self.problem.cost[task]), pooled=False)
        standby = int(self.standby[task])
        self.home[task] = max(standby, -1)
        self.standby[task] = -1
        self.down[task] = standby == -1

    def _release(self, host: int, cores: float, pooled: bool = True) -> None:
        self.room[host] += cores
        if pooled and host < self.problem.present:
            self.pool += cores

    def recover(self, parts: list[Part], at_s: float) -> list[float]:
        """Start tasks on their hosts in the order given; return when each part runs.

        Restores on one node go one after another; without a bandwidth, or where the state lies on the node already,
        they take no time.
        """
        times = []
        for part in parts:
            self.room[part.host] -= part.cpu
            if part.host < self.problem.present:
                self.pool -= part.cpu
            self.parts.setdefault(part.task, []).append(part)
            self.down[part.task] = False
            self.home[part.task] = -1
            ready = at_s
            size = self._transfer_bytes(part)
            if size > 0.0 and self.problem.bandwidth_bytes_s:
                begins = max(at_s, float(self._busy_until[part.host]))
                ready = begins + self.problem.delay_s + size / self.problem.bandwidth_bytes_s
                self._busy_until[part.host] = ready
            times.append(ready)
            first = self.parts[part.task][0] is part
            self.ready[part.task] = ready if first else max(ready, float(self.ready[part.task]))
        return times

    def _transfer_bytes(self, part: Part) -> float:
        """Return the state that must be brought to the host."""
        if self.problem.state_bytes is None:
            return 0.0
        cost = float(self.problem.cost[part.task])
        share = 1.0 if part.key_groups is None or cost <= 0.0 else part.cpu / cost
        local = self._local.get(part.task, {}).get(part.host, 0.0)
        return max(0.0, float(self.problem.state_bytes[part.task]) - local) * share
