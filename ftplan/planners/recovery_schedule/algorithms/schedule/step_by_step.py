"""The objective of single steps: each decides for itself, and the schedule is no worse than its yardsticks."""

from __future__ import annotations

from dataclasses import replace

from ftplan.planners.budget import Budget, now
from ftplan.planners.recovery_schedule.algorithms.schedule.baselines import Yardstick, yardsticks
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.schedule import Decision, Policy, Schedule, State
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.result import Result

#: Share of the time that is left to the yardsticks by a plan that takes all of its own.
AFTERWARDS = 0.1


def step_by_step(
    problem: RecoveryProblem, options: RecoveryOptions, policy: Policy, *, baseline: bool = False
) -> Result[Schedule]:
    """Return the best schedule for the objective ``priority``: that of a policy, or a yardstick that restores more.

    Of a yardstick the bound is that of the policy in the states that the yardstick meets. A *baseline* is what it is,
    whatever the yardsticks are worth.
    """
    budget = Budget.of(options)
    alone = construct_schedule(problem, replace(options, time_limit_s=(1.0 - AFTERWARDS) * budget.left_s), policy)
    beside = yardsticks(problem, options, now() + budget.left_s)
    best = alone
    for yardstick in () if baseline else beside:
        if restored(yardstick.result.answer) > restored(best.answer):
            best = _bounded(problem, options, yardstick, policy, budget)
    if best.answer is None:
        return alone
    return replace(best, answer=replace(best.answer, beside=beside.beside(alone.answer)))


def restored(schedule: Schedule | None) -> float:
    """Return the summed priority that the steps restored, less than nothing where there is no schedule."""
    if schedule is None:
        return -1.0
    return sum(float(step.objective.value or 0.0) for step in schedule.steps)


def _bounded(
    problem: RecoveryProblem, options: RecoveryOptions, yardstick: Yardstick, policy: Policy, clock: Budget
) -> Result[Schedule]:
    """Return a yardstick with each step bounded as the policy does it, as far as the time lasts."""

    def decide(state: State, budget: Budget, seed: int) -> Decision:
        decision = yardstick.policy(state, budget, yardstick.options.seed)
        return replace(decision, bound=policy(state, budget, seed).bound)

    made = construct_schedule(problem, replace(options, time_limit_s=clock.left_s), decide)
    return made if restored(made.answer) >= restored(yardstick.result.answer) else yardstick.result
