"""From a problem to a plan of kind ``allocate-checkpoints``, whichever algorithm answers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ftplan.costs.given_costs import GivenCosts
from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.measures.stats_summary import trust_warnings
from ftplan.model.plan import InputFile, Objective, Plan, Warn
from ftplan.model.problem import Problem
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.tolerances import LEAST_SCALE, SOLVED
from ftplan.model.topology import Topology
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints import maintenance
from ftplan.planners.allocate_checkpoints.algorithms.allocation import Allocation
from ftplan.planners.allocate_checkpoints.algorithms.maintenance import LEAST_TIME_SHARE, MaintenanceReport
from ftplan.planners.allocate_checkpoints.algorithms.rules.infeasibility import too_few_domains
from ftplan.planners.allocate_checkpoints.body import moves
from ftplan.planners.allocate_checkpoints.holdout import FIRST_SHARE, SPLITS, Holdout, Judgement, judge
from ftplan.planners.allocate_checkpoints.objective import CheckpointObjective, objective_value
from ftplan.planners.allocate_checkpoints.options import CheckpointAllocationOptions
from ftplan.planners.allocate_checkpoints.prepare import require, seen_and_unseen, stated_objective, with_current
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, CheckpointProblem, build
from ftplan.planners.allocate_checkpoints.summary import even_figures, no_gain, nothing_to_count, summary
from ftplan.planners.budget import Budget, now, stopped
from ftplan.planners.making import Made, log_planned, without_failure
from ftplan.planners.result import Result

#: Planners that keep copies on other nodes, in whichever zone: the baselines of the paper.
WITHOUT_ZONES = ("baseline", "even")
#: Seconds that the figures beside a plan take for each load of a key group in a window, about.
SECONDS_PER_LOAD = 2e-7


@dataclass(frozen=True, eq=False)
class _Question:
    """Everything that was asked.

    ``ends`` is when the command has to end, ``even`` what even copies are worth (looked at before the search, which may
    take all the time), ``fallback`` why another objective counts.
    """

    options: CheckpointAllocationOptions
    planner: registry.Row
    topology: Topology
    cluster: Cluster
    series: KeyGroupSeries
    unseen: KeyGroupSeries | None
    settings: AllocationOptions
    problem: CheckpointProblem
    inputs: tuple[InputFile, ...]
    costs: GivenCosts
    budget: Budget
    ends: float
    even: dict[str, Any] | None
    fallback: Warn | None

    @property
    def objective(self) -> CheckpointObjective:
        """What is optimised."""
        return self.settings.objective


def make(problem: Problem, planner: registry.Row, options: CheckpointAllocationOptions) -> Plan:
    """Plan the checkpoints of all keyed operators that have statistics; see ``ftplan allocate-checkpoints --help``.

    Raises :class:`FtplanError` if an input is missing, or options contradict each other.
    """
    asked, result, report = _answered(problem, planner, options)
    answer = result.answer
    assignments = None if answer is None else answer.assignments
    objective = _objective(asked, result)
    warnings = _warnings(problem, asked, result)
    judged, more = _on_unseen_time(asked, answer, report)
    known = {warning.code for warning in warnings}
    warnings += [warning for warning in more if warning.code not in known]
    warnings += () if judged is None else judged[1]
    transfers = None
    if assignments is not None:
        transfers = moves(assignments, asked.cluster.placement, asked.topology, asked.series)
    figures = summary(
        asked.problem,
        assignments,
        asked.cluster,
        asked.series,
        asked.topology,
        asked.objective,
        asked.settings.anti_affinity,
    )
    if answer is not None and planner.name != "even":
        figures["even"] = asked.even
        warnings += no_gain(figures, asked.objective)
    if judged is not None:
        figures["holdout"] = judged[0]
    if report is not None:
        allowance = maintenance.move_limits(options)
        figures["upkeep"] = maintenance.maintenance_summary(report, allowance, transfers, asked.objective.sign)
    reason = result.reason or (None if transfers != [] else "no change: a fresh plan has the copies in place")
    made = Made(
        result=replace(result, reason=reason),
        body=None if assignments is None else {"assignments": assignments, "moves": transfers},
        objective=objective,
        summary=figures,
        warnings=_said(warnings, options.time_limit_s),  # planners repeat those of the problem
        inputs=asked.inputs,
        derived=_derived(asked, result, options.anti_affinity),
    )
    return made.plan(problem, planner, options)


def _answered(
    problem: Problem, planner: registry.Row, options: CheckpointAllocationOptions
) -> tuple[_Question, Result[Allocation], MaintenanceReport | None]:
    """Return what was asked and the answer; copies apart by zone unless something else was asked or is possible."""
    began, zones = now(), problem.cluster is not None and any(node.zone is not None for node in problem.cluster.nodes)
    if options.anti_affinity != "auto" or not zones or planner.name in WITHOUT_ZONES:
        given = "node" if options.anti_affinity == "auto" else options.anti_affinity
        asked = _question(problem, planner, replace(options, anti_affinity=given), began)
        return asked, *_searched(asked)
    asked = _question(problem, planner, replace(options, anti_affinity="zone"), began)
    blocked = too_few_domains(asked.problem)
    if blocked is None:
        result, report = _searched(asked)
        if result.infeasible is None:
            return asked, result, report
        blocked = result.infeasible
    text = f"{blocked.reason}: copies lie on other nodes, if need be in the zone of their primary"
    asked = _question(problem, planner, replace(options, anti_affinity="node"), began)
    result, report = _searched(asked)
    return asked, replace(result, warnings=(Warn("ZONES_NOT_APART", text), *result.warnings)), report


def _question(problem: Problem, planner: registry.Row, options: CheckpointAllocationOptions, began: float) -> _Question:
    """Build what the planner is asked, from inputs and options."""
    topology, cluster, whole = require(problem, options.load)
    series, unseen = seen_and_unseen(whole, options.holdout)
    objective = stated_objective(options).resolved(series, cluster)
    # The search ends before the figures beside the plan, few passes over the series of all hosts of copies.
    finishing_s = min(0.5 * options.time_limit_s, SECONDS_PER_LOAD * whole.loads.size * (1 + options.copies))
    settings = _settings(options, objective, began + options.time_limit_s - finishing_s)
    inputs = without_failure(problem)
    if options.current is not None:
        cluster, file = with_current(options.current, cluster, topology)
        inputs += () if file is None else (file,)
    costs = GivenCosts.of(options.costs)
    inputs += () if costs.file is None else (costs.file,)
    if options.upkeep:
        maintenance.require_current(cluster)
    if options.max_bytes is not None:
        maintenance.require_state(topology, series)
    budget = Budget.of(settings)
    built = build(topology, cluster, cluster.placement, series, settings)
    fallback = nothing_to_count(built, cluster, series, objective)
    if fallback is not None:
        settings = replace(settings, objective=replace(objective, name="correlation"))
        built = build(topology, cluster, cluster.placement, series, settings)
    return _Question(
        options,
        planner,
        topology,
        cluster,
        series,
        unseen,
        settings,
        built,
        inputs,
        costs,
        budget,
        began + options.time_limit_s,
        None if planner.name == "even" else even_figures(built, settings, cluster, series),
        fallback,
    )


def _settings(options: CheckpointAllocationOptions, objective: CheckpointObjective, ends: float) -> AllocationOptions:
    """Return what of the options planners are told; the search ends at *ends*.

    Raises :class:`FtplanError` if a failover limit is both given and to be found.
    """
    if options.minimise and options.failover_limit is not None:
        raise FtplanError("--minimise failover finds the failover limit itself: leave out --failover-limit")
    words: dict[str, Any] = {  # each one of a few, as its check says
        "anti_affinity": options.anti_affinity,
        "minimise": options.minimise,
    }
    return AllocationOptions(
        copies=options.copies,
        balance=options.balance,
        seed=options.seed,
        time_limit_s=options.time_limit_s,
        iterations=options.iterations,
        bound=options.bound,
        objective=objective,
        failover_limit=options.failover_limit,
        ends=ends,
        **words,
    )


def _searched(asked: _Question) -> tuple[Result[Allocation], MaintenanceReport | None]:
    """Return the planner's answer, or what upkeep makes of what is in place and of that answer."""
    settings, started = asked.settings, time.perf_counter()
    if asked.unseen is not None:
        settings = replace(settings, time_limit_s=FIRST_SHARE * settings.time_limit_s)
    if asked.options.upkeep:
        settings = replace(
            settings, time_limit_s=min(settings.time_limit_s, (1.0 - LEAST_TIME_SHARE) * asked.budget.left_s)
        )
    result: Result[Allocation] = registry.load(asked.planner)(asked.problem, settings)
    shape = f"{len(asked.problem.operators)} key groups x {len(asked.problem.nodes)} nodes"
    log_planned(shape, asked.planner, result.status, started)
    if not asked.options.upkeep:
        return result, None
    allowance = maintenance.move_limits(asked.options)
    return maintenance.maintain_current(
        result, allowance, asked.cluster, asked.topology, asked.series, asked.settings, asked.budget
    )


