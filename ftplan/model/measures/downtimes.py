"""How long queries are down while a failure is recovered from, and how much output is intact meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ftplan.model.measures.fidelity import FidelityModel
from ftplan.model.task_graph import TaskGraph
from ftplan.model.topology import BoolArray, FloatArray, IntArray

#: Times at which output fidelity is computed; where more tasks change one by one, times are rounded up to a grid.
MOST_TIMES = 2000

#: Tasks by the time at which they start to work (True) or stop (False).
Changes = Mapping[tuple[float, bool], list[int]]


@dataclass(frozen=True, slots=True, eq=False)
class Downtimes:
    """Outages of queries: N of them, several of one query where it fails again. Seconds from the first failure."""

    query: IntArray  # (N,) output task
    priority: FloatArray  # (N,)
    down_s: FloatArray  # (N,)
    back_s: FloatArray  # (N,) infinite where it does not come back

    @staticmethod
    def of(outages: Sequence[tuple[int, float, float | None]], priority: FloatArray) -> Downtimes:
        """Return outages, each (output task, down_s, back_s or None), as arrays; *priority* (tasks,) by task number."""
        query = np.array([task for task, _, _ in outages], dtype=np.int64)
        down_s = np.array([down for _, down, _ in outages], dtype=np.float64)
        back_s = np.array([np.inf if back is None else back for _, _, back in outages], dtype=np.float64)
        return Downtimes(query, priority[query], down_s, back_s)

    def priority_time(self, horizon_s: float) -> float:
        """Return Σ priority × seconds down within the horizon; what never comes back counts until then."""
        down = np.clip(np.minimum(self.back_s, horizon_s) - np.minimum(self.down_s, horizon_s), 0.0, None)
        return float(self.priority @ down)

    def queries_back(self, horizon_s: float) -> int:
        """Return how many of the queries that failed are whole at the horizon."""
        return len(np.unique(self.query)) - len(np.unique(self.query[self.down_at(horizon_s)]))

    def priority_back(self, horizon_s: float) -> float:
        """Return the summed priority of the queries that failed and are whole at the horizon."""
        failed, first = np.unique(self.query, return_index=True)
        still = np.isin(failed, self.query[self.down_at(horizon_s)])
        return float(self.priority[first[~still]].sum())

    def first_back_s(self, horizon_s: float) -> float | None:
        """Return when the first query came back, None if none did within the horizon."""
        return float(self.back_s.min()) if bool((self.back_s <= horizon_s).any()) else None

    def last_back_s(self, horizon_s: float) -> float | None:
        """Return when the last query came back, None where some are down at the horizon or none failed by then."""
        back = self.back_s[self.back_s <= horizon_s]
        return None if len(back) == 0 or self.down_at(horizon_s).any() else float(back.max())

    def figures(self, by_step: Sequence[float], horizon_s: float) -> dict[str, float | int | None]:
        """Return the figures of a schedule as summaries name them; *by_step* is what each step restored."""
        return {
            "priority": float(sum(by_step)),
            "priority_step_0": by_step[0],
            "priority_time": self.priority_time(horizon_s),
            "queries_back": self.queries_back(horizon_s),
            "priority_back": self.priority_back(horizon_s),
            "first_back_s": self.first_back_s(horizon_s),
            "last_back_s": self.last_back_s(horizon_s),
        }

    def down_at(self, horizon_s: float) -> BoolArray:
        """Return which outages have begun by the horizon and go on, shape (N,)."""
        return (self.down_s <= horizon_s) & (self.back_s > horizon_s)


def fidelity_time(model: FidelityModel, live: BoolArray, changes: Changes, horizon_s: float) -> float:
    """Return the output fidelity integrated from 0 to the horizon, in seconds.

    *live*, shape (tasks,), are the tasks that work at 0. Where one time has both, tasks stop before others start.
    Beyond ``MOST_TIMES`` different times these are rounded up to as many equal parts of the horizon: less is counted
    where tasks start, at most one part of the horizon too much where they stop. Cost O(times * substreams).
    """
    live = live.copy()
    inside = sorted(key for key in changes if key[0] < horizon_s)
    many = len({max(at_s, 0.0) for at_s, _ in inside}) > MOST_TIMES
    part = horizon_s / MOST_TIMES
    grouped: dict[float, list[tuple[float, bool]]] = {}
    for key in inside:
        at_s = max(key[0], 0.0)
        grouped.setdefault(np.ceil(at_s / part) * part if many else at_s, []).append(key)
    total, since, fidelity = 0.0, 0.0, model.fidelity(live)
    for at_s, keys in grouped.items():
        total += fidelity * (at_s - since)
        for key in keys:
            live[changes[key]] = key[1]
        since, fidelity = at_s, model.fidelity(live)
    return total + fidelity * (horizon_s - since)


def highest_below(graph: TaskGraph, value: FloatArray) -> FloatArray:
    """Return the highest value of each task and everything downstream of it, shape (tasks,).

    Cost O(tasks + substreams), as :func:`whole_from`, against the streams.
    """
    highest = value.copy()
    for i in reversed(graph.order):
        here = highest[graph.slice_of(i)]
        for edge in graph.out_edges[i]:
            receivers = highest[graph.slice_of(edge.target)]
            pairs = graph.pairs(edge)
            if pairs is None:
                np.maximum(here, receivers.max(initial=-np.inf), out=here)
            else:
                np.maximum.at(here, pairs[0], receivers[pairs[1]])
    return highest


def whole_from(graph: TaskGraph, ready: FloatArray) -> FloatArray:
    """Return when each task and everything upstream of it runs, infinite where some of it is down, shape (tasks,).

    Cost O(tasks + substreams): the latest time passes down the streams, over a full edge as one number.
    """
    latest = ready.copy()
    for i in graph.order:
        here = latest[graph.slice_of(i)]
        for edge in graph.in_edges[i]:
            senders = latest[graph.slice_of(edge.source)]
            pairs = graph.pairs(edge)
            if pairs is None:
                np.maximum(here, senders.max(initial=0.0), out=here)
            else:
                np.maximum.at(here, pairs[1], senders[pairs[0]])
    return latest
