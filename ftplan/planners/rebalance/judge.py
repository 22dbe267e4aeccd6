"""Does a rebalance keep its rules, and is what it states so?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ftplan.model.measures.node_load import capacity_of
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING
from ftplan.model.violation import Violation, over
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
from ftplan.planners.rebalance.body import summary
from ftplan.planners.rebalance.from_plan import group_numbers, moves_listed, numbered, question_of
from ftplan.planners.rebalance.judge_body import judge_body
from ftplan.planners.rebalance.migration_costs import PROTOCOLS
from ftplan.planners.rebalance.migration_phases import phase_figures
from ftplan.planners.rebalance.options import CRITERIA, RebalanceOptions
from ftplan.planners.rebalance.prepare import PreparedRebalance
from ftplan.planners.rebalance.problem import Migration, Rebalance, RebalanceProblem
from ftplan.planners.rebalance.rules import CODES, COPIES, NEAR_CODES, RULES, broken, name_of, rules
from ftplan.reports.numbers import figures_in

OBJECTIVES = (*CRITERIA, *(f"{name}-and-traffic" for name in CRITERIA))


def judge_rebalance(plan: Plan, problem: Problem, strict: bool) -> Judged:
    """Return what a rebalance violates, the rules that it was held to, and what was not recomputed.

    A plan that names no rules is held to all that its options ask for; *strict* holds every plan to these.

    Codes: ``UNKNOWN_NODE``, ``UNKNOWN_KEY_GROUP``, ``ASSIGNED_TWICE``, ``WRONG_MOVE`` and ``WRONG_PROTOCOL`` (of no
    protocol, or one that never ends) always; for the rules ``OVER_CAPACITY``, ``OVER_BALANCE``, ``NOT_FILLED``,
    ``NOT_DRAINED``, ``OVER_PHASE_CAPACITY``, ``COPY_WITH_PRIMARY``, ``COPIES_ON_ONE_NODE``, ``COPY_IN_SAME_ZONE``,
    ``OVER_BUDGET``, ``OVER_PAUSE``, ``OVER_NOTICE`` and ``WRONG_PROTOCOL``; ``WRONG_COST``, ``WRONG_PHASE``,
    ``WRONG_CHECKPOINTS``, ``WRONG_ROLLBACK`` and ``CHANGES_DIFFER`` for what the body states besides; and those of
    :mod:`ftplan.planners.judging`.

    Raises FtplanError if an input is missing, or the plan's options are not what they should be.
    """
    prepared = question_of(plan, problem)
    question, options = prepared.problem, RebalanceOptions.of_plan(plan)
    asked = rules(question)
    held = held_to(plan, RULES, asked, strict)
    wrong = [*_unknown(plan, question), *_twice(plan)]
    if wrong:  # where the plan names what does not exist, or a group twice, nothing else means anything
        return Judged(wrong, held, asked=asked).within(asked)
    answer = numbered(plan, question)
    wrong = [*_ends(plan, question), *_endless(question, answer)]
    if any(violation.code == "WRONG_PROTOCOL" for violation in wrong):
        return Judged(wrong, held, asked=asked).within(asked)
    for breach in broken(question, answer):
        if breach.rule in held:
            code = NEAR_CODES[breach.current] if breach.rule == COPIES else CODES[breach.rule]
            wrong.append(Violation(code, breach.message, breach.where))
    wrong += judge_body(plan, question, answer, options.protocol)
    wrong += _objective(plan, question, answer.moves)
    wrong += judge_options(plan, _derived(plan, prepared))
    left: tuple[str, ...] = ()
    if plan.summary:
        differing, left = judge_summary(plan, summary(prepared, options, answer))
        wrong += [*differing, *_front(plan, question, answer)]
    return Judged(wrong, held, left, asked=asked).within(asked)


def judge_question(plan: Plan, problem: Problem) -> Judged:
    """Return what a plan without an answer states falsely of its question, and what was not recomputed."""
    prepared = question_of(plan, problem)
    true = summary(prepared, RebalanceOptions.of_plan(plan), None)
    return judge_unanswered(plan, true, _derived(plan, prepared))


def _derived(plan: Plan, prepared: PreparedRebalance) -> dict[str, Any]:
    """Return the options that follow from others, or from the inputs."""
    true: dict[str, Any] = {}
    if "capacity_per_core_requested" in plan.options:
        asked = plan.options["capacity_per_core_requested"]
        true["capacity_per_core"] = capacity_of(prepared.series, prepared.cluster) if asked is None else asked
    requested = plan.options.get("tolerance_requested", "auto")
    if requested != "auto":
        true["tolerance"] = requested
    elif "tolerance" in plan.options and not prepared.problem.added.any():
        true["tolerance"] = "none"
    return true


def _unknown(plan: Plan, problem: RebalanceProblem) -> Iterator[Violation]:
    """Name the key groups, nodes and protocols that are not there."""
    groups, nodes, body = group_numbers(problem), set(problem.nodes), plan.plan or {}
    for name in ("moves", "new_copies", "checkpoints"):
        for number, item in enumerate(body.get(name) or ()):
            where, place = f"key-group:{item['operator']}/{item['key_group']}", f"{name}[{number}]"
            if (item["operator"], item["key_group"]) not in groups:
                text = f"{place}: {where} is not among the key groups with a place and statistics"
                yield Violation("UNKNOWN_KEY_GROUP", text, where)
            for node in item["nodes"] if name == "checkpoints" else (item["from"], item["to"]):
                if node not in nodes:
                    yield Violation("UNKNOWN_NODE", f"{place}: the cluster has no node {node!r}", f"node:{node}")
            if name == "moves" and item.get("protocol") not in (None, *PROTOCOLS):
                text = f"{place}: {item['protocol']!r} is no protocol: one of {', '.join(PROTOCOLS)}"
                yield Violation("WRONG_PROTOCOL", text, where)
    for name in ("add_nodes", "remove_nodes"):
        for node in body.get(name) or ():
            if node not in nodes:
                yield Violation("UNKNOWN_NODE", f"{name}: the cluster has no node {node!r}", f"node:{node}")


def _twice(plan: Plan) -> Iterator[Violation]:
    for name in ("moves", "checkpoints"):
        seen = set[tuple[str, int]]()
        for number, item in enumerate((plan.plan or {}).get(name) or ()):
            group = (item["operator"], item["key_group"])
            if group in seen:
                where = f"key-group:{item['operator']}/{item['key_group']}"
                yield Violation("ASSIGNED_TWICE", f"{name}[{number}]: {where} is listed before", where)
            seen.add(group)


def _ends(plan: Plan, problem: RebalanceProblem) -> Iterator[Violation]:
    """Key groups move from where they are to another node that takes them."""
    groups, number = group_numbers(problem), {name: i for i, name in enumerate(problem.nodes)}
    for item in moves_listed(plan):
        where, to = f"key-group:{item['operator']}/{item['key_group']}", number[item["to"]]
        home = int(problem.home[groups[item["operator"], item["key_group"]]])
        if number[item["from"]] != home:
            text = f"moves {where} from {item['from']}, it is on {problem.nodes[home]}"
            yield Violation("WRONG_MOVE", text, where)
        if to == home:
            yield Violation("WRONG_MOVE", f"moves {where} to {item['to']}, where it is", where)
        elif not problem.hosts[to]:
            why = "is to be drained" if problem.removed[to] else "takes no tasks"
            yield Violation("WRONG_MOVE", f"moves {where} to {item['to']}, which {why}", where)


def _endless(problem: RebalanceProblem, answer: Rebalance) -> Iterator[Violation]:
    """Name the moves that never end."""
    for move in answer.moves:
        row = PROTOCOLS.index(move.protocol)
        if not math.isfinite(problem.costs.latency_s[row, move.group]):
            where = name_of(problem, move.group)
            yield Violation("WRONG_PROTOCOL", f"{where} cannot move by {move.protocol}: it never ends", where)


def _front(plan: Plan, problem: RebalanceProblem, answer: Rebalance) -> Iterator[Violation]:
    """The front of phase sizes holds no point that another one, or the plan's own phases, beats in all respects."""
    stated = plan.summary.get("front")
    named = [figures_in(item) for item in stated] if isinstance(stated, list) else []
    both = ("longest_pause_s", "duration_s")
    points = [(f[both[0]], f[both[1]]) if f.keys() >= {*both} else None for f in named]
    figures = phase_figures(problem, answer.phases)
    own = (max((item.longest_pause_s for item in figures), default=0.0), math.fsum(f.duration_s for f in figures))
    for number, point in enumerate(points):
        others = [p for p in (own, *points) if p is not None]
        better = [p for p in others if point is not None and over(point[0], p[0]) and over(point[1], p[1])]
        if better:
            place = f"summary.front[{number}]"
            text = f"{place} is no choice: there is one of pauses of {better[0][0]:.6g} s in {better[0][1]:.6g} s"
            yield Violation("SUMMARY_DIFFERS", text, place)


def _objective(plan: Plan, problem: RebalanceProblem, moves: Sequence[Migration]) -> list[Violation]:
    stated, name = plan.objective, problem.objective_name
    if stated is not None and stated.value is not None and stated.name in OBJECTIVES and stated.name != name:
        text = f"objective names {stated.name}, the plan's options ask for {name}"
        return [Violation("OBJECTIVE_DIFFERS", text, "objective.name")]
    value = problem.value(moves)
    true = Recomputed(value, "min", ROUNDING * max(abs(value), LEAST_SCALE))
    return judge_stated(plan, OBJECTIVES, lambda _: true)


JUDGES = Judges(judge_rebalance, judge_question, RULES, OBJECTIVES)
