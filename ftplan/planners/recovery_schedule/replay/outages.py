"""Which queries are down since when, and when they are back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import FloatArray


@dataclass(slots=True)
class Outage:
    """A query that was down, from a time until another; None: not within the schedule."""

    query: int  # output task
    down_s: float
    back_s: float | None = None
    event: int | None = None  # number of the event at which the last of its tasks started
    rolled_back: bool = False  # it lost no task, but all tasks went back to the last checkpoint


class OutageLog:
    """Kept in the order of time; *latest* is what :func:`ftplan.model.measures.downtimes.whole_from` returns."""

    def __init__(self, graph: TaskGraph) -> None:
        self._outputs = np.flatnonzero(graph.output)
        self._open: dict[int, Outage] = {}
        self._done: list[Outage] = []

    def open(self, latest: FloatArray, at_s: float) -> list[tuple[int, int]]:
        """Begin the outages of queries that are down; one that would have ended later than now goes on.

        Returns the queries of the latter, with the event that would have ended it.
        """
        down = self._outputs[np.isinf(latest[self._outputs])].tolist()
        undone = self._resume(set(down), at_s)
        for query in down:
            self._open.setdefault(query, Outage(query, at_s)).rolled_back = False
        return undone

    def roll_back(
        self, latest: FloatArray, at_s: float, event: int
    ) -> tuple[list[tuple[int, int]], list[tuple[int, float]]]:
        """Note the outages of queries that are whole, but not up to date, as all tasks have gone back.

        Returns as :meth:`open`, and the queries which had been made whole before, with the time from which on they are.
        """
        times = latest[self._outputs]
        behind = self._outputs[np.isfinite(times) & (times > at_s)].tolist()
        undone = self._resume(set(behind), at_s)
        again = []
        for query in behind:
            outage = self._open.pop(query, None) or Outage(query, at_s, rolled_back=True)
            outage.back_s, outage.event = float(latest[query]), event
            self._done.append(outage)
            if not outage.rolled_back:
                again.append((query, outage.back_s))
        return undone, again

    def _resume(self, going_on: set[int], at_s: float) -> list[tuple[int, int]]:
        """Open the outages of some queries again that end later than now; return these with their events."""
        kept, undone = [], []
        for outage in self._done:
            if outage.query in going_on and outage.back_s is not None and outage.back_s > at_s:
                undone.append((outage.query, outage.event or 0))
                outage.back_s = outage.event = None
                self._open[outage.query] = outage
            else:
                kept.append(outage)
        self._done = kept
        return undone

    def close(self, latest: FloatArray, event: int) -> list[tuple[int, float]]:
        """End the outages of queries that are whole; return them with the time from which on they are."""
        ended = []
        for query in [query for query in sorted(self._open) if not np.isinf(latest[query])]:
            outage = self._open.pop(query)
            outage.back_s, outage.event = max(outage.down_s, float(latest[query])), event
            self._done.append(outage)
            ended.append((query, outage.back_s))
        return ended

    def all(self) -> tuple[Outage, ...]:
        """Return all outages, by query and time."""
        return tuple(sorted([*self._done, *self._open.values()], key=lambda o: (o.query, o.down_s)))
