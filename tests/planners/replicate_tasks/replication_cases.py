"""Small jobs for task replication, and a planner that tries everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

import ftplan
from ftplan.model.measures.replica_hosts import ReplicaHosts
from ftplan.planners.registry import Row
from ftplan.planners.replicate_tasks.algorithms.planner import Replication, ReplicationOptions
from ftplan.planners.replicate_tasks.make import make
from ftplan.planners.replicate_tasks.options import TaskReplicationOptions
from ftplan.planners.replicate_tasks.problem import ReplicationProblem
from ftplan.planners.result import Result

#: Three lanes of unequal rates, a source and a sink each.
TOPOLOGY: Mapping[str, Any] = {
    "format": "ftplan/topology",
    "format_version": "1.0",
    "operators": [
        {"id": "source", "parallelism": 3, "cpu": 0.5, "rate_out": [3.0, 2.0, 1.0], "state_bytes": 2**20},
        {"id": "sink", "parallelism": 3, "cpu": 1.0, "priority": [1, 2, 4], "state_bytes": [2**20, 2**21, 0]},
    ],
    "edges": [{"from": "source", "to": "sink", "partitioning": "one-to-one"}],
}
PLACEMENT = {"source": ["n1", "n1", "n2"], "sink": ["n1", "n2", "n3"]}
CLUSTER: Mapping[str, Any] = {
    "format": "ftplan/cluster",
    "format_version": "1.0",
    "nodes": [
        {"id": "n3", "cpu": 4, "zone": "b"},
        {"id": "n1", "cpu": 4, "zone": "a"},
        {"id": "n2", "cpu": 4, "zone": "a"},
        {"id": "n4", "cpu": 4},
    ],
    "placement": {"tasks": PLACEMENT},
}


def brute_force(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Try every node, and none, for the replica of each failing task; of equal ones the cheapest, then the first."""
    failing, hosts = np.flatnonzero(problem.fails).tolist(), problem.hosts
    allowed = [[0] if hosts is None else np.flatnonzero(hosts.allowed(task)).tolist() for task in failing]
    best: tuple[float, float, tuple[int, ...]] = (0.0, 0.0, (-1,) * len(failing))
    solution = np.full(problem.tasks, -1)
    for nodes in product(*([*some, -1] for some in allowed)):
        solution[failing] = nodes
        replicated = solution != -1
        if not problem.fits(problem.cost(replicated)):
            continue
        if problem.max_changes is not None and problem.changes(solution) > problem.max_changes:
            continue
        if hosts is None or _has_room(hosts, solution):
            best = min(best, (-round(problem.value_at(solution), 12), problem.cost(replicated), nodes))
    solution[failing] = best[2]
    return Result("optimal", Replication.on(problem, solution), ("budget",), bound=problem.value_at(solution))


def _has_room(hosts: ReplicaHosts, solution: np.ndarray[Any, np.dtype[np.int64]]) -> bool:
    for n in set(solution[solution != -1].tolist()):
        here = solution == n
        if hosts.cpu[here].sum() > hosts.residual_cpu[n] + 1e-9 or hosts.memory_mb[here].sum() > hosts.residual_mb[n]:
            return False
    return True


def wasteful(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Take the first tasks, whether they are of use or not."""
    replicated = _mask(problem, tuple(range(int(problem.budget))))
    return Result("feasible", Replication(replicated), ("budget",), bound=1.0)


def _mask(problem: ReplicationProblem, tasks: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    replicated = np.zeros(problem.tasks, dtype=np.bool_)
    replicated[list(tasks)] = True
    return replicated


def row(name: str = "brute_force") -> Row:
    function = f"tests.planners.replicate_tasks.replication_cases:{name}"
    return Row(name, function, exact=True, guarantee="optimal", source="everything", kind="replicate-tasks")


def loaded(
    failure: Mapping[str, Any] | None = None,
    placement: Mapping[str, Any] | None = None,
    with_cluster: bool = True,
    topology: Mapping[str, Any] = TOPOLOGY,
    **changes: Any,
) -> ftplan.Problem:
    """Return the case with another placement, or other parts of the cluster; a failure without its envelope."""
    given = None if failure is None else {"format": "ftplan/failure", "format_version": "1.0", **failure}
    cluster = {**CLUSTER, "placement": {"tasks": PLACEMENT, **(placement or {})}, **changes}
    return ftplan.load(topology=topology, cluster=cluster if with_cluster else None, failure=given)


def planned(problem: ftplan.Problem, planner: str = "brute_force", **options: Any) -> ftplan.Plan:
    made = make(problem, row(planner), TaskReplicationOptions.of("replicate-tasks", options))
    return replace(made, algorithm="exact") if planner == "brute_force" else made  # which is none that users have


def names(plan: ftplan.Plan, key: str = "replicas") -> list[str]:
    """Return replicas as OPERATOR/INDEX or OPERATOR/INDEX@NODE."""
    assert plan.plan is not None, plan.reason
    return [
        f"{r['operator']}/{r['index']}" + (f"@{r['node']}" if r["node"] is not None else "") for r in plan.plan[key]
    ]
