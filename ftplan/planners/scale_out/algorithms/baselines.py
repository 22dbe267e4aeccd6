"""Rules of thumb, for comparison: ``ds2`` takes the parallelism that true rates ask for, ``doubling`` twice the tasks.

Of the sizes that they ask for, :func:`what_fits` keeps what the free cores have room for, with ranges of even number.
"""

from __future__ import annotations

import numpy as np

from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import Budget, SearchOptions
from ftplan.planners.incumbents import untraced
from ftplan.planners.result import Result
from ftplan.planners.scale_out.algorithms.exact import exact
from ftplan.planners.scale_out.algorithms.free_cores import FreeCores, Placed, Sizes
from ftplan.planners.scale_out.algorithms.outcome import ordered, outcome
from ftplan.planners.scale_out.parallelism import sizings
from ftplan.planners.scale_out.problem import (
    OperatorScaling,
    Scaling,
    ScalingProblem,
    acting,
    even_ranges_of,
    required_tasks,
    scaled_in,
    share_at,
    slots_taken,
    task_state,
    task_use,
)


def what_fits(problem: ScalingProblem, asked: Sizes) -> Scaling:
    """Return what fits of the parallelisms that are asked for, in the order of the effective throughput percentage.

    Left out is what breaks a rule: tasks with more state than they may have, more tasks than may be; and operators that
    are scaled in below what the demand needs. Those that are scaled in go first, most cores freed before others.
    """
    room = FreeCores(problem)
    within = {i: min(tasks, _most(problem, i)) for i, tasks in asked.items()}
    within = {i: tasks for i, tasks in within.items() if _allowed(problem, i, tasks)}
    target, operators = problem.limits.target, problem.operators
    first = [i for i in within if scaled_in(operators[i], target)]
    placed: Placed = {}
    free, cores = problem.free.astype(np.float64), room.cores
    for i in sorted(first, key=lambda i: (room.cpu[i] * (within[i] - room.now[i]), i)):
        cores = _taken(room, i, within, free, cores, placed)
    for i in tuple(placed):
        cores += float(room.cpu[i] * room.now[i])
        if problem.nodes:
            room.give_back(i, free)
    for i in sorted(set(within) - set(first), key=lambda i: (-operators[i].throughput_percentage, i)):
        cores = _taken(room, i, within, free, cores, placed)
    made = [OperatorScaling(i, within[i], even_ranges_of(operators[i], within[i]), placed[i]) for i in placed]
    return Scaling(ordered(problem, made))


def _taken(room: FreeCores, operator: int, sizes: Sizes, free: np.ndarray, cores: float, placed: Placed) -> float:
    """Place an operator with its tasks of *sizes* if it fits; return the cores that are left."""
    tasks = sizes[operator]
    needed = float(room.cpu[operator] * tasks)
    after = {i: sizes[i] for i in (*placed, operator)}
    if needed > cores + ROUNDING * max(1.0, room.total) or slots_taken(room.problem, after) > room.problem.most_slots:
        return cores
    nodes = room.put(operator, tasks, free) if room.problem.nodes else ()
    if nodes is None:
        return cores
    placed[operator] = nodes
    return cores - needed


def _most(problem: ScalingProblem, operator: int) -> int:
    item = problem.operators[operator]
    return min(item.most, item.key_groups) if item.keyed else item.most


def _allowed(problem: ScalingProblem, operator: int, tasks: int) -> bool:
    item, target = problem.operators[operator], problem.limits.target
    ranges = even_ranges_of(item, tasks)
    if task_state(item, tasks, ranges).max() > item.task_memory * (1.0 + ROUNDING):
        return False
    if not scaled_in(item, target):
        return tasks > item.parallelism
    return tasks < item.parallelism and share_at(float(task_use(item, tasks, ranges).max()), target) >= 1.0


def judged(problem: ScalingProblem, answer: Scaling, search: SearchOptions) -> Result[Scaling]:
    """Return an answer with the bound that the exact planner proves in what is left of the time."""
    budget = Budget.of(search)
    with untraced():  # values of another plan
        best = exact(problem, search)
    if best.answer is None or best.bound is None:
        return best
    least = best.answer.least_extra_cpu
    answer = Scaling(answer.operators, least_extra_cpu=least)
    return outcome(problem, sizings(problem), answer, best.bound, budget)


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
