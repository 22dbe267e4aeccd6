"""Why a key group belongs to its node, what a node or a zone has, and where an operator's key groups are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.names import Selector
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Explanation, explained
from ftplan.planners.peer_ring.alternative_tokens import (
    PlannedRing,
    alternative_rows,
    columns_of,
    shown,
    verdict,
)
from ftplan.planners.peer_ring.explain_nodes import explain_node, explain_zone, one_token_each, share, state_of
from ftplan.planners.peer_ring.from_plan import question_of, ring_of
from ftplan.planners.peer_ring.moves import held_at
from ftplan.planners.peer_ring.prepare import PreparedRing
from ftplan.planners.peer_ring.steps import steps_of

_HOLDERS = ("holds", "node", "zone", "token", "load of its arc over the fair share", "failure probability")
_OF_OPERATOR = ("node", "zone", "key groups", "load", "share of its load", "state, bytes")


def explain(plan: Plan, problem: Problem, what: Selector) -> Explanation:
    """Explain ``key-group:OP/N``, ``node:ID``, ``zone:ID`` or ``operator:ID``.

    A key group: who holds it and why, who takes over, and what it would mean if a neighbour of its owner had it. A
    node: its arcs and copies, and other places of its token with what rules them out. A zone: its nodes, and what its
    loss loses. An operator: where its key groups are.

    Raises FtplanError if the selector is of another kind or names what is not there.
    """
    prepared = question_of(plan, problem)
    question = prepared.problem
    ring = ring_of(plan, question)
    if ring.most_copies < question.replication:
        raise FtplanError("plan: its ring has too few nodes for the copies: verify names everything that is wrong")
    steps = steps_of((plan.plan or {}).get("steps"), question, ring)
    planned = PlannedRing.of(question, ring, plan.rules or (), steps)
    parts = {
        "key-group": lambda: _key_group(what, planned),
        "node": lambda: explain_node(what, planned, prepared.cluster),
        "zone": lambda: explain_zone(what, planned, prepared.cluster),
        "operator": lambda: _operator(what, planned, prepared),
    }
    return explained(what, "a peer ring", parts)


def _key_group(what: Selector, planned: PlannedRing) -> Explanation:
    problem, ring = planned.problem, planned.ring
    group = _number(what, planned)
    at = int(problem.atom[group])
    token = int(ring.owner(problem.position[at : at + 1])[0])
    held = held_at(problem, ring)[at].tolist()
    owner = problem.nodes[held[0]]
    backups = ", ".join(problem.nodes[node] for node in held[1:]) or "no node"
    title = f"{what}: belongs to {owner}, with copies on {backups}"
    rows = _neighbours(planned, token, at)
    columns = columns_of(problem) if rows else ()
    notes = [
        f"it is at {problem.position[at]:.6g} on the ring, and {owner} has the largest token up to there, "
        f"{ring.token[token]:.6g}; load {problem.group_load[group]:.6g} per second, state {_state(planned, group)}",
        *_apart(planned, held),
        *_in_place(planned, at, held),
        *_after(planned, held),
        *(verdict(planned, rows) if rows else (_alone(planned),)),
    ]
    return Explanation(
        str(what), title, _HOLDERS, tuple(_holders(planned, held)), tuple(notes), (), columns, shown(problem, rows)
    )


def _number(what: Selector, planned: PlannedRing) -> int:
    problem = planned.problem
    named = zip(problem.operators, problem.key_group.tolist(), strict=True)
    for number, (operator, group) in enumerate(named):
        if (operator, group) == (what.name, what.index):
            return number
    raise FtplanError(f"{what}: there is no such key group on the ring")


def _state(planned: PlannedRing, group: int) -> str:
    return f"{planned.problem.group_state[group]:,.0f} bytes" if planned.problem.state_known else "unknown"


def _holders(planned: PlannedRing, held: Sequence[int]) -> Iterator[dict[str, Any]]:
    problem, ring = planned.problem, planned.ring
    for place, node in enumerate(held):
        tokens = ring.token[ring.node == node]
        tiered = ring.tier is not None and place == len(held) - 1
        role = "owner" if place == 0 else "last copy, on the tier" if tiered else f"backup {place}"
        values = (
            role,
            problem.nodes[node],
            problem.zone_name(node),
            float(tokens[0]) if len(tokens) == 1 else None,
            share(problem, ring, node),
            float(problem.down[node]) if problem.probabilities_known else None,
        )
        yield dict(zip(_HOLDERS, values, strict=True))


def _neighbours(planned: PlannedRing, token: int, at: int) -> list[dict[str, Any]]:
    """Return the ring as it is, and with the boundary beside a key group so that the neighbour on that side has it."""
    ring, size = planned.ring, len(planned.problem.position)
    if not one_token_each(planned) or len(ring.token) < 2:
        return []
    begins = np.searchsorted(planned.problem.position, ring.token)
    after = (token + 1) % len(ring.token)
    rows = []
    if (at + 1) % size != begins[after]:  # its owner keeps what is above it, the neighbour before has it
        rows += alternative_rows(planned, token, [int(begins[token]), (at + 1) % size])
    if at != begins[token]:  # the next neighbour has it, and all above it
        rows += alternative_rows(planned, after, [at, int(begins[after])])
    return rows


def _alone(planned: PlannedRing) -> str:
    """Say why no neighbour could have a key group."""
    if one_token_each(planned):
        return "no neighbour can have it: its owner has nothing else, and each node keeps a position"
    return "its tokens follow from names and the seed alone: none of them is placed by load"


def _apart(planned: PlannedRing, held: Sequence[int]) -> Iterator[str]:
    problem = planned.problem
    walked = held if planned.ring.tier is None else held[:-1]
    if len(walked) > 1:
        yield "copies are on the next nodes clockwise: they get its records too, and take over without a transfer"
    zones = problem.zone[list(held)]
    for place in range(1, len(held)):
        same = [other for other in range(place) if zones[other] == zones[place]]
        if same:
            one, two = (problem.nodes[held[k]] for k in (same[0], place))
            yield f"{one} and {two} are both in zone {problem.zone_name(held[place])}: its loss takes two of the copies"
            return
    if len(held) == 1:
        yield "nobody else has a copy"
    elif problem.zoned:
        yield f"these {len(held)} nodes are in different zones"


def _in_place(planned: PlannedRing, at: int, held: Sequence[int]) -> Iterator[str]:
    """Say what becomes of it beside the ring in place."""
    problem = planned.problem
    if problem.current is None:
        return
    before = held_at(problem, problem.current)[at].tolist()
    new = [problem.nodes[node] for node in held if node not in before]
    was = problem.nodes[before[0]]
    if before[0] == held[0]:
        yield f"its owner stays; {', '.join(new) + ' gets a copy' if new else 'no copy travels'}"
    else:
        how = "from the copy that it holds" if held[0] in before else "once its state has travelled"
        yield f"it goes from {was} to {problem.nodes[held[0]]}, {how}"


def _after(planned: PlannedRing, held: Sequence[int]) -> Iterator[str]:
    """Say what the failure that was asked for does to it, else who takes over if its owner fails."""
    problem = planned.problem
    if problem.fails.any():
        dead = [problem.nodes[node] for node in held if problem.fails[node]]
        left = [problem.nodes[node] for node in held if not problem.fails[node]]
        if not left:
            yield "the failure loses it: all nodes that hold it are dead"
        elif problem.fails[held[0]]:
            yield f"after the failure of {', '.join(dead)} {left[0]} has a copy to go on from"
        else:
            copies = f"takes its copies on {', '.join(dead)}" if dead else "all of its copies"
            yield f"the failure leaves its owner, and {copies}"
    elif len(held) > 1:
        yield f"if {problem.nodes[held[0]]} fails, {problem.nodes[held[1]]} goes on from its copy"


def _operator(what: Selector, planned: PlannedRing, prepared: PreparedRing) -> Explanation:
    problem, ring = planned.problem, planned.ring
    mine = np.array([name == what.name for name in problem.operators], dtype=np.bool_)
    if not mine.any():
        known = ", ".join(dict.fromkeys(problem.operators))
        raise FtplanError(f"{what}: no operator of the ring: these are {known}")
    owner = ring.node[ring.owner(problem.position)][problem.atom]
    size = len(problem.nodes)
    many = np.bincount(owner[mine], minlength=size)
    load, state = (
        np.bincount(owner[mine], worth[mine], minlength=size) for worth in (problem.group_load, problem.group_state)
    )
    total = float(load.sum())
    rows = []
    for node in ring.nodes.tolist():
        part = float(load[node]) / total if total > 0.0 else None
        values = (problem.nodes[node], problem.zone_name(node), int(many[node]), float(load[node]), part)
        rows.append(dict(zip(_OF_OPERATOR, (*values, state_of(problem, state[node])), strict=True)))
    others = sorted({name for name in problem.operators if name != what.name})
    notes = [f"{int(mine.sum()):,} key groups of load {total:.6g} per second on {int((many > 0).sum()):,} nodes"]
    if others:
        notes.append(f"it shares the ring with {', '.join(others)}: loads add up")
    return Explanation(str(what), f"{what}: where its key groups are", _OF_OPERATOR, tuple(rows), tuple(notes), ())
