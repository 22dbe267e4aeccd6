"""The tasks that one step of a recovery schedule starts, and those that it pauses: may they, there, now?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ftplan.errors import suggestion
from ftplan.model.measures.downtimes import highest_below, whole_from
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.model.violation import Violation
from ftplan.planners.recovery_schedule.incident import Incident
from ftplan.planners.recovery_schedule.replay.repair import ReplayedCluster


class Pauses:
    """Plays the ``pause`` lists of the steps on a :class:`ReplayedCluster` and notes what is wrong with them."""

    def __init__(self, incident: Incident, repair: ReplayedCluster, faults: list[Violation]) -> None:
        self._incident, self._repair, self._faults = incident, repair, faults

    def play(self, step: int, at_s: float, struck: bool, pause: Sequence[Mapping[str, Any]]) -> list[int]:
        """Pause the tasks of one step, whether they may or not; return those that ran.

        *struck* is whether tasks failed just before it.
        """
        if not pause:
            return []
        graph = self._incident.graph
        served, most = self._priorities(at_s)
        if not self._incident.may_pause:
            self._say(f"step {step} pauses tasks: that takes --pause-lower-priority")
        elif not struck:
            self._say(f"step {step} pauses tasks, but nothing fails then: tasks give way when others fail")
        stopped: list[int] = []
        for item in pause:
            name = "{operator}/{index}".format(**item)
            known = graph.topology.position
            if item["operator"] not in known or item["index"] >= graph.topology.operator(item["operator"]).parallelism:
                near = suggestion(item["operator"], known) if item["operator"] not in known else ""
                self._faults.append(Violation("UNKNOWN_TASK", f"step {step} pauses {name}: no such task{near}", None))
                continue
            task, said = graph.number(item["operator"], item["index"]), f"step {step} pauses "
            self._cpu(task, item, name, step)
            if item.get("replica"):
                self._standby(task, item, f"{said}the replica of {name}")
                continue
            nodes = [] if self._repair.is_down(task) else self._repair.where(task)
            if len(nodes) != 1 or nodes[0] != item.get("node", nodes[0]):
                where = "nowhere" if not nodes else f"on {', '.join(map(str, nodes))}"
                self._say(f"{said}{name} on {item.get('node')}, it runs {where}", task)
            elif served[task] >= most:
                text = "one that does not run" if np.isinf(served[task]) else f"one of priority {served[task]:.6g}"
                self._say(f"{said}{name}, but a query needs it, {text}; the most that is down is {most:.6g}", task)
            if len(nodes) == 1:
                self._repair.pause(task, at_s)
                stopped.append(task)
        return stopped

    def _priorities(self, at_s: float) -> tuple[FloatArray, float]:
        """Return the highest priority of the queries that need each task, infinite where one does not run, and the
        highest of those that are down.
        """
        graph = self._incident.graph
        priority = graph.per_task("priority")
        latest = whole_from(graph, self._repair.caught_up)
        worth = np.where(graph.output, np.where(latest <= at_s, priority, np.inf), -np.inf)
        down = graph.output & np.isinf(latest)
        return highest_below(graph, worth), float(priority[down].max(initial=0.0))

    def _standby(self, task: int, item: Mapping[str, Any], said: str) -> None:
        node = self._repair.standby(task)
        if node is None or node != item.get("node", node):
            where = "none waits" if node is None else f"it waits on {node}"
            self._say(f"{said} on {item.get('node')}, but {where}", task)
        if node is not None:
            self._repair.drop_standby(task)

    def _cpu(self, task: int, item: Mapping[str, Any], name: str, step: int) -> None:
        cost, stated = float(self._incident.cost[task]), item.get("cpu")
        if stated is not None and abs(stated - cost) > 1e-9 * max(1.0, cost):
            text = f"step {step} counts {stated:.6g} cores for {name}, which takes {cost:.6g}"
            self._faults.append(Violation("WRONG_CPU", text, f"task:{name}"))

    def _say(self, message: str, task: int | None = None) -> None:
        where = None if task is None else "task:{}/{}".format(*self._incident.graph.name(task))
        self._faults.append(Violation("PAUSED_WRONGLY", message, where))


def above(a: float, b: float) -> bool:
    """Return whether *a* exceeds *b* by more than rounding."""
    return a > b + ROUNDING * max(1.0, abs(a), abs(b))


class Entries:
    """Plays the ``recover`` lists of the steps on a :class:`ReplayedCluster` and notes what is wrong with them."""

    def __init__(self, incident: Incident, repair: ReplayedCluster, faults: list[Violation]) -> None:
        self._incident, self._repair, self._faults = incident, repair, faults
        self._arriving = {arrival.node.id for arrival in incident.arrivals}

    def play(self, step: int, at_s: float, recover: Sequence[Mapping[str, Any]]) -> float:
        """Start the tasks of one step; return the cores that they take."""
        known = self._known(step, recover)
        for task, parts in known.items():
            self._cpu(task, parts, step)
            self._key_groups(task, parts, step)
        order = [(task, item) for task, parts in known.items() for item in parts]
        if any("ready_s" in item for _, item in order):
            order.sort(key=self._begins)
        takes: dict[str | None, float] = {}
        for task, item in order:
            takes[item.get("node")] = takes.get(item.get("node"), 0.0) + self._start(task, item, step, at_s)
        self._faults += self._over_capacity(step, {node for node, cpu in takes.items() if cpu > 0.0})
        return float(sum(self._incident.cost[task] for task in known))

    def _begins(self, pair: tuple[int, Mapping[str, Any]]) -> float:
        """Return when the restore of an entry begins if it ends when the plan says."""
        task, item = pair
        seconds = self._repair.seconds(task, item.get("node"), self._incident.share(task, item))
        return float(item.get("ready_s") or 0.0) - seconds

    def _known(self, step: int, recover: Sequence[Mapping[str, Any]]) -> dict[int, list[Mapping[str, Any]]]:
        """Return the entries of each task that the topology has and that is down."""
        graph, entries = self._incident.graph, dict[int, list[Mapping[str, Any]]]()
        for item in recover:
            operator, index = item["operator"], item["index"]
            known = graph.topology.position
            if operator not in known or index >= graph.topology.operator(operator).parallelism:
                near = suggestion(operator, known) if operator not in known else ""
                self._say("UNKNOWN_TASK", f"step {step} recovers {operator}/{index}: no such task{near}")
                continue
            task = graph.number(operator, index)
            if not self._repair.is_down(task):
                again = task in self._repair.recovered
                text = "which runs again already" if again else "which has not failed"
                code = "RECOVERED_TWICE" if again else "NOT_FAILED"
                self._say(code, f"step {step} recovers {operator}/{index}, {text}", task)
                continue
            if task in entries and not (item.get("key_groups") and entries[task][0].get("key_groups")):
                self._say("RECOVERED_TWICE", f"step {step} recovers {operator}/{index} more than once", task)
                continue
            entries.setdefault(task, []).append(item)
        return entries

    def _cpu(self, task: int, parts: Sequence[Mapping[str, Any]], step: int) -> None:
        """Judge the cpu that a task's entries state."""
        cost, stated = float(self._incident.cost[task]), [item["cpu"] for item in parts if item.get("cpu") is not None]
        total = float(sum(stated)) if len(stated) == len(parts) else cost
        if above(total, cost) or above(cost, total):
            text = f"step {step} counts {total:.6g} cores for {self._name(task)}, which takes {cost:.6g}"
            self._say("WRONG_CPU", text, task)

    def _key_groups(self, task: int, parts: Sequence[Mapping[str, Any]], step: int) -> None:
        """Judge whether the parts of a task that is split hold each of its key groups once."""
        ranges = sorted(tuple(item["key_groups"]) for item in parts if item.get("key_groups"))
        if not ranges:
            return
        operator = self._incident.graph.topology.operators[int(self._incident.graph.operator_of[task])]
        owned = int((operator.task_of_key_groups() == self._incident.graph.name(task)[1]).sum())
        held = sum(last - first + 1 for first, last in ranges)
        apart = all(a[1] < b[0] for a, b in pairwise(ranges))
        if held != owned or not apart or any(first > last for first, last in ranges):
            shown = ", ".join(f"{first}-{last}" for first, last in ranges)
            text = f"step {step} splits {self._name(task)} into key groups {shown}: not each of its {owned} once"
            self._say("WRONG_KEY_GROUPS", text, task)

    def _start(self, task: int, item: Mapping[str, Any], step: int, at_s: float) -> float:
        """Judge node and time of an entry, and start it; return the cores that it takes."""
        node, share = item.get("node"), self._incident.share(task, item)
        self._node(task, node, step)
        stated = None if item.get("ready_s") is None else float(item["ready_s"])
        earliest = self._repair.restore(task, node, share, at_s, stated)
        if stated is not None and above(earliest, stated):
            text = f"step {step} has {self._name(task)} ready at {stated:.6g} s, the earliest is {earliest:.6g} s"
            self._say("READY_TOO_EARLY", text, task)
        self._caught_up(task, item, earliest if stated is None else stated, step)
        return float(self._incident.cost[task]) * share

    def _caught_up(self, task: int, item: Mapping[str, Any], ready_s: float, step: int) -> None:
        """Judge from when on a task is up to date by the plan."""
        stated, true = item.get("caught_up_s"), self._repair.up_to_date(task, ready_s)
        if stated is not None and (above(true, float(stated)) or above(float(stated), true)):
            text = f"step {step} has {self._name(task)} caught up at {stated:.12g} s, it is at {true:.12g} s"
            self._say("WRONG_CAUGHT_UP", text, task)

    def _node(self, task: int, node: str | None, step: int) -> None:
        """Judge whether a node is there and takes tasks."""
        text = f"step {step} recovers {self._name(task)} on {'no node' if node is None else node}"
        machine = self._repair.machines.get(node)
        cluster = {} if self._incident.cluster is None else self._incident.cluster.position
        if machine is not None:
            if not machine.takes_tasks:
                self._say("NODE_ACCEPTS_NO_TASKS", f"{text}, which accepts no tasks", task)
        elif node is None:
            self._say("UNKNOWN_NODE", f"{text}, but the nodes have names", task)
        elif node in self._arriving or node in cluster:
            self._say("NODE_NOT_THERE", f"{text}, which has failed or not arrived yet", task)
        else:
            near = suggestion(node, [*self._arriving, *cluster])
            self._say("UNKNOWN_NODE", f"{text}: neither the cluster nor the arrivals have it{near}", task)

    def _over_capacity(self, step: int, nodes: set[str | None]) -> Iterator[Violation]:
        for node in sorted(nodes, key=str):
            machine = self._repair.machines.get(node)
            if machine is None or not above(0.0, machine.room):
                continue
            if node is None:
                text = f"step {step} takes {-machine.room:.6g} cores more than the capacity"
            else:
                text = f"after step {step}, {node} runs {-machine.room:.6g} cores more than it may"
            yield Violation("OVER_CAPACITY", text, None if node is None else f"node:{node}")
        cap = self._incident.capacity
        if self._incident.cluster is not None and cap is not None and above(0.0, self._repair.left):
            text = f"after step {step} the nodes of the start run {-self._repair.left:.6g} cores more than --capacity"
            if any(self._is_of_start(node) for node in nodes):
                yield Violation("OVER_CAPACITY", f"{text} {cap:g}", None)

    def _is_of_start(self, node: str | None) -> bool:
        machine = self._repair.machines.get(node)
        return machine is not None and machine.from_start

    def _name(self, task: int) -> str:
        return "{}/{}".format(*self._incident.graph.name(task))

    def _say(self, code: str, message: str, task: int | None = None) -> None:
        where = None if task is None else f"task:{self._name(task)}"
        self._faults.append(Violation(code, message, where))
