"""Recovery problems for tests, written in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ftplan.io.topology_file import load_topology
from ftplan.model.failure import FailureEvent
from ftplan.model.task_graph import TaskGraph
from ftplan.planners.recovery_schedule.problem import ArrivalEvent, Host, RecoveryProblem

FIGURE_2_EDGES = (
    (1, 3), (2, 4), (3, 5), (3, 6), (4, 6), (5, 7), (6, 8), (7, 9), (4, 10), (7, 10), (8, 11), (8, 12),
)  # fmt: skip


def graph(operators: Iterable[Mapping[str, Any]], edges: Iterable[Mapping[str, Any]]) -> TaskGraph:
    """Return the tasks of a topology document."""
    document = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": list(operators),
        "edges": list(edges),
    }
    return TaskGraph(load_topology(document).value)


def figure_2() -> TaskGraph:
    """Return a topology that fits the table of Su & Zhou's figure 2: p01 to p12, one task each."""
    operators = [{"id": f"p{i:02}"} for i in range(1, 13)]
    return graph(operators, [{"from": f"p{a:02}", "to": f"p{b:02}"} for a, b in FIGURE_2_EDGES])


def problem(
    tasks: TaskGraph,
    failed: Iterable[str],
    rooms: Mapping[str, float] | None = None,
    arriving: Iterable[tuple[float, str, float]] = (),
    homes: Mapping[str, str] | None = None,
    failures: Iterable[tuple[float, str, Iterable[str], Iterable[str]]] = (),
    standby: Mapping[str, str | None] | None = None,
    **more: Any,
) -> RecoveryProblem:
    """Return a problem; tasks are written ``operator/index``, rooms and nodes by id."""

    def number(name: str) -> int:
        operator, _, index = name.rpartition("/")
        return tasks.number(operator, int(index))

    down = np.zeros(tasks.tasks, dtype=np.bool_)
    down[[number(name) for name in failed]] = True
    hosts = [Host(name, room) for name, room in (rooms or {}).items()]
    present = len(hosts)
    place = {host.id: i for i, host in enumerate(hosts)}
    arrivals = []
    for at_s, name, room in sorted(arriving):
        arrivals.append(ArrivalEvent(at_s, len(hosts), (at_s, at_s)))
        hosts.append(Host(name, room))
    home = np.full(tasks.tasks, -1, dtype=np.int64)
    for name, node in (homes or {}).items():
        home[number(name)] = place[node]
    spare = np.full(tasks.tasks, -1, dtype=np.int64)
    for name, replica in (standby or {}).items():
        spare[number(name)] = -2 if replica is None else place[replica]
    events = tuple(
        FailureEvent(at_s, text, frozenset(nodes), np.array([number(n) for n in named], dtype=np.int64))
        for at_s, text, nodes, named in failures
    )
    values = {"failed_nodes": 2, "horizon_s": 1000.0, **more}
    return RecoveryProblem(
        tasks, tasks.per_task("cpu"), down, home, spare, tuple(hosts), present, tuple(arrivals), events, **values
    )
