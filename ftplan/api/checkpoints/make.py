"""From a problem to a plan of kind ``checkpoint-allocation``, whichever algorithm answers."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ftplan
from ftplan.api.checkpoints import upkeep
from ftplan.api.checkpoints.assignments import current_assignments, moves
from ftplan.api.checkpoints.unseen_time import FIRST_SHARE, SPLITS, judge, seen_and_unseen
from ftplan.api.checkpoints.usable_gain import even_figures, no_gain, nothing_to_count
from ftplan.errors import FtplanError, suggestion
from ftplan.metrics.allocation_score import AllocationScore, allocation_score
from ftplan.metrics.availability import availability
from ftplan.metrics.checkpoint_objective import CheckpointObjective, objective_value
from ftplan.metrics.key_group_series import key_group_series
from ftplan.metrics.stats_summary import trust_warnings
from ftplan.model.cluster import Cluster
from ftplan.model.defaults import OVERLOAD
from ftplan.model.failover import Losses
from ftplan.model.plan import Objective, Plan, Warn
from ftplan.model.problem import Problem
from ftplan.model.statistics import MEASURES, KeyGroupSeries
from ftplan.model.tolerances import LEAST_SCALE, SOLVED
from ftplan.model.topology import Topology
from ftplan.planners import registry
from ftplan.planners.budget import Budget, now, stopped
from ftplan.planners.checkpoints.allocation import Allocation
from ftplan.planners.checkpoints.problem import AllocationOptions, CheckpointProblem, build
from ftplan.planners.checkpoints.upkeep import LEAST_SHARE
from ftplan.planners.result import Result

_log = logging.getLogger(__name__)

KIND = "checkpoint-allocation"
#: Seconds that the figures beside a plan take for each load of a key group in a window, about.
SECONDS_PER_LOAD = 2e-7

_DEFAULTS: dict[str, Any] = {
    "objective": "usable",
    "correlate": "raw",
    "capacity_per_core": None,
    "overload": OVERLOAD,
    "holdout": None,
    "load": "records",
    "copies": 1,
    "balance": "auto",
    "anti_affinity": "node",
    "failover_limit": None,
    "minimise": None,
    "bound": False,
    "seed": 0,
    "time_limit_s": 60.0,
    "iterations": None,
    **upkeep.DEFAULTS,
}


def allocate_checkpoints(problem: Problem, row: registry.Row, **options: Any) -> Plan:
    """Plan the checkpoints of all keyed operators that have statistics; see ``ftplan allocate-checkpoints --help``.

    Raises
    ------
    FtplanError
        If an input is missing, an option is unknown or out of range.
    """
    began = now()
    asked = {**_DEFAULTS, **options}
    topology, cluster, whole = require(problem, str(asked["load"]))
    series, unseen = seen_and_unseen(whole, asked["holdout"])
    objective = CheckpointObjective.of_options(asked).resolved(series, cluster)
    settings = AllocationOptions(
        copies=asked["copies"],
        balance=parse_balance(asked["balance"]),
        anti_affinity=asked["anti_affinity"],
        seed=asked["seed"],
        time_limit_s=asked["time_limit_s"],
        iterations=asked["iterations"],
        bound=asked["bound"],
        measure=asked["load"],
        objective=objective,
        failover_limit=parse_failover_limit(asked["failover_limit"]),
        minimise=asked["minimise"],
        ends=began + asked["time_limit_s"] - _finishing_s(whole, asked["copies"], asked["time_limit_s"]),
    )
    inputs = tuple(item for item in problem.inputs if item.role != "failure")
    if asked["current"] is not None:
        cluster, file = upkeep.with_current(asked["current"], cluster, topology)
        inputs += () if file is None else (file,)
    allowance = upkeep.move_limits(asked)
    if upkeep.asked_for(asked):
        upkeep.require_current(cluster)
    if allowance.max_bytes is not None:
        upkeep.require_state(topology, series)
    budget = Budget.of(settings)
    started = time.perf_counter()
    allocation_problem = build(topology, cluster, cluster.placement, series, settings)
    fallback = nothing_to_count(allocation_problem, cluster, series, objective)
    if fallback is not None:
        objective = replace(objective, name="correlation")
        settings = replace(settings, objective=objective)
        allocation_problem = build(topology, cluster, cluster.placement, series, settings)
    planner = registry.load(row)
    own = settings if unseen is None else replace(settings, time_limit_s=FIRST_SHARE * settings.time_limit_s)
    if upkeep.asked_for(asked):
        own = replace(own, time_limit_s=min(own.time_limit_s, (1.0 - LEAST_SHARE) * budget.left_s))
    result: Result[Allocation] = planner(allocation_problem, own)
    seconds = time.perf_counter() - started
    shape = f"{len(allocation_problem.operators)} key groups x {len(allocation_problem.nodes)} nodes"
    _log.info("%s: %s, planned by %s in %.2f s", shape, result.status, row.name, seconds)
    report = None
    if upkeep.asked_for(asked):
        result, report = upkeep.keep_up(result, allowance, cluster, topology, series, settings, budget)
    warnings = [*problem.warnings, *allocation_problem.warnings, *result.warnings]
    warnings += [] if fallback is None else [fallback]
    if problem.stats is not None:
        known = {warning.code for warning in warnings}
        warnings += [w for w in trust_warnings(problem.stats.manifest) if w.code not in known]
    warnings += _full_checkpoints(topology, series)
    if (settings.failover_limit or settings.minimise) and answer_lacks(result, "failover"):
        warnings.append(
            Warn("FAILOVER_NOT_ENFORCED", f"{row.name} keeps no failover limit: use correlated or exact for one")
        )

    random = objective.sign * allocation_problem.by_group.random_value
    answer = result.answer
    assignments = None if answer is None else answer.assignments
    value = bound = None
    if answer is not None:
        value = recomputed(answer.assignments, cluster, series, objective, objective.sign * answer.value, random)
        if result.bound is not None:
            bound = objective.sign * result.bound
    judged = None
    if answer is not None and unseen is not None:
        stand_in = None if report is None else answer.assignments
        again = _Again(topology, cluster, planner, settings, budget, stand_in)
        clock = Budget(math.inf, ends=max(began + settings.time_limit_s, now()))
        judged = judge(answer.assignments, row, allocation_problem, settings, cluster, series, unseen, again, clock)
        known = {warning.code for warning in warnings}
        warnings += [warning for warning in again.warnings if warning.code not in known]
        warnings += judged.warnings
    transfers = None if assignments is None else moves(assignments, cluster.placement, topology, series)
    summary = _summary(allocation_problem, assignments, cluster, series, topology, objective, settings.anti_affinity)
    if answer is not None and row.name != "even":
        summary["even"] = None
        if now() < began + settings.time_limit_s:
            summary["even"] = even_figures(allocation_problem, settings, cluster, series)
        else:
            warnings.append(Warn("COMPARISON_CUT", "the plan is not compared with even: the time limit is over"))
        warnings += no_gain(summary, objective)
    if judged is not None:
        summary["holdout"] = judged.summary
    if report is not None:
        summary["upkeep"] = upkeep.upkeep_summary(report, allowance, transfers, objective.sign)
    recorded = {name: asked[name] for name in _DEFAULTS if name != "seed"}
    recorded["objective_requested"] = asked["objective"]
    recorded["objective"] = objective.name
    recorded["current"] = next((item.path for item in inputs if item.role == "current"), None)
    recorded["balance_requested"] = settings.balance
    recorded["balance"] = answer.rules.balance if answer is not None and "balance" in result.rules else settings.balance
    recorded["capacity_per_core_requested"] = asked["capacity_per_core"]
    recorded["capacity_per_core"] = objective.capacity_per_core
    recorded["failover_limit"] = settings.failover_limit if answer is None else answer.rules.failover_limit
    recorded["spread"] = any(warning.code == "SPREAD" for warning in problem.warnings)
    return Plan(
        kind=KIND,
        algorithm=row.name,
        options=recorded,
        seed=settings.seed,
        inputs=inputs,
        status=result.status,
        reason=result.reason or (None if transfers != [] else "no change: a fresh plan has the copies in place"),
        objective=Objective.of(objective.name, objective.sense, value, bound, None if objective.integral else random),
        rules=result.rules,
        summary=summary,
        warnings=_said(warnings, settings.time_limit_s),  # planners repeat those of the problem
        infeasible=result.infeasible,
        plan=None if assignments is None else {"assignments": assignments, "moves": transfers},
        tool_version=ftplan.__version__,
    )


@dataclass(slots=True)
class _Again:
    """Plans anew on a longer part of the trace, with an equal part of the time that is left for each split.

    Upkeep is not repeated: what it kept, *stand_in*, is judged on all splits.
    """

    topology: Topology
    cluster: Cluster
    planner: Callable[..., Result[Allocation]]
    settings: AllocationOptions
    budget: Budget
    stand_in: Sequence[Mapping[str, Any]] | None
    left: int = SPLITS - 1
    warnings: tuple[Warn, ...] = ()

    def __call__(self, series: KeyGroupSeries) -> Sequence[Mapping[str, Any]] | None:
        """Return the assignments of a plan that has seen *series*, None where there is none."""
        if self.stand_in is not None:
            return self.stand_in
        time_s = max(self.budget.left_s / max(self.left, 1), 1e-3)
        self.left -= 1
        settings = replace(self.settings, time_limit_s=time_s, bound=False)
        problem = build(self.topology, self.cluster, self.cluster.placement, series, settings)
        result = self.planner(problem, settings)
        self.warnings += tuple(warning for warning in result.warnings if warning.code == "TIME_LIMIT")
        return None if result.answer is None else result.answer.assignments


def _finishing_s(series: KeyGroupSeries, copies: int, time_limit_s: float) -> float:
    """Return about how many seconds the figures beside a plan take, at most half of the limit: the search ends before.

    They are few passes over the series of all hosts of copies.
    """
    return min(0.5 * time_limit_s, SECONDS_PER_LOAD * series.loads.size * (1 + copies))


def _said(warnings: list[Warn], limit_s: float) -> tuple[Warn, ...]:
    """Return each warning once; ``TIME_LIMIT`` names the limit of the command, not that of a part of it."""
    said = [w for w in warnings if w.code == "TIME_LIMIT"]
    ended = [stopped(limit_s) for w in said if w.message.startswith("stopped")]
    kept = dict.fromkeys(w for w in warnings if w.code != "TIME_LIMIT")
    return tuple(kept) + tuple((ended or said)[:1])


def require(problem: Problem, measure: str) -> tuple[Topology, Cluster, KeyGroupSeries]:
    """Return what every judgement of a checkpoint allocation needs.

    Raises
    ------
    FtplanError
        If the topology, the cluster or the statistics are missing, or the statistics lack the measure.
    """
    for name in ("topology", "cluster", "stats"):
        if getattr(problem, name) is None:
            raise FtplanError(f"a checkpoint allocation needs {name}: give --{name} (in Python {name}=...)")
    assert problem.topology is not None
    assert problem.cluster is not None
    assert problem.stats is not None
    if measure not in MEASURES:
        raise FtplanError(f"--load: unknown {measure!r}{suggestion(measure, MEASURES)}: one of {', '.join(MEASURES)}")
    return problem.topology, problem.cluster, key_group_series(problem.stats, measure, problem.topology)


def parse_balance(text: Any) -> Any:
    """Return ``auto``, ``count``, ``none`` or a number from what a user wrote.

    Raises
    ------
    FtplanError
        If it is none of these.
    """
    if text in ("auto", "count", "none"):
        return text
    try:
        return float(text)
    except (TypeError, ValueError):
        raise FtplanError(f"--balance: {text!r} is neither auto, count, none nor a number such as 0.1") from None


def parse_failover_limit(text: Any) -> float | None:
    """Return a number from what a user wrote, None where there is no limit.

    Raises
    ------
    FtplanError
        If it is no number.
    """
    if text in (None, "none"):
        return None
    try:
        return float(text)
    except (TypeError, ValueError):
        raise FtplanError(f"--failover-limit: {text!r} is no number such as 1.5") from None


def answer_lacks(result: Result[Allocation], rule: str) -> bool:
    """Return whether there is an answer that does not promise a rule."""
    return result.answer is not None and rule not in result.rules


def recomputed(
    assignments: Sequence[Mapping[str, Any]],
    cluster: Cluster,
    series: KeyGroupSeries,
    objective: CheckpointObjective,
    reported: float,
    random: float,
) -> float:
    """Return the objective recomputed from the plan alone; a planner that reports another value has a fault."""
    value = objective_value(objective, assignments, series, cluster)
    if abs(value - reported) > SOLVED * max(abs(value), abs(random - value), LEAST_SCALE):
        raise RuntimeError(f"the planner reports {reported!r}, its plan is worth {value!r}")
    return value


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


def _summary(
    problem: CheckpointProblem,
    assignments: list[dict[str, Any]] | None,
    cluster: Cluster,
    series: KeyGroupSeries,
    topology: Topology,
    objective: CheckpointObjective,
    losses: Losses,
) -> dict[str, Any]:
    """Return the figures before and after, and those of a random plan, in the objective and as usable share."""
    current = current_assignments(cluster, topology, series)
    before = None
    if current is not None:
        # Groups without checkpoints are load of their node all the same.
        known = {(item["operator"], item["key_group"]) for item in current}
        rest = [item for item in _bare(problem) if (item["operator"], item["key_group"]) not in known]
        before = allocation_score([*current, *rest], cluster, series, objective)
    after = None if assignments is None else allocation_score(assignments, cluster, series, objective)
    random = objective.sign * problem.by_group.random_value
    expected: dict[str, Any] = {objective.name.replace("-", "_"): random}
    if after is not None:
        expected = after.random_to_dict() | expected
    return {
        "before": _figures(before, current, cluster, series, losses),
        "after": _figures(after, assignments, cluster, series, losses),
        "random": expected,
    }


def _bare(problem: CheckpointProblem) -> list[dict[str, Any]]:
    """Return the planned key groups with their primaries and without any copies, as assignments."""
    p = problem.by_group
    homes = zip(p.operators, p.key_group.tolist(), p.group_home.tolist(), strict=True)
    return [{"operator": o, "key_group": g, "primary": p.nodes[i], "checkpoints": []} for o, g, i in homes]


def _figures(
    score: AllocationScore | None,
    assignments: Sequence[Mapping[str, Any]] | None,
    cluster: Cluster,
    series: KeyGroupSeries,
    losses: Losses,
) -> dict[str, Any] | None:
    if score is None or assignments is None:
        return None
    return score.to_dict() | availability(assignments, cluster, series, losses)
