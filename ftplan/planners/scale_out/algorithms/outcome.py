"""From the parallelisms that a planner chose to its result: ranges, order, what the bound proves, what to warn of.

Operators change in the order of what their job gains for the cores of their new tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ftplan.model.plan import Infeasible, Warn, canonical_number
from ftplan.model.tolerances import ROUNDING
from ftplan.model.topology import FloatArray
from ftplan.model.units import MB
from ftplan.planners.budget import Budget
from ftplan.planners.incumbents import Incumbents
from ftplan.planners.result import Result
from ftplan.planners.scale_out.algorithms.free_cores import Placed, Sizes
from ftplan.planners.scale_out.parallelism import OperatorSizing
from ftplan.planners.scale_out.problem import (
    OperatorScaling,
    Scaling,
    ScalingProblem,
    acting,
    highest_use,
    lacks_memory,
    lacks_tasks,
    largest_state,
    share_at,
    sustained,
    sustained_load,
    waves,
)

KEY_GROUP_BOTTLENECK, NOT_THE_BOTTLENECK = "KEY_GROUP_BOTTLENECK", "NOT_THE_BOTTLENECK"
NOT_ENOUGH_TASKS, NOT_ENOUGH_CORES = "NOT_ENOUGH_TASKS", "NOT_ENOUGH_CORES"


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


def scaling(problem: ScalingProblem, sizings: list[OperatorSizing], sizes: Sizes, placed: Placed) -> Scaling:
    """Return the scaling that gives operators so many tasks, on these nodes."""
    items = [OperatorScaling(i, tasks, sizings[i].ranges(tasks), placed[i]) for i, tasks in sorted(sizes.items())]
    return Scaling(ordered(problem, items))


def outcome(
    problem: ScalingProblem, sizings: list[OperatorSizing], answer: Scaling, bound: float, budget: Budget
) -> Result[Scaling]:
    """Return a result: optimal where no more can be sustained."""
    value, log = sustained_load(problem, answer), Incumbents[Scaling]("max", "sustained-load")
    log.prove(min(bound, max(1.0, value)), "what can be sustained")
    log.offer(answer, value, "the plan")
    warnings = (*problem.warnings, *_warnings(problem, sizings, answer), *budget.warnings())
    return Result(log.status, answer, (), log.proven_bound, warnings=tuple(dict.fromkeys(warnings)))


def above_quota(problem: ScalingProblem, total: float) -> Result[Scaling] | None:
    """Return why there is no plan: tasks that run now take more cores than they may; None where they do not."""
    quota = problem.limits.quota
    if quota is None or total <= quota * (1.0 + ROUNDING):
        return None
    needed = canonical_number(total)
    reason = f"the tasks that run now take {needed:g} cores, --quota allows {quota:g}"
    why = Infeasible(reason, "quota", quota, needed, f"--quota {needed:.12g}")
    return Result("infeasible", None, (), reason=reason, infeasible=why, warnings=problem.warnings)


def _warnings(problem: ScalingProblem, sizings: list[OperatorSizing], answer: Scaling) -> Iterator[Warn]:
    target = problem.limits.target
    for number in acting(problem):
        operator, sizing = problem.operators[number], sizings[number]
        if operator.state in ("prepared", "promoted") and not (lacks_tasks(operator, target) or lacks_memory(operator)):
            text = f"{operator.id}: {operator.parallelism} tasks suffice at the demand; what raised its score of"
            yield Warn(NOT_THE_BOTTLENECK, f"{text} {operator.score:.3g} lies elsewhere: before it, or in its memory")
            continue
        if number in answer.by_operator:
            yield from _assumed(sizing, answer.by_operator[number])
        heaviest = sizing.heaviest_group()
        if heaviest is not None:
            text = f"{operator.id}: key group {heaviest[0]} alone would keep a task {heaviest[1]:.0%} busy, above the"
            yield Warn(KEY_GROUP_BOTTLENECK, f"{text} {target:.0%} that a task may be: no parallelism helps")
        elif lacks_tasks(operator, target) or lacks_memory(operator):
            yield from _short(problem, sizing, answer.by_operator.get(number))


def _assumed(sizing: OperatorSizing, item: OperatorScaling) -> Iterator[Warn]:
    """Yield where a limit of state that nobody stated, and not the demand, decides how many tasks there are."""
    operator = sizing.operator
    if operator.task_memory_by != "--task-memory" and sizing.bound_by(item) == "task-memory":
        text = f"{operator.id}: {item.parallelism} tasks because each is taken to hold at most"
        text = f"{text} {_mib(operator.task_memory)} of state, {operator.task_memory_by}: its demand needs"
        text = f"{text} {sizing.enough_for_demand}; --task-memory says what a task may hold"
        yield Warn("TASK_MEMORY_ASSUMED", text)


def _mib(size: float) -> str:
    return f"{size / MB:.6g} MiB"


def _short(problem: ScalingProblem, sizing: OperatorSizing, item: OperatorScaling | None) -> Iterator[Warn]:
    """Yield what keeps an operator from tasks that suffice."""
    operator, target, enough = sizing.operator, problem.limits.target, sizing.enough
    tasks = operator.parallelism if item is None else item.parallelism
    if not sizing.holds_state:
        has, may = _mib(largest_state(operator, item)), _mib(operator.task_memory)
        text = f"{operator.id}: its state fits into none of up to {sizing.most} tasks (bound by {operator.most_by})"
        text += f" of at most {may} each: {operator.task_memory_by}; that limit is not kept"
        yield Warn(NOT_ENOUGH_TASKS, f"{text}, the fullest task has {has}")
    if enough is None:
        return
    if share_at(enough.highest, target) < 1.0:
        most = enough.parallelism == sizing.most
        text = f"with {enough.parallelism} tasks{', the most that may be,' if most else ''} its busiest would be"
        text = f"{operator.id}: {text} {enough.highest:.0%} busy"
        yield Warn(NOT_ENOUGH_TASKS, text if most else f"{text}, and more, up to {sizing.most}, do not help")
    elif tasks < enough.parallelism:
        need = "demand" if sizing.enough_for_demand == enough.parallelism else "state"
        text = f"{operator.id} needs {enough.parallelism} tasks for its {need}, and has {tasks}: {_why(problem)}"
        yield Warn(NOT_ENOUGH_CORES, text)


def _why(problem: ScalingProblem) -> str:
    limits, elsewhere = problem.limits, "its job is held back by another operator"
    names = [] if limits.free_cpu is None else ["--free-cpu"]
    names += [] if limits.quota is None else ["--quota"]
    names += ["the free cores of nodes"] if problem.nodes else []
    names += ["the slots of nodes"] if np.isfinite(problem.slots) else []
    return f"no more fit into {' or '.join(names)}, or {elsewhere}" if names else elsewhere
