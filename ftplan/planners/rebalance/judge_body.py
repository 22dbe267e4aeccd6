"""Is what the body of a rebalance states beside its decisions so?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.model.plan import Plan, canonical
from ftplan.model.violation import Violation
from ftplan.planners.judging import differences, same, shown
from ftplan.planners.rebalance.body import moves_of, named, new_copies_of, phases_of, rollback_of
from ftplan.planners.rebalance.effects import places_after
from ftplan.planners.rebalance.from_plan import group_numbers, moves_listed
from ftplan.planners.rebalance.problem import Rebalance, RebalanceProblem
from ftplan.planners.rebalance.rules import copies_after, memory_used, name_of

#: What a move states beside its nodes, and the code where that is not so.
_STATED = {
    "phase": "WRONG_PHASE",
    "latency_s": "WRONG_COST",
    "completion_s": "WRONG_COST",
    "bytes": "WRONG_COST",
    "pause_s": "WRONG_COST",
}


def judge_body(plan: Plan, problem: RebalanceProblem, answer: Rebalance, protocol: str) -> Iterator[Violation]:
    """Hold what the body states beside its decisions to what follows from them."""
    stated = plan.plan or {}
    yield from _statements(plan, moves_of(problem, answer, protocol))
    following = (  # lists whose entries follow from the moves, one by one
        ("phases", "WRONG_PHASE", phases_of(problem, answer)),
        ("new_copies", "WRONG_CHECKPOINTS", new_copies_of(problem, answer)),
        ("rollback", "WRONG_ROLLBACK", rollback_of(problem, answer)),
    )
    for name, code, true in following:
        if stated.get(name) is not None:
            for place, said, is_so in differences(canonical(stated[name]), canonical(true), name):
                if said is not None and not place.endswith(".reason"):
                    yield Violation(code, f"{place} states {shown(said)}, it is {shown(is_so)}", place)
    yield from _checkpoints(plan, problem, answer)
    for name, which in (("add_nodes", problem.added), ("remove_nodes", problem.removed)):
        nodes = named(problem, which)
        if stated.get(name) is not None and sorted(stated[name]) != sorted(nodes):
            text = f"{name} states {', '.join(stated[name]) or 'none'}, it is {', '.join(nodes) or 'none'}"
            yield Violation("CHANGES_DIFFER", text, name)


def _statements(plan: Plan, true: Sequence[Mapping[str, Any]]) -> Iterator[Violation]:
    """Hold what moves state to *true*, which stands in the order of phases."""
    listed = moves_listed(plan)
    phases = [item.get("phase") for item in listed]
    order = list(range(len(listed)))
    if None not in phases:
        order = sorted(order, key=lambda k: (phases[k] or 0, k))
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
    if (plan.plan or {}).get("new_copies") is not None and not problem.remote:
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
