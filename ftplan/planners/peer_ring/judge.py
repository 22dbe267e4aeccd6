"""Does a peer ring keep its rules, and is what it states so?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ftplan.errors import FtplanError
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING
from ftplan.model.violation import Breach, Violation
from ftplan.planners.judging import (
    Judged,
    Judges,
    Recomputed,
    held_to,
    judge_options,
    judge_stated,
    judge_summary,
    judge_unanswered,
)
from ftplan.planners.peer_ring.body import whole_body
from ftplan.planners.peer_ring.from_plan import question_of, ring_of
from ftplan.planners.peer_ring.judge_body import judge_body, judge_levels, judge_nodes, judge_steps, wrong_tokens
from ftplan.planners.peer_ring.moves import worth_moved
from ftplan.planners.peer_ring.prepare import PreparedRing, capacity_per_core
from ftplan.planners.peer_ring.problem import RingProblem
from ftplan.planners.peer_ring.ring import Ring
from ftplan.planners.peer_ring.rules import (
    CAPACITY,
    MOST_BYTES,
    NOWHERE,
    ONE_ZONE,
    ORDER,
    REPLICATION,
    RULES,
    TARGET_LOAD,
    TOGETHER,
    TOKENS,
    ZONES_APART,
    broken,
    demanded_rules,
    judged_rules,
    requested_rules,
)
from ftplan.planners.peer_ring.steps import steps_of
from ftplan.planners.peer_ring.summary import failure_of, figures_in_place, question_summary, summary

OBJECTIVE = "largest-load"
#: The code of each broken rule.
CODES: Mapping[str, str] = {
    REPLICATION: "TOO_FEW_NODES",
    TOKENS: "ASSIGNED_TWICE",
    ZONES_APART: "COPY_IN_SAME_ZONE",
    ONE_ZONE: "ZONE_LOSES",
    CAPACITY: "OVER_CAPACITY",
    MOST_BYTES: "OVER_BUDGET",
    TARGET_LOAD: "OVER_LOAD",
    ORDER: "WRONG_ORDER",
}
#: Of ``tokens`` and ``replication``, by what is wrong with them.
_OF_TOKENS = {NOWHERE: "WRONG_TOKEN", TOGETHER: "COPIES_ON_ONE_NODE"}


def judge_peer_ring(plan: Plan, problem: Problem, strict: bool) -> Judged:
    """Return what a ring violates, the rules that it was held to, and what was not recomputed.

    A plan that names no rules is held to all that its options ask for, and to losing nothing with any one zone where
    that can be; *strict* holds every plan to these.

    Codes: ``UNKNOWN_NODE``, ``ASSIGNED_TWICE`` (a token), ``NOT_DRAINED``, ``NOT_FILLED``, ``NODE_MISSING`` and
    ``WRONG_NODE`` always; for the rules ``TOO_FEW_NODES``, ``COPIES_ON_ONE_NODE``, ``ASSIGNED_TWICE``,
    ``WRONG_TOKEN``, ``COPY_IN_SAME_ZONE``, ``ZONE_LOSES``, ``OVER_CAPACITY``, ``OVER_BUDGET``, ``OVER_LOAD`` and
    ``WRONG_ORDER``; ``WRONG_LOAD``, ``WRONG_ZONES``, ``WRONG_COPIES``, ``WRONG_MOVE``, ``WRONG_COST``,
    ``WRONG_TOLERANCE``, ``WRONG_TAKEOVER`` and ``WRONG_ESTIMATE`` for what the body states besides; and those of
    :mod:`ftplan.planners.judging`.

    Raises FtplanError if an input is missing, or the plan's options are not what they should be.
    """
    prepared = question_of(plan, problem)
    question = prepared.problem
    asked, possible = requested_rules(question), (*demanded_rules(question), *judged_rules(question))
    held = held_to(plan, RULES, demanded_rules(question), strict)
    unpromised = tuple(rule for rule in possible if rule not in held)
    wrong = list(wrong_tokens(plan, question))
    if wrong:  # where the plan names what does not exist, or a token twice, nothing else means anything
        return Judged(wrong, held, asked=asked, unpromised=unpromised).within(possible)
    ring = ring_of(plan, question)
    wrong = list(judge_nodes(plan, prepared, ring))
    try:
        steps = steps_of((plan.plan or {}).get("steps"), question, ring)
    except FtplanError as error:
        return Judged(
            [*wrong, Violation("WRONG_MOVE", str(error), "steps")], held, asked=asked, unpromised=unpromised
        ).within(possible)
    wrong += judge_steps(plan, question, ring, steps)
    breaches = broken(question, ring, worth_moved(question, steps), held)
    wrong += [_violation(breach) for breach in breaches if breach.rule in held]
    if any(breach.rule == REPLICATION for breach in breaches):  # there are no holders to speak of
        return Judged(wrong or [_violation(breaches[0])], held, asked=asked, unpromised=unpromised).within(possible)
    failure = failure_of(question, ring)
    body = whole_body(question, ring, steps, failure)
    wrong += judge_body(plan, body)
    wrong += _objective(plan, question, ring)
    wrong += judge_levels(plan, question, ring, steps)
    wrong += judge_options(plan, _derived(plan, prepared))
    left: tuple[str, ...] = ()
    if plan.summary:
        differing, left = judge_summary(plan, summary(question, ring, steps, failure, body["tolerance"]["survival"]))
        wrong += differing
    return Judged(wrong, held, left, asked=asked, unpromised=unpromised).within(possible)


def judge_question(plan: Plan, problem: Problem) -> Judged:
    """Return what a plan without an answer states falsely of its question, and what was not recomputed."""
    prepared = question_of(plan, problem)
    question = prepared.problem
    true = question_summary(question, figures_in_place(question))
    return judge_unanswered(plan, true, _derived(plan, prepared))


def _violation(breach: Breach) -> Violation:
    code = _OF_TOKENS.get(str(breach.current)) or CODES[breach.rule]
    return Violation(code, breach.message, breach.where)


def _derived(plan: Plan, prepared: PreparedRing) -> dict[str, Any]:
    """Return the options that follow from others, or from the inputs."""
    if "capacity_per_core_requested" not in plan.options:
        return {}
    question = prepared.problem
    asked = replace(prepared.options, capacity_per_core=plan.options["capacity_per_core_requested"])
    found = capacity_per_core(asked, prepared.loads, prepared.cluster, question.members, question.current)
    return {"capacity_per_core": found}


def _objective(plan: Plan, problem: RingProblem, ring: Ring) -> list[Violation]:
    value = problem.largest_load(ring)
    true = Recomputed(value, "min", ROUNDING * max(abs(value), LEAST_SCALE))
    return judge_stated(plan, (OBJECTIVE,), lambda _: true, with_status=False)  # that of all levels: judge_levels


JUDGES = Judges(judge_peer_ring, judge_question, RULES, (OBJECTIVE,))
