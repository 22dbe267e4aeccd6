"""What outlives a failure because other plans prepared it: active replicas and checkpoint copies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ftplan.model.measures.task_state import TaskState
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import IntArray
from ftplan.planners.deployed import Copies, Replica

#: In place of a host's number: there is no replica; there is one on no node in particular, which never fails.
NONE, ANYWHERE = -1, -2


def local_bytes(
    graph: TaskGraph,
    state: TaskState,
    copies: Copies,
    host_of_node: Mapping[str, int],
) -> dict[tuple[int, int], float]:
    """Return the bytes of a task's state that lie on a host, by (task, host), where there are any.

    Hosts are those that live at the start: what arrives later comes empty.
    """
    bytes_there: dict[tuple[int, int], float] = {}
    for operator in sorted(copies):
        position = graph.topology.position[operator]
        owner: IntArray = graph.topology.operators[position].task_of_key_groups() + int(graph.offset[position])
        size = state.by_group[operator]
        for group, nodes in enumerate(copies[operator]):
            for node in dict.fromkeys(nodes):
                if node in host_of_node and size[group] > 0.0:
                    key = (int(owner[group]), host_of_node[node])
                    bytes_there[key] = bytes_there.get(key, 0.0) + float(size[group])
    return dict(sorted(bytes_there.items()))


def by_task(items: tuple[Replica, ...], tasks: int, host_of_node: Mapping[str, int]) -> IntArray:
    """Return the host of each task's live replica, shape (tasks,): ``NONE`` without one, ``ANYWHERE`` without a node.

    *host_of_node* holds the live nodes.
    """
    host = np.full(tasks, NONE, dtype=np.int64)
    for item in items:
        host[item.task] = ANYWHERE if item.node is None else host_of_node.get(item.node, NONE)
    return host
