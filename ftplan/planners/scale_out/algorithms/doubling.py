"""Twice the tasks for every operator whose score is high, as the paper's experiments do."""

from __future__ import annotations

from ftplan.planners.budget import SearchOptions
from ftplan.planners.result import Result
from ftplan.planners.scale_out.algorithms.what_fits import judged, what_fits
from ftplan.planners.scale_out.effects import acting, scaled_in
from ftplan.planners.scale_out.problem import Scaling, ScalingProblem


def doubling(problem: ScalingProblem, search: SearchOptions) -> Result[Scaling]:
    """Double the tasks of bottlenecks ([Mudassar2019], evaluation), without a look at rates.

    The paper does not evaluate scale-in: half the tasks, where these suffice, is ours; and so is that operators which a
    bottleneck starves are doubled with it. Guarantee: none, but that all limits are kept: what does not fit is left
    out. The bound is that of :func:`exact`. Cost beside the bound: O(operators + tasks x nodes).
    """
    return judged(problem, doubled(problem), search)


def doubled(problem: ScalingProblem) -> Scaling:
    """Return the scaling without a bound."""
    operators, target = problem.operators, problem.limits.target
    return what_fits(
        problem,
        {
            i: -(-operators[i].parallelism // 2) if scaled_in(operators[i], target) else 2 * operators[i].parallelism
            for i in acting(problem)
        },
    )
