"""A schedule for each objective: step by step, or over the whole repair, and never worse than its baselines."""

from __future__ import annotations

from dataclasses import replace

from ftplan.model.failed_queries import failed_queries
from ftplan.planners.budget import Budget, now
from ftplan.planners.recovery_schedule.algorithms.horizon.fidelity_time import AggregatedTaskPolicy
from ftplan.planners.recovery_schedule.algorithms.horizon.priority_time import AggregatedQueryPolicy
from ftplan.planners.recovery_schedule.algorithms.repair.objectives import Method, objective_of
from ftplan.planners.recovery_schedule.algorithms.repair.whole_repair import RepairSearch, plan_whole_repair
from ftplan.planners.recovery_schedule.algorithms.schedule.baselines import Baseline, baselines_of
from ftplan.planners.recovery_schedule.algorithms.schedule.construction import construct_schedule
from ftplan.planners.recovery_schedule.algorithms.schedule.policy import Decision, Policy, StepState, by_queries
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import ComparedSchedules, Schedule
from ftplan.planners.result import Result

#: Share of the time that is left to the baselines by a plan that takes all of its own.
AFTERWARDS = 0.1


def step_by_step(
    problem: RecoveryProblem, options: RecoveryOptions, policy: Policy, *, baseline: bool = False
) -> Result[Schedule]:
    """Return the best schedule for the objective ``priority``: that of a policy, or a baseline that restores more.

    Of a baseline the bound is that of the policy in the states that the baseline meets. A *baseline* is what it is,
    whatever the baselines are worth.
    """
    budget = Budget.of(options)
    alone = construct_schedule(problem, replace(options, time_limit_s=(1.0 - AFTERWARDS) * budget.left_s), policy)
    beside = baselines_of(problem, options, now() + budget.left_s)
    best = alone
    for other in () if baseline else beside:
        if restored(other.result.answer) > restored(best.answer):
            best = _bounded(problem, options, other, policy, budget)
    if best.answer is None:
        return alone
    return replace(best, answer=replace(best.answer, beside=beside.beside(alone.answer)))


def restored(schedule: Schedule | None) -> float:
    """Return the summed priority that the steps restored, less than nothing where there is no schedule."""
    if schedule is None:
        return -1.0
    return sum(float(step.objective.value or 0.0) for step in schedule.steps)


def _bounded(
    problem: RecoveryProblem, options: RecoveryOptions, other: Baseline, policy: Policy, clock: Budget
) -> Result[Schedule]:
    """Return a baseline with each step bounded as the policy does it, as far as the time lasts."""

    def decide(state: StepState, budget: Budget, seed: int) -> Decision:
        decision = other.policy(state, budget, other.options.seed)
        return replace(decision, bound=policy(state, budget, seed).bound)

    made = construct_schedule(problem, replace(options, time_limit_s=clock.left_s), decide)
    return made if restored(made.answer) >= restored(other.result.answer) else other.result


#: Shares of the time that is left: step by step, baselines, each policy that splits tasks.
STEP_BY_STEP, COMPARED, SPLIT = 0.15, 0.2, 0.3
#: Failed queries from which on single steps get more of the time, and most of it for queries that no restore delays:
#: solved well, these steps are what the search hardly betters (0.03 % of 500 queries), and in less time worse by 0.7 %.
MANY_QUERIES, MANY_STEP_BY_STEP, NOTHING_RESTORED = 200, 0.4, 0.85


def by_objective(problem: RecoveryProblem, options: RecoveryOptions, method: Method) -> Result[Schedule]:
    """Return the schedule that a method makes for ``options.objective``.

    Schedules are made in full, with placement, restore times and failures, and judged by the objective itself. Step by
    step, blocking recovery and random orders are made first; no answer is worse than any of them, but that of a policy
    alone, which is what it is. Then the repair is planned as a whole where the objective is over time
    (:func:`plan_whole_repair`).
    """
    policy = method.alone or by_queries(method.step)
    if options.objective == "priority":
        return step_by_step(problem, options, policy, baseline=method.alone is not None)
    budget = Budget.of(options)
    share = STEP_BY_STEP
    if failed_queries(problem.graph, problem.failed).queries >= MANY_QUERIES:
        restores = problem.state_bytes is not None and problem.bandwidth_bytes_s is not None
        share = MANY_STEP_BY_STEP if restores or options.objective != "priority-time" else NOTHING_RESTORED
    alone = construct_schedule(problem, replace(options, time_limit_s=share * budget.left_s), policy)
    others = baselines_of(problem, options, now() + COMPARED * budget.left_s)
    repair = RepairSearch(problem, options, method, objective_of(problem, options.objective), budget)
    repair.add(alone, "step by step")
    for other in others if method.alone is None else ():
        repair.add(other.result, "a baseline")
    if options.parallel_recovery and method.alone is None:
        for result in _split(problem, options, method, budget):
            repair.add(result, "a policy that splits tasks")
    plan_whole_repair(repair)
    return _best(repair, others.beside(alone.answer))


def _split(
    problem: RecoveryProblem, options: RecoveryOptions, method: Method, budget: Budget
) -> list[Result[Schedule]]:
    """Return the schedules of policies that split tasks; they count cores for all nodes together."""
    policies: list[Policy] = [AggregatedQueryPolicy(method.step)]
    if options.objective == "fidelity-time":
        policies.append(AggregatedTaskPolicy())
    return [
        construct_schedule(problem, replace(options, time_limit_s=SPLIT * budget.left_s), policy) for policy in policies
    ]


def _best(repair: RepairSearch, beside: ComparedSchedules) -> Result[Schedule]:
    """Return the best of all schedules, the first of equals, with the bound and what the clock cut short.

    Where all are infeasible that is the answer; where only some are, theirs are not considered. What is proven the best
    was not cut short, whatever the clock ended on the way.
    """
    log, best = repair.log, repair.log.answer
    if best is None or best.answer is None:
        return replace(repair.results[0], bound=log.proven_bound)
    if repair.stairs is not None:
        at_s, most = repair.stairs
        beside = replace(beside, most_back=tuple(zip(at_s.tolist(), most.tolist(), strict=True)))
    stopped = any(w.code == "TIME_LIMIT" for result in repair.results for w in result.warnings)
    repair.budget.cut |= stopped or repair.bound_cut
    said = () if log.proven else repair.budget.warnings()
    warnings = (*(w for w in best.warnings if w.code != "TIME_LIMIT"), *said)
    answer = replace(best.answer, beside=beside)
    return replace(best, status=log.status, answer=answer, bound=log.proven_bound, warnings=warnings)
