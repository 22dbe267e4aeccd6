"""Which nodes a rebalance fills, drains and may use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ftplan.api.rebalance.options import RebalanceOptions
from ftplan.errors import FtplanError, suggestion
from ftplan.io.selector_checks import check_selector
from ftplan.model.cluster import Cluster
from ftplan.model.names import parse_selector
from ftplan.model.topology import BoolArray


class Nodes(NamedTuple):
    """Flags of nodes, each (N,), see :class:`ftplan.metrics.rebalance_problem.RebalanceProblem`."""

    hosts: BoolArray
    keeps: BoolArray
    removed: BoolArray
    added: BoolArray


def asked_nodes(options: RebalanceOptions, cluster: Cluster) -> Nodes:
    """Return which nodes take part in what way.

    Raises
    ------
    FtplanError
        If a node is unknown, both added and removed, or added and takes no tasks; if no node is left that takes tasks;
        if there is a notice and no node to remove.
    """
    added, removed = _named(options.add, cluster, "add"), _named(options.remove, cluster, "remove")
    tasks, copies = cluster.accepting("tasks"), cluster.accepting("checkpoints")
    if (added & removed).any():
        raise FtplanError(f"--add and --remove both name {_listed(added & removed, cluster)}")
    if (added & ~tasks).any():
        raise FtplanError(f"--add: {_listed(added & ~tasks, cluster)} takes no tasks (accepts in the cluster file)")
    if options.within_s is not None and not removed.any():
        raise FtplanError("--within is the notice of nodes that are removed: give --remove too")
    if not (tasks & ~removed).any():
        left = "no node of the cluster takes tasks" if not tasks.any() else "--remove leaves no node that takes tasks"
        raise FtplanError(f"{left}: key groups have nowhere to go")
    return Nodes(tasks & ~removed, copies & ~removed, removed, added)


def _named(texts: Iterable[str], cluster: Cluster, option: str) -> BoolArray:
    """Return the nodes that ids or selectors name, (N,)."""
    chosen = np.zeros(len(cluster.nodes), dtype=np.bool_)
    for text in texts:
        advice = "; a node that is to be filled has to be in the cluster file: add it there" if option == "add" else ""
        if ":" not in text:
            if text not in cluster.position:
                near = suggestion(text, cluster.position)
                raise FtplanError(f"--{option}: unknown node {text!r}{near}{advice}")
            chosen[cluster.position[text]] = True
            continue
        try:
            selector = parse_selector(text)
            check_selector(selector, cluster=cluster)
        except FtplanError as error:
            raise FtplanError(f"--{option}: {error}{advice}") from None
        if selector.kind not in ("node", "zone"):
            raise FtplanError(f"--{option}: {text} names no nodes: give node ids, node:ID or zone:ID")
        nodes = cluster.nodes_of(selector)
        if not nodes:
            raise FtplanError(f"--{option}: {text} has no node")
        chosen[[cluster.position[node] for node in nodes]] = True
    return chosen


def _listed(chosen: BoolArray, cluster: Cluster) -> str:
    return ", ".join(cluster.nodes[i].id for i in np.flatnonzero(chosen).tolist())
