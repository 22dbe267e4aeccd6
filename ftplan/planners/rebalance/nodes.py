"""Which nodes a rebalance fills, drains and may use."""

from __future__ import annotations

from typing import NamedTuple

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.topology import BoolArray
from ftplan.planners.named_nodes import listed, named_nodes
from ftplan.planners.rebalance.options import RebalanceOptions

#: What a message adds where a node that is added is not there.
ADD_ADVICE = "; a node that is to be filled has to be in the cluster file: add it there"


class Nodes(NamedTuple):
    """Flags of nodes, each (N,), see :class:`ftplan.planners.rebalance.problem.RebalanceProblem`."""

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
    added = named_nodes(options.add, cluster, "add", ADD_ADVICE)
    removed = named_nodes(options.remove, cluster, "remove")
    tasks, copies = cluster.accepting("tasks"), cluster.accepting("checkpoints")
    if (added & removed).any():
        raise FtplanError(f"--add and --remove both name {listed(added & removed, cluster)}")
    if (added & ~tasks).any():
        raise FtplanError(f"--add: {listed(added & ~tasks, cluster)} takes no tasks (accepts in the cluster file)")
    if options.within_s is not None and not removed.any():
        raise FtplanError("--within is the notice of nodes that are removed: give --remove too")
    if not (tasks & ~removed).any():
        left = "no node of the cluster takes tasks" if not tasks.any() else "--remove leaves no node that takes tasks"
        raise FtplanError(f"{left}: key groups have nowhere to go")
    return Nodes(tasks & ~removed, copies & ~removed, removed, added)
