"""A plan judged on arrivals that come sooner or later than planned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ftplan.model.failed_queries import failed_queries
from ftplan.model.topology import FloatArray
from ftplan.planners.recovery.knapsack import SLACK
from ftplan.planners.recovery.problem import RecoveryProblem
from ftplan.planners.recovery.schedule import Schedule

SAMPLES = 200


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and the middle 95 % of the samples; ``missing`` is the share of samples without a value."""

    mean: float | None
    low: float | None
    high: float | None
    missing: float = 0.0

    @staticmethod
    def of(values: FloatArray) -> Spread:
        """Return the spread of samples; infinite ones have no value."""
        known = values[np.isfinite(values)]
        missing = 1.0 - len(known) / max(1, len(values))
        if len(known) == 0:
            return Spread(None, None, None, missing)
        low, high = np.percentile(known, [2.5, 97.5])
        return Spread(float(known.mean()), float(low), float(high), missing)


@dataclass(frozen=True, slots=True)
class SampledArrivals:
    """What a plan is worth on sampled arrivals: Σ priority × seconds down, and when queries come back."""

    samples: int
    priority_time: Spread
    first_back_s: Spread
    last_back_s: Spread  # of the queries that the plan brings back, within the horizon


def uncertain(problem: RecoveryProblem) -> bool:
    """Return whether any arrival may come at another time than planned."""
    return any(event.range_s[0] != event.range_s[1] for event in problem.arrivals)


def on_sampled_arrivals(
    schedule: Schedule, problem: RecoveryProblem, seed: int = 0, samples: int = SAMPLES
) -> SampledArrivals:
    """Judge a schedule on arrivals drawn uniformly from their ranges.

    Parameters
    ----------
    samples
        How often all arrivals are drawn, each on its own.

    Notes
    -----
    The plan's order is kept: tasks come back in the sequence of the schedule as soon as the cores that have come by
    then, all nodes together, hold them and all tasks before them. Placement on single nodes, restore times and
    failures on the way are left out, so this compares arrivals, not placements. Since the order is fixed, a query is
    back when the cores that came reach the summed cost up to its last task: one search in the arrivals of each sample.
    Cost O(samples * (arrivals * log arrivals + queries * log arrivals)).
    """
    reach, priority = _reach(schedule, problem)
    random = np.random.default_rng(seed)
    low = np.array([event.range_s[0] for event in problem.arrivals])
    high = np.array([event.range_s[1] for event in problem.arrivals])
    room = np.array([problem.hosts[event.host].room for event in problem.arrivals])
    present = float(sum(host.room for host in problem.hosts[: problem.present]))
    present = present if problem.capacity is None else min(present, problem.capacity)
    times = low + (high - low) * random.random((samples, len(low)))
    horizon = problem.horizon_s
    waited, first, last = np.zeros(samples), np.full(samples, np.inf), np.full(samples, np.inf)
    for k in range(samples):
        back = _back(reach, present, times[k], room)
        within = np.minimum(back, horizon)
        waited[k] = float(priority @ within)
        known = back[back <= horizon]
        if len(known):
            first[k], last[k] = known.min(), known.max()
    return SampledArrivals(samples, Spread.of(waited), Spread.of(first), Spread.of(last))


def _back(reach: FloatArray, present: float, times: FloatArray, room: FloatArray) -> FloatArray:
    """Return when the cores that have come reach each sum, shape (queries,); infinite where they never do."""
    order = np.argsort(times, kind="stable")
    cores = present + np.concatenate(([0.0], np.cumsum(room[order])))
    cores += SLACK * np.maximum(1.0, cores)
    when = np.concatenate(([0.0], times[order], [np.inf]))
    return np.asarray(when[np.searchsorted(cores, reach, side="left")], dtype=np.float64)


def _reach(schedule: Schedule, problem: RecoveryProblem) -> tuple[FloatArray, FloatArray]:
    """Return the cores that the sequence takes up to the last task of each query, infinite for never, and priorities.

    Shapes (queries,). A task that comes back twice counts where it first does.
    """
    queries = failed_queries(problem.graph, problem.failed)
    sequence = np.array([item.task for step in schedule.steps for item in step.recover], dtype=np.int64)
    _, first = np.unique(sequence, return_index=True)
    sequence = sequence[np.sort(first)]
    sequence = sequence[problem.failed[sequence]]
    reached = np.full(problem.graph.tasks, np.inf)
    reached[sequence] = np.cumsum(problem.cost[sequence])
    of_bundle = np.zeros(queries.bundles)
    np.maximum.at(of_bundle, queries.bundle, reached[queries.task])
    of_query = np.zeros(queries.queries)
    np.maximum.at(of_query, queries.row, of_bundle[queries.member])
    return of_query, problem.graph.per_task("priority")[queries.query]
