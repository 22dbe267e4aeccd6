"""Greedy: the tasks whose single failure costs most ([SuZhou2016], algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ftplan.metrics.replication_problem import ReplicationProblem
from ftplan.model.topology import BoolArray, FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.planner import Replication, ReplicationOptions
from ftplan.planners.replication.search.single_failures import drops
from ftplan.planners.result import Result


def greedy(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Choose the tasks with the least fidelity when only they fail, as many as the budget holds.

    One ranking that is never updated and does not look at MC-trees: at small budgets it may complete none and score 0.
    Replicas without use are kept, as in the paper; dropping them leaves the fidelity.

    Cost: O(tasks log tasks + substreams), by one backward pass instead of one evaluation a task. Guarantee: none.

    References: [SuZhou2016], section IV-B, algorithm 2.
    """
    budget = Budget.of(options)
    replicated = taken(problem, ranking(problem, budget))
    return Result("feasible", Replication(replicated), ("budget",), warnings=budget.warnings())


def plans(problem: ReplicationProblem, budgets: Sequence[float], options: ReplicationOptions) -> list[BoolArray]:
    """Return the replicas for each budget from one ranking."""
    order = ranking(problem, Budget.of(options))
    return [taken(replace(problem, budget=budget), order) for budget in budgets]


def ranking(problem: ReplicationProblem, budget: Budget) -> IntArray:
    """Return the tasks that may fail, those whose single failure costs most first."""
    # Departure: the paper does not say how ties end; here by number.
    order = np.lexsort((np.arange(problem.tasks), -significant(drops(problem, budget))))
    return np.asarray(order[problem.fails[order]], dtype=np.int64)


def taken(problem: ReplicationProblem, order: IntArray, most: int | None = None) -> BoolArray:
    """Return the first tasks of an order that fit, shape (tasks,), and are at most so many."""
    # Departure: where replicas weigh differently, what does not fit is skipped.
    most = len(order) if most is None else most
    if (problem.weight[order] == 1.0).all():
        return problem.mask(order[: min(int(problem.limit), most)].tolist())
    replicated = np.zeros(problem.tasks, dtype=np.bool_)
    cost = 0.0
    for task, weight in zip(order.tolist(), problem.weight[order].tolist(), strict=True):
        if most > 0 and problem.fits(cost + weight):
            most -= 1
            replicated[task] = True
            cost += weight
    return replicated


def significant(values: FloatArray) -> FloatArray:
    """Return the values rounded to about 12 significant digits, so that equal ones tie in spite of rounding errors."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(mantissa, 12), exponent), dtype=np.float64)
