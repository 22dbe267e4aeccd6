"""What to do with capacity that completes no query: begin the next one."""

from __future__ import annotations

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.task_graph import BoolArray, TaskGraph
from ftplan.model.topology import FloatArray, IntArray


def profit_density(queries: FailedQueries, cost: FloatArray, graph: TaskGraph) -> FloatArray:
    """Return priority over the sum of cost / sharing of each failed query, shape (Q,); infinite where that is 0.

    Su & Zhou, definition 3. *cost* is by task number, in cores.
    """
    weight = queries.weight(cost) / np.maximum(queries.sharing, 1)
    load = np.bincount(queries.row, weights=weight[queries.member], minlength=queries.queries)
    priority = graph.per_task("priority")[queries.query]
    density: FloatArray = np.full(queries.queries, np.inf)
    np.divide(priority, load, out=density, where=load > 0.0)
    return density


def next_tasks(queries: FailedQueries, cost: FloatArray, graph: TaskGraph, hopeless: BoolArray) -> IntArray:
    """Return the missing tasks of the failed query of largest density, in topological order; ties by name.

    Queries with a task that is *hopeless*, shape (tasks,), because no node that is expected has room for it, are not
    begun.

    Su & Zhou's figure 2 recovers such tasks although no query is whole by them, and its algorithms do not say so.
    Where no query is down, the failed tasks that no query needs follow.
    """
    if queries.queries == 0:
        return queries.needless
    density = profit_density(queries, cost, graph)
    blocked = np.zeros(queries.bundles, dtype=np.bool_)
    blocked[queries.bundle[hopeless[queries.task]]] = True
    density[queries.row[blocked[queries.member]]] = -1.0
    densest = int(np.argmax(density))
    if density[densest] < 0.0:
        return np.zeros(0, dtype=np.int64)
    needed = np.zeros(queries.bundles, dtype=np.bool_)
    needed[queries.members(densest)] = True
    return queries.tasks_of(needed)
