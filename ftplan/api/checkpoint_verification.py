"""Does a checkpoint allocation keep its rules, and is its objective right?"""

from __future__ import annotations

from typing import Any

from ftplan.api.assignments import stated_assignments
from ftplan.api.checkpoint_allocation import parse_balance, require
from ftplan.api.unseen_time import planned_on
from ftplan.errors import FtplanError
from ftplan.metrics.checkpoint_objective import OBJECTIVES, CheckpointObjective, objective_value
from ftplan.model.checkpoint_rules import RULE_CODES, STILL_BROKEN, CheckpointRules, violations
from ftplan.model.cluster import Cluster
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.violation import Violation

#: How far a stated objective may lie from the recomputed one, relative to its size and scale.
TOLERANCE = 1e-9
#: What ``--strict`` asks of the balance where the plan names no limit of its own.
STRICT_BALANCE = 0.05


def judge_allocation(plan: Plan, problem: Problem, strict: bool) -> tuple[list[Violation], tuple[str, ...]]:
    """Return what a checkpoint allocation violates, and the rules that it was held to.

    Codes: those of :mod:`ftplan.model.checkpoint_rules`, and ``OBJECTIVE_DIFFERS``, also for a stated bound that the
    plan beats.

    Raises
    ------
    FtplanError
        If an input is missing.
    """
    if problem.topology is None or problem.cluster is None:
        raise FtplanError("verify needs the topology and the cluster: give --topology and --cluster")
    series: KeyGroupSeries | None = None
    if problem.stats is not None:
        series = planned_on(plan, require(problem, str(plan.options.get("load", "records")))[2])
    assignments = stated_assignments(plan, problem.topology, problem.cluster)
    rules = rules_of(plan, strict)
    waived = set() if strict else _left_broken(plan)
    found = list(violations(assignments, problem.topology, problem.cluster, series, rules))
    found = [violation for violation in found if not any(violation.code in RULE_CODES[name] for name in waived)]
    # Where the plan names groups or nodes that do not exist its value means nothing.
    if series is not None and not {v.code for v in found} & {"UNKNOWN_KEY_GROUP", "UNKNOWN_NODE", "ASSIGNED_TWICE"}:
        found += _objective(plan, assignments, series, problem.cluster)
    return found, tuple(name for name in rules.names() if name not in waived)


def _left_broken(plan: Plan) -> set[str]:
    """Return the rules that always hold but that upkeep says it had too few moves to mend."""
    if not any(warning.code == STILL_BROKEN for warning in plan.warnings):
        return set()
    return {"copy-not-with-primary", "copies-on-distinct-nodes"} - set(plan.rules or ())


def rules_of(plan: Plan, strict: bool = False) -> CheckpointRules:
    """Return the rules that a plan claims to keep; a plan that names none is held to the two that always hold.

    With *strict* it is held to zones, balance (its own limit, else 0.05) and memory as well.
    """
    named = set(plan.rules or ())
    copies = plan.options.get("copies")
    if not isinstance(copies, int):
        copies = _usual_copies(plan)
    balance: Any = "none"
    stated = parse_balance(plan.options.get("balance", STRICT_BALANCE))
    if "count" in named:
        balance = "count"
    elif "even-count" in named:
        balance = "even-count"
    if "balance" in named or (strict and balance == "none"):
        balance = stated if isinstance(stated, float) else STRICT_BALANCE
    zoned = strict or "copies-in-distinct-zones" in named
    limit = plan.options.get("failover_limit")
    if "failover" in named and not isinstance(limit, (int, float)):
        raise FtplanError("plan: rules names failover, but options.failover_limit is no number")
    limit = float(limit) if isinstance(limit, (int, float)) and "failover" in named else None
    return CheckpointRules(copies, "zone" if zoned else "node", balance, strict or "memory" in named, limit)


def objective_of(plan: Plan) -> CheckpointObjective:
    """Return the objective that a plan names, with the options that it was planned with; correlation if none."""
    name = plan.objective.name if plan.objective is not None and plan.objective.name in OBJECTIVES else None
    return CheckpointObjective.of_options(plan.options, name)


def _usual_copies(plan: Plan) -> int:
    """Return the most frequent number of copies, for a plan that does not say how many each key group shall have."""
    assignments = plan.plan.get("assignments") if plan.plan else None
    counts: dict[int, int] = {}
    for item in assignments if isinstance(assignments, list) else []:
        nodes = item.get("checkpoints") if isinstance(item, dict) else None
        if isinstance(nodes, list):
            counts[len(nodes)] = counts.get(len(nodes), 0) + 1
    return max(counts, key=lambda n: (counts[n], n), default=1)


def _objective(plan: Plan, assignments: Any, series: KeyGroupSeries, cluster: Cluster) -> list[Violation]:
    """Recompute the objective that the plan names, with the plan's own options."""
    stated = plan.objective
    if stated is None or stated.value is None or stated.name not in OBJECTIVES:
        return []
    objective = objective_of(plan)
    value = objective_value(objective, assignments, series, cluster)
    slack = TOLERANCE * max(abs(value), stated.scale or 0.0, 1e-9)
    found = []
    if abs(value - stated.value) > slack:
        found.append(
            Violation(
                "OBJECTIVE_DIFFERS", f"the plan states {stated.value:.12g}, its assignments are worth {value:.12g}"
            )
        )
    if stated.sense != objective.sense:
        message = f"the plan states sense {stated.sense}, {objective.name} has {objective.sense}"
        found.append(Violation("OBJECTIVE_DIFFERS", message))
    if stated.bound is not None and objective.sign * (value - stated.bound) < -slack:
        beyond = "less" if objective.sense == "min" else "more"
        message = f"the plan is worth {value:.12g}, {beyond} than its bound {stated.bound:.12g}"
        found.append(Violation("OBJECTIVE_DIFFERS", message))
    return found
