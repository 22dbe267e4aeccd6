"""What a failure takes down at its start, what fails while the recovery is under way, and which nodes arrive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ftplan.errors import FtplanError
from ftplan.io.selector_checks import check_selector
from ftplan.model.cluster import Cluster, Node
from ftplan.model.failure import Arrival, Fail, Failure, FailureEvent
from ftplan.model.names import Selector, natural_key, parse_selector
from ftplan.model.plan import Assumption, Warn
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray

#: A new node can host tasks so many seconds after its request, uniform ([SuZhouTR], figure 7: 180 measurements).
NEW_NODE_S = (120.0, 360.0)


@dataclass(frozen=True, eq=False)
class Failed:
    """``nodes`` are down at the start, ``tasks`` (shape (tasks,)) stand on them or are named; events come later."""

    nodes: frozenset[str]
    tasks: BoolArray
    events: tuple[FailureEvent, ...] = ()
    warnings: tuple[Warn, ...] = ()


def what_fails(
    graph: TaskGraph, cluster: Cluster | None, failure: Failure | None, fail: Iterable[str], complete: bool
) -> Failed:
    """Return what the failure file and the selectors of ``--fail`` take down.

    Raises FtplanError if a selector is malformed or names what is not there; if it names nodes and nobody says where
    tasks run; if nothing fails at all.

    Parameters
    ----------
    fail
        Selectors of what fails at the start; they add to the failure file.
    complete
        All nodes fail at the start, and all tasks with them ([SuZhouTR], section 6).
    """
    arrivals = failure.arrivals if failure is not None else ()
    listed = list(failure.fail) if failure is not None else []
    listed += [Fail(item) for item in _given(fail, graph, cluster, arrivals)]
    if not listed and not complete:
        raise FtplanError(
            "nothing fails: give --fail SELECTOR (such as zone:rack-a, node:n1 or task:join/3), a failure file with "
            "--failure, or --complete-failure"
        )
    nodes: set[str] = set()
    tasks = np.zeros(graph.tasks, dtype=np.bool_)
    if complete:
        nodes = set() if cluster is None else {node.id for node in cluster.nodes}
        tasks[:] = True
    for entry in listed:
        if entry.at_s == 0.0:
            if entry.select.kind in ("node", "zone"):
                nodes |= _placed(cluster, entry.select).nodes_of(entry.select)
            else:
                tasks |= graph.selected(entry.select)
    warnings: tuple[Warn, ...] = ()
    if nodes and not complete:
        on_nodes, warnings = _tasks_on(graph, _placed(cluster, None), nodes)
        tasks |= on_nodes
    later = sorted((entry.at_s, str(entry.select), entry.select) for entry in listed if entry.at_s > 0.0)
    events = tuple(_event(graph, cluster, at_s, selector, arrivals) for at_s, _, selector in later)
    return Failed(frozenset(nodes), tasks, events, warnings)


def _given(
    fail: Iterable[str], graph: TaskGraph, cluster: Cluster | None, arrivals: Iterable[Arrival]
) -> Iterator[Selector]:
    arriving = [arrival.node for arrival in arrivals]
    for text in (fail,) if isinstance(fail, str) else fail:
        try:
            selector = parse_selector(text)
            check_selector(selector, graph.topology, cluster, arriving)
        except FtplanError as error:
            raise FtplanError(f"--fail: {error}") from None
        yield selector


def _placed(cluster: Cluster | None, selector: Selector | None) -> Cluster:
    """Return the cluster where it says on which nodes tasks run."""
    name = "" if selector is None else f"{selector}: "
    if cluster is None:
        raise FtplanError(
            f"{name}which tasks run there is not known without a cluster: give --cluster with placement.tasks, or "
            "name what fails as task:OPERATOR/INDEX, operator:ID or query:OPERATOR/INDEX"
        )
    if cluster.placement is None or not cluster.placement.tasks:
        raise FtplanError(
            f"{name}the cluster does not say on which nodes tasks run: give placement.tasks in the cluster file, or "
            "place round robin with --spread"
        )
    return cluster


def _tasks_on(graph: TaskGraph, cluster: Cluster, nodes: set[str]) -> tuple[BoolArray, tuple[Warn, ...]]:
    """Return the tasks that run on some nodes; operators without a placement are taken as running elsewhere."""
    tasks = np.zeros(graph.tasks, dtype=np.bool_)
    placed = cluster.placement.tasks if cluster.placement is not None else {}
    unknown = []
    for i, operator in enumerate(graph.topology.operators):
        if operator.id in placed:
            tasks[graph.slice_of(i)] = [node in nodes for node in placed[operator.id]]
        else:
            unknown.append(operator.id)
    if not unknown:
        return tasks, ()
    text = f"the cluster does not say where {', '.join(sorted(unknown))} runs: taken as not affected"
    return tasks, (Warn("PLACEMENT_INCOMPLETE", f"{text}; placement.tasks would tell"),)


def _event(
    graph: TaskGraph, cluster: Cluster | None, at_s: float, selector: Selector, arrivals: Iterable[Arrival]
) -> FailureEvent:
    if selector.kind not in ("node", "zone"):
        tasks = np.flatnonzero(graph.selected(selector))
        return FailureEvent(at_s, str(selector), frozenset(), tasks)
    arriving = frozenset(item.node.id for item in arrivals if item.node.named_by(selector))
    if cluster is None or not arriving or not cluster.nodes_of(selector) <= arriving:
        cluster = _placed(cluster, selector)
    return FailureEvent(at_s, str(selector), arriving | cluster.nodes_of(selector), np.zeros(0, dtype=np.int64))


def default_arrivals(cluster: Cluster | None, failed: Failed) -> tuple[tuple[Arrival, ...], tuple[Warn, ...]]:
    """Return one new node with as many cores for each failed one, 2 to 6 minutes after it failed, and say so.

    [SuZhouTR], section 4.4, orders as many nodes as failed. Failed nodes that take no tasks are not replaced.
    """
    if cluster is None:
        return (), ()
    lost: list[tuple[float, str]] = [(0.0, node) for node in failed.nodes]
    for event in failed.events:
        known = {node for _, node in lost}
        lost += [(event.at_s, node) for node in event.nodes if node in cluster.position and node not in known]
    lost = [(at_s, node) for at_s, node in lost if "tasks" in cluster.node(node).accepts]
    taken = {node.id for node in cluster.nodes}
    names = (name for k in range(1, len(lost) + len(taken) + 1) if (name := f"new-{k}") not in taken)
    coming = []
    for (at_s, node), name in zip(sorted(lost, key=lambda item: (item[0], natural_key(item[1]))), names, strict=False):
        arrives = (at_s + NEW_NODE_S[0], at_s + NEW_NODE_S[1])
        coming.append(Arrival(arrives, Node(name, cluster.node(node).cpu)))
    if not coming:
        return (), ()
    count = "1 new node" if len(coming) == 1 else f"{len(coming)} new nodes"
    named = coming[0].node.id + (" and so on" if len(coming) > 1 else "")
    text = (
        f"no arrivals are given: {count} with the cores of those that failed, {named}, can host "
        "tasks 2 to 6 minutes after the failure (arrivals in a failure file say better, --no-arrivals plans without)"
    )
    return tuple(coming), (Assumption("DEFAULT_ARRIVALS", text, len(coming)),)
