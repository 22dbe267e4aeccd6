"""The state of a cluster while failed tasks come back: what runs where, what is down, what is free."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ftplan.model.cluster import Node
from ftplan.model.names import Selector
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
    """Changed by :meth:`fail`, :meth:`arrive` and :meth:`start` in the order of time.

    ``ready`` holds for each task since when it runs: 0 where it never failed, infinite while it is down.
    """

    def __init__(self, incident: Incident) -> None:
        self.incident = incident
        self.machines: dict[str | None, Machine] = {}
        self.ready: FloatArray = np.zeros(incident.graph.tasks)
        self.recovered: set[int] = set()
        self.left = np.inf  # of the cap on what the nodes of the start take together
        self._runs: dict[int, list[tuple[Machine, float]]] = {}
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
        self._runs.setdefault(task, []).append((machine, cpu))

    @property
    def capacity(self) -> float:
        """Cores that are free now, in sum."""
        start = sum(machine.free for machine in self.machines.values() if machine.from_start)
        later = sum(machine.free for machine in self.machines.values() if not machine.from_start)
        return float(min(start, max(0.0, self.left)) + later)

    def is_down(self, task: int) -> bool:
        """Return whether a task is down: failed, and not named by any step since."""
        return bool(np.isinf(self.ready[task]))

    def fail(self, selectors: Iterable[Selector]) -> None:
        """Take down nodes with all that stands on them, and tasks."""
        lost: list[int] = []
        for selector in selectors:
            if selector.kind in ("node", "zone"):
                lost += self._lose(selector)
            else:
                lost += np.flatnonzero(self.incident.graph.selected(selector)).tolist()
        for task in dict.fromkeys(lost):
            self._stop(task)

    def fail_completely(self) -> None:
        """Take down everything."""
        self.machines.clear()
        self._runs.clear()
        self.ready[:] = np.inf

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

    def _stop(self, task: int) -> None:
        """Stop a task that runs; what it used on nodes that live on is free, or its replica takes over."""
        if self.is_down(task):
            return
        for machine, cpu in self._runs.pop(task, ()):
            machine.tasks.discard(task)
            machine.room += cpu
            if task in self.recovered and machine.from_start and self._is_there(machine):
                self.left += cpu
        self.recovered.discard(task)
        if task not in self._standby:
            self.ready[task] = np.inf
            return
        standby = self._standby.pop(task)
        if standby is not None:
            standby.replicas.discard(task)
            standby.tasks.add(task)
            self._runs[task] = [(standby, float(self.incident.cost[task]))]

    def _is_there(self, machine: Machine) -> bool:
        return self.machines.get(machine.id) is machine

    def arrive(self, node: Node, *, from_start: bool = False) -> None:
        """Add an empty node."""
        self._add(node, from_start=from_start)
        self.machines[node.id].room -= self.incident.reserved.get(node.id, 0.0)

    def start(self, task: int, node: str | None, cpu: float, ready_s: float) -> None:
        """Begin to restore a task, or a part of it, on a node; on one that is not there nothing is used."""
        machine = self.machines.get(node)
        if machine is not None:
            self._put(task, machine, cpu)
            if machine.from_start:
                self.left -= cpu
        before = float(self.ready[task])
        self.ready[task] = ready_s if task not in self.recovered else max(before, ready_s)
        self.recovered.add(task)

    def restored_by(self, task: int, node: str | None, share: float, at_s: float) -> float:
        """Return when a share of a task's state can be on a node at the earliest, after the restores before it."""
        seconds = 0.0
        machine = self.machines.get(node)
        if self.incident.transfers is not None:
            empty = machine is None or not machine.from_start
            seconds = self.incident.transfers.seconds(task, node, share, empty=empty)
        return at_s + seconds if machine is None or seconds == 0.0 else max(at_s, machine.busy_until) + seconds

    def busy(self, node: str | None, until: float) -> None:
        """Note that restores on a node go on until a time."""
        machine = self.machines.get(node)
        if machine is not None:
            machine.busy_until = max(machine.busy_until, until)
