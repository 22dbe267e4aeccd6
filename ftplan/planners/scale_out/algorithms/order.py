"""In which order operators change: by what their job gains for the cores of their new tasks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ftplan.model.topology import FloatArray
from ftplan.planners.scale_out.effects import highest_use, share_at, sustained, waves
from ftplan.planners.scale_out.problem import OperatorScaling, Scaling, ScalingProblem


def ordered(problem: ScalingProblem, items: Iterable[OperatorScaling]) -> tuple[OperatorScaling, ...]:
    """Return operators in the order in which they change.

    First those that are scaled in, that which frees most cores before others. Then, one after the other, that whose
    job gains the largest share of all demand for each core of its new tasks; ties by the effective throughput
    percentage ([Xu2016]), then by id. Cost O(operators^2) comparisons of numbers.
    """
    smaller, others = waves(problem, Scaling(tuple(items)))

    def freed(item: OperatorScaling) -> float:
        operator = problem.operators[item.operator]
        return (operator.parallelism - item.parallelism) * operator.cpu

    first = tuple(sorted(smaller, key=lambda item: (-freed(item), item.operator)))
    return (*first, *_by_gain(problem, first, others))


def _by_gain(
    problem: ScalingProblem, first: tuple[OperatorScaling, ...], items: tuple[OperatorScaling, ...]
) -> list[OperatorScaling]:
    operators, target = problem.operators, problem.limits.target
    after = {item.operator: share_at(highest_use(operators[item.operator], item), target) for item in items}
    share = {i: share_at(highest_use(operators[i], None), target) for i in range(len(operators))}
    share.update({item.operator: share_at(highest_use(operators[item.operator], item), target) for item in first})
    level: FloatArray = sustained(problem, Scaling(first))
    rest, order = sorted(items, key=lambda item: item.operator), []
    while rest:
        gain = {}
        for item in rest:
            job = operators[item.operator].job
            others = min((share[i] for i in problem.jobs[job].tolist() if i != item.operator), default=1.0)
            cores = item.parallelism * operators[item.operator].cpu
            gained = problem.weight[job] * max(0.0, min(others, after[item.operator]) - level[job])
            gain[item] = gained / cores if cores > 0.0 else np.inf if gained > 0.0 else 0.0
        best = max(rest, key=lambda item: (gain[item], operators[item.operator].throughput_percentage, -item.operator))
        rest.remove(best)
        order.append(best)
        share[best.operator] = after[best.operator]
        job = operators[best.operator].job
        level[job] = min(share[i] for i in problem.jobs[job].tolist())
    return order
