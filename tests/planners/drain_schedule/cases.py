"""A small job with copies and replicas, and the fewest rounds for it by trying everything, from the documents alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import Any

import networkx as nx

import ftplan
from ftplan.io.topology_file import load_topology
from ftplan.model.plan import Objective, Plan
from tests.model.measures.slow_fidelity import slow_fidelity, slow_rates

MB = 2**20
TOPOLOGY: Mapping[str, Any] = {
    "format": "ftplan/topology",
    "format_version": "1.0",
    "operators": [
        {"id": "clicks", "parallelism": 4, "cpu": 0.5, "rate_out": [4.0, 3.0, 2.0, 1.0]},
        {"id": "prices", "parallelism": 2, "cpu": 0.5},
        {
            "id": "join", "parallelism": 4, "cpu": 1.0, "inputs": "correlated", "key_groups": 8,
            "state_bytes": 4 * MB, "checkpoint": {"interval_s": 20},
        },
        {"id": "sink", "parallelism": 4, "cpu": 0.25, "priority": [1, 2, 3, 5]},
    ],
    "edges": [
        {"from": "clicks", "to": "join", "partitioning": "one-to-one"},
        {"from": "prices", "to": "join", "partitioning": "split"},
        {"from": "join", "to": "sink", "partitioning": "one-to-one"},
    ],
}  # fmt: skip
TASKS = {
    "clicks": ["n1", "n2", "n4", "n6"],
    "prices": ["n3", "n5"],
    "join": ["n1", "n2", "n4", "n5"],
    "sink": ["n3", "n4", "n6", "n10"],
}
CHECKPOINTS = {"join": [["n4"], ["n5"], ["n6"], ["n4"], ["n1"], ["n10"], ["n2"], ["n6"]]}
REPLICAS = {
    "clicks": [None, None, None, "n2"],
    "prices": [None, "n3"],
    "join": ["n6", None, None, "n10"],
    "sink": [None, None, None, "n1"],
}
CLUSTER: Mapping[str, Any] = {
    "format": "ftplan/cluster",
    "format_version": "1.0",
    "nodes": [
        {"id": "n10", "cpu": 4, "labels": {"kernel": "6.1"}},
        {"id": "n1", "cpu": 4, "zone": "a", "labels": {"kernel": "5.4", "disk": "ssd"}},
        {"id": "n2", "cpu": 4, "zone": "a", "labels": {"kernel": "5.4"}},
        {"id": "n3", "cpu": 4, "zone": "a", "used_cpu": 0.5},
        {"id": "n4", "cpu": 4, "zone": "b", "memory_mb": 64},
        {"id": "n5", "cpu": 4, "zone": "b", "labels": {"kernel": "5.4", "disk": "hdd"}},
        {"id": "n6", "cpu": 4, "zone": "c", "accepts": ["tasks"]},
    ],
    "placement": {"tasks": TASKS, "checkpoints": CHECKPOINTS, "replicas": REPLICAS},
}
JOB: Mapping[str, Any] = {"topology": TOPOLOGY, "cluster": CLUSTER}
COSTS: Mapping[str, Any] = {
    "format": "ftplan/recovery-costs",
    "format_version": "1.0",
    "state": "remote",
    "parameters": {
        "detection_s": {"value": 50},
        "restart_s": {"value": 10},
        "bandwidth_mb_s": {"value": 2},
        "replay_share": {"value": 0.5},
        "capacity_records_s": {"value": 24},
    },
    "fitted_on": {"recoveries": 5, "rates": [1, 20], "intervals_s": [10, 60]},
}


def job(placement: Mapping[str, Any] | None = None, **changes: Any) -> ftplan.Problem:
    """Return the job with another placement, or other parts of the cluster."""
    cluster = {**CLUSTER, "placement": {**CLUSTER["placement"], **(placement or {})}, **changes}
    return ftplan.load(topology=TOPOLOGY, cluster=cluster)


def planned(problem: ftplan.Problem, **options: Any) -> Plan:
    return ftplan.plan("drain-schedule", problem, **{"iterations": 50, "time_limit_s": 3600.0, **options})


def rounds(plan: Plan) -> list[list[str]]:
    """Return the nodes of each round."""
    assert plan.plan is not None, plan.reason
    return [item["nodes"] for item in plan.plan["rounds"]]


class Oracle:
    """Which nodes may restart together, as the rules say it, for tasks that stand still."""

    def __init__(self, documents: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self.topology, self.cluster, self.options = documents["topology"], documents["cluster"], options
        self.zone = {node["id"]: node.get("zone", f"node {node['id']}") for node in self.cluster["nodes"]}
        placement = self.cluster["placement"]
        self.home = {(o, i): node for o, nodes in placement["tasks"].items() for i, node in enumerate(nodes)}
        self.replica = {
            (o, i): node for o, nodes in placement.get("replicas", {}).items() for i, node in enumerate(nodes) if node
        }
        self.loaded = load_topology(self.topology).value
        self.position = {o.id: i for i, o in enumerate(self.loaded.operators)}
        graph = nx.DiGraph((a, b) for a, b, _ in slow_rates(self.loaded)[2])
        self.queries = {
            (o["id"], i): ({(self.position[o["id"]], i)} | nx.ancestors(graph, (self.position[o["id"]], i)))
            for o in self.topology["operators"]
            if self.loaded.operators[self.position[o["id"]]].output
            for i in range(o.get("parallelism", 1))
        }

    def down(self, nodes: frozenset[str]) -> set[tuple[int, int]]:
        return {
            (self.position[task[0]], task[1])
            for task, node in self.home.items()
            if node in nodes and self.replica.get(task, node) in nodes
        }

    def fidelity(self, nodes: frozenset[str]) -> float:
        down = self.down(nodes)
        every = [(i, k) for i, o in enumerate(self.loaded.operators) for k in range(o.parallelism)]
        return slow_fidelity(self.loaded, {task: task not in down for task in every})

    def queries_down(self, nodes: frozenset[str]) -> list[tuple[str, int]]:
        down = self.down(nodes)
        return sorted(query for query, needs in self.queries.items() if needs & down)

    def copies(self) -> list[list[str]]:
        """Return the nodes of the copies of each key group that may not go together."""
        which = self.options.get("keep_copies", "all")
        groups = []
        for operator in self.topology["operators"]:
            count, tasks = operator.get("key_groups"), operator.get("parallelism", 1)
            held = self.cluster["placement"].get("checkpoints", {}).get(operator["id"])
            for group in range(count or 0):
                copies = list(held[group]) if held else []
                if which == "all":
                    copies.append(self.home[operator["id"], group * tasks // count])
                groups.append([] if which == "none" else copies)
        return groups

    def allowed(self, nodes: frozenset[str]) -> bool:
        options = self.options
        if len(nodes) > options.get("max", len(nodes)):
            return False
        zones = [self.zone[node] for node in nodes]
        if not options.get("no_limits"):
            if (len(set(zones)) > 1 and "max_per_zone" not in options) or len(nodes) == len(self.zone) > 1:
                return False
            dark = self.fidelity(nodes) < 1e-6
            if dark and "min_fidelity" not in options and any(self.fidelity(frozenset([n])) >= 1e-6 for n in nodes):
                return False
        if any(zones.count(zone) > options.get("max_per_zone", len(zones)) for zone in zones):
            return False
        if any(sum(copy in nodes for copy in held) > 1 for held in self.copies()):
            return False
        if any(self.home[task] in nodes and node in nodes for task, node in self.replica.items()):
            return False
        if self.fidelity(nodes) < options.get("min_fidelity", 0.0) - 1e-9:
            return False
        priority = {o["id"]: o.get("priority", 1) for o in self.topology["operators"]}
        high = [
            priority[o] if isinstance(priority[o], (int, float)) else priority[o][i]
            for o, i in self.queries_down(nodes)
        ]
        return not any(p >= options.get("keep_priority", float("inf")) for p in high)

    def fewest(self) -> int | None:
        """Return the fewest rounds of allowed sets that restart all nodes, None where one may not go alone."""
        names = sorted(self.zone)
        if not all(self.allowed(frozenset([name])) for name in names):
            return None
        sets = [
            frozenset(some)
            for size in range(1, len(names) + 1)
            for some in combinations(names, size)
            if self.allowed(frozenset(some))
        ]

        @cache
        def least(left: frozenset[str]) -> int:
            if not left:
                return 0
            first = min(left)
            return 1 + min(least(left - some) for some in sets if first in some and some <= left)

        return least(frozenset(names))


def best(documents: Mapping[str, Any], options: Mapping[str, Any]) -> Plan:
    """Return a plan whose objective is the fewest rounds."""
    fewest = Oracle(documents, options).fewest()
    assert fewest is not None
    return Plan("drain-schedule", {"rounds": []}, objective=Objective.of("rounds", "min", fewest, fewest))
