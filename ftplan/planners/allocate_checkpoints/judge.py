"""Does a checkpoint allocation keep its rules, and is its objective right?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster
from ftplan.model.measures.availability import Losses, availability, copysets
from ftplan.model.plan import Objective, Plan
from ftplan.model.problem import Problem
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING
from ftplan.model.violation import Violation
from ftplan.planners.allocate_checkpoints.body import current_assignments, moves, stated_assignments
from ftplan.planners.allocate_checkpoints.metrics import AllocationScore, allocation_score
from ftplan.planners.allocate_checkpoints.objective import OBJECTIVES
from ftplan.planners.allocate_checkpoints.options import CheckpointAllocationOptions
from ftplan.planners.allocate_checkpoints.prepare import objective_of, planned_on, require, with_current
from ftplan.planners.allocate_checkpoints.rules import RULE_CODES, STILL_BROKEN, CheckpointRules
from ftplan.planners.allocate_checkpoints.violations import violations
from ftplan.planners.deployed import given_plan
from ftplan.planners.judging import (
    Judged,
    Judges,
    Recomputed,
    judge_options,
    judge_stated,
    judge_summary,
    same,
    shown,
)

#: The rules that say nothing without statistics: of loads, and of the bytes of state.
BY_LOAD = ("balance", "memory", "failover")
#: So many distinct sets of nodes take seconds to add up to a probability of loss, which is then not recomputed.
MANY_SETS = 1000
#: The rules that every plan is held to.
_ALWAYS = ("copy-not-with-primary", "copies-on-distinct-nodes")
#: What ``--strict`` asks of the balance where the plan names no limit of its own.
STRICT_BALANCE = 0.05


def judge_allocation(plan: Plan, problem: Problem, strict: bool) -> Judged:
    """Return what a checkpoint allocation violates, the rules that it was held to, and what was not recomputed.

    Codes: those of :mod:`ftplan.planners.allocate_checkpoints.rules` and :mod:`ftplan.planners.judging`, and
    ``CHANGES_DIFFER`` for moves that do not lead from the checkpoints in place to the plan's.

    Raises :class:`FtplanError` if an input is missing.
    """
    if problem.topology is None or problem.cluster is None:
        raise FtplanError("verify needs the topology and the cluster: give --topology and --cluster")
    series: KeyGroupSeries | None = None
    if problem.stats is not None:
        series = planned_on(plan, require(problem, CheckpointAllocationOptions.of_plan(plan).load)[2])
    assignments = stated_assignments(plan, problem.topology, problem.cluster)
    rules = rules_of(plan, strict)
    waived = set() if strict else _left_broken(plan)
    breaches = list(violations(assignments, problem.topology, problem.cluster, series, rules))
    breaches = [violation for violation in breaches if not any(violation.code in RULE_CODES[name] for name in waived)]
    held = tuple(name for name in rules.names() if name not in waived)
    # Not every algorithm keeps what options ask for: what the plan does not name is not promised, and said.
    unnamed = tuple(rule for rule in _ALWAYS if rule not in (plan.rules or ()))
    unpromised = unnamed + tuple(rule for rule in ("balance", "memory", *_asked(plan)) if rule not in held)
    if series is None:
        stated = [name for name in ("objective", "summary") if getattr(plan, name)]
        stated += ["plan.moves"] if (plan.plan or {}).get("moves") is not None else []
        return Judged(breaches, held, tuple(stated), unpromised=unpromised).without(dict.fromkeys(BY_LOAD, "stats"))
    # Where the plan names groups or nodes that do not exist its value means nothing.
    if {v.code for v in breaches} & {"UNKNOWN_KEY_GROUP", "UNKNOWN_NODE", "ASSIGNED_TWICE"}:
        return Judged(breaches, held, unpromised=unpromised)
    score = allocation_score(assignments, problem.cluster, series, objective_of(plan))
    breaches += _objective(plan, assignments, score, series, problem.cluster)
    breaches += _options(plan, series, problem.cluster)
    now = _current(plan, problem)
    left: tuple[str, ...] = ()
    if now is not None:
        breaches += _changes(plan, assignments, now, series, problem)
    elif (plan.plan or {}).get("moves") is not None:
        left = ("plan.moves",)
    if plan.summary and not any(v.code == "MISSING_KEY_GROUP" for v in breaches):
        broken, more = judge_summary(plan, _summary(plan, assignments, score, series, problem, now))
        breaches, left = [*breaches, *broken], (*left, *more)
    return Judged(breaches, held, left, unpromised=unpromised)


def judge_question(plan: Plan, problem: Problem) -> Judged:
    """Return what a plan without an answer leaves to planning again: all figures that it states."""
    if problem.topology is None or problem.cluster is None:
        raise FtplanError("verify needs the topology and the cluster: give --topology and --cluster")
    return Judged([], (), tuple(f"summary.{name}" for name in sorted(plan.summary)))


def _asked(plan: Plan) -> tuple[str, ...]:
    """Return the rules that the plan's options ask for, whatever the planner came to."""
    balance = plan.options.get("balance")
    given = {
        "copies-in-distinct-zones": plan.options.get("anti_affinity") == "zone",
        "count": balance == "count",
        "even-count": balance == "even-count",
        "failover": isinstance(plan.options.get("failover_limit"), (int, float)),
    }
    return tuple(rule for rule, is_so in given.items() if is_so)


