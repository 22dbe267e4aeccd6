"""What a recovery schedule is worth, beside blocking recovery and random orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ftplan.metrics.downtimes import Downtimes, fidelity_time
from ftplan.metrics.fidelity import fidelity_model
from ftplan.model.failed_queries import failed_queries
from ftplan.model.rates import rates
from ftplan.model.topology import FloatArray
from ftplan.planners.budget import now
from ftplan.planners.recovery.blocking import blocking
from ftplan.planners.recovery.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.random_order import random_order
from ftplan.planners.recovery.schedule.arrival_replay import replay
from ftplan.planners.recovery.schedule.construction import construct_schedule
from ftplan.planners.recovery.schedule.schedule import Downtime, Schedule
from ftplan.planners.recovery.schedule.score import changes

#: Random orders that the mean is taken over: at most, at least, and how many looks at a query at a step they may take.
ORDERS, LEAST_ORDERS, LOOKS = 20, 2, 2_000_000

Figures = dict[str, float | int | None]
Fidelity = Callable[[Schedule | None], float]


def fidelity_of(problem: RecoveryProblem) -> Fidelity:
    """Return a function that integrates output fidelity over the horizon, in seconds, for a schedule or for none."""
    model = fidelity_model(problem.graph, rates(problem.graph))

    def integral(schedule: Schedule | None) -> float:
        events = {} if schedule is None else changes(schedule, problem)
        return fidelity_time(model, ~problem.failed, events, problem.horizon_s)

    return integral


def figures(schedule: Schedule | None, problem: RecoveryProblem, fidelity: Fidelity | None = None) -> Figures:
    """Return the figures of a schedule; of None, those of no recovery at all.

    ``priority`` sums over the steps what each restored, as the objective of this name does, and ``priority_step_0``
    is that of step 0; ``priority_time`` is the sum of priority x seconds down within the horizon; ``queries_back``
    counts queries that are back at the horizon. ``first_back_s`` is None where none is back by then, ``last_back_s``
    where one is not. ``fidelity_time`` is only there where asked for.
    """
    if schedule is None:
        values = _figures(_never(problem), [0.0], problem.horizon_s)
    else:
        by_step = [float(step.objective.value or 0.0) for step in schedule.steps]
        values = _figures(schedule.downtimes, by_step, problem.horizon_s)
    return values if fidelity is None else {**values, "fidelity_time": fidelity(schedule)}


def before(
    problem: RecoveryProblem, options: RecoveryOptions, until_s: float, fidelity: Fidelity | None = None
) -> Figures | None:
    """Return the figures of blocking recovery: everything that is down comes back at once, or nothing.

    None where that is not known at *until_s*, a time of ``budget.clock``.
    """
    blocked = construct_schedule(problem, _plain(options), blocking, until_s)
    return None if blocked.status == "no-plan-in-time" else figures(blocked.answer, problem, fidelity)


def random(
    problem: RecoveryProblem, options: RecoveryOptions, until_s: float, fidelity: Fidelity | None = None
) -> tuple[dict[str, Any] | None, int]:
    """Return the mean figures of random query orders, with how many ``orders`` that are, and how many are wanted.

    Orders are judged while the time lasts until *until_s*, a time of ``budget.clock``; None where it lasts for none.

    The mean of ``first_back_s`` is over the orders in which a query returns, that of ``last_back_s`` over those in
    which all do.
    """
    looks = failed_queries(problem.graph, problem.failed).queries * (1 + len(problem.arrivals) + len(problem.failures))
    count = min(ORDERS, max(LEAST_ORDERS, LOOKS // max(1, looks)))
    orders_drawn = []
    for k in range(count):
        drawn = replace(_plain(options), seed=options.seed * ORDERS + k)
        result = construct_schedule(problem, drawn, random_order, until_s)
        if result.status == "no-plan-in-time":
            break
        orders_drawn.append(figures(result.answer, problem, fidelity))
        if now() > until_s:
            break
    if not orders_drawn:
        return None, count
    mean: dict[str, Any] = {"orders": len(orders_drawn)}
    for name in orders_drawn[0]:
        values = [float(value) for one in orders_drawn if (value := one[name]) is not None]
        mean[name] = float(np.mean(values)) if values else None
    return mean, count


def sampled(
    schedule: Schedule, problem: RecoveryProblem, samples: int, seed: int, until_s: float
) -> dict[str, Any] | None:
    """Return mean and 95th percentile of a schedule's figures over sampled arrival times, None where all are fixed.

    The first ``samples`` of those wanted, as many as the time until *until_s* lasts for; None where it lasts for none.

    Of ``queries_back``, where less is worse, the 5th percentile; ``last_back_s`` is over the samples in which all
    queries return, None where there is none.
    """
    replayed = replay(schedule, problem, samples, seed, until_s)
    if replayed is None:
        return None
    times = replayed.last_back_s[~np.isnan(replayed.last_back_s)]
    return {
        "samples": len(replayed.priority_time),
        "priority_time": _spread(replayed.priority_time, 95),
        "last_back_s": _spread(times, 95) if len(times) else None,
        "queries_back": _spread(replayed.queries_back.astype(np.float64), 5),
    }


def _spread(values: FloatArray, percentile: int) -> dict[str, float]:
    return {"mean": float(values.mean()), f"p{percentile}": float(np.percentile(values, percentile))}


def _plain(options: RecoveryOptions) -> RecoveryOptions:
    return replace(options, objective="priority", iterations=None)


def _never(problem: RecoveryProblem) -> Sequence[Downtime]:
    queries = failed_queries(problem.graph, problem.failed).query
    priority = problem.graph.per_task("priority")
    return [Downtime(query, float(priority[query]), 0.0, None, "") for query in queries.tolist()]


def _figures(outages: Sequence[Downtime], by_step: Sequence[float], horizon_s: float) -> Figures:
    query = np.array([outage.query for outage in outages], dtype=np.int64)
    priority = np.array([outage.priority for outage in outages], dtype=np.float64)
    down_s = np.array([outage.down_s for outage in outages], dtype=np.float64)
    back_s = np.array([np.inf if o.back_s is None else o.back_s for o in outages], dtype=np.float64)
    return Downtimes(query, priority, down_s, back_s).figures(by_step, horizon_s)
