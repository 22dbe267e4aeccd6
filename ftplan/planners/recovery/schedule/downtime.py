"""Which queries are down since when, and when they are back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ftplan.metrics.downtimes import whole_from
from ftplan.model.failed_queries import FailedQueries
from ftplan.planners.recovery.problem import RecoveryProblem
from ftplan.planners.recovery.schedule.repair_state import Progress
from ftplan.planners.recovery.schedule.schedule import Outage


class Outages:
    """The outages so far. One that is closed at a time still to come is open again if a failure strikes before it."""

    def __init__(self, problem: RecoveryProblem, queries: FailedQueries, at_s: float) -> None:
        self.first_queries = queries
        self.first = bool(queries.queries)
        self._problem = problem
        self._priority = problem.graph.per_task("priority")
        self._floor: dict[int, float] = {}  # by task: when all upstream runs that was not down at the last failure
        self._open: dict[int, Outage] = {}
        self._done: list[Outage] = []
        for query in queries.query.tolist():
            self._open[query] = Outage(query, float(self._priority[query]), at_s, None, "")
        self._needs = queries

    def close(self, left: FailedQueries, progress: Progress, step: int) -> list[tuple[int, float]]:
        """Close the outages of the queries that nothing is missing of any more; return (query, time) of these."""
        before = self._needs
        whole = ~np.isin(before.query, left.query)
        ready = progress.ready
        latest = np.zeros(before.bundles)
        np.maximum.at(latest, before.bundle, ready[before.task])
        found: list[tuple[int, float]] = []
        for row in np.flatnonzero(whole).tolist():
            query = int(before.query[row])
            outage = self._open.pop(query, None)
            if outage is None:
                continue
            earliest = max(outage.down_s, self._floor.pop(query, 0.0))
            back_s = float(latest[before.members(row)].max(initial=earliest))
            found.append((query, back_s))
            self._done.append(replace(outage, back_s=back_s, reason=f"whole by step {step}"))
        return found

    def reopen(self, queries: FailedQueries, progress: Progress, at_s: float) -> set[int]:
        """Open outages for the queries that a failure takes down; return those that had not come back by then."""
        self._remember(progress)
        undone: set[int] = set()
        down = set(queries.query.tolist())
        kept: list[Outage] = []
        for outage in self._done:
            if outage.query in down and outage.back_s is not None and outage.back_s > at_s:
                self._open[outage.query] = replace(outage, back_s=None, reason="")
                undone.add(outage.query)
            else:
                kept.append(outage)
        self._done = kept
        for query in queries.query.tolist():
            if query not in self._open:
                self._open[query] = Outage(query, float(self._priority[query]), at_s, None, "")
        self.first = self.first or bool(down)
        if not self.first_queries.queries:
            self.first_queries = queries
        self._needs = queries
        return undone

    def _remember(self, progress: Progress) -> None:
        """Note until when the tasks restore that run or are about to, for each query that needs them."""
        latest = whole_from(self._problem.graph, np.where(progress.down, 0.0, progress.ready))
        self._floor = dict(enumerate(latest.tolist()))

    def closed(self, end_s: float, left: FailedQueries, progress: Progress) -> tuple[Outage, ...]:
        """Return all outages, those that are still open with the reason."""
        cost = left.weight(self._problem.cost)
        need = np.bincount(left.row, weights=cost[left.member], minlength=left.queries)
        lacking = dict(zip(left.query.tolist(), need.tolist(), strict=True))
        free = progress.capacity
        for query, outage in sorted(self._open.items()):
            text = f"needs {lacking[query]:.6g} more cores, {free:.6g} are free after the last step at {end_s:g} s"
            self._done.append(replace(outage, reason=text))
        return tuple(sorted(self._done, key=lambda o: (o.query, o.down_s)))