def _options(plan: Plan, series: KeyGroupSeries, cluster: Cluster) -> list[Violation]:
    """The objective asked for is the one that is stated; a capacity that was not asked for follows from the load."""
    true: dict[str, Any] = {}
    if plan.objective is not None and plan.objective.name in OBJECTIVES:
        true["objective"] = plan.objective.name
    if "capacity_per_core_requested" in plan.options:
        asked = replace(objective_of(plan), capacity_per_core=plan.options["capacity_per_core_requested"])
        true["capacity_per_core"] = asked.resolved(series, cluster).capacity_per_core
    return judge_options(plan, true)


def _left_broken(plan: Plan) -> set[str]:
    """Return the rules that always hold but that upkeep says it had too few moves to mend."""
    if not any(warning.code == STILL_BROKEN for warning in plan.warnings):
        return set()
    return set(_ALWAYS) - set(plan.rules or ())


def rules_of(plan: Plan, strict: bool = False) -> CheckpointRules:
    """Return the rules that a plan claims to keep; a plan that names none is held to the two that always hold.

    With *strict* it is held to zones, balance (its own limit, else 0.05) and memory as well.
    """
    named = set(plan.rules or ())
    copies = plan.options.get("copies")
    if not isinstance(copies, int):
        copies = _usual_copies(plan)
    balance: Any = "none"
    stated = plan.options.get("balance", STRICT_BALANCE)
    if "count" in named:
        balance = "count"
    elif "even-count" in named:
        balance = "even-count"
    if "balance" in named or (strict and balance == "none"):
        balance = float(stated) if isinstance(stated, (int, float)) else STRICT_BALANCE
    zoned = strict or "copies-in-distinct-zones" in named
    limit = plan.options.get("failover_limit")
    if "failover" in named and not isinstance(limit, (int, float)):
        raise FtplanError("plan: rules names failover, but options.failover_limit is no number")
    limit = float(limit) if isinstance(limit, (int, float)) and "failover" in named else None
    return CheckpointRules(copies, "zone" if zoned else "node", balance, strict or "memory" in named, limit)


def _usual_copies(plan: Plan) -> int:
    """Return the most frequent number of copies, for a plan that does not say how many each key group shall have."""
    assignments = plan.plan.get("assignments") if plan.plan else None
    counts: dict[int, int] = {}
    for item in assignments if isinstance(assignments, list) else []:
        nodes = item.get("checkpoints") if isinstance(item, dict) else None
        if isinstance(nodes, list):
            counts[len(nodes)] = counts.get(len(nodes), 0) + 1
    return max(counts, key=lambda n: (counts[n], n), default=1)


def _objective(
    plan: Plan, assignments: Any, score: AllocationScore, series: KeyGroupSeries, cluster: Cluster
) -> list[Violation]:
    """Hold the objective that the plan states to what its assignments score, with the plan's own options."""

    def true(stated: Objective) -> Recomputed:
        objective = score.objective
        random = None if objective.integral else _random(plan, assignments, score, series, cluster)
        size = abs(score.value) if random is None or stated.bound is None else abs(random - stated.bound)
        slack = ROUNDING * max(abs(score.value), size, LEAST_SCALE)
        return Recomputed(score.value, objective.sense, slack, random)

    return judge_stated(plan, OBJECTIVES, true)


def _random(plan: Plan, assignments: Any, score: AllocationScore, series: KeyGroupSeries, cluster: Cluster) -> float:
    """Return what a random plan expects, which has all copies also where the plan lacks some."""
    copies = plan.options.get("copies")
    if not isinstance(copies, int) or all(len(item["checkpoints"]) >= copies for item in assignments):
        return score.random
    whole = []
    for item in assignments:
        held = list(item["checkpoints"])
        others = [n.id for n in cluster.nodes if "checkpoints" in n.accepts and n.id not in (item["primary"], *held)]
        whole.append({**item, "checkpoints": [*held, *others][: max(copies, len(held))]})
    return allocation_score(whole, cluster, series, score.objective).random


def _current(plan: Plan, problem: Problem) -> Cluster | None:
    """Return the cluster with the checkpoints that were in place for the plan; None where they are not known."""
    assert problem.cluster is not None
    assert problem.topology is not None
    known, path = given_plan(plan, "current")
    if not known or path is None:
        return problem.cluster if known else None
    return with_current(path, problem.cluster, problem.topology)[0]


