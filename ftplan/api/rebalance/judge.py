"""Does a rebalance keep its rules, and is what it states so?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.api.rebalance.asked import asked_of, group_numbers, moves_listed, numbered
from ftplan.api.rebalance.body import (
    checkpoints_of,
    moves_of,
    named,
    new_copies_of,
    objective_name,
    phases_of,
    rollback_of,
    summary,
)
from ftplan.api.rebalance.options import CRITERIA, RebalanceOptions
from ftplan.api.rebalance.problem import PreparedRebalance
from ftplan.api.statements import (
    Judged,
    Judges,
    Recomputed,
    differences,
    judge_objective,
    judge_options,
    judge_summary,
    shown,
    unknown_objective,
)
from ftplan.metrics.migration_costs import AFTER_LOSS, PROTOCOLS
from ftplan.metrics.rebalance_effects import places_after, surviving_copies
from ftplan.metrics.rebalance_problem import Migration, Rebalance, RebalanceProblem
from ftplan.metrics.rebalance_rules import (
    BALANCE,
    CAPACITY,
    COPIES,
    DRAINED,
    FILLED,
    MEMORY,
    MOST_BYTES,
    MOST_MOVES,
    MOST_PAUSE,
    PHASE_BYTES,
    PHASE_CAPACITY,
    PROTOCOL,
    RULES,
    WITHIN,
    broken,
    copies_after,
    memory_used,
    rules,
)
from ftplan.model.plan import Plan, canonical
from ftplan.model.problem import Problem
from ftplan.model.tolerances import LEAST_SCALE, ROUNDING
from ftplan.model.violation import Violation

OBJECTIVES = (*CRITERIA, *(f"{name}-and-traffic" for name in CRITERIA))
#: The code of each broken rule; of ``copies-apart`` see :func:`_apart`.
CODES: Mapping[str, str] = {
    CAPACITY: "OVER_CAPACITY",
    MEMORY: "OVER_CAPACITY",
    BALANCE: "OVER_BALANCE",
    FILLED: "NOT_FILLED",
    DRAINED: "NOT_DRAINED",
    PHASE_CAPACITY: "OVER_PHASE_CAPACITY",
    COPIES: "COPY_IN_SAME_ZONE",
    MOST_MOVES: "OVER_BUDGET",
    MOST_BYTES: "OVER_BUDGET",
    PHASE_BYTES: "OVER_BUDGET",
    MOST_PAUSE: "OVER_PAUSE",
    WITHIN: "OVER_NOTICE",
    PROTOCOL: "WRONG_PROTOCOL",
}
#: Of ``copies-apart``, by what a new copy is too near to.
_NEAR = {ITS_GROUP: "COPY_WITH_PRIMARY", A_COPY: "COPIES_ON_ONE_NODE", ZONE: "COPY_IN_SAME_ZONE"}
#: What a move states beside its nodes, and the code where that is not so.
_STATED = {
    "phase": "WRONG_PHASE",
    "latency_s": "WRONG_COST",
    "completion_s": "WRONG_COST",
    "bytes": "WRONG_COST",
    "pause_s": "WRONG_COST",
}
#: Lists of the body whose entries follow from the moves, one by one, and the code where they are not so.
_FOLLOWING = {"phases": "WRONG_PHASE", "new_copies": "WRONG_CHECKPOINTS", "rollback": "WRONG_ROLLBACK"}


def judge_rebalance(plan: Plan, problem: Problem, strict: bool) -> Judged:
    """Return what a rebalance violates, the rules that it was held to, and what was not recomputed.

    A plan that names no rules is held to all that its options ask for; *strict* holds every plan to these.

    Codes: ``UNKNOWN_NODE``, ``UNKNOWN_KEY_GROUP``, ``ASSIGNED_TWICE``, ``WRONG_MOVE`` and ``WRONG_PROTOCOL`` (of no
    protocol, or one that never ends) always; for the rules ``OVER_CAPACITY``, ``OVER_BALANCE``, ``NOT_FILLED``,
    ``NOT_DRAINED``, ``OVER_PHASE_CAPACITY``, ``COPY_WITH_PRIMARY``, ``COPIES_ON_ONE_NODE``, ``COPY_IN_SAME_ZONE``,
    ``OVER_BUDGET``, ``OVER_PAUSE``, ``OVER_NOTICE`` and ``WRONG_PROTOCOL``; ``WRONG_COST``, ``WRONG_PHASE``,
    ``WRONG_CHECKPOINTS``, ``WRONG_ROLLBACK`` and ``CHANGES_DIFFER`` for what the body states besides; and those of
    :mod:`ftplan.api.statements`.

    Raises
    ------
    FtplanError
        If an input is missing, or the plan's options are not what they should be.
    """
    prepared = asked_of(plan, problem)
    question, options = prepared.problem, RebalanceOptions.of_plan(plan)
    held = tuple(rule for rule in RULES if rule in {*rules(question), *(plan.rules or ())})
    if not strict and plan.rules is not None:
        held = plan.rules
    wrong = [*_unknown(plan, question), *_twice(plan)]
    if wrong:  # where the plan names what does not exist, or a group twice, nothing else means anything
        return Judged(wrong, held)
    answer = numbered(plan, question)
    wrong = [*_ends(plan, question), *_endless(question, answer)]
    if any(violation.code == "WRONG_PROTOCOL" for violation in wrong):
        return Judged(wrong, held)
    for breach in broken(question, answer):
        if breach.rule in held:
            code = _NEAR[breach.current] if breach.rule == COPIES else CODES[breach.rule]
            wrong.append(Violation(code, breach.message, breach.where))
    wrong += _body(plan, question, answer, options.protocol)
    wrong += _objective(plan, question, answer.moves)
    wrong += judge_options(plan, _derived(plan, prepared))
    left: tuple[str, ...] = ()
    if plan.summary:
        differing, left = judge_summary(plan, summary(prepared, options, answer))
        wrong += differing
    return Judged(wrong, held, left)


def judge_question(plan: Plan, problem: Problem) -> Judged:
    """Return what a plan without an answer states falsely of its question, and what was not recomputed."""
    prepared = asked_of(plan, problem)
    differing, left = judge_summary(plan, summary(prepared, RebalanceOptions.of_plan(plan), None))
    return Judged([*differing, *judge_options(plan, _derived(plan, prepared))], (), left)


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


def _body(plan: Plan, problem: RebalanceProblem, answer: Rebalance, protocol: str) -> Iterator[Violation]:
    """Hold what the body states beside its decisions to what follows from them."""
    stated = plan.plan or {}
    yield from _statements(plan, moves_of(problem, answer, protocol))
    following = {
        "phases": phases_of(problem, answer),
        "new_copies": new_copies_of(problem, answer),
        "rollback": rollback_of(problem, answer),
    }
    for name, code in _FOLLOWING.items():
        if stated.get(name) is not None:
            for place, said, is_so in differences(canonical(stated[name]), canonical(following[name]), name):
                if said is not None and not place.endswith(".reason"):
                    yield Violation(code, f"{place} states {shown(said)}, it is {shown(is_so)}", place)
    yield from _checkpoints(plan, problem, answer)
    for name, nodes in (("add_nodes", named(problem, problem.added)), ("remove_nodes", named(problem, problem.removed))):
        if stated.get(name) is not None and sorted(stated[name]) != sorted(nodes):
            text = f"{name} states {', '.join(stated[name]) or 'none'}, it is {', '.join(nodes) or 'none'}"
            yield Violation("CHANGES_DIFFER", text, name)


def _statements(plan: Plan, true: Sequence[Mapping[str, Any]]) -> Iterator[Violation]:
    """Hold what moves state to *true*, which stands in the order of phases."""
    listed = moves_listed(plan)
    phases = [item.get("phase") for item in listed]
    order = list(range(len(listed)))
    if None not in phases:
        order.sort(key=lambda k: phases[k])
        if order != list(range(len(listed))):
            yield Violation("WRONG_PHASE", "moves are not listed phase by phase", "moves")
    for k, known in zip(order, canonical(true), strict=True):
        item = listed[k]
        for name, code in _STATED.items():
            if item.get(name) is None:
                continue
            if not same(canonical(item[name]), known[name]):
                text = f"moves[{k}].{name} states {shown(item[name])}, it is {shown(known[name])}"
                yield Violation(code, text, f"key-group:{item['operator']}/{item['key_group']}")


def _checkpoints(plan: Plan, problem: RebalanceProblem, answer: Rebalance) -> Iterator[Violation]:
    """Hold the checkpoints afterwards to what moves and new copies leave, and new copies to what is missing."""
    stated = (plan.plan or {}).get("checkpoints")
    after = copies_after(problem, answer)
    if stated is not None:
        said = {(item["operator"], item["key_group"]): sorted(item["nodes"]) for item in stated}
        for (operator, group), number in group_numbers(problem).items():
            where, is_so = f"key-group:{operator}/{group}", sorted(problem.nodes[node] for node in after[number])
            if said.get((operator, group)) != is_so:
                held = said.get((operator, group))
                states = "nothing" if held is None else ", ".join(held) or "no copy"
                text = f"checkpoints of {where} state {states}, it is {', '.join(is_so) or 'no copy'}"
                yield Violation("WRONG_CHECKPOINTS", text, where)
    for copy in answer.new_copies:
        where, node = name_of(problem, copy.group), problem.nodes[copy.target]
        if not problem.keeps[copy.target]:
            yield Violation("WRONG_CHECKPOINTS", f"new copy of {where} on {node}, which takes no checkpoints", where)
        if len(after[copy.group]) > len(problem.copies[copy.group]):
            text = f"new copies of {where}: {len(after[copy.group])} afterwards, {len(problem.copies[copy.group])} now"
            yield Violation("WRONG_CHECKPOINTS", text, where)
    if (plan.plan or {}).get("new_copies") is not None:
        yield from _not_renewed(problem, answer)


def _not_renewed(problem: RebalanceProblem, answer: Rebalance) -> Iterator[Violation]:
    """Name key groups that lose a copy although a node could take it."""
    place, after = places_after(problem, answer.moves), copies_after(problem, answer)
    free = problem.memory - memory_used(problem, place, after)
    for group, copies in enumerate(after):
        if len(copies) >= len(problem.copies[group]):
            continue
        taken = problem.domain[[int(place[group]), *copies]]
        able = problem.keeps & ~np.isin(problem.domain, taken) & (free >= problem.state[group])
        if able.any():
            where, node = name_of(problem, group), problem.nodes[int(np.argmax(able))]
            text = f"{where} keeps {len(copies)} of {len(problem.copies[group])} copies, and {node} could take one"
            yield Violation("WRONG_CHECKPOINTS", text, where)


def _objective(plan: Plan, problem: RebalanceProblem, moves: Sequence[Migration]) -> list[Violation]:
    stated, name = plan.objective, objective_name(problem)
    if stated is None or stated.value is None:
        return []
    if stated.name not in OBJECTIVES:
        return [unknown_objective(stated, OBJECTIVES)]
    if stated.name != name:
        text = f"objective names {stated.name}, the plan's options ask for {name}"
        return [Violation("OBJECTIVE_DIFFERS", text, "objective.name")]
    value = problem.value(moves)
    return judge_objective(
        stated, Recomputed(value, "min", ROUNDING * max(abs(value), LEAST_SCALE)), plan.status
    )


JUDGES = Judges(judge_rebalance, judge_question, RULES, OBJECTIVES)
