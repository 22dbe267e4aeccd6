"""The tasks that one step of a recovery schedule lets give way: may they, now?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.errors import suggestion
from ftplan.model.measures.downtimes import highest_below, whole_from
from ftplan.model.topology import FloatArray
from ftplan.model.violation import Violation
from ftplan.planners.recovery_schedule.replay.incident import Incident
from ftplan.planners.recovery_schedule.replay.repair import Repair


class Pauses:
    """Plays the ``pause`` lists of the steps on a :class:`Repair` and notes what is wrong with them."""

    def __init__(self, incident: Incident, repair: Repair, faults: list[Violation]) -> None:
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