def _changes(
    plan: Plan, assignments: Any, cluster: Cluster, series: KeyGroupSeries, problem: Problem
) -> list[Violation]:
    """Hold the moves to those between the checkpoints in place and the plan's; how they pair is the plan's choice."""
    stated = (plan.plan or {}).get("moves")
    if stated is None:
        return []
    assert problem.topology is not None
    needed = moves(assignments, cluster.placement, problem.topology, series)
    if needed is None:
        return [] if not stated else [Violation("CHANGES_DIFFER", "moves are stated, but no checkpoint is in place")]
    said, is_so = _ends(stated), _ends(needed)
    broken = []
    for operator, group in sorted(set(said) | set(is_so), key=lambda item: (str(item[0]), item[1])):
        name = (operator, group)
        one, other = said.get(name), is_so.get(name)
        where = f"key-group:{operator}/{group}"
        if one is None or other is None:
            text = "has to move, but no move is stated" if one is None else "has a move stated, but none is needed"
            broken.append(Violation("CHANGES_DIFFER", f"moves: {where} {text}", where))
        elif one[:2] != other[:2]:
            broken.append(
                Violation("CHANGES_DIFFER", f"moves: {where} does not lead from its copies to the plan's", where)
            )
        elif one[2] is not None and (other[2] is None or not same(one[2], other[2])):
            text = f"moves: {where} states {shown(one[2])} bytes, it is {shown(other[2])}"
            broken.append(Violation("CHANGES_DIFFER", text, where))
    return broken


def _ends(stated: Any) -> dict[tuple[str, int], tuple[list[str], list[str], float | None]]:
    """Return the nodes that copies leave and reach, and the bytes (None: unknown), by key group."""
    ends: dict[tuple[str, int], tuple[list[str], list[str], float | None]] = {}
    for item in stated:
        leaving, coming, size = ends.get((item["operator"], item["key_group"]), ([], [], 0.0))
        leaving = sorted([*leaving, *([item["from"]] if item.get("from") is not None else [])])
        coming = sorted([*coming, *([item["to"]] if item.get("to") is not None else [])])
        total = None if size is None or item.get("bytes") is None else size + float(item["bytes"])
        ends[item["operator"], item["key_group"]] = (leaving, coming, total)
    return ends


def _summary(
    plan: Plan, assignments: Any, score: AllocationScore, series: KeyGroupSeries, problem: Problem, now: Cluster | None
) -> dict[str, Any]:
    """Recompute the figures before and after, and those that a random plan expects."""
    assert problem.cluster is not None
    assert problem.topology is not None
    given, topology = problem.cluster, problem.topology
    losses: Losses = "zone" if CheckpointAllocationOptions.of_plan(plan).anti_affinity == "zone" else "node"
    figures: dict[str, Any] = {
        "after": score.to_dict() | _availability(assignments, given, series, losses),
        "random": score.random_to_dict() | {score.key: _random(plan, assignments, score, series, given)},
    }
    if now is None:
        return figures
    current = current_assignments(now, topology, series)
    figures["before"] = None
    if current is not None:
        known = {(item["operator"], item["key_group"]) for item in current}
        rest = [{**a, "checkpoints": []} for a in assignments if (a["operator"], a["key_group"]) not in known]
        before = allocation_score([*current, *rest], given, series, score.objective)
        figures["before"] = before.to_dict() | _availability(current, given, series, losses)
    if isinstance(plan.summary.get("upkeep"), dict):
        figures["upkeep"] = _upkeep(plan, score.value, moves(assignments, now.placement, topology, series))
    return figures


def _availability(assignments: Any, cluster: Cluster, series: KeyGroupSeries, losses: Losses) -> dict[str, Any]:
    """Return what losses of nodes do; the probability of a loss only where it is quickly computed."""
    if len(copysets(assignments)) <= MANY_SETS:
        return availability(assignments, cluster, series, losses)
    bare = replace(
        cluster,
        nodes=tuple(replace(node, failure_probability=None) for node in cluster.nodes),
        zones=tuple(replace(zone, failure_probability=None) for zone in cluster.zones),
    )
    figures = availability(assignments, bare, series, losses)
    return {name: value for name, value in figures.items() if not name.startswith("loss_probability")}


def _upkeep(plan: Plan, value: float, needed: list[dict[str, Any]] | None) -> dict[str, Any]:
    """Recompute what the summary says of upkeep and what follows from the plan alone."""
    sizes = [move["bytes"] for move in needed or ()]
    threshold = plan.options.get("threshold")
    return {
        "after": value,
        "threshold": 0.0 if threshold is None else threshold,
        "max_moves": plan.options.get("max_moves"),
        "max_bytes": plan.options.get("max_bytes"),
        "moves": len(sizes),
        "bytes": None if None in sizes else float(sum(sizes)),
    }


JUDGES = Judges(judge_allocation, judge_question, tuple(RULE_CODES), tuple(OBJECTIVES))
