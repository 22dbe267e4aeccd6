"""From a problem to a plan of kind ``recovery-schedule``, whichever algorithm answers."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, Literal

import ftplan
from ftplan.api.recovery import copies as recovery_copies
from ftplan.api.recovery import figures as recovery_figures
from ftplan.api.recovery.fix import Setting, infeasible
from ftplan.api.recovery.problem import Prepared, prepare
from ftplan.api.recovery_warnings import gain_warnings
from ftplan.metrics.stats_summary import trust_warnings
from ftplan.model.defaults import COORDINATOR_CPU, MAX_CPU
from ftplan.model.failed_queries import failed_queries
from ftplan.model.plan import Objective, Plan, Warn, sound_bound
from ftplan.model.problem import Problem
from ftplan.model.tolerances import LEAST_SCALE, SOLVED
from ftplan.model.units import MB
from ftplan.planners import registry
from ftplan.planners.budget import Budget, now, of_command
from ftplan.planners.recovery.problem import RecoveryOptions, RecoveryProblem
from ftplan.planners.recovery.schedule.arrival_replay import wanted
from ftplan.planners.recovery.schedule.body import body
from ftplan.planners.recovery.schedule.schedule import Schedule
from ftplan.planners.result import Result

_log = logging.getLogger(__name__)

KIND = "recovery-schedule"
#: Share of the time for the plan; the rest is for what it is compared with, and seconds that this may always take.
PLANNED, GRACE_S = 0.9, 0.5
#: Shares of the time left for the comparisons: blocking recovery, random orders.
BLOCKING, RANDOM = 0.4, 0.8

#: Options that say what is asked, for :func:`ftplan.api.recovery.problem.prepare`.
_ASKED: dict[str, Any] = {
    "fail": (),
    "capacity": None,
    "max_cpu": MAX_CPU,
    "horizon": None,
    "replicas": None,
    "checkpoints": None,
    "bandwidth": None,
    "arrivals": True,
    "complete_failure": False,
    "coordinator_cpu": COORDINATOR_CPU,
    "incremental_from": 2,
}
#: Options that say how to plan.
_HOW: dict[str, Any] = {
    "samples": 100,
    "objective": "priority",
    "prefetch": True,
    "parallel_recovery": False,
    "seed": 0,
    "time_limit_s": 60.0,
    "iterations": None,
}
_DEFAULTS: dict[str, Any] = {**_ASKED, **_HOW}


def recovery_schedule(problem: Problem, row: registry.Row, **options: Any) -> Plan:
    """Plan which failed tasks come back first, where and when; see ``ftplan recovery-schedule --help``.

    Raises
    ------
    FtplanError
        If an input is missing, nothing fails, an option is unknown or out of range.
    """
    asked = {**_DEFAULTS, **options}
    command = Budget(asked["time_limit_s"], asked["iterations"])
    prepared = prepare(problem, **{name: asked[name] for name in _ASKED})
    recovery = prepared.problem
    settings = RecoveryOptions(
        incremental_from=asked["incremental_from"], **{name: asked[name] for name in _HOW if _is_setting(name)}
    )
    started = time.perf_counter()
    planner = registry.load(row)
    result: Result[Schedule] = planner(recovery, replace(settings, time_limit_s=command.left_s * PLANNED))
    failed = int(recovery.failed.sum())
    seconds = time.perf_counter() - started
    _log.info("%d failed tasks: %s, planned by %s in %.2f s", failed, result.status, row.name, seconds)
    schedule = result.answer
    refusal = None
    if result.status == "infeasible":
        assumed = any(warning.code == "DEFAULT_ARRIVALS" for warning in recovery.warnings)
        setting = Setting(
            asked["max_cpu"],
            assumed,
            problem.cluster is not None,
            planner,
            asked["arrivals"],
            asked["coordinator_cpu"] if asked["complete_failure"] else 0.0,
        )
        refusal = infeasible(recovery, replace(settings, time_limit_s=command.left_s), setting) or result.infeasible
    summary, cut = _summary(recovery, settings, schedule, asked["samples"], _end(command))
    said = of_command(result.warnings, command.time_limit_s)
    return Plan(
        kind=KIND,
        algorithm=row.name,
        options=_recorded(asked, prepared, problem),
        seed=settings.seed,
        inputs=(*problem.inputs, *prepared.inputs),
        status=result.status,
        reason=result.reason if refusal is None else refusal.reason,
        objective=_objective(recovery, settings, result),
        rules=result.rules,
        summary=summary,
        warnings=(*_warnings(problem, recovery, said, summary, settings.objective), *cut),
        infeasible=refusal,
        plan=None if schedule is None else body(schedule, recovery),
        tool_version=ftplan.__version__,
    )


def _end(command: Budget) -> float:
    """Return when the last comparison has to end, as a time of ``budget.clock``."""
    return max(command.started + command.time_limit_s, now()) + GRACE_S


def _is_setting(name: str) -> bool:
    return name in {field.name for field in fields(RecoveryOptions)}


def _recorded(asked: Mapping[str, Any], prepared: Prepared, problem: Problem) -> dict[str, Any]:
    """Return the options as the plan keeps them: as asked, files by their paths, and what was derived beside."""
    recorded = {name: value for name, value in asked.items() if name != "seed"}
    paths = {item.role: item.path for item in prepared.inputs}
    bandwidth = prepared.problem.bandwidth_bytes_s
    return {
        **recorded,
        "fail": list(asked["fail"]),
        "replicas": recovery_copies.recorded(asked["replicas"], paths.get("replicas")),
        "checkpoints": recovery_copies.recorded(asked["checkpoints"], paths.get("checkpoints")),
        "cost": prepared.cost,
        "horizon_s": prepared.problem.horizon_s,
        "bandwidth_mb_s": None if bandwidth is None else bandwidth / MB,
        "spread": any(warning.code == "SPREAD" for warning in problem.warnings),
    }


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
    problem: RecoveryProblem, settings: RecoveryOptions, schedule: Schedule | None, samples: int, end_s: float
) -> tuple[dict[str, Any], list[Warn]]:
    """Return the figures beside the plan, and a warning where the clock cut a comparison short."""
    queries = failed_queries(problem.graph, problem.failed)
    fidelity = recovery_figures.fidelity_of(problem) if settings.objective == "fidelity-time" else None
    after = None if schedule is None else recovery_figures.figures(schedule, problem, fidelity)

    def share(part: float) -> float:
        moment = now()
        return moment + part * max(0.0, end_s - moment)

    before = recovery_figures.before(problem, settings, share(BLOCKING), fidelity)
    random, orders = recovery_figures.random(problem, settings, share(RANDOM), fidelity)
    sampled = None
    if schedule is not None:
        sampled = recovery_figures.sampled(schedule, problem, samples, settings.seed, end_s)
    lacking = [] if before is not None else ["no blocking recovery"]
    if random is None or random["orders"] < orders:
        lacking.append(f"{0 if random is None else random['orders']} of {orders} random orders")
    if schedule is not None and wanted(problem, samples) and (sampled is None or sampled["samples"] < samples):
        lacking.append(f"{0 if sampled is None else sampled['samples']} of {samples} sampled arrivals")
    text = f"the time limit cut comparisons short: the summary has {', '.join(lacking)}; the plan is what it is"
    return {
        "failed_tasks": int(problem.failed.sum()),
        "failed_cpu": float(problem.cost[problem.failed].sum()),
        "failed_nodes": problem.failed_nodes,
        "failed_queries": queries.queries,
        "failed_priority": float(problem.graph.per_task("priority")[queries.query].sum()),
        "shared_fraction": queries.shared_fraction(problem.cost) if queries.queries else None,
        "before": before,
        "after": after,
        "random": random,
        "sampled": sampled,
    }, [Warn("COMPARISON_CUT", text)] if lacking else []


def _warnings(
    problem: Problem, recovery: RecoveryProblem, said: Iterable[Warn], summary: Mapping[str, Any], objective: str
) -> tuple[Warn, ...]:
    """Return all warnings once; of blocking recovery only what the problem says, which knows when it would end."""
    own = {warning.code for warning in recovery.warnings}
    found = [*problem.warnings, *recovery.warnings]
    found += [w for w in said if w.code not in own and w.code != "BLOCKING_RECOVERY"]
    if problem.stats is not None:
        found += trust_warnings(problem.stats.manifest)
    if objective != "fidelity-time":
        found += [w for w in gain_warnings(summary) if w.code not in own]
    return tuple(dict.fromkeys(found))
