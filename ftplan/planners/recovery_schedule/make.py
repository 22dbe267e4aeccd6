"""From a problem to a plan of kind ``recovery-schedule``, whichever algorithm answers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from ftplan.model.failed_queries import failed_queries
from ftplan.model.measures.stats_summary import trust_warnings
from ftplan.model.plan import Objective, Plan, Warn, sound_bound
from ftplan.model.problem import Problem
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING, SOLVED
from ftplan.model.units import MB
from ftplan.planners import registry
from ftplan.planners.budget import Budget, now, of_command
from ftplan.planners.making import Made, compared, log_planned
from ftplan.planners.recovery_schedule import metrics as recovery_figures
from ftplan.planners.recovery_schedule.algorithms.schedule.arrival_replay import wanted
from ftplan.planners.recovery_schedule.algorithms.schedule.baselines import orders_wanted
from ftplan.planners.recovery_schedule.body import body
from ftplan.planners.recovery_schedule.metrics import waiting, waiting_warnings
from ftplan.planners.recovery_schedule.options import RecoveryScheduleOptions
from ftplan.planners.recovery_schedule.prepare import prepare
from ftplan.planners.recovery_schedule.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery_schedule.schedule import ComparedSchedules, Schedule
from ftplan.planners.recovery_schedule.smallest_fix import Setting, infeasible
from ftplan.planners.recovery_schedule.warnings import bound_warnings, gain_warnings
from ftplan.planners.result import Result

#: Share of the time for the plan; the rest is for what it is compared with, and seconds that this may always take.
PLANNED, GRACE_S = 0.9, 0.5
#: Share of the time left for the figures of what the plan is held against; the rest is for sampled arrivals.
HELD_AGAINST = 0.8
#: Times at which a summary says what can be back at most.
MOST_STAIRS = 200


def make(problem: Problem, planner: registry.Row, options: RecoveryScheduleOptions) -> Plan:
    """Plan which failed tasks come back first, where and when; see ``ftplan recovery-schedule --help``.

    Raises
    ------
    FtplanError
        If an input is missing, nothing fails, or options contradict each other.
    """
    command = Budget(options.time_limit_s, options.iterations)
    prepared = prepare(problem, options)
    recovery = prepared.problem
    settings = _settings(options, command.left_s * PLANNED)
    started = time.perf_counter()
    recover = registry.load(planner)
    result: Result[Schedule] = recover(recovery, settings)
    log_planned(f"{int(recovery.failed.sum())} failed tasks", planner, result.status, started)
    schedule = result.answer
    refusal = None
    if result.status == "infeasible":
        assumed = any(warning.code == "DEFAULT_ARRIVALS" for warning in recovery.warnings)
        coordinator = options.coordinator_cpu if options.complete_failure else 0.0
        known = problem.cluster is not None
        setting = Setting(options.max_cpu, assumed, known, recover, options.arrivals, coordinator)
        refusal = infeasible(recovery, _settings(options, command.left_s), setting) or result.infeasible
    summary, cut = _summary(recovery, settings, result, options.samples, _end(command))
    said = of_command(result.warnings, command.time_limit_s)
    warnings = _warnings(problem, recovery, said, summary, options.objective)
    if result.bound is not None and options.objective != "priority":
        cut += bound_warnings(recovery, options.objective, result.status == "optimal")
    bandwidth = recovery.bandwidth_bytes_s
    made = Made(
        result=replace(result, reason=result.reason if refusal is None else refusal.reason, infeasible=refusal),
        body=None if schedule is None else body(schedule, recovery),
        objective=_objective(recovery, settings, result),
        summary=summary,
        warnings=(*warnings, *cut),
        inputs=(*problem.inputs, *prepared.inputs),
        derived={
            "cost": prepared.cost,
            "horizon_s": recovery.horizon_s,
            "bandwidth_mb_s": None if bandwidth is None else bandwidth / MB,
        },
    )
    return made.plan(problem, planner, options)


def _settings(options: RecoveryScheduleOptions, time_limit_s: float) -> RecoveryOptions:
    """Return what of the options planners are told."""
    return RecoveryOptions(
        objective=options.objective,  # type: ignore[arg-type]  # one of the three, as its check says
        prefetch=options.prefetch,
        parallel_recovery=options.parallel_recovery,
        seed=options.seed,
        time_limit_s=time_limit_s,
        iterations=options.iterations,
    )


def _end(command: Budget) -> float:
    """Return when the last comparison has to end, as a time of ``budget.clock``."""
    return max(command.started + command.time_limit_s, now()) + GRACE_S


def _objective(problem: RecoveryProblem, settings: RecoveryOptions, result: Result[Schedule]) -> Objective:
    """Return the objective with the value of the plan, whatever the planner reports."""
    name = settings.objective
    sense: Literal["min", "max"] = "min" if name == "priority-time" else "max"
    if result.answer is None:
        return Objective(name, sense, None, result.bound)
    value = _value(problem, settings, result.answer)
    bound = result.bound
    if bound is not None:  # a sum over all time that ends near 0 is rounded as its parts are
        size = problem.horizon_s * float(problem.graph.per_task("priority").max(initial=0.0))
        bound = sound_bound(sense, value, bound, size if name == "priority-time" else 0.0)
        if result.status == "optimal" and abs(bound - value) <= ROUNDING * max(1.0, abs(value)):
            bound = value  # the same sum, added up in another order
    return Objective.of(name, sense, value, bound)


def _value(problem: RecoveryProblem, settings: RecoveryOptions, schedule: Schedule) -> float:
    if settings.objective == "priority-time":
        return float(recovery_figures.figures(schedule, problem)["priority_time"] or 0.0)
    if settings.objective == "fidelity-time":
        return recovery_figures.fidelity_of(problem)(schedule)
    steps = body(schedule, problem)["steps"]
    value = float(sum(item["priority"] for step in steps for item in step["restored"]))
    reported = float(sum(step.objective.value or 0.0 for step in schedule.steps))
    if abs(value - reported) > SOLVED * max(abs(value), LEAST_SCALE):
        raise RuntimeError(f"the planner reports {reported!r}, its plan is worth {value!r}")
    return value


def _summary(
    problem: RecoveryProblem, settings: RecoveryOptions, result: Result[Schedule], samples: int, end_s: float
) -> tuple[dict[str, Any], list[Warn]]:
    """Return the figures beside the plan, and a warning where the clock cut a comparison short."""
    queries, schedule = failed_queries(problem.graph, problem.failed), result.answer
    fidelity = recovery_figures.fidelity_of(problem) if settings.objective == "fidelity-time" else None
    after = None if schedule is None else recovery_figures.figures(schedule, problem, fidelity)
    lacking: list[str] = []
    held: dict[str, Any] = {"before": None, "step_by_step": None, "random": None}
    sampled = None
    if compared():
        beside = _beside(problem, settings, result)
        until_s = now() + HELD_AGAINST * max(0.0, end_s - now())
        held, lacking = recovery_figures.held_against(schedule, beside, problem, until_s, fidelity)
        if schedule is not None:
            sampled = recovery_figures.sampled(schedule, problem, samples, settings.seed, end_s)
            if wanted(problem, samples) and (sampled is None or sampled["samples"] < samples):
                lacking.append(f"{0 if sampled is None else sampled['samples']} of {samples} sampled arrivals")
    text = f"the time limit cut comparisons short: the summary has {', '.join(lacking)}; the plan is what it is"
    merged = None if schedule is None else waiting(problem, settings, end_s)
    rolled_back = {d.query for d in schedule.downtimes if d.rolled_back} if schedule is not None else set()
    return {
        **({"rolled_back_queries": len(rolled_back)} if rolled_back else {}),
        **({} if merged is None else {"waiting": merged}),
        "failed_tasks": int(problem.failed.sum()),
        "failed_cpu": float(problem.cost[problem.failed].sum()),
        "failed_nodes": problem.failed_nodes,
        "failed_queries": queries.queries,
        "failed_priority": float(problem.graph.per_task("priority")[queries.query].sum()),
        "shared_fraction": queries.shared_fraction(problem.cost) if queries.queries else None,
        "after": after,
        **held,
        "sampled": sampled,
        "most_back": None if schedule is None or schedule.beside is None else _stairs(schedule.beside.most_back),
    }, [Warn("COMPARISON_CUT", text)] if lacking else []


def _beside(problem: RecoveryProblem, settings: RecoveryOptions, result: Result[Schedule]) -> ComparedSchedules:
    """Return what an answer is held against; where no query returns that goes for all of it."""
    if result.answer is not None and result.answer.beside is not None:
        return result.answer.beside
    orders, known = orders_wanted(problem, settings), result.status == "infeasible"
    return ComparedSchedules(None, (None,) if known else (), (None,) * orders if known else (), orders)


def _stairs(most: Sequence[tuple[float, float]]) -> list[list[float]] | None:
    """Return what can be back at most by each time at which that changes, None where no bound says.

    Where it changes at more than ``MOST_STAIRS`` times, the most of some that follow each other holds from the first.
    """
    rows = [list(row) for k, row in enumerate(most) if k == 0 or row[1] != most[k - 1][1]]
    several = -(-len(rows) // MOST_STAIRS)
    if several > 1:
        parts = [rows[k : k + several] for k in range(0, len(rows), several)]
        rows = [[part[0][0], max(priority for _, priority in part)] for part in parts]
    return rows or None


def _warnings(
    problem: Problem, recovery: RecoveryProblem, said: Iterable[Warn], summary: Mapping[str, Any], objective: str
) -> tuple[Warn, ...]:
    """Return all warnings once."""
    own = {warning.code for warning in recovery.warnings}
    warnings = [*problem.warnings, *recovery.warnings]
    warnings += [w for w in said if w.code not in own]
    if problem.stats is not None:
        warnings += trust_warnings(problem.stats.manifest)
    if objective != "fidelity-time":
        warnings += [w for w in gain_warnings(summary, objective) if w.code not in own]
        warnings += waiting_warnings(summary.get("waiting"), (summary["after"] or {}).get("priority_time"))
    return tuple(dict.fromkeys(warnings))
