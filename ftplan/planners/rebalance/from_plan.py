"""A rebalance as a question and an answer again, so that others can judge it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ftplan.errors import FtplanError, suggestion
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.rebalance.migration_costs import DIRECT, PROTOCOLS
from ftplan.planners.rebalance.options import RebalanceOptions
from ftplan.planners.rebalance.prepare import PreparedRebalance, prepare
from ftplan.planners.rebalance.problem import Migration, NewCopy, Rebalance, RebalanceProblem
from ftplan.planners.rebalance.rules import cheapest


def question_of(plan: Plan, problem: Problem, **instead: Any) -> PreparedRebalance:
    """Return the question that a plan answers on some inputs; *instead* are options that replace its own.

    A plan made by hand, without options, fills and drains the nodes that it lists, and asks only for no overload.

    Raises FtplanError if an input is missing, or the plan's options are not what they should be.
    """
    options = RebalanceOptions.of_plan(plan)
    fill = None
    if plan.options.get("tolerance_requested") == "auto":
        fill = options.tolerance if isinstance(options.tolerance, float) else None
        options = replace(options, tolerance="auto")
    if not plan.options:
        add, remove = (_listed(plan, name, problem) for name in ("add_nodes", "remove_nodes"))
        options = replace(options, add=add, remove=remove, tolerance="none")
    prepared = prepare(problem, replace(options, **instead))
    return prepared if fill is None else prepared.filled(fill)


def _listed(plan: Plan, name: str, problem: Problem) -> tuple[str, ...]:
    """Return the nodes of a list of the plan that the cluster has, as selectors."""
    known = {} if problem.cluster is None else problem.cluster.position
    return tuple(f"node:{node}" for node in (plan.plan or {}).get(name) or () if node in known)


def moves_listed(plan: Plan) -> Sequence[Mapping[str, Any]]:
    """Return the moves that a plan lists."""
    return list((plan.plan or {})["moves"])


def numbered(plan: Plan, problem: RebalanceProblem) -> Rebalance:
    """Return what a plan does by numbers of key groups and nodes.

    Moves without a protocol go by the cheapest that can be. Where a move has no phase each is a phase of its own, in
    the order of the list.

    Raises FtplanError if the plan names a key group, node or protocol that is not there, or moves a key group twice.
    """
    groups = group_numbers(problem)
    nodes = {name: number for number, name in enumerate(problem.nodes)}

    def group(item: Mapping[str, Any]) -> int:
        name = (item["operator"], item["key_group"])
        if name not in groups:
            where = f"key-group:{item['operator']}/{item['key_group']}"
            raise FtplanError(f"plan: there is no {where}: verify names everything that is wrong")
        return groups[name]

    def node(name: str) -> int:
        if name not in nodes:
            near = suggestion(name, nodes)
            raise FtplanError(f"plan: the cluster has no node {name!r}{near}: verify names everything that is wrong")
        return nodes[name]

    listed = moves_listed(plan)
    alone = any(item.get("phase") is None for item in listed)
    phases: dict[int, list[Migration]] = {}
    moved: set[int] = set()
    for number, item in enumerate(listed):
        if group(item) in moved:
            where = f"key-group:{item['operator']}/{item['key_group']}"
            raise FtplanError(f"plan: {where} moves twice: verify names everything that is wrong")
        moved.add(group(item))
        move = _migration(problem, group(item), node(item["to"]), item.get("protocol"))
        phases.setdefault(number if alone else item["phase"], []).append(move)
    copies = tuple(
        NewCopy(group(item), node(item["from"]), node(item["to"])) for item in (plan.plan or {}).get("new_copies") or ()
    )
    return Rebalance(tuple(tuple(phases[number]) for number in sorted(phases)), copies)


def _migration(problem: RebalanceProblem, group: int, target: int, protocol: str | None) -> Migration:
    if protocol is not None and protocol not in PROTOCOLS:
        raise FtplanError(f"plan: {protocol!r} is no protocol: one of {', '.join(PROTOCOLS)}")
    if protocol is not None:
        return Migration(group, target, protocol)
    return cheapest(problem, group, target) or Migration(group, target, DIRECT)


def group_numbers(problem: RebalanceProblem) -> dict[tuple[str, int], int]:
    """Return the number of each key group by operator and number."""
    names = zip(problem.operators, problem.key_group.tolist(), strict=True)
    return {name: number for number, name in enumerate(names)}
