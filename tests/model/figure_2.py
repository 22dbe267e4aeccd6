"""Figure 2 of Su & Zhou, with a topology that fits it: p3 to p12 failed, five nodes of two tasks each arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.failure import Arrival, Fail
from ftplan.model.names import parse_selector
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Edge, Operator, Topology
from ftplan.planners.recovery_schedule.incident import Incident

EDGES = ((1, 3), (2, 4), (3, 5), (3, 6), (4, 6), (5, 7), (6, 8), (7, 9), (4, 10), (7, 10), (8, 11), (8, 12))
OUTPUTS = (9, 10, 11, 12)
#: The query-centric column of the table: what each new node brings back.
QUERY_CENTRIC = ((3, 5), (7, 9), (4, 10), (6, 8), (11, 12))
#: Its operator-centric column.
OPERATOR_CENTRIC = ((3, 4), (5, 6), (7, 8), (9, 10), (11, 12))


def name(number: int) -> str:
    return f"p{number:02d}"


def topology(order: Sequence[int] = range(1, 13), **fields: Any) -> Topology:
    """The twelve tasks as operators of one task; *fields* go to p12."""
    one = np.ones(1)
    made = {
        i: Operator(name(i), 1, one, 0 * one, one, output=i in OUTPUTS, **(fields if i == 12 else {})) for i in order
    }
    place = {i: k for k, i in enumerate(order)}
    return Topology(tuple(made[i] for i in order), tuple(Edge(place[a], place[b], "one-to-one") for a, b in EDGES))


def cluster() -> Cluster:
    """Node n0 is full with p1 and p2; f1 to f5 held the others."""
    nodes = [Node("n0", 2.5), *(Node(f"f{i}", 2.5, zone="rack") for i in range(1, 6))]
    homes = {name(i): ("n0",) if i < 3 else (f"f{(i - 1) // 2}",) for i in range(1, 13)}
    return Cluster(tuple(nodes), placement=Placement(tasks=homes))


def incident(**changes: Any) -> Incident:
    given: dict[str, Any] = {
        "graph": TaskGraph(topology()),
        "cost": np.ones(12),
        "fail": (Fail(parse_selector("zone:rack")),),
        "cluster": cluster(),
        "arrivals": tuple(Arrival((60.0 * i, 60.0 * i), Node(f"a{i}", 2.5)) for i in range(1, 6)),
    }
    return Incident(**(given | changes))


def entry(number: int, node: str, at_s: float, **more: Any) -> dict[str, Any]:
    return {"operator": name(number), "index": 0, "node": node, "cpu": 1.0, "ready_s": at_s, **more}


def by_hand(column: Sequence[Sequence[int]] = QUERY_CENTRIC) -> dict[str, Any]:
    """The least that can be judged: times, and tasks with their nodes."""
    steps: list[dict[str, Any]] = [{"at_s": 0.0, "recover": []}]
    for i, tasks in enumerate(column, start=1):
        recover = [{"operator": name(n), "index": 0, "node": f"a{i}"} for n in tasks]
        steps.append({"at_s": 60.0 * i, "recover": recover})
    return {"steps": steps}


def full(
    column: Sequence[Sequence[int]] = QUERY_CENTRIC,
    whole: Mapping[int, Sequence[int]] = {2: (9,), 3: (10,), 5: (11, 12)},
) -> dict[str, Any]:
    """A complete plan; *whole* tells which output tasks each step makes whole."""
    steps: list[dict[str, Any]] = []
    for i, tasks in enumerate(((), *column)):
        at_s, back = 60.0 * i, whole.get(i, ())
        steps.append(
            {
                "step": i,
                "at_s": at_s,
                "trigger": f"arrival:a{i}" if i else "failure",
                "capacity": 2.0 if i else 0.0,
                "used": float(len(tasks)),
                "objective": {"name": "priority", "sense": "max", "value": float(len(back)), "bound": 2.0},
                "global_rollback": i == 0,
                "recover": [entry(n, f"a{i}", at_s, prefetch=False) for n in tasks],
                "restored": [{"operator": name(n), "index": 0, "priority": 1.0, "at_s": at_s} for n in back],
            }
        )
    back_s = {n: 60.0 * i for i, tasks in whole.items() for n in tasks}
    queries = [
        {"operator": name(n), "index": 0, "priority": 1.0, "back_s": back_s.get(n), "reason": None} for n in OUTPUTS
    ]
    rows, count = [], 0
    for i in sorted(whole):
        count += len(whole[i])
        rows.append({"at_s": 60.0 * i, "queries": count, "priority": float(count)})
    started = {n for tasks in column for n in tasks}
    down = [{"operator": name(n), "index": 0, "reason": "no room"} for n in range(3, 13) if n not in started]
    return {"steps": steps, "queries": queries, "unrecovered": down, "timeline": rows}
