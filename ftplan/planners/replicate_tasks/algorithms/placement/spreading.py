"""The same replicas on nodes with as much room as there is."""

from __future__ import annotations

import numpy as np

from ftplan.model.measures.replica_hosts import NOWHERE
from ftplan.model.tolerances import NOISE
from ftplan.model.topology import IntArray
from ftplan.planners.replicate_tasks.algorithms.placement.room import Room
from ftplan.planners.replicate_tasks.problem import ReplicationProblem


def spread(problem: ReplicationProblem, node: IntArray) -> IntArray:
    """Return a solution with the same replicas and no less value, spread over the nodes.

    Those in place stay where they run. The others come largest first, each where it fails least with its primary,
    outside the primary's zone where it can, and on the node with most room. Where that does not work out nothing
    moves. Cost: O(replicas x nodes).
    """
    if problem.hosts is None:
        return node
    hosts, current = problem.hosts, problem.current
    stays = np.zeros(problem.tasks, dtype=np.bool_) if current is None else (node == current) & (node != NOWHERE)
    room = Room(problem, np.where(stays, node, NOWHERE))
    tasks = np.flatnonzero((node != NOWHERE) & ~stays)
    for task in tasks[np.lexsort((tasks, -hosts.memory_mb[tasks], -hosts.cpu[tasks]))].tolist():
        nodes = room.open_to(task)
        if len(nodes) == 0:
            return node
        near = ~hosts.apart(task)[nodes]
        keys = (nodes, -room.mb[nodes], -np.round(room.cpu[nodes], 9), near, room.risk(task)[nodes])
        room.put(task, int(nodes[np.lexsort(keys)[0]]))
    return room.node if room.value >= problem.value_at(node) - NOISE and room.within_changes else node
