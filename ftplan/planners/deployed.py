"""Plans as inputs of other plans: the replicas that run and the checkpoint copies that are in place."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ftplan.errors import FtplanError, suggestion
from ftplan.io.documents import sha256_of_bytes
from ftplan.io.plan_file import load_plan
from ftplan.model.cluster import Cluster
from ftplan.model.kinds import ALLOCATE_CHECKPOINTS, REPLICATE_TASKS, SCALE_OUT, KindRow, row
from ftplan.model.measures.task_state import even_ranges
from ftplan.model.plan import FORMAT, FORMAT_VERSION, InputFile, Plan
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import Operator, Topology

#: The nodes of the copies of each key group, by operator.
Copies = Mapping[str, tuple[tuple[str, ...], ...]]


@dataclass(frozen=True, slots=True)
class Replica:
    """The active replica of a task; a node of None is no node in particular and counts as live."""

    task: int
    node: str | None


def replicas(
    given: Any, graph: TaskGraph, cluster: Cluster | None, option: str = "replicas", anywhere: bool = False
) -> tuple[tuple[Replica, ...], InputFile | None]:
    """Return the active replicas of a task replication, else those of the cluster's placement, by task.

    A scale-out adds its prepared backups to those of the placement. *option* is what took the plan: messages name it,
    and the input has its role. *anywhere*: the nodes of a plan do not matter, and there may be no cluster that knows
    them.

    Raises FtplanError if the plan is of another kind, holds no answer, or names a task or node that is not there.
    """
    by_task: dict[int, Replica] = {}
    if given is None:
        return _placed_replicas(graph, cluster), None
    entries, name, file, kind = main_table(given, option, REPLICATE_TASKS, SCALE_OUT)
    if kind is SCALE_OUT:
        backups = _prepared_backups(entries, name, graph, cluster, anywhere)
        standing = {item.task: item for item in (*backups, *_placed_replicas(graph, cluster))}
        return tuple(standing[task] for task in sorted(standing)), file
    for number, item in enumerate(entries):
        place = f"{name}: plan.replicas[{number}]"
        operator, index = _operator(item, graph.topology, place), item.get("index")
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < operator.parallelism:
            raise FtplanError(f"{place}: {operator.id!r} has {operator.parallelism} tasks, not one called {index!r}")
        task, node = graph.number(operator.id, index), None if anywhere else item.get("node")
        if node is not None:
            _require_node(node, cluster, place)
        if task in by_task:
            raise FtplanError(f"{place}: {operator.id}/{index} is listed more than once")
        by_task[task] = Replica(task, node)
    return tuple(by_task[task] for task in sorted(by_task)), file


def _placed_replicas(graph: TaskGraph, cluster: Cluster | None) -> tuple[Replica, ...]:
    """Return the active replicas of the cluster's placement, by task."""
    placed = cluster.placement.replicas if cluster is not None and cluster.placement is not None else {}
    standing = [
        Replica(graph.number(operator, index), node)
        for operator, nodes in placed.items()
        for index, node in enumerate(nodes)
        if node is not None
    ]
    return tuple(sorted(standing, key=lambda item: item.task))


def _prepared_backups(
    entries: list[Any], name: str, graph: TaskGraph, cluster: Cluster | None, anywhere: bool
) -> Iterator[Replica]:
    """Yield the replicas that a scale-out keeps ready: the secondaries of operators prepared by active backup.

    A secondary takes the input of all tasks of its operator and holds their state, so that each of them has a replica
    ([Mudassar2019] has that as future work). It is where the new task runs that has most of the task's key groups; the
    first of equals.
    """
    for number, item in enumerate(entries):
        place = f"{name}: plan.operators[{number}]"
        operator = _operator(item, graph.topology, place)
        if (item.get("state"), item.get("technique")) != ("prepared", "active-backup"):
            continue
        if item.get("parallelism_from") != operator.parallelism:
            tasks = f"{operator.parallelism} tasks, not {item.get('parallelism_from')!r}"
            raise FtplanError(f"{place}: {operator.id!r} has {tasks}: plan the scale-out again")
        nodes, groups = item.get("nodes"), operator.key_groups or operator.parallelism
        ranges = item.get("key_ranges") or even_ranges(groups, item["parallelism_to"])
        if nodes is not None and len(nodes) != len(ranges):
            raise FtplanError(f"{place}: names {len(nodes)} nodes for {len(ranges)} tasks")
        for index, (first, last) in enumerate(even_ranges(groups, operator.parallelism)):
            common = [min(last, new_last) - max(first, new_first) for new_first, new_last in ranges]
            node = None if nodes is None or anywhere else nodes[common.index(max(common))]
            if node is not None:
                _require_node(node, cluster, place)
            yield Replica(graph.number(operator.id, index), node)


