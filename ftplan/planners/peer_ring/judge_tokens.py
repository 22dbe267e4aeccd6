"""Are nodes and tokens of a peer ring those that may be, and do its steps lead to it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ftplan.errors import suggestion
from ftplan.model.plan import Plan
from ftplan.model.topology import BoolArray
from ftplan.model.violation import Violation
from ftplan.planners.peer_ring.from_plan import entries_of
from ftplan.planners.peer_ring.members import able
from ftplan.planners.peer_ring.prepare import PreparedRing
from ftplan.planners.peer_ring.problem import RingProblem, Step
from ftplan.planners.peer_ring.ring import Ring, read_tokens
from ftplan.planners.peer_ring.rules import turned
from ftplan.planners.peer_ring.steps import same_ring


def wrong_tokens(plan: Plan, problem: RingProblem) -> Iterator[Violation]:
    """Name nodes that are not there, and tokens that two nodes have, or one node twice."""
    known, listed = set(problem.nodes), entries_of(plan)
    for number, item in enumerate(listed):
        for name in (item["node"], *(item.get("backups") or ())):
            if name not in known:
                text = f"ring[{number}]: the cluster has no node {name!r}{suggestion(name, known)}"
                yield Violation("UNKNOWN_NODE", text, f"node:{name}")
    if not listed:
        yield Violation("TOO_FEW_NODES", "the ring has no token", "ring")
        return
    tokens = read_tokens(np.array([item["token"] for item in listed], dtype=np.float64), problem.position)
    order = np.argsort(tokens, kind="stable")
    for place in np.flatnonzero(np.diff(tokens[order]) == 0.0).tolist():
        one, other = (listed[number] for number in order[place : place + 2].tolist())
        text = f"ring: {one['node']} and {other['node']} have the same token {other['token']:.12g}"
        yield Violation("ASSIGNED_TWICE", text, f"node:{other['node']}")


def judge_nodes(plan: Plan, prepared: PreparedRing, ring: Ring) -> Iterator[Violation]:
    """The nodes of the ring may be on it, and those that have to be are; a plan made by hand may leave some out."""
    problem, can = prepared.problem, able(prepared.cluster)
    there = np.zeros(len(problem.nodes), dtype=np.bool_)
    there[ring.nodes] = True
    for name in _named(problem, there & problem.removed):
        yield Violation("NOT_DRAINED", f"{name} leaves, and has a token", f"node:{name}")
    for name in _named(problem, there & problem.tier):
        yield Violation("WRONG_NODE", f"{name} holds last copies only, and has a token", f"node:{name}")
    for name in _named(problem, there & ~(can & (problem.members | problem.removed | problem.tier))):
        text = f"{name} has a token, and is none of the nodes that may be on the ring"
        yield Violation("WRONG_NODE", text, f"node:{name}")
    for name in _named(problem, problem.added & ~there):
        yield Violation("NOT_FILLED", f"{name} joins, and has no token", f"node:{name}")
    if plan.options:
        for name in _named(problem, problem.members & ~problem.added & ~there):
            yield Violation("NODE_MISSING", f"{name} belongs on the ring, and has no token", f"node:{name}")
    yield from _tier(plan, prepared, ring)


def _tier(plan: Plan, prepared: PreparedRing, ring: Ring) -> Iterator[Violation]:
    """Last copies lie on the nodes that are named for them; in a plan made by hand, on any that takes copies."""
    problem, keeps = prepared.problem, prepared.cluster.accepting("checkpoints")
    if ring.tier is None:
        if problem.tier.any() and plan.options:
            yield Violation("NODE_MISSING", "no arc has its last copy on a node of the tier", "ring")
        return
    may = keeps & problem.tier if plan.options else keeps
    for node in np.unique(ring.tier[~may[ring.tier]]).tolist():
        name = problem.nodes[node]
        yield Violation("WRONG_NODE", f"{name} holds last copies, and is none of the nodes for these", f"node:{name}")


def _named(problem: RingProblem, which: BoolArray) -> list[str]:
    return [problem.nodes[node] for node in np.flatnonzero(which).tolist()]


def judge_steps(plan: Plan, problem: RingProblem, ring: Ring, steps: Sequence[Step]) -> Iterator[Violation]:
    """The steps lead from the ring in place to the one planned, and each is what it says."""
    stated = (plan.plan or {}).get("steps")
    if stated and problem.current is None:
        yield Violation("WRONG_MOVE", "steps change a ring in place, and there is none", "steps")
    if stated is None or problem.current is None:
        return
    last = steps[-1].ring if steps else problem.current
    if not same_ring(last, ring):
        yield Violation("WRONG_MOVE", "steps do not lead from the ring in place to this one", "steps")
    before = problem.current
    for number, step in enumerate(steps):
        if not _fits(step, before):
            text = f"steps[{number}] says {step.event}, and that is not what its tokens do"
            yield Violation("WRONG_MOVE", text, f"steps[{number}].event")
        before = step.ring


def _fits(step: Step, before: Ring) -> bool:
    """Return whether what a step says that it is fits what it changes."""
    old, new = set(before.nodes.tolist()), set(step.ring.nodes.tolist())
    if step.event == "scale-out":
        return bool(new - old)
    if step.event == "scale-in":
        return bool(old - new)
    if step.event == "balance":
        return turned(before.node, step.ring.node)
    return True
