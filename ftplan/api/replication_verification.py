"""Does a replication plan keep its rules, and is its objective right?"""

from __future__ import annotations

import math

from ftplan.api.replication_asked import asked_of, max_cpu_of, nodes_by_task, replicas_of
from ftplan.api.replication_figures import value
from ftplan.api.replication_problem import METRICS, Prepared
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.replication_rules import BUDGET, RULES, ReplicationLimits, violations
from ftplan.model.violation import Violation

#: How far a stated objective may lie from the recomputed one.
TOLERANCE = 1e-9


def judge_replication(plan: Plan, problem: Problem, strict: bool) -> tuple[list[Violation], tuple[str, ...]]:
    """Return what a replication plan violates, and the rules that it was held to.

    A plan that names no rules is held to its budget, where it states one, and with a cluster to keep replicas from
    their primaries; *strict* adds zones, capacity and memory.

    Codes: of :mod:`ftplan.model.replication_rules`, ``BELOW_TARGET``, and ``OBJECTIVE_DIFFERS``, also for a stated
    bound that the plan beats.

    Raises
    ------
    FtplanError
        If an input is missing, or the plan's options are not what they should be.
    """
    prepared = asked_of(plan, problem)
    rules = _rules(plan, strict)
    limited = BUDGET in rules and plan.options.get("target") is None
    limits = ReplicationLimits(
        graph=prepared.graph,
        cluster=problem.cluster,
        primary=prepared.primary,
        cpu=prepared.cpu,
        memory_mb=prepared.memory_mb,
        weight=prepared.problem.weight,
        budget=prepared.problem.budget if limited else math.inf,
        max_cpu=max_cpu_of(plan),
    )
    found = list(violations(replicas_of(plan), limits, rules))
    # Where the plan names tasks or nodes that do not exist its value means nothing.
    if not {item.code for item in found} & {"UNKNOWN_TASK", "UNKNOWN_NODE", "ASSIGNED_TWICE"}:
        found += _objective(plan, prepared)
    return found, rules


def _rules(plan: Plan, strict: bool) -> tuple[str, ...]:
    named = (BUDGET, RULES[1]) if plan.rules is None else plan.rules
    return (*(rule for rule in named if rule not in RULES), *(r for r in RULES if r in named or strict))


def _objective(plan: Plan, prepared: Prepared) -> list[Violation]:
    node = nodes_by_task(plan, prepared.graph)
    reached = value(prepared, prepared.measured, node)
    target = plan.options.get("target")
    found = []
    if target is not None and reached < target - TOLERANCE:
        text = f"{prepared.problem.metric} is {reached:.12g}, below the target {target:.12g}"
        found.append(Violation("BELOW_TARGET", text))
    stated = plan.objective
    if stated is None or stated.value is None or stated.name not in (*METRICS, "replicas"):
        return found
    worth = float(len(node)) if stated.name == "replicas" else reached
    sense = "min" if stated.name == "replicas" else "max"
    if abs(worth - stated.value) > TOLERANCE:
        text = f"the plan states {stated.name} {stated.value:.12g}, its replicas are worth {worth:.12g}"
        found.append(Violation("OBJECTIVE_DIFFERS", text))
    if stated.sense != sense:
        found.append(Violation("OBJECTIVE_DIFFERS", f"the plan states sense {stated.sense}, {stated.name} has {sense}"))
    beyond = 0.0 if stated.bound is None else (worth - stated.bound) * (1.0 if sense == "max" else -1.0)
    if beyond > TOLERANCE:
        text = f"the plan is worth {worth:.12g}, better than its bound {stated.bound:.12g}"
        found.append(Violation("OBJECTIVE_DIFFERS", text))
    return found