def _objective(asked: _Question, result: Result[Allocation]) -> Objective:
    """Return the objective with the value of the plan, whatever the planner reports.

    Raises :class:`RuntimeError` if that is not the same: a fault of the planner.
    """
    objective, answer = asked.objective, result.answer
    random = objective.sign * asked.problem.by_group.random_value
    value = bound = None
    if answer is not None:
        value = objective_value(objective, answer.assignments, asked.series, asked.cluster)
        reported = objective.sign * answer.value
        if abs(value - reported) > SOLVED * max(abs(value), abs(random - value), LEAST_SCALE):
            raise RuntimeError(f"the planner reports {reported!r}, its plan is worth {value!r}")
        if result.bound is not None:
            bound = objective.sign * result.bound
    return Objective.of(objective.name, objective.sense, value, bound, None if objective.integral else random)


def _warnings(problem: Problem, asked: _Question, result: Result[Allocation]) -> list[Warn]:
    """Return what there is to say of inputs, question and search."""
    warnings = [*problem.warnings, *asked.problem.warnings, *result.warnings]
    warnings += [*asked.costs.warnings, *asked.costs.remote_state()]
    warnings += [] if asked.fallback is None else [asked.fallback]
    if problem.stats is not None:
        known = {warning.code for warning in warnings}
        warnings += [w for w in trust_warnings(problem.stats.manifest) if w.code not in known]
    warnings += _full_checkpoints(asked.topology, asked.series)
    limited = asked.settings.failover_limit or asked.settings.minimise
    if limited and result.answer is not None and "failover" not in result.rules:
        text = f"{asked.planner.name} keeps no failover limit: use correlated or exact for one"
        warnings.append(Warn("FAILOVER_NOT_ENFORCED", text))
    return warnings


