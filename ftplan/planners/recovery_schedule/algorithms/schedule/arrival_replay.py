"""What comes of a schedule when nodes arrive at other times than planned for."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ftplan.model.failed_queries import failed_queries
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import now
from ftplan.planners.recovery_schedule.problem import RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import Downtime, Schedule

#: Numbers that are held at once for each of restores and downtimes times samples.
CELLS = 500_000


class ArrivalSamples(NamedTuple):
    """Figures of each sample, shape (samples,): priority x seconds down, when the last query is back, how many are."""

    priority_time: FloatArray
    last_back_s: FloatArray  # NaN where one is not back
    queries_back: IntArray


def replay(
    schedule: Schedule, problem: RecoveryProblem, samples: int, seed: int, until_s: float = math.inf
) -> ArrivalSamples | None:
    """Play a schedule through with arrival times drawn from their ranges; None where no time is uncertain.

    Samples are played until *until_s*, a time of ``budget.now``, some at a time; None where there is time for none.

    Each step waits for the nodes that trigger it, each restore also for its own node and for the restores before it
    there; what is chosen and where it goes stays as planned. A query is back when the last of its tasks is.
    """
    if not wanted(problem, samples):
        return None
    there = _drawn(problem, samples, seed)
    size = sum(len(step.recover) for step in schedule.steps) + len(schedule.downtimes)
    many = max(1, CELLS // max(1, size))
    played: list[ArrivalSamples] = []
    for first in range(0, samples, many):
        if now() >= until_s:
            break
        played.append(_played(schedule, problem, there[:, first : first + many]))
    return ArrivalSamples(*map(np.concatenate, zip(*played, strict=True))) if played else None


def wanted(problem: RecoveryProblem, samples: int) -> bool:
    """Return whether there is anything to sample: a time of arrival that is not certain."""
    return samples > 0 and any(low != high for low, high in (arrival.range_s for arrival in problem.arrivals))


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
        like = arrival.host + 1 if number == 0 and problem.live_hosts == 0 and len(problem.hosts) > 1 else arrival.host
        alike.setdefault((arrival.range_s, problem.hosts[like].room), []).append(arrival.host)
    for hosts in alike.values():
        there[hosts] = np.sort(there[hosts], axis=0)
    return there


def _played(schedule: Schedule, problem: RecoveryProblem, there: FloatArray) -> ArrivalSamples:
    """Return the figures of some samples; *there* is when each host can take tasks, shape (hosts, samples)."""
    samples = there.shape[1]
    recovered = np.zeros(problem.graph.tasks, dtype=np.bool_)
    recovered[[item.task for step in schedule.steps for item in (*step.rolled_back, *step.recover)]] = True
    queries = failed_queries(problem.graph, recovered)
    row = {query: row for row, query in enumerate(queries.query.tolist())}
    bundle = dict(zip(queries.task.tolist(), queries.bundle.tolist(), strict=True))
    caught_up = _caught_up(schedule, problem, there, bundle)
    went_back = [step.at_s for step in schedule.steps if step.rolled_back]
    back = np.full((samples, len(schedule.downtimes)), np.inf)
    for column, downtime in enumerate(schedule.downtimes):
        if downtime.back_s is None:
            continue
        back[:, column] = downtime.down_s
        since = max((at_s for at_s in went_back if at_s < downtime.back_s), default=0.0)  # all begins anew
        for member in queries.members(row[downtime.query]).tolist() if downtime.query in row else ():
            for (at_s, goes_back), times in caught_up[member].items():
                if since <= at_s < downtime.back_s or (at_s == downtime.back_s and not goes_back):
                    back[:, column] = np.maximum(back[:, column], times)
    return _figures(schedule.downtimes, back, problem.horizon_s)


def _caught_up(
    schedule: Schedule, problem: RecoveryProblem, there: FloatArray, bundle: dict[int, int]
) -> dict[int, dict[tuple[float, bool], FloatArray]]:
    """Return when each bundle of tasks has caught up, shape (samples,).

    By the planned times of steps, and whether they go back to the last checkpoint then or start.
    """
    caught_up: dict[int, dict[tuple[float, bool], FloatArray]] = defaultdict(dict)
    lanes = problem.restores_at_once
    planned, busy = np.zeros((len(problem.hosts), lanes)), np.zeros((len(problem.hosts), lanes, there.shape[1]))
    sample = np.arange(there.shape[1])
    for step in schedule.steps:
        begins = np.full(there.shape[1], step.at_s if step.trigger.startswith("failure") else 0.0)
        for arrival in problem.arrivals:
            if arrival.at_s == step.at_s:
                begins = np.maximum(begins, there[arrival.host])
        if step.rolled_back:  # what was under way begins anew
            planned[:], busy[:] = 0.0, 0.0
        for number, item in enumerate((*step.rolled_back, *step.recover)):
            noticed = item.failed_s + problem.delays.detection_s
            host_s = there[item.host] if item.host >= 0 else begins
            at_s = np.maximum(np.maximum(begins, host_s), noticed) + problem.delays.restart_s
            starts_s = problem.delays.starts(step.at_s, item.failed_s)
            if item.ready_s > starts_s and item.host < 0:
                at_s = at_s + (item.ready_s - starts_s)
            elif item.ready_s > starts_s:
                lane, free = int(np.argmin(planned[item.host])), np.argmin(busy[item.host], axis=0)
                lasts = item.ready_s - max(starts_s, float(planned[item.host, lane]))
                at_s = np.maximum(at_s, busy[item.host, free, sample]) + lasts
                planned[item.host, lane], busy[item.host, free, sample] = item.ready_s, at_s
            if item.task in bundle:
                of_bundle = caught_up[bundle[item.task]]
                back_s = problem.delays.caught_up(at_s, item.down_s, item.task, item.savepoint)
                key = step.at_s, number < len(step.rolled_back)
                of_bundle[key] = np.maximum(of_bundle.get(key, 0.0), back_s)
    return caught_up


def _figures(downtimes: Sequence[Downtime], back: FloatArray, horizon_s: float) -> ArrivalSamples:
    lost = np.zeros(len(back))
    last: dict[int, int] = {}
    for column, downtime in enumerate(downtimes):
        lost += downtime.priority * np.maximum(0.0, np.minimum(back[:, column], horizon_s) - downtime.down_s)
        last[downtime.query] = column  # downtimes stand by query and time
    final = back[:, sorted(last.values())]
    latest = final.max(axis=1, initial=0.0) if final.shape[1] else np.full(len(back), np.inf)
    return ArrivalSamples(lost, np.where(latest <= horizon_s, latest, np.nan), (final <= horizon_s).sum(axis=1))
