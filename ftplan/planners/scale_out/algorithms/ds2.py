"""The parallelism that true rates ask for, as if key groups divided evenly."""

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
