"""A schedule for each objective: step by step, or over the whole repair and then never worse than step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ftplan.metrics.fidelity import fidelity_model
from ftplan.model.rates import rates
from ftplan.planners.budget import now
from ftplan.planners.recovery.horizon.fidelity_time import FidelityTime
from ftplan.planners.recovery.horizon.priority_time import PriorityTime
from ftplan.planners.recovery.knapsack.instance import StepSolver
from ftplan.planners.recovery.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.schedule.by_queries import by_queries
from ftplan.planners.recovery.schedule.construction import run
from ftplan.planners.recovery.schedule.schedule import CLOSED, Policy, Schedule
from ftplan.planners.recovery.schedule.score import fidelity_time_of, priority_time_of
from ftplan.planners.result import Result

#: Share of the time that is left for the step-by-step schedule, before the one over the whole repair.
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
    parallel = options.parallel_recovery
    if options.objective == "priority":
        return run(problem, options, by_queries(solver))
    if options.objective == "priority-time":
        policies: list[Policy] = [by_queries(solver), PriorityTime(solver, parallel)]
        policies = policies[-1:] if bound_only else policies
        return _best(problem, options, policies, lambda found: -priority_time_of(found, problem))
    model = fidelity_model(problem.graph, rates(problem.graph))
    policies = [
        by_queries(solver),
        PriorityTime(solver, parallel),
        FidelityTime(solver, parallel),
    ]
    policies = policies[-1:] if bound_only else policies
    return _best(problem, options, policies, lambda found: fidelity_time_of(found, problem, model))


def _best(
    problem: RecoveryProblem, options: RecoveryOptions, policies: list[Policy], worth: Callable[[Schedule], float]
) -> Result[Schedule]:
    """Return the best of the policies' schedules, the first of equals, with the last policy's bound and all warnings.

    Where all are infeasible that is the answer; where only some are, theirs are not considered.
    """
    ends = now() + options.time_limit_s
    results: list[Result[Schedule]] = []
    for number, policy in enumerate(policies):
        left = max(0.0, ends - now())
        if left == 0.0 and 0 < number < len(policies) - 1:
            continue  # the last one has the bound
        share = FIRST if number < len(policies) - 1 else 1.0
        results.append(run(problem, replace(options, time_limit_s=left * share), policy))
    made = [result for result in results if result.answer is not None]
    if not made:
        return results[-1]
    chosen = max(made, key=lambda result: worth(result.answer) if result.answer is not None else 0.0)
    assert chosen.answer is not None
    bound = results[-1].bound
    value = abs(worth(chosen.answer))
    optimal = bound is not None and abs(value - bound) <= CLOSED * max(1.0, value)
    cut = [w for result in results for w in result.warnings if w.code == "TIME_LIMIT"]
    warnings = tuple(w for w in chosen.warnings if w.code != "TIME_LIMIT") + tuple(cut[:1])
    return replace(chosen, status="optimal" if optimal else "feasible", bound=bound, warnings=warnings)
