"""Since when each query is down, and when it is restored; and why tasks stay down at the end of a schedule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ftplan.model.failed_queries import FailedQueries
from ftplan.model.measures.downtimes import whole_from
from ftplan.model.plan import Infeasible
from ftplan.planners.recovery_schedule.algorithms.schedule.repair_state import RepairState
from ftplan.planners.recovery_schedule.problem import RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Downtime, ScheduleStep

#: Why a task that was down stays behind whatever it gets.
NEVER = "its input takes all that it can process: it never catches up"


def unrecovered(repair: RepairState, queries: FailedQueries) -> tuple[tuple[int, str], ...]:
    """Return the tasks that are still down at the end, with the reason."""
    largest = float(repair.open_room.max(initial=0.0))
    cost, never = repair.problem.cost, repair.problem.delays.never(repair.problem.graph.tasks)
    needless = set(queries.needless.tolist())
    reasons = []
    for task in np.flatnonzero(repair.down | np.isinf(repair.caught_up)).tolist():
        if never[task]:
            reason = NEVER
        elif repair.paused[task]:
            reason = "gave way to queries of higher priority, and no room came for it"
        elif task in needless:
            reason = "no query needs it"
        elif cost[task] > largest:
            reason = f"needs {cost[task]:.6g} cores, the node with most room has {largest:.6g} left"
        else:
            reason = "no query that needs it fits into what is left"
        reasons.append((task, reason))
    return tuple(reasons)


def no_query_returns(problem: RecoveryProblem, steps: Sequence[ScheduleStep], queries: FailedQueries) -> Infeasible:
    """Say which query would come back first, and how many cores it lacks."""
    weight = queries.weight(problem.to_start)
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


class DowntimeLog:
    """The downtimes so far. One that ends at a time still to come is open again if a failure strikes before it."""

    def __init__(self, problem: RecoveryProblem, queries: FailedQueries) -> None:
        self.first_queries = queries  # of the first failure that takes any down
        self._problem = problem
        self._priority = problem.graph.per_task("priority")
        self._upstream_s = np.zeros(problem.graph.tasks)  # since when all upstream is up to date that lives
        self._open: dict[int, Downtime] = {}
        self._closed: list[Downtime] = []
        self._begin(queries, 0.0)

    def _begin(self, queries: FailedQueries, at_s: float, never: Iterable[int] = ()) -> None:
        for query in (*queries.query.tolist(), *never):
            if query not in self._open:
                self._open[query] = Downtime(query, float(self._priority[query]), at_s, None, "")
        self._queries = queries

    def close(self, left: FailedQueries, repair: RepairState, step: int) -> list[tuple[int, float]]:
        """Close the downtimes of the queries that nothing is missing of any more; return (query, time) of these."""
        before = self._queries
        latest = np.zeros(before.bundles)
        np.maximum.at(latest, before.bundle, repair.caught_up[before.task])
        restored: list[tuple[int, float]] = []
        for row in np.flatnonzero(~np.isin(before.query, left.query)).tolist():
            query = int(before.query[row])
            downtime = self._open.pop(query, None)
            if downtime is None:
                continue
            earliest = max(downtime.down_s, float(self._upstream_s[query]))
            back_s = float(latest[before.members(row)].max(initial=earliest))
            restored.append((query, back_s))
            self._closed.append(replace(downtime, back_s=back_s, reason=f"whole by step {step}"))
        return restored

    def reopen(
        self, queries: FailedQueries, repair: RepairState, at_s: float, rolled_back: int | None = None
    ) -> tuple[set[int], list[tuple[int, float]]]:
        """Open downtimes for the queries that a failure takes down; return those that had not come back by then.

        Where all tasks go back to the last checkpoint at a step, *rolled_back*, queries that miss none are down until
        theirs have caught up. Returned besides: (query, time) of those that had been made whole before.
        """
        self._upstream_s = whole_from(self._problem.graph, np.where(repair.down, 0.0, repair.caught_up))
        outputs = np.flatnonzero(self._problem.graph.output)
        never = outputs[np.isinf(self._upstream_s[outputs])].tolist()  # went back, and never catch up
        down = {*queries.query.tolist(), *never}
        behind = [] if rolled_back is None else self._behind(down, at_s)
        down |= set(behind)
        undone: list[Downtime] = []
        kept: list[Downtime] = []
        for downtime in self._closed:
            later = downtime.query in down and downtime.back_s is not None and downtime.back_s > at_s
            (undone if later else kept).append(downtime)
        self._closed = kept
        for downtime in undone:
            only = downtime.rolled_back and downtime.query in behind
            self._open[downtime.query] = replace(downtime, back_s=None, reason="", rolled_back=only)
        self._begin(queries, at_s, never)
        if not self.first_queries.queries:
            self.first_queries = queries
        again = self._roll_back(behind, at_s, rolled_back)
        return {downtime.query for downtime in undone}, again

    def _behind(self, down: set[int], at_s: float) -> list[int]:
        """Return the queries that miss no task, but are not up to date."""
        outputs = np.flatnonzero(self._problem.graph.output)
        return [query for query in outputs[self._upstream_s[outputs] > at_s].tolist() if query not in down]

    def _roll_back(self, behind: Iterable[int], at_s: float, step: int | None) -> list[tuple[int, float]]:
        """Note until when queries are down that miss no task; return those that had missed some."""
        again = []
        for query in behind:
            back_s, downtime = float(self._upstream_s[query]), self._open.pop(query, None)
            if downtime is None:
                downtime = Downtime(query, float(self._priority[query]), at_s, None, "", rolled_back=True)
            elif not downtime.rolled_back:
                again.append((query, back_s))
            self._closed.append(replace(downtime, back_s=back_s, reason=f"went back to the checkpoint at step {step}"))
        return again

    def ended(self, end_s: float, left: FailedQueries, repair: RepairState) -> tuple[Downtime, ...]:
        """Return all downtimes, those that are still open with the reason."""
        cost, never = left.weight(self._problem.cost), self._problem.delays.never(self._problem.graph.tasks)
        hopeless = np.bincount(left.bundle, never[left.task], minlength=left.bundles)
        behind = np.bincount(left.row, hopeless[left.member], minlength=left.queries) > 0.0
        keeps_up = set(left.query[~behind].tolist())
        need = np.bincount(left.row, weights=cost[left.member], minlength=left.queries)
        lacking = dict(zip(left.query.tolist(), need.tolist(), strict=True))
        free = repair.capacity
        for query, downtime in sorted(self._open.items()):
            text = "needs a task that never catches up: its input takes all that it can process"
            if query in keeps_up:
                text = f"needs {lacking[query]:.6g} more cores, {free:.6g} are free after the last step at {end_s:g} s"
            self._closed.append(replace(downtime, reason=text))
        return tuple(sorted(self._closed, key=lambda d: (d.query, d.down_s)))
