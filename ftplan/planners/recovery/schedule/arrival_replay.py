"""What a schedule is worth when nodes arrive at other times than planned for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ftplan.model.failed_queries import FailedQueries, failed_queries
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import now
from ftplan.planners.recovery.problem import RecoveryProblem
from ftplan.planners.recovery.schedule.schedule import Outage, Schedule

#: Numbers that are held at once for each of recoveries and outages times samples.
CELLS = 500_000


@dataclass(frozen=True, eq=False)
class Sampled:
    """Figures of each sample, shape (samples,): priority x seconds down, when the last query is back, how many are."""

    priority_time: FloatArray
    last_back_s: FloatArray  # NaN where one is not back
    queries_back: IntArray


def replay(
    schedule: Schedule, problem: RecoveryProblem, samples: int, seed: int, until_s: float = math.inf
) -> Sampled | None:
    """Play a schedule through with arrival times drawn from their ranges; None where no time is uncertain.

    Samples are played until *until_s*, a time of ``budget.clock``, some at a time; None where there is time for none.

    Each step waits for the nodes that trigger it, each restore also for its own node and for the restores before it
    there; what is chosen and where it goes stays as planned. A query is back when the last of its tasks is.
    """
    if not wanted(problem, samples):
        return None
    there = _drawn(problem, samples, seed)
    size = sum(len(step.recover) for step in schedule.steps) + len(schedule.outages)
    played: list[Sampled] = []
    first, many = 0, max(1, CELLS // max(1, size))
    while first < samples and now() < until_s:
        played.append(_played(schedule, problem, there[:, first : first + many]))
        first += many
    if not played:
        return None
    return Sampled(
        np.concatenate([one.priority_time for one in played]),
        np.concatenate([one.last_back_s for one in played]),
        np.concatenate([one.queries_back for one in played]),
    )


def wanted(problem: RecoveryProblem, samples: int) -> bool:
    """Return whether there is anything to sample: a time of arrival that is not certain."""
    return samples > 0 and any(low != high for low, high in (arrival.range_s for arrival in problem.arrivals))


def _played(schedule: Schedule, problem: RecoveryProblem, there: FloatArray) -> Sampled:
    """Return the figures of some samples; *there* is when each host can take tasks, shape (hosts, samples)."""
    ready, key = _ready(schedule, problem, there)
    outages = list(schedule.outages)
    back = np.full((there.shape[1], len(outages)), np.inf)
    waits = _Waits(schedule, problem, ready, key)
    for column, outage in enumerate(outages):
        if outage.back_s is not None:
            back[:, column] = np.maximum(outage.down_s, waits.of(outage))
    return _figures(outages, back, problem.horizon_s)


def _ready(schedule: Schedule, problem: RecoveryProblem, there: FloatArray) -> tuple[FloatArray, list[tuple[int, int]]]:
    """Return when each recovery is ready, shape (recoveries, samples), and its (task, step)."""
    samples = there.shape[1]
    planned, busy = np.zeros(len(problem.hosts)), np.zeros((len(problem.hosts), samples))
    rows: list[FloatArray] = []
    key: list[tuple[int, int]] = []
    for number, step in enumerate(schedule.steps):
        begins = np.full(samples, step.at_s if step.trigger.startswith("failure") else 0.0)
        for arrival in problem.arrivals:
            if arrival.at_s == step.at_s:
                begins = np.maximum(begins, there[arrival.host])
        for item in step.recover:
            start = np.maximum(begins, there[item.host])
            if item.ready_s > step.at_s:
                lasts = item.ready_s - max(step.at_s, float(planned[item.host]))
                start = np.maximum(start, busy[item.host]) + lasts
                planned[item.host], busy[item.host] = item.ready_s, start
            rows.append(start)
            key.append((item.task, number))
    return np.array(rows).reshape(len(rows), samples), key


def _drawn(problem: RecoveryProblem, samples: int, seed: int) -> FloatArray:
    """Return when each host can take tasks, shape (hosts, samples).

    Nodes with the same range and the same room are alike: the first of them in the plan stands for whichever of them
    comes first. After a complete failure the very first is, whichever it is, the one that hosts the coordinator.
    """
    rng = np.random.default_rng(seed)
    there = np.zeros((len(problem.hosts), samples))
    alike: dict[tuple[tuple[float, float], float], list[int]] = {}
    for number, arrival in enumerate(problem.arrivals):
        there[arrival.host] = rng.uniform(*arrival.range_s, size=samples)
        like = arrival.host + 1 if number == 0 and problem.present == 0 and len(problem.hosts) > 1 else arrival.host
        alike.setdefault((arrival.range_s, problem.hosts[like].room), []).append(arrival.host)
    for hosts in alike.values():
        there[hosts] = np.sort(there[hosts], axis=0)
    return there


class _Waits:
    """Which recoveries each query waits for: those of one bundle in one step are one entry."""

    def __init__(
        self, schedule: Schedule, problem: RecoveryProblem, ready: FloatArray, key: list[tuple[int, int]]
    ) -> None:
        recovered = np.zeros(problem.graph.tasks, dtype=np.bool_)
        recovered[[task for task, _ in key]] = True
        self._queries: FailedQueries = failed_queries(problem.graph, recovered)
        self._row = {query: row for row, query in enumerate(self._queries.query.tolist())}
        bundle = dict(zip(self._queries.task.tolist(), self._queries.bundle.tolist(), strict=True))
        self._at = [step.at_s for step in schedule.steps]
        self._latest: dict[int, dict[int, FloatArray]] = {}
        self._none = np.zeros(ready.shape[1])
        for times, (task, step) in zip(ready, key, strict=True):
            if task in bundle:
                by_step = self._latest.setdefault(bundle[task], {})
                by_step[step] = np.maximum(by_step.get(step, self._none), times)

    def of(self, outage: Outage) -> FloatArray:
        """Return when the last task that an outage waits for is ready, shape (samples,)."""
        row = self._row.get(outage.query)
        latest = self._none
        for bundle in self._queries.members(row).tolist() if row is not None else ():
            for step, times in self._latest.get(bundle, {}).items():
                if outage.back_s is not None and self._at[step] <= outage.back_s:
                    latest = np.maximum(latest, times)
        return latest


def _figures(outages: list[Outage], back: FloatArray, horizon_s: float) -> Sampled:
    samples = len(back)
    lost = np.zeros(samples)
    last: dict[int, int] = {}
    for column, outage in enumerate(outages):
        lost += outage.priority * np.maximum(0.0, np.minimum(back[:, column], horizon_s) - outage.down_s)
        if outage.query not in last or outages[last[outage.query]].down_s <= outage.down_s:
            last[outage.query] = column
    final = back[:, sorted(last.values())]
    latest = final.max(axis=1, initial=0.0) if final.shape[1] else np.full(samples, np.inf)
    return Sampled(lost, np.where(latest <= horizon_s, latest, np.nan), (final <= horizon_s).sum(axis=1))