def checkpoint_copies(
    given: Any, topology: Topology, cluster: Cluster | None, option: str = "checkpoints"
) -> tuple[Copies, InputFile | None]:
    """Return where the copies of a checkpoint allocation lie, else those of the cluster's placement.

    Its primaries do not count: the cluster says where key groups are now. Operators that the plan does not name keep
    what the cluster says.

    Raises FtplanError if the plan is of another kind, holds no answer, or names a key group or node that is not there.
    """
    placed = cluster.placement.checkpoints if cluster is not None and cluster.placement is not None else {}
    if given is None:
        return placed, None
    entries, name, file, _ = main_table(given, option, ALLOCATE_CHECKPOINTS)
    by_group: dict[str, list[tuple[str, ...] | None]] = {}
    for number, item in enumerate(entries):
        place = f"{name}: plan.assignments[{number}]"
        operator, group, nodes = _operator(item, topology, place), item.get("key_group"), tuple(item["checkpoints"])
        total = operator.key_groups or 0
        if not isinstance(group, int) or not 0 <= group < total:
            raise FtplanError(f"{place}: {operator.id!r} has {total} key groups, not one called {group!r}")
        for node in nodes:
            _require_node(node, cluster, place, ": take copies on nodes that are gone out of the list")
        if len(set(nodes)) < len(nodes):
            raise FtplanError(f"{place}: lists a node more than once")
        groups = by_group.setdefault(operator.id, [None] * total)
        if groups[group] is not None:
            raise FtplanError(f"{place}: {operator.id}/{group} is assigned more than once")
        groups[group] = nodes
    return {**placed, **{o: tuple(nodes or () for nodes in groups) for o, groups in by_group.items()}}, file


def given_plan(plan: Plan, option: str) -> tuple[bool, str | None]:
    """Return whether it is known what a plan was given for an option that takes a plan, and its path, None for nothing.

    It is not known where the file is not there any more, or the other plan never was in one.
    """
    path = plan.options.get(option)
    if path is None and not any(item.role == option for item in plan.inputs):
        return True, None
    known = isinstance(path, str) and os.path.exists(path)
    return known, path if known else None


def recorded(given: Any, path: str | None) -> Any:
    """Return what a plan's options keep of a plan that it was made with: its path, or what it prescribes."""
    if given is None or path is not None:
        return path
    plan = given if isinstance(given, Plan) else load_plan(given).value
    table = row(plan.kind).table
    document = {"format": FORMAT, "format_version": FORMAT_VERSION, "kind": plan.kind}
    return {**document, "plan": {table: (plan.plan or {})[table]}}


def main_table(given: Any, option: str, *kinds: KindRow) -> tuple[list[Any], str, InputFile, KindRow]:
    """Return the main table of a plan of one of these kinds, what messages call it, its fingerprint and its kind."""
    body, name, file, kind = main_body(given, option, *kinds)
    return table_of(body, name, kind), name, file, kind


def table_of(body: Mapping[str, Any], name: str, kind: KindRow) -> list[Any]:
    """Return the main table of the body of a plan of some kind; *name* is what messages call the plan."""
    entries = body.get(kind.table)
    if not isinstance(entries, (list, tuple)) or not all(isinstance(item, Mapping) for item in entries):
        raise FtplanError(f"{name}: plan.{kind.table}: expected a list of entries")
    return list(entries)


def main_body(given: Any, option: str, *kinds: KindRow) -> tuple[Mapping[str, Any], str, InputFile, KindRow]:
    """Return the body of a plan of one of these kinds, what messages call the plan, its fingerprint and its kind."""
    name = f"--{option}"
    if isinstance(given, Plan):
        plan, file = given, InputFile(option, None, sha256_of_bytes(given.to_json().encode()))
    else:
        loaded = load_plan(given)
        plan, file = loaded.value, replace(loaded.input, role=option)
        name = str(file.path or name)
    kind = next((row for row in kinds if row.name == plan.kind), None)
    if kind is None:
        known = " or ".join(row.name for row in kinds)
        raise FtplanError(f"{name}: --{option} needs a plan of kind {known}, not {plan.kind}")
    if plan.plan is None:
        raise FtplanError(f"{name}: holds no answer, its status is {plan.status} ({plan.reason})")
    return plan.plan, name, file, kind


def _operator(item: Mapping[str, Any], topology: Topology, place: str) -> Operator:
    name, known = item.get("operator"), topology.position
    if not isinstance(name, str) or name not in known:
        raise FtplanError(f"{place}: unknown operator {name!r}{suggestion(str(name), known)}")
    return topology.operator(name)


def _require_node(node: Any, cluster: Cluster | None, place: str, advice: str = "") -> None:
    if cluster is None:
        raise FtplanError(f"{place}: names node {node!r}, and there is no cluster: give --cluster")
    if node not in cluster.position:
        raise FtplanError(f"{place}: unknown node {node!r}{suggestion(str(node), cluster.position)}{advice}")
