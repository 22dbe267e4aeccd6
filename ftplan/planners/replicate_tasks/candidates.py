"""Every node that an active replica could stand on, with the rule that rules it out and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ftplan.model.cluster import Cluster
from ftplan.model.tolerances import SOLVED
from ftplan.model.topology import FloatArray
from ftplan.planners.replicate_tasks.hosts import hosts_of
from ftplan.planners.replicate_tasks.prepare import PreparedReplication
from ftplan.planners.replicate_tasks.rules import CAPACITY, MEMORY, PRIMARY, RULES, ZONE

COLUMNS = ("node", "zone", "cores free", "MiB free", "chosen", "ruled out by")


@dataclass(frozen=True, eq=False)
class Rooms:
    """What primaries and the replicas of a plan leave on each node, shapes (N,); memory is infinite where unknown."""

    prepared: PreparedReplication
    cluster: Cluster
    rules: Sequence[str]
    node: Mapping[int, str | None]  # of each replica of the plan
    cpu: FloatArray
    mb: FloatArray

    @staticmethod
    def of(
        prepared: PreparedReplication,
        cluster: Cluster,
        node: Mapping[int, str | None],
        max_cpu: float,
        rules: Sequence[str] | None,
    ) -> Rooms:
        """Take the replicas of a plan off the room that primaries leave. A plan without rules is held to all."""
        hosts = hosts_of(prepared, cluster, max_cpu)
        cpu, mb = hosts.residual_cpu, hosts.residual_mb
        for task, name in node.items():
            if name is not None and name in cluster.position:
                cpu[cluster.position[name]] -= prepared.cpu[task]
                mb[cluster.position[name]] -= prepared.memory_mb[task]
        return Rooms(prepared, cluster, RULES if rules is None else rules, node, cpu, mb)

    def rows(self, task: int, without: int | None = None) -> list[dict[str, Any]]:
        """Return every node for a task's replica, the chosen and the possible ones first, those with most room first.

        ``without`` is a task whose replica stands aside; a replica that the task has itself does so anyway.
        """
        cpu, mb = self.cpu.copy(), self.mb.copy()
        for other in {task, without} - {None}:
            name = self.node.get(int(other or 0))
            if name is not None and name in self.cluster.position:
                cpu[self.cluster.position[name]] += self.prepared.cpu[other]
                mb[self.cluster.position[name]] += self.prepared.memory_mb[other]
        rows = [self._row(task, i, float(cpu[i]), float(mb[i])) for i in range(len(self.cluster.nodes))]
        return sorted(rows, key=lambda row: (not row["chosen"], row["ruled out by"] is not None, -row["cores free"]))

    def _row(self, task: int, i: int, cpu: float, mb: float) -> dict[str, Any]:
        node = self.cluster.nodes[i]
        chosen = self.node.get(task) == node.id
        return {
            "node": node.id,
            "zone": node.zone,
            "cores free": max(0.0, round(cpu, 9)),
            "MiB free": None if np.isinf(mb) else max(0.0, round(mb, 9)),
            "chosen": chosen,
            "ruled out by": None if chosen else self._rule(task, i, cpu, mb),
        }

    def _rule(self, task: int, i: int, cpu: float, mb: float) -> str | None:
        node, home = self.cluster.nodes[i], self.prepared.primary[task]
        if CAPACITY in self.rules and "tasks" not in node.accepts:
            return "OVER_CAPACITY: it takes no tasks"
        if home == node.id and PRIMARY in self.rules:
            return "REPLICA_WITH_PRIMARY: the task itself runs there"
        if home is not None and home in self.cluster.position and ZONE in self.rules:
            place = self.cluster.position[home]
            if self.cluster.zone_index[place] == self.cluster.zone_index[i] and home != node.id:
                return f"REPLICA_IN_SAME_ZONE: {self.cluster.zone_names[i]}, like the task itself on {home}"
        for rule, need, free, limit, unit in (
            (CAPACITY, float(self.prepared.cpu[task]), cpu, node.cpu, "cores"),
            (MEMORY, float(self.prepared.memory_mb[task]), mb, node.memory_mb or 0.0, "MiB"),
        ):
            if rule in self.rules and need > 0.0 and need > free + SOLVED * max(1.0, limit):
                lacks = need - max(0.0, free)
                return f"OVER_CAPACITY: {lacks:.6g} of its {need:.6g} {unit} are missing, {max(0.0, free):.6g} are free"
        return None

    def best(self, task: int, without: int | None = None) -> str | None:
        """Return the node that a replica would get: one that fails least beside its task, then one with most room."""
        open_to = [row["node"] for row in self.rows(task, without) if row["ruled out by"] is None]

        def risk(node: str) -> float:
            cases = self.prepared.problem.cases
            return sum(case.weight for case in cases if case.failed[task] and node in case.nodes)

        return min(open_to, key=lambda node: (risk(node), open_to.index(node)), default=None)
