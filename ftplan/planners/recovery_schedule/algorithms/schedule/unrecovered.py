"""Why tasks stay down: of each at the end of a schedule, and of all where no query returns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.plan import Infeasible
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import RepairState
from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import Step
from ftplan.planners.recovery_schedule.problem import RecoveryProblem


def unrecovered(repair: RepairState, queries: FailedQueries) -> tuple[tuple[int, str], ...]:
    """Return the tasks that are still down at the end, with the reason."""
    largest = float(repair.open_room.max(initial=0.0))
    cost = repair.problem.cost
    needless = set(queries.needless.tolist())
    reasons = []
    for task in np.flatnonzero(repair.down).tolist():
        if repair.paused[task]:
            reason = "gave way to queries of higher priority, and no room came for it"
        elif task in needless:
            reason = "no query needs it"
        elif cost[task] > largest:
            reason = f"needs {cost[task]:.6g} cores, the node with most room has {largest:.6g} left"
        else:
            reason = "no query that needs it fits into what is left"
        reasons.append((task, reason))
    return tuple(reasons)


def no_query_returns(problem: RecoveryProblem, steps: Sequence[Step], queries: FailedQueries) -> Infeasible:
    """Say which query would come back first, and how many cores it lacks."""
    weight = queries.weight(problem.cost)
    need = np.bincount(queries.row, weights=weight[queries.member], minlength=queries.queries)
    cheapest = int(np.argmin(need))
    operator, index = problem.graph.name(int(queries.query[cheapest]))
    most = max(step.capacity for step in steps)
    needed = float(need[cheapest])
    lacks = max(0.0, needed - most)
    what = f"it lacks {lacks:.6g}" if lacks > 0.0 else "no node has room for its largest task"
    reason = (
        f"no query returns within {problem.horizon_s:g} s: the cheapest, query:{operator}/{index}, needs {needed:.6g} "
        f"cores and at most {most:.6g} are free at any time: {what}"
    )
    pool = any(host.id is None for host in problem.hosts) or problem.capacity is not None
    fix = f"--capacity {needed:.6g}" if pool else f"an arriving node with {needed:.6g} free cores"
    return Infeasible(reason, "capacity", most, needed, fix)
