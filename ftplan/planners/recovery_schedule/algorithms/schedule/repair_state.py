"""What is down, what runs where and what is free while a schedule is made."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ftplan.model.failed_queries import FailedQueries, failed_queries
from ftplan.model.failure import FailureEvent
from ftplan.model.measures.downtimes import highest_below, whole_from
from ftplan.model.measures.recovery_time import longest_interval
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.fillable import fillable
from ftplan.planners.recovery_schedule.algorithms.schedule.node_assignment import ResidualCapacity, StepAssignment
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import StepState
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Pause, Restore


class FailureEffects(NamedTuple):
    """What failures of one time do: tasks that are down now and were not, shape (tasks,), and tasks that go back."""

    tasks: BoolArray
    rolled_back: list[Restore]


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
        self._parts: dict[int, list[StepAssignment]] = {}  # recovered tasks only
        self._lanes = np.zeros((len(problem.hosts), problem.restores_at_once))  # when each is free
        self.paused = np.zeros(problem.graph.tasks, dtype=np.bool_)  # gave way, and is not back
        self.kept = np.full(problem.graph.tasks, -1, dtype=np.int64)  # host where the state of such a task lies
        self._unmet = problem.failed.copy()  # failed at the start, not met by a rollback yet
        self._met = False  # whether anything has failed
        self._struck_s = -np.inf  # when tasks failed last
        self._incident_s = 0.0  # checkpoints since then hold nothing
        self._interval_s = longest_interval(problem.graph) or 0.0
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

    def home(self) -> IntArray:
        """Return the host of each task that runs, -1 where it is down, split over hosts or its node is unknown."""
        home = self._home.copy()
        for task, parts in self._parts.items():
            home[task] = parts[0].host if len(parts) == 1 else -1
        return home

    def observe(self, step: int, at_s: float, queries: FailedQueries, coming: tuple[ArrivalEvent, ...]) -> StepState:
        """Return what a policy sees at a step."""
        problem, room = self.problem, self.open_room
        cost = np.where(self.down, problem.to_start, problem.cost)
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
        return StepState(
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
            home=self.home(),
            standby=self._standby.copy(),
            **self._giving_way(step, at_s, queries, coming),
        )

    def _giving_way(
        self, step: int, at_s: float, queries: FailedQueries, coming: tuple[ArrivalEvent, ...]
    ) -> dict[str, Any]:
        """Return what of a state is about pausing."""

        def pausing(tasks: Sequence[int], standbys: Sequence[int]) -> StepState:
            after = self.copy()
            after.pause(tasks, at_s, standbys)
            return after.observe(step, at_s, failed_queries(self.problem.graph, after.down), coming)

        may_pause = may_drop = np.zeros(self.problem.graph.tasks, dtype=np.bool_)
        if self.problem.may_pause and self._struck_s == at_s and queries.queries:
            may_pause, may_drop = self._less_than(queries, at_s), self._standby >= 0
        return {
            "may_pause": may_pause,
            "may_drop": may_drop,
            "paused": self.paused.copy(),
            "kept": self.kept.copy(),
            "pausing": pausing,
        }

    def _less_than(self, queries: FailedQueries, at_s: float) -> BoolArray:
        """Return which tasks run that only queries need which run, each of less priority than one that is down."""
        graph = self.problem.graph
        priority = graph.per_task("priority")
        up_s = whole_from(graph, np.where(self.down, np.inf, self.caught_up))
        worth = np.where(up_s <= at_s, priority, np.inf)
        highest = highest_below(graph, np.where(graph.output, worth, -np.inf))
        less = highest < float(priority[queries.query].max(initial=0.0))
        return np.asarray(less & ~self.down & (self.home() >= 0), dtype=np.bool_)

    def copy(self) -> RepairState:
        """Return a state that changes apart from this one."""
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(other, name, value.copy())
        other._parts = {task: list(parts) for task, parts in self._parts.items()}
        return other

    def arrive(self, host: int) -> None:
        """Add a node that has arrived."""
        self.there[host] = True

    def strike(self, events: Iterable[FailureEvent], at_s: float) -> FailureEffects:
        """Let failures of one time happen, those of the start too; all that runs goes back where the job rolls back."""
        calm = not self.down.any() and float(self.caught_up.max(initial=0.0)) + self._interval_s <= at_s
        tasks = self._unmet
        self._unmet = np.zeros(self.problem.graph.tasks, dtype=np.bool_)
        for event in events:
            tasks = tasks | self.fail(event)
        if not tasks.any():
            return FailureEffects(tasks, [])
        if calm or not self._met:
            self._incident_s = at_s
        self._struck_s, self._met = at_s, True
        rolls_back = self.problem.rolls_back and at_s >= self.problem.rolls_back_from_s
        return FailureEffects(tasks, self._roll_back(at_s) if rolls_back else [])

    def _roll_back(self, at_s: float) -> list[Restore]:
        """Send all tasks that run back to the last checkpoint before the incident; they keep node and cores.

        Restores under way end, those of the tasks that go back begin, in the order of tasks.
        """
        self._lanes[:] = 0.0
        self.down_s[:] = self._incident_s
        self.paused[:], self.kept[:] = False, -1
        self.failed_s[~self.down] = at_s
        home, restores = self._home, []
        for task in np.flatnonzero(~self.down).tolist():
            whole = [StepAssignment(task, max(int(home[task]), -1), float(self.problem.cost[task]))]
            parts = [self._begin(part, at_s) for part in self._parts.get(task, whole)]
            self.caught_up[task] = max(part.caught_up_s for part in parts)
            restores += parts
        return restores

    def pause(self, tasks: Iterable[int], at_s: float, standbys: Iterable[int] = ()) -> list[Pause]:
        """Stop tasks that run, and standbys for good; their cores are free, also of the pool."""
        home, pauses = self.home(), []
        for task in sorted(set(tasks)):
            host, cpu = int(home[task]), float(self.problem.cost[task])
            pauses.append(Pause(task, host, cpu))
            self._use(host, -cpu)
            self._parts.pop(task, None)
            self._home[task] = -1
            self.down[task] = self.paused[task] = True
            self.kept[task] = host
            self.failed_s[task] = at_s - self.problem.delays.detection_s  # nothing has to be noticed
            self.down_s[task] = at_s
        for task in sorted(set(standbys)):
            host, cpu = int(self._standby[task]), float(self.problem.cost[task])
            pauses.append(Pause(task, host, cpu, replica=True))
            self._use(host, -cpu)
            self._standby[task] = -1
        return pauses

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
        self.kept[np.isin(self.kept, list(gone))] = -1
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

    def recover(
        self, parts: Iterable[StepAssignment], at_s: float, prefetch: Collection[int] = frozenset()
    ) -> list[Restore]:
        """Start tasks on their hosts in the order given.

        A task starts when its failure is noticed; then it fetches its state. A node restores so many tasks at a time as
        it has lanes; without a bandwidth, or where the state lies on the node already, it takes no time.
        """
        restores = []
        for part in parts:
            self._use(part.host, part.cpu)
            first = part.task not in self._parts
            self._parts.setdefault(part.task, []).append(part)
            self.down[part.task] = False
            self._home[part.task] = -1
            restore = self._begin(part, at_s, part.task in prefetch)
            earlier_s = 0.0 if first else float(self.caught_up[part.task])
            self.caught_up[part.task] = max(restore.caught_up_s, earlier_s)
            restores.append(restore)
        back = [restore.task for restore in restores]
        self.paused[back], self.kept[back] = False, -1
        return restores

    def _begin(self, part: StepAssignment, at_s: float, prefetch: bool = False) -> Restore:
        """Return when a task runs, and is up to date, that starts on a host; it waits for a lane of the host."""
        task, delays = part.task, self.problem.delays
        failed_s, down_s, savepoint = float(self.failed_s[task]), float(self.down_s[task]), bool(self.paused[task])
        ready = delays.starts(at_s, failed_s)
        lasts = self.problem.restore_s(self._transfer_bytes(part))
        if lasts > 0.0 and part.host >= 0:
            lane = int(np.argmin(self._lanes[part.host]))
            ready = max(ready, float(self._lanes[part.host, lane])) + lasts
            self._lanes[part.host, lane] = ready
        else:
            ready += lasts
        caught_up = delays.caught_up(ready, down_s, task, savepoint)
        return Restore(
            task, part.host, part.cpu, ready, prefetch, part.key_groups, failed_s, down_s, caught_up, savepoint
        )

    def _transfer_bytes(self, part: StepAssignment) -> float:
        """Return the state that must be brought to the host."""
        if self.problem.state_bytes is None:
            return 0.0
        cost = float(self.problem.cost[part.task])
        share = 1.0 if part.key_groups is None or cost <= 0.0 else part.cpu / cost
        size = float(self.problem.state_bytes[part.task])
        local = self._local.get(part.task, {}).get(part.host, 0.0)
        if self.paused[part.task]:
            local = size if part.host == self.kept[part.task] else 0.0
        return max(0.0, size - local) * share


def at_failure(problem: RecoveryProblem) -> StepState:
    """Return what a policy sees at step 0; what rolls back restores before anything else does."""
    repair = RepairState(problem)
    repair.strike((), 0.0)
    return repair.observe(0, 0.0, failed_queries(problem.graph, repair.down), problem.arrivals)
