"""What to do with capacity that completes no query: begin the next one."""

from __future__ import annotations

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.topology import IntArray
from ftplan.planners.recovery.profit_density import profit_density
from ftplan.planners.recovery.schedule.schedule import State


def next_tasks(state: State, left: FailedQueries) -> IntArray:
    """Return the missing tasks of the densest query that is left, in topological order; ties by name.

    Queries with a task that no node which is expected has room for are not begun. Where no query is left, the failed
    tasks that no query needs follow.
    """
    # [SuZhouTR] figure 2 recovers such tasks although no query is whole by them; its algorithms do not say so.
    if left.queries == 0:
        return left.needless
    priority = state.problem.graph.per_task("priority")[left.query]
    density = profit_density(left, priority, left.weight(state.cost))
    blocked = np.zeros(left.bundles, dtype=np.bool_)
    blocked[left.bundle[state.hopeless[left.task]]] = True
    density[left.row[blocked[left.member]]] = -1.0
    densest = int(np.argmax(density))
    if density[densest] < 0.0:
        return np.zeros(0, dtype=np.int64)
    needed = np.zeros(left.bundles, dtype=np.bool_)
    needed[left.members(densest)] = True
    return left.tasks_of(needed)