def _on_unseen_time(
    asked: _Question, answer: Allocation | None, report: MaintenanceReport | None
) -> tuple[Judgement | None, tuple[Warn, ...]]:
    """Judge a plan on the windows that it has not seen, if there are any; also return warnings of planning again."""
    if answer is None or asked.unseen is None:
        return None, ()
    again = _Again(asked, None if report is None else answer.assignments)
    clock = Budget(math.inf, ends=max(asked.ends, now()))
    holdout = Holdout(asked.problem, asked.settings, asked.cluster, asked.series, asked.unseen)
    judged = judge(answer.assignments, asked.planner.name, holdout, again, clock)
    return judged, again.warnings


def _derived(asked: _Question, result: Result[Allocation], requested: str) -> dict[str, Any]:
    """Return what came of the options that were asked for."""
    options, answer = asked.options, result.answer
    balance, limit = options.balance, asked.settings.failover_limit
    paths = {item.role: item.path for item in asked.inputs}
    if answer is not None:
        balance = answer.rules.balance if "balance" in result.rules else balance
        limit = answer.rules.failover_limit
    return {
        "anti_affinity_requested": requested,
        "anti_affinity": asked.settings.anti_affinity,
        "objective_requested": options.objective,
        "objective": asked.objective.name,
        "current": paths.get("current"),
        "balance_requested": options.balance,
        "balance": balance,
        "capacity_per_core_requested": options.capacity_per_core,
        "capacity_per_core": asked.objective.capacity_per_core,
        "failover_limit": limit,
    }


@dataclass(slots=True)
class _Again:
    """Plans anew on a longer part of the trace, with an equal part of the time that is left for each split.

    Upkeep is not repeated: what it kept, *stand_in*, is judged on all splits.
    """

    asked: _Question
    stand_in: Sequence[Mapping[str, Any]] | None
    left: int = SPLITS - 1
    warnings: tuple[Warn, ...] = ()

    def __call__(self, series: KeyGroupSeries) -> Sequence[Mapping[str, Any]] | None:
        """Return the assignments of a plan that has seen *series*, None where there is none."""
        if self.stand_in is not None:
            return self.stand_in
        asked = self.asked
        time_s = max(asked.budget.left_s / max(self.left, 1), 1e-3)
        self.left -= 1
        settings = replace(asked.settings, time_limit_s=time_s, bound=False)
        problem = build(asked.topology, asked.cluster, asked.cluster.placement, series, settings)
        planner: Callable[..., Result[Allocation]] = registry.load(asked.planner)
        result = planner(problem, settings)
        self.warnings += tuple(warning for warning in result.warnings if warning.code == "TIME_LIMIT")
        return None if result.answer is None else result.answer.assignments


def _said(warnings: list[Warn], limit_s: float) -> tuple[Warn, ...]:
    """Return each warning once; ``TIME_LIMIT`` names the limit of the command, not that of a part of it."""
    said = [w for w in warnings if w.code == "TIME_LIMIT"]
    ended = [stopped(limit_s) for w in said if w.message.startswith("stopped")]
    kept = dict.fromkeys(w for w in warnings if w.code != "TIME_LIMIT")
    return tuple(kept) + tuple((ended or said)[:1])


def _full_checkpoints(topology: Topology, series: KeyGroupSeries) -> list[Warn]:
    """Say which operators need no allocation: a full checkpoint may go anywhere for free (the paper's lazy move)."""
    planned = [o for o in topology.keyed_operators if o.id in series.operators]
    full = sorted(o.id for o in planned if o.checkpoint.kind == "full")
    others = sorted(o.id for o in planned if o.checkpoint.kind != "full")
    if not full:
        return []
    free = "full checkpoints, and the next one can go to any node at no cost"
    if others:
        text = (
            f"{', '.join(full)}: {free}, so that their part of this allocation is needless; it matters for the "
            f"incremental ones of {', '.join(others)}"
        )
    else:
        text = f"all planned operators ({', '.join(full)}) make {free}: an allocation is needless"
    return [Warn("FULL_CHECKPOINTS", text)]
