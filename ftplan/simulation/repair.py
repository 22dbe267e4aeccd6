"""The state of a cluster while failed tasks come back: what runs where, what is down, what is free."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ftplan.model.cluster import Node
from ftplan.model.failure import Arrival
from ftplan.model.names import Selector, natural_key
from ftplan.model.topology import FloatArray
from ftplan.simulation.incident import Incident


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
    busy_until: float = 0.0  # when its last restore ends

    @property
    def free(self) -> float:
        """Cores that tasks can still take, at least 0."""
        return max(0.0, self.room) if self.takes_tasks else 0.0


class Repair:
    """Changed by :meth:`advance` and :meth:`restore` in the order of time.

    ``caught_up`` holds for each task since when it is up to date: 0 where it never failed, infinite while it is down;
    ``failed_s`` when it failed, and ``down_s`` since when it has not been up to date.
    """

    def __init__(self, incident: Incident) -> None:
        self.incident = incident
        self.machines: dict[str | None, Machine] = {}
        self.caught_up: FloatArray = np.zeros(incident.graph.tasks)
        self.failed_s: FloatArray = np.zeros(incident.graph.tasks)
        self.down_s: FloatArray = np.zeros(incident.graph.tasks)
        self.recovered: set[int] = set()
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
                self.machines[None] = Machine(None, incident.capacity)
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
        self.machines[node.id] = Machine(node.id, room, "tasks" in node.accepts, from_start, node)

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
        if completely:
            self.machines.clear()
            self._placed.clear()
            self.caught_up[:] = np.inf
        self._fail(fail, at_s)
        for arrival in sorted(arrivals, key=lambda item: natural_key(item.node.id)):
            self._add(arrival.node, from_start=arrival.at_s[1] == 0.0)
            self.machines[arrival.node.id].room -= self.incident.reserved.get(arrival.node.id, 0.0)

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

    def restore(self, task: int, node: str | None, share: float, at_s: float, ready_s: float | None = None) -> float:
        """Begin to restore a share of a task on a node; on one that is not there nothing is used.

        It is ready at *ready_s*, None for as early as possible: when its failure is noticed and it has started, after
        the restores before it there. Returns the earliest time.
        """
        machine, delays = self.machines.get(node), self.incident.delays
        seconds, started = 0.0, delays.starts(at_s, float(self.failed_s[task]))
        if self.incident.transfers is not None:
            empty = machine is None or not machine.from_start
            seconds = self.incident.transfers.seconds(task, node, share, empty=empty)
        begins = started if machine is None or seconds == 0.0 else max(started, machine.busy_until)
        earliest = begins + seconds
        ready_s = earliest if ready_s is None else ready_s
        cpu = float(self.incident.cost[task]) * share
        if machine is not None:
            if seconds > 0.0:
                machine.busy_until = max(machine.busy_until, ready_s)
            self._put(task, machine, cpu)
            if machine.from_start:
                self.left -= cpu
        back_s = delays.caught_up(ready_s, float(self.down_s[task]), task)
        self.caught_up[task] = max(float(self.caught_up[task]), back_s) if task in self.recovered else back_s
        self.recovered.add(task)
        return earliest
