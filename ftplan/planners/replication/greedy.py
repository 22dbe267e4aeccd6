"""Greedy: the tasks whose single failure costs most (Su & Zhou, algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ftplan.model.task_graph import BoolArray
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.budget import Budget
from ftplan.planners.replication.problem import SLACK, Replication, ReplicationOptions, ReplicationProblem
from ftplan.planners.replication.search.single_failures import drops
from ftplan.planners.result import Result


def greedy(problem: ReplicationProblem, options: ReplicationOptions) -> Result[Replication]:
    """Choose the tasks with the least fidelity when only they fail, as many as the budget holds.

    One ranking that is never updated and does not look at MC-trees: at small budgets it may complete none and score 0.
    Replicas without use are kept, as in the paper; dropping them leaves the fidelity.

    Cost: O(tasks log tasks + substreams), by one backward pass instead of one evaluation a task. Guarantee: none.

    References: Su & Zhou, *Tolerating correlated failures in massively parallel stream processing engines*, ICDE 2016,
    section IV-B, algorithm 2.
    """
    budget = Budget.of(options)
    chosen = ranked(problem, drops(problem, budget))
    return Result("feasible", Replication(chosen), ("budget",), warnings=budget.warnings())


def plans(problem: ReplicationProblem, budgets: Sequence[float], options: ReplicationOptions) -> list[BoolArray]:
    """Return the replicas for each budget from one ranking."""
    worth = drops(problem, Budget.of(options))
    if not (problem.weight[problem.fails] == 1.0).all():
        return [ranked(replace(problem, budget=budget), worth) for budget in budgets]
    order = _order(problem, worth)
    found = []
    for budget in budgets:
        chosen = np.zeros(problem.tasks, dtype=np.bool_)
        chosen[order[: int(budget + SLACK * max(1.0, budget))]] = True
        found.append(chosen)
    return found


def _order(problem: ReplicationProblem, worth: FloatArray) -> IntArray:
    """Return the tasks that may fail, those of most worth first, ties by number."""
    order = np.lexsort((np.arange(problem.tasks), -significant(worth)))
    return np.asarray(order[problem.fails[order]], dtype=np.int64)


def ranked(problem: ReplicationProblem, worth: FloatArray) -> BoolArray:
    """Return the tasks of most *worth* that fit, shape (tasks,): ties by number."""
    # Departures: the paper does not say how ties end; where replicas weigh differently, what does not fit is skipped.
    chosen = np.zeros(problem.tasks, dtype=np.bool_)
    order = _order(problem, worth)
    cost = 0.0
    for task, weight in zip(order.tolist(), problem.weight[order].tolist(), strict=True):
        if problem.fits(cost + weight):
            chosen[task] = True
            cost += weight
    return chosen


def significant(values: FloatArray) -> FloatArray:
    """Return the values rounded to about 12 significant digits, so that equal ones tie in spite of rounding errors."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(mantissa, 12), exponent), dtype=np.float64)
