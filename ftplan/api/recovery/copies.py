"""What outlives a failure because other plans prepared it: active replicas and checkpoint copies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.errors import FtplanError, suggestion
from ftplan.io.fingerprint import sha256_of_bytes
from ftplan.io.plan_file import load_plan
from ftplan.metrics.task_state import TaskState
from ftplan.model.cluster import Cluster
from ftplan.model.plan import FORMAT, FORMAT_VERSION, InputFile, Plan
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import IntArray

#: In place of a host's number: there is no replica; there is one on no node in particular, which never fails.
NONE, ANYWHERE = -1, -2


@dataclass(frozen=True, slots=True)
class Replica:
    """The active replica of a task; a node of None is no node in particular and counts as live."""

    task: int
    node: str | None


def replicas(
    given: Any, graph: TaskGraph, cluster: Cluster | None, flag: str = "--replicas"
) -> tuple[tuple[Replica, ...], InputFile | None]:
    """Return the active replicas of a task-replication plan, else those of the cluster's placement, by task.

    *flag* is the option that messages name; the role of the input is its name.

    Raises
    ------
    FtplanError
        If the plan is of another kind, holds no answer, or names a task or node that is not there.
    """
    if given is None:
        placed = cluster.placement.replicas if cluster is not None and cluster.placement is not None else {}
        found = [
            Replica(graph.number(operator, index), node)
            for operator, nodes in placed.items()
            for index, node in enumerate(nodes)
            if node is not None
        ]
        return tuple(sorted(found, key=lambda item: item.task)), None
    plan, name, file = _plan(given, flag, "task-replication")
    entries = _list(plan, "replicas", name)
    by_task: dict[int, Replica] = {}
    for number, item in enumerate(entries):
        place = f"{name}: plan.replicas[{number}]"
        task = _task(item, "index", graph, place)
        node = item.get("node")
        if node is not None:
            _check_node(node, cluster, place)
        if task in by_task:
            raise FtplanError(f"{place}: {item['operator']}/{item['index']} is listed more than once")
        by_task[task] = Replica(task, node)
    return tuple(by_task[task] for task in sorted(by_task)), file


def checkpoint_copies(
    given: Any, graph: TaskGraph, cluster: Cluster | None
) -> tuple[Mapping[str, tuple[tuple[str, ...], ...]], InputFile | None]:
    """Return the nodes of the copies of each key group, by operator; those of a plan win over the cluster's.

    Operators that the plan does not name keep what the cluster says.

    Raises
    ------
    FtplanError
        If the plan is of another kind, holds no answer, or names a key group or node that is not there.
    """
    placed = cluster.placement.checkpoints if cluster is not None and cluster.placement is not None else {}
    if given is None:
        return placed, None
    plan, name, file = _plan(given, "--checkpoints", "checkpoint-allocation")
    found: dict[str, list[tuple[str, ...]]] = {}
    for number, item in enumerate(_list(plan, "assignments", name)):
        place = f"{name}: plan.assignments[{number}]"
        operator, group = _operator(item, graph, place), item.get("key_group")
        total = operator.key_groups or 0
        if not isinstance(group, int) or not 0 <= group < total:
            raise FtplanError(f"{place}: {operator.id!r} has {total} key groups, not one called {group!r}")
        for node in item["checkpoints"]:
            _check_node(node, cluster, place)
        found.setdefault(operator.id, [()] * total)[group] = tuple(item["checkpoints"])
    return {**placed, **{operator: tuple(groups) for operator, groups in found.items()}}, file


def local_bytes(
    graph: TaskGraph,
    state: TaskState,
    copies: Mapping[str, tuple[tuple[str, ...], ...]],
    host_of_node: Mapping[str, int],
) -> dict[tuple[int, int], float]:
    """Return the bytes of a task's state that lie on a host, by (task, host), where there are any.

    Hosts are those that live at the start: what arrives later comes empty.
    """
    found: dict[tuple[int, int], float] = {}
    for operator in sorted(copies):
        position = graph.topology.position[operator]
        owner: IntArray = graph.topology.operators[position].task_of_key_groups() + int(graph.offset[position])
        size = state.by_group[operator]
        for group, nodes in enumerate(copies[operator]):
            for node in dict.fromkeys(nodes):
                if node in host_of_node and size[group] > 0.0:
                    key = (int(owner[group]), host_of_node[node])
                    found[key] = found.get(key, 0.0) + float(size[group])
    return dict(sorted(found.items()))


def by_task(items: tuple[Replica, ...], tasks: int, host_of_node: Mapping[str, int]) -> IntArray:
    """Return the host of each task's live replica, shape (tasks,): ``NONE`` without one, ``ANYWHERE`` without a node.

    *host_of_node* holds the live nodes.
    """
    found = np.full(tasks, NONE, dtype=np.int64)
    for item in items:
        found[item.task] = ANYWHERE if item.node is None else host_of_node.get(item.node, NONE)
    return found


def _plan(given: Any, flag: str, kind: str) -> tuple[Plan, str, InputFile | None]:
    name, file = flag, None
    if isinstance(given, Plan):
        plan, file = given, InputFile(flag.removeprefix("--"), None, sha256_of_bytes(given.to_json().encode()))
    else:
        loaded = load_plan(given)
        plan, file = loaded.value, replace(loaded.input, role=flag.removeprefix("--"))
        name = str(loaded.input.path or flag) if isinstance(given, (str, os.PathLike)) else flag
    if plan.kind != kind:
        raise FtplanError(f"{name}: {flag} needs a plan of kind {kind}, not {plan.kind}")
    if plan.plan is None:
        raise FtplanError(f"{name}: holds no answer, its status is {plan.status} ({plan.reason})")
    return plan, name, file


def recorded(given: Any, path: str | None) -> Any:
    """Return what a plan's options keep of a plan that it was made with: its path, or what it prescribes."""
    if given is None or path is not None:
        return path
    plan = given if isinstance(given, Plan) else load_plan(given).value
    key = {"task-replication": "replicas", "checkpoint-allocation": "assignments"}[plan.kind]
    document = {"format": FORMAT, "format_version": FORMAT_VERSION, "kind": plan.kind}
    return {**document, "plan": {key: (plan.plan or {})[key]}}


def _list(plan: Plan, key: str, name: str) -> list[Any]:
    assert plan.plan is not None
    entries = plan.plan.get(key)
    if not isinstance(entries, (list, tuple)) or not all(isinstance(item, Mapping) for item in entries):
        raise FtplanError(f"{name}: plan.{key}: expected a list of entries")
    return list(entries)


def _operator(item: Mapping[str, Any], graph: TaskGraph, place: str) -> Any:
    name = item.get("operator")
    known = graph.topology.position
    if not isinstance(name, str) or name not in known:
        raise FtplanError(f"{place}: unknown operator {name!r}{suggestion(str(name), known)}")
    return graph.topology.operator(name)


def _task(item: Mapping[str, Any], key: str, graph: TaskGraph, place: str) -> int:
    operator, index = _operator(item, graph, place), item.get(key)
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < operator.parallelism:
        raise FtplanError(f"{place}: {operator.id!r} has {operator.parallelism} tasks, not one called {index!r}")
    return graph.number(operator.id, index)


def _check_node(node: Any, cluster: Cluster | None, place: str) -> None:
    if cluster is None:
        raise FtplanError(f"{place}: names node {node!r}, and there is no cluster: give --cluster")
    if node not in cluster.position:
        raise FtplanError(f"{place}: unknown node {node!r}{suggestion(str(node), cluster.position)}")
