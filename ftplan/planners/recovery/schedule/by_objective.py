"""A schedule for each objective: step by step, or over the whole repair and then never worse than step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ftplan.metrics.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.model.tolerances import ROUNDING
from ftplan.planners.budget import now
from ftplan.planners.recovery.horizon.fidelity_time import FidelityTime
from ftplan.planners.recovery.horizon.priority_time import PriorityTime
from ftplan.planners.recovery.knapsack.instance import StepSolver
from ftplan.planners.recovery.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.schedule.by_queries import by_queries
from ftplan.planners.recovery.schedule.construction import construct_schedule
from ftplan.planners.recovery.schedule.schedule import Policy, Schedule
from ftplan.planners.recovery.schedule.score import fidelity_time_of, priority_time_of
from ftplan.planners.result import Result

#: Share of the time that is left for each schedule before the last one.
FIRST = 0.3


def by_objective(
    problem: RecoveryProblem, options: RecoveryOptions, solver: StepSolver, bound_only: bool = False
) -> Result[Schedule]:
    """Return the schedule that a one-step solver makes for ``options.objective``.

    For ``priority-time`` and ``fidelity-time`` schedules of several policies are made in full, with placement, restore
    times and failures, and judged by the metric itself: what the plan in sums over the nodes promises may not come
    true, and then the step-by-step schedule is the answer. The bound is that of the policy for the objective; with
    *bound_only* no other schedule is made.
    """
    if options.objective == "priority":
        return construct_schedule(problem, options, by_queries(solver))
    parallel = options.parallel_recovery
    policies: list[Policy] = [by_queries(solver), PriorityTime(solver, parallel)]
    if options.objective == "priority-time":

        def score(schedule: Schedule) -> float:
            return -priority_time_of(schedule, problem)

    else:
        policies.append(FidelityTime(solver, parallel))
        model = fidelity_model(problem.graph, rates(problem.graph))

        def score(schedule: Schedule) -> float:
            return fidelity_time_of(schedule, problem, model)

    return _best(problem, options, policies[-1:] if bound_only else policies, score)


def _best(
    problem: RecoveryProblem,
    options: RecoveryOptions,
    policies: Sequence[Policy],
    score: Callable[[Schedule], float],
) -> Result[Schedule]:
    """Return the best of the policies' schedules, the first of equals, with the last policy's bound and all warnings.

    Where all are infeasible that is the answer; where only some are, theirs are not considered.
    """
    ends = now() + options.time_limit_s
    results: list[Result[Schedule]] = []
    for number, policy in enumerate(policies):
        left = max(0.0, ends - now())
        last = number == len(policies) - 1  # the one with the bound
        if left > 0.0 or number == 0 or last:
            limit_s = left * (1.0 if last else FIRST)
            results.append(construct_schedule(problem, replace(options, time_limit_s=limit_s), policy))
    scored = [(score(result.answer), result) for result in results if result.answer is not None]
    if not scored:
        return results[-1]
    value, best = max(scored, key=lambda item: item[0])
    bound = results[-1].bound
    optimal = bound is not None and abs(abs(value) - bound) <= ROUNDING * max(1.0, abs(value))
    cut = [w for result in results for w in result.warnings if w.code == "TIME_LIMIT"]
    warnings = tuple(w for w in best.warnings if w.code != "TIME_LIMIT") + tuple(cut[:1])
    return replace(best, status="optimal" if optimal else "feasible", bound=bound, warnings=warnings)
