"""Incidents that go on: a node that fails again, and a task that splits its output."""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.model.failure import Fail
from ftplan.model.names import parse_selector
from ftplan.model.task_graph import TaskGraph
from ftplan.planners.recovery_schedule.incident import Incident
from tests.model import figure_2 as fig


def later(select: str, at_s: float) -> Fail:
    return Fail(parse_selector(select), at_s)


def failing_again() -> dict[str, Any]:
    """a1 is lost at 150 s, after the second node: p3 and p5 are down again, and with them query p9."""
    body = fig.by_hand(((3, 5), (7, 9), (3, 5), (4, 10)))
    body["steps"].insert(3, {"at_s": 150.0, "trigger": "failure:node:a1", "global_rollback": False, "recover": []})
    return body


def split_task() -> tuple[Incident, dict[str, Any]]:
    """p12 takes 3 cores and has 6 key groups: more than any node has room for."""
    cost = np.ones(12)
    graph = TaskGraph(fig.topology(key_groups=6))
    cost[graph.number("p12", 0)] = 3.0
    incident = fig.incident(graph=graph, cost=cost, cluster=None, capacity=0.0, fail=(later("task:p12/0", 0.0),))
    parts = [
        {"operator": "p12", "index": 0, "node": "a1", "cpu": 2.0, "key_groups": [0, 3]},
        {"operator": "p12", "index": 0, "node": "a2", "cpu": 1.0, "key_groups": [4, 5]},
    ]
    body = {"steps": [{"at_s": 60.0 * i, "recover": []} for i in range(6)]}
    body["steps"][2]["recover"] = parts
    return incident, body
