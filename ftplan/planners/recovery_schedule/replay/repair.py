"""The state of a cluster while failed tasks come back: what runs where, what is down, what is free."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ftplan.model.cluster import Node
from ftplan.model.failure import Arrival
from ftplan.model.measures.recovery_time import longest_interval
from ftplan.model.names import Selector, natural_key
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.planners.recovery_schedule.incident import Incident


@dataclass(eq=False, slots=True)
class Machine:
    """A node that is there. ``room`` are the cores left, below 0 where more runs than the limit allows."""

    id: str | None
    room: float
    takes_tasks: bool = True
    from_start: bool = True
    node: Node | None = None
    tasks: set[int] = field(default_factory=set)
    replicas: set[int] = field(default_factory=set)
    lanes: list[float] = field(default_factory=list)  # when each lane is free for another restore

    @property
    def free(self) -> float:
        """Cores that tasks can still take, at least 0."""
        return max(0.0, self.room) if self.takes_tasks else 0.0

    def fetch(self, from_s: float, seconds: float, ready_s: float | None) -> float:
        """Keep a lane busy with a restore that may begin at *from_s*; return when it is done at the earliest.

        It is done at *ready_s*, None for then. Of the lanes that are free by its begin it takes the one that has been
        free for the shortest time: where restores come in the order of their begins, that finds a lane for each of
        them wherever there is a way to.
        """
        first = min(range(len(self.lanes)), key=self.lanes.__getitem__)
        earliest = max(from_s, self.lanes[first]) + seconds
        if ready_s is not None:
            begins = ready_s - seconds + ROUNDING * max(1.0, ready_s)
            first = max(
                (i for i, at_s in enumerate(self.lanes) if at_s <= begins), key=self.lanes.__getitem__, default=first
            )
        self.lanes[first] = max(self.lanes[first], earliest if ready_s is None else ready_s)
        return earliest


class ReplayedCluster:
    """Changed by :meth:`advance` and :meth:`restore` in the order of time.

    ``caught_up`` holds for each task since when it is up to date: 0 where it never failed, infinite while it is down;
    ``failed_s`` when it failed, and ``down_s`` since when it has not been up to date. ``lost`` are the tasks that the
    last :meth:`advance` took down, ``rolled_back`` those that it sent back to the last checkpoint.
    """

    def __init__(self, incident: Incident) -> None:
        self.incident = incident
        self.machines: dict[str | None, Machine] = {}
        self.caught_up: FloatArray = np.zeros(incident.graph.tasks)
        self.failed_s: FloatArray = np.zeros(incident.graph.tasks)
        self.down_s: FloatArray = np.zeros(incident.graph.tasks)
        self.recovered: set[int] = set()
        self.lost: list[int] = []
        self.rolled_back: list[int] = []
        self._gave_way: dict[int, Machine] = {}  # tasks that did since they failed last, and where their state lies
        self._failed = False  # whether anything has
        self._since_s = 0.0  # no checkpoint is complete since then
        self.left = np.inf  # of the cap on what the nodes of the start take together
        self._placed: dict[int, list[tuple[Machine, float]]] = {}
        self._standby: dict[int, Machine | None] = {}
        self._stand_up()

    def _stand_up(self) -> None:
        """Place nodes, tasks and replicas as they were before the failure."""
        incident = self.incident
        if incident.capacity is not None:
            self.left = incident.capacity
        if incident.cluster is None:
            if incident.capacity is not None:
                self.machines[None] = Machine(None, incident.capacity, lanes=self._lanes())
            return
        for node in incident.cluster.nodes:
            self._add(node, from_start=True)
        placement = incident.cluster.placement
        for operator, nodes in placement.tasks.items() if placement is not None else ():
            first = int(incident.graph.offset[incident.graph.topology.position[operator]])
            for task, home in enumerate(nodes, start=first):
                self._put(task, self.machines[home], float(incident.cost[task]))
        for task, node_id in incident.replicas.items() if not incident.complete else ():
            standby = None if node_id is None else self.machines[node_id]
            self._standby[task] = standby
            if standby is not None:
                standby.replicas.add(task)
                standby.room -= float(incident.cost[task])

    def _add(self, node: Node, *, from_start: bool) -> None:
        room = self.incident.max_cpu * node.cpu - node.used_cpu
        accepts = "tasks" in node.accepts
        self.machines[node.id] = Machine(node.id, room, accepts, from_start, node, lanes=self._lanes())

    def _lanes(self) -> list[float]:
        return [0.0] * (1 if self.incident.transfers is None else self.incident.transfers.at_once)

    def _put(self, task: int, machine: Machine, cpu: float) -> None:
        machine.room -= cpu
        machine.tasks.add(task)
        self._placed.setdefault(task, []).append((machine, cpu))

    @property
    def capacity(self) -> float:
        """Cores that are free now, in sum."""
        start = sum(machine.free for machine in self.machines.values() if machine.from_start)
        later = sum(machine.free for machine in self.machines.values() if not machine.from_start)
        return float(min(start, max(0.0, self.left)) + later)

    def is_down(self, task: int) -> bool:
        """Return whether a task is down: failed, and not named by any step since."""
        return bool(np.isinf(self.caught_up[task]))

    def advance(
        self, at_s: float, fail: Iterable[Selector], arrivals: Iterable[Arrival], *, completely: bool = False
    ) -> None:
        """Let what happens at one time happen: failures, of all or of some, then arrivals."""
        down, settled_s = np.isinf(self.caught_up), float(self.caught_up.max(initial=0.0))
        if completely:
            self.machines.clear()
            self._placed.clear()
            self.caught_up[:] = np.inf
        self._fail(fail, at_s)
        self.lost, self.rolled_back = np.flatnonzero(np.isinf(self.caught_up) & ~down).tolist(), []
        if self.lost:
            interval_s = longest_interval(self.incident.graph) or 0.0
            if not self._failed or settled_s + interval_s <= at_s:
                self._since_s = at_s
            self._failed = True
            if self.incident.rolls_back:
                self._roll_back(at_s)
        for arrival in sorted(arrivals, key=lambda item: natural_key(item.node.id)):
            self._add(arrival.node, from_start=arrival.at_s[1] == 0.0)
            self.machines[arrival.node.id].room -= self.incident.reserved.get(arrival.node.id, 0.0)

    def _roll_back(self, at_s: float) -> None:
        """Let all tasks that run begin again where they are, from the last checkpoint before all that has failed.

        What was being fetched counts for nothing: lanes are free, and tasks take them in their order.
        """
        self._gave_way.clear()
        self.down_s[:] = self._since_s
        for machine in self.machines.values():
            machine.lanes = self._lanes()
        self.rolled_back = np.flatnonzero(np.isfinite(self.caught_up)).tolist()
        for task in self.rolled_back:
            self.failed_s[task] = at_s
            started, back_s = self.incident.delays.starts(at_s, at_s), []
            for machine, cpu in self._placed.get(task, ()):
                cost = float(self.incident.cost[task])
                seconds = self.seconds(task, machine.id, cpu / cost if cost > 0.0 else 1.0)
                ready_s = machine.fetch(started, seconds, None) if seconds > 0.0 else started
                back_s.append(self.up_to_date(task, ready_s))
            if not back_s:  # nobody knows where it runs
                transfers = self.incident.transfers
                seconds = 0.0 if transfers is None else transfers.seconds(task, None, 1.0, empty=True)
                back_s.append(self.up_to_date(task, started + seconds))
            self.caught_up[task] = max(back_s)

    def up_to_date(self, task: int, ready_s: float) -> float:
        """Return when a task has caught up that runs with its state from *ready_s* on."""
        return self.incident.delays.caught_up(ready_s, float(self.down_s[task]), task, task in self._gave_way)

    def where(self, task: int) -> list[str | None]:
        """Return the nodes on which a task runs, none where that is not known."""
        return [machine.id for machine, _ in self._placed.get(task, ())]

    def standby(self, task: int) -> str | None:
        """Return the node of the replica of a task that has not taken over, None without one."""
        machine = self._standby.get(task)
        return None if machine is None else machine.id

    def pause(self, task: int, at_s: float) -> None:
        """Stop a task that runs on one node; its cores are free, and its state stays there."""
        (machine, cpu), *_ = self._placed.pop(task)
        machine.tasks.discard(task)
        self._free(machine, cpu)
        self.recovered.discard(task)
        self._gave_way[task] = machine
        self.failed_s[task] = at_s - self.incident.delays.detection_s
        self.down_s[task] = at_s
        self.caught_up[task] = np.inf

    def drop_standby(self, task: int) -> None:
        """Stop the replica of a task that has not taken over, for good."""
        machine = self._standby.pop(task)
        if machine is not None:
            machine.replicas.discard(task)
            self._free(machine, float(self.incident.cost[task]))

    def _free(self, machine: Machine, cpu: float) -> None:
        machine.room += cpu
        if machine.from_start:
            self.left += cpu

    def _fail(self, selectors: Iterable[Selector], at_s: float) -> None:
        """Take down nodes with all that stands on them, and tasks."""
        lost: list[int] = []
        for selector in selectors:
            if selector.kind in ("node", "zone"):
                lost += self._lose(selector)
            else:
                lost += np.flatnonzero(self.incident.graph.selected(selector)).tolist()
        for task in dict.fromkeys(lost):
            self._stop(task, at_s)

    def _lose(self, selector: Selector) -> list[int]:
        """Remove the nodes that a selector names; return the tasks that ran there."""
        lost: list[int] = []
        for name, machine in list(self.machines.items()):
            if machine.node is not None and machine.node.named_by(selector):
                del self.machines[name]
                lost += sorted(machine.tasks)
                for task in machine.replicas:
                    del self._standby[task]
        return lost

    def _stop(self, task: int, at_s: float) -> None:
        """Stop a task that runs; what it used on nodes that live on is free, or its replica takes over."""
        if self.is_down(task):
            return
        for machine, cpu in self._placed.pop(task, ()):
            machine.tasks.discard(task)
            machine.room += cpu
            if task in self.recovered and machine.from_start and self._is_there(machine):
                self.left += cpu
        self.recovered.discard(task)
        self._gave_way.pop(task, None)
        if task not in self._standby:
            self.failed_s[task] = at_s
            if self.caught_up[task] <= at_s:
                self.down_s[task] = at_s
            self.caught_up[task] = np.inf
            return
        standby = self._standby.pop(task)
        if standby is not None:
            standby.replicas.discard(task)
            standby.tasks.add(task)
            self._placed[task] = [(standby, float(self.incident.cost[task]))]

    def _is_there(self, machine: Machine) -> bool:
        return self.machines.get(machine.id) is machine

    def seconds(self, task: int, node: str | None, share: float) -> float:
        """Return how long a share of a task's state is under way to a node, once a lane is free."""
        if self.incident.transfers is None:
            return 0.0
        machine = self.machines.get(node)
        if task in self._gave_way and machine is self._gave_way[task]:
            return 0.0
        empty = machine is None or not machine.from_start or task in self._gave_way
        return self.incident.transfers.seconds(task, node, share, empty=empty)

    def restore(self, task: int, node: str | None, share: float, at_s: float, ready_s: float | None = None) -> float:
        """Begin to restore a share of a task on a node; on one that is not there nothing is used.

        It is ready at *ready_s*, None for as early as possible: when its failure is noticed and it has started, and a
        lane of its node is free. Returns the earliest time.
        """
        machine, delays = self.machines.get(node), self.incident.delays
        seconds, started = self.seconds(task, node, share), delays.starts(at_s, float(self.failed_s[task]))
        earliest = started + seconds
        if machine is not None and seconds > 0.0:
            earliest = machine.fetch(started, seconds, ready_s)
        ready_s = earliest if ready_s is None else ready_s
        cpu = float(self.incident.cost[task]) * share
        if machine is not None:
            self._put(task, machine, cpu)
            if machine.from_start:
                self.left -= cpu
        back_s = self.up_to_date(task, ready_s)
        self.caught_up[task] = max(float(self.caught_up[task]), back_s) if task in self.recovered else back_s
        self.recovered.add(task)
        return earliest
