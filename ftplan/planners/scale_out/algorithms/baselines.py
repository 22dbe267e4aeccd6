"""What other planners would have done, for comparison."""

from __future__ import annotations

from ftplan.planners.budget import SearchOptions
from ftplan.planners.result import Result
from ftplan.planners.scale_out.algorithms.choices import Sizes
from ftplan.planners.scale_out.algorithms.what_fits import judged, what_fits
from ftplan.planners.scale_out.effects import acting, required_tasks, scaled_in
from ftplan.planners.scale_out.problem import Scaling, ScalingProblem


def ds2(problem: ScalingProblem, search: SearchOptions) -> Result[Scaling]:
    """Give operators as many tasks as their demand takes, without a look at skew ([Kalavri2018]).

    Guarantee: none; a task may be above the target where key groups are uneven. All limits are kept: what does not fit
    is left out. The bound is that of :func:`exact`. Cost beside the bound: O(operators + tasks x nodes).
    """
    return judged(problem, ds2_scaling(problem), search)


def ds2_scaling(problem: ScalingProblem) -> Scaling:
    """Return the scaling without a bound."""
    asked: Sizes = {}
    for i in acting(problem):
        item = problem.operators[i]
        tasks = required_tasks(item, problem.limits.target)
        # DS2 knows no alarms: it would take tasks from every operator. Here only those below --scale-in lose any.
        if tasks > item.parallelism or scaled_in(item, problem.limits.target):
            asked[i] = tasks
    return what_fits(problem, asked)


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


def baselines(problem: ScalingProblem) -> dict[str, Scaling]:
    """Return the scalings by ``doubling`` and by ``ds2``, without bounds. Neither sustains more than :func:`exact`."""
    return {"doubling": doubled(problem), "ds2": ds2_scaling(problem)}
