"""Is what the body of a peer ring states so: its nodes and tokens, its steps, the levels of its objective, the rest?

Nodes and tokens are those that may be, and the steps lead to them; levels keep their bounds, and the status speaks of
all levels; all else follows from the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ftplan.errors import suggestion
from ftplan.model.plan import Plan, canonical
from ftplan.model.topology import BoolArray
from ftplan.model.violation import Violation, over
from ftplan.planners.judging import differences, same, shown
from ftplan.planners.peer_ring.from_plan import entries_of
from ftplan.planners.peer_ring.inputs.members import eligible_nodes
from ftplan.planners.peer_ring.prepare import PreparedRing
from ftplan.planners.peer_ring.problem import RingProblem, RingStep
from ftplan.planners.peer_ring.ring import Ring, read_tokens
from ftplan.planners.peer_ring.rules import same_circle
from ftplan.planners.peer_ring.steps import same_ring
from ftplan.planners.peer_ring.summary import LEVELS, all_proven, level_values


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
    problem, can = prepared.problem, eligible_nodes(prepared.cluster)
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


def judge_steps(plan: Plan, problem: RingProblem, ring: Ring, steps: Sequence[RingStep]) -> Iterator[Violation]:
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


def _fits(step: RingStep, before: Ring) -> bool:
    """Return whether what a step says that it is fits what it changes."""
    old, new = set(before.nodes.tolist()), set(step.ring.nodes.tolist())
    if step.event == "scale-out":
        return bool(new - old)
    if step.event == "scale-in":
        return bool(old - new)
    if step.event == "balance":
        return same_circle(before.node, step.ring.node)
    return True


def judge_levels(plan: Plan, problem: RingProblem, ring: Ring, steps: Sequence[RingStep]) -> Iterator[Violation]:
    """Hold bounds to what they bound, and the status to both. What a level is worth is judged with the summary."""
    listed = plan.summary.get("levels") if plan.summary else None
    stated = dict(listed) if isinstance(listed, Mapping) else {}
    bounds = {name: _bound(stated.get(name)) for name in LEVELS}
    values = level_values(problem, ring, steps)
    for name in LEVELS:
        bound, value = bounds[name], values[name]
        place = f"summary.levels.{name}.bound"
        if bound is not None and value is None:
            yield Violation("OBJECTIVE_DIFFERS", f"{place} states {shown(bound)}, and there is nothing to bound", place)
        elif bound is not None and value is not None and over(bound, value):
            text = f"{place} states {shown(bound)}, more than the {shown(value)} that the plan has"
            yield Violation("OBJECTIVE_DIFFERS", text, place)
    objective = plan.objective
    own = None if objective is None else objective.bound
    if stated and objective is not None and objective.value is not None and not same(bounds["largest_load"], own):
        text = f"objective.bound states {shown(own)}, summary.levels {shown(bounds['largest_load'])}"
        yield Violation("OBJECTIVE_DIFFERS", text, "objective.bound")
    if plan.status == "optimal" and not all_proven(values, {**bounds, "largest_load": own}):
        text = "the status is optimal, but not every level has a bound that says so"
        yield Violation("STATUS_DIFFERS", text, "status")


def _bound(level: Any) -> float | None:
    """Return the bound that a level states, None for none."""
    bound = level.get("bound") if isinstance(level, Mapping) else None
    return float(bound) if isinstance(bound, (int, float)) and not isinstance(bound, bool) else None


#: What each part of the body states, and the code where that is not so.
_CODES: Mapping[str, str] = {
    "ring": "WRONG_LOAD",
    "steps": "WRONG_MOVE",
    "moves": "WRONG_MOVE",
    "copies": "WRONG_MOVE",
    "tolerance": "WRONG_TOLERANCE",
    "takeovers": "WRONG_TAKEOVER",
    "after_failure": "WRONG_TAKEOVER",
    "lost": "WRONG_TAKEOVER",
    "estimates": "WRONG_ESTIMATE",
}
#: The same for single fields.
_OF_FIELDS: Mapping[str, str] = {
    "zone": "WRONG_ZONES",
    "backups": "WRONG_COPIES",
    "takeover_bytes": "WRONG_COST",
    "transfer_bytes": "WRONG_COST",
    "rereplicate_bytes": "WRONG_COST",
    "replayed_records": "WRONG_COST",
    "bytes": "WRONG_COST",
}
#: How many false statements of a part are named; the others are counted.
MOST_NAMED_FAULTS = 10


def judge_body(plan: Plan, true: Mapping[str, Any]) -> Iterator[Violation]:
    """Hold all that the body states to what follows from its tokens, *true*; what it does not state is no fault."""
    known = canonical(dict(true))
    for name, stated in canonical(dict(plan.plan or {})).items():
        if stated is None or name not in known:
            continue
        if name == "ring":
            stated = sorted(stated, key=lambda item: item["token"])
        wrong = list(differences(_without_unsaid(stated), known[name], name))
        for place, said, is_so in wrong[:MOST_NAMED_FAULTS]:
            yield Violation(_code(name, place), _text(place, said, is_so), place)
        if len(wrong) > MOST_NAMED_FAULTS:
            text = f"{name} states {len(wrong) - MOST_NAMED_FAULTS:,} more things that are not so"
            yield Violation(_CODES[name], text, name)


def _without_unsaid(stated: Any) -> Any:
    """Return a statement without the fields of its entries that say null: these are not stated."""
    if not isinstance(stated, list):
        return stated
    return [{k: v for k, v in item.items() if v is not None} if isinstance(item, dict) else item for item in stated]


def _code(name: str, place: str) -> str:
    field = place.rsplit(".", 1)[-1].split("[")[0]
    if name in ("ring", "moves", "copies"):
        return _OF_FIELDS.get(field, _CODES[name])
    return _CODES[name]


def _text(place: str, said: Any, is_so: Any) -> str:
    if isinstance(said, list) and isinstance(is_so, list) and all(isinstance(item, str) for item in (*said, *is_so)):
        texts = (", ".join(item) or "none" for item in (said, is_so))
        return "{} states {}, it is {}".format(place, *texts)
    return f"{place} states {shown(said)}, it is {shown(is_so)}"
