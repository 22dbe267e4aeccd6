"""A schedule for each objective: step by step, or over the whole repair, and never worse than its yardsticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ftplan.metrics.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import Budget, now
from ftplan.planners.recovery.horizon.fidelity_time import FidelityTime
from ftplan.planners.recovery.horizon.priority_time import PriorityTime
from ftplan.planners.recovery.knapsack.instance import StepSolver
from ftplan.planners.recovery.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.schedule.by_queries import by_queries
from ftplan.planners.recovery.schedule.construction import construct_schedule
from ftplan.planners.recovery.schedule.schedule import Decision, Policy, Schedule, State
from ftplan.planners.recovery.schedule.score import fidelity_time_of, priority_time_of
from ftplan.planners.recovery.schedule.yardsticks import Yardstick, Yardsticks, yardsticks
from ftplan.planners.result import Result

#: Shares of the time that is left: step by step (where the objective is over time), yardsticks, each search but the
#: last one; and of the whole time for the yardsticks after a plan that took all that was left.
STEP_BY_STEP, COMPARED, FIRST, AFTERWARDS = 0.3, 0.2, 0.3, 0.1

Score = Callable[[Schedule], float]


def by_objective(
    problem: RecoveryProblem, options: RecoveryOptions, solver: StepSolver, alone: Policy | None = None
) -> Result[Schedule]:
    """Return the schedule that a one-step solver makes for ``options.objective``.

    Schedules are made in full, with placement, restore times and failures, and judged by the objective itself: what a
    plan in sums over the nodes promises may not come true. Step by step, blocking recovery and random orders are made
    first; no answer is worse than any of them. *alone* decides step by step in place of the solver, and no search
    follows it.
    """
    budget = Budget.of(options)
    score = score_of(problem, options)
    if options.objective == "priority":
        return step_by_step(problem, options, alone or by_queries(solver))
    first = replace(options, time_limit_s=STEP_BY_STEP * budget.left_s)
    result = construct_schedule(problem, first, alone or by_queries(solver))
    beside = yardsticks(problem, options, now() + COMPARED * budget.left_s)
    policies: list[Policy] = [PriorityTime(solver, options.parallel_recovery)]
    if options.objective == "fidelity-time":
        policies.append(FidelityTime(solver, options.parallel_recovery))
    return _best(problem, options, result, beside, policies[-1:] if alone else policies, score, budget)


def step_by_step(
    problem: RecoveryProblem, options: RecoveryOptions, policy: Policy, baseline: bool = False
) -> Result[Schedule]:
    """Return the best schedule for the objective ``priority``: that of a policy, or a yardstick that restores more.

    Of a yardstick the bound is that of the policy in the states that the yardstick meets. A *baseline* is what it is,
    whatever the yardsticks are worth.
    """
    budget, score = Budget.of(options), score_of(problem, options)
    alone = construct_schedule(problem, replace(options, time_limit_s=(1.0 - AFTERWARDS) * budget.left_s), policy)
    beside = yardsticks(problem, options, now() + budget.left_s)
    others = [] if baseline else [(y, y.result) for y in beside]
    best = _first_best([(None, alone), *others], score)
    if best is None:
        return alone
    yardstick, result = best
    if yardstick is not None:
        limits = replace(options, seed=yardstick.options.seed, time_limit_s=budget.left_s)
        bounded = construct_schedule(problem, limits, _with_bound(yardstick.policy, policy))
        better = bounded.answer is not None and score(bounded.answer) >= score(_answer(result))
        result = bounded if better else result
    return replace(result, answer=replace(_answer(result), beside=beside.beside(alone.answer)))


def score_of(problem: RecoveryProblem, options: RecoveryOptions) -> Score:
    """Return what a schedule is worth for an objective, the more the better."""
    if options.objective == "priority":
        return lambda schedule: sum(float(step.objective.value or 0.0) for step in schedule.steps)
    if options.objective == "priority-time":
        return lambda schedule: -priority_time_of(schedule, problem)
    model = fidelity_model(problem.graph, rates(problem.graph))
    return lambda schedule: fidelity_time_of(schedule, problem, model)


def _answer(result: Result[Schedule]) -> Schedule:
    assert result.answer is not None
    return result.answer


def _first_best(
    results: Sequence[tuple[Yardstick | None, Result[Schedule]]], score: Score
) -> tuple[Yardstick | None, Result[Schedule]] | None:
    """Return the best result with its yardstick, the first of equals; None where none has an answer."""
    scored = [(score(result.answer), entry) for entry in results if (result := entry[1]).answer is not None]
    return max(scored, key=lambda item: item[0])[1] if scored else None


def _with_bound(policy: Policy, bounding: Policy) -> Policy:
    """Return a policy that decides as one and bounds each step as the other."""

    def decide(state: State, budget: Budget, seed: int) -> Decision:
        decision = policy(state, budget, seed)
        return replace(decision, bound=bounding(state, budget, seed).bound)

    return decide


def _best(
    problem: RecoveryProblem,
    options: RecoveryOptions,
    alone: Result[Schedule],
    beside: Yardsticks,
    policies: Sequence[Policy],
    score: Score,
    budget: Budget,
) -> Result[Schedule]:
    """Return the best of all schedules, the first of equals, with the last policy's bound and all warnings.

    Where all are infeasible that is the answer; where only some are, theirs are not considered.
    """
    results = [alone]
    for number, policy in enumerate(policies):
        last = number == len(policies) - 1  # the one with the bound
        if budget.left_s > 0.0 or last:
            limit_s = budget.left_s * (1.0 if last else FIRST)
            results.append(construct_schedule(problem, replace(options, time_limit_s=limit_s), policy))
    found = _first_best([(None, result) for result in results] + [(y, y.result) for y in beside], score)
    if found is None:
        return results[-1]
    best = found[1]
    schedule = _answer(best)
    value, bound = score(schedule), results[-1].bound
    optimal = bound is not None and abs(abs(value) - bound) <= ROUNDING * max(1.0, abs(value))
    cut = [w for result in results for w in result.warnings if w.code == "TIME_LIMIT"]
    warnings = tuple(w for w in best.warnings if w.code != "TIME_LIMIT") + tuple(cut[:1])
    answer = replace(schedule, beside=beside.beside(alone.answer))
    return replace(best, status="optimal" if optimal else "feasible", answer=answer, bound=bound, warnings=warnings)
