"""What changes from one peer ring to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ftplan.errors import FtplanError
from ftplan.model.names import natural_key
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.model.topology import FloatArray, IntArray
from ftplan.planners.assessments import Difference
from ftplan.planners.peer_ring.from_plan import entries_of, stated_replication
from ftplan.planners.peer_ring.inputs.loads import RingLoads, ring_loads
from ftplan.planners.peer_ring.inputs.members import ring_of_entries
from ftplan.planners.peer_ring.moves import new_copies
from ftplan.planners.peer_ring.options import PeerRingOptions
from ftplan.planners.peer_ring.ring import Ring, written_token
from ftplan.planners.situation import situation_of

#: Figures of the ring itself, from the summary; and of what it survives.
_AFTER = ("largest_load", "zone_violations", "highest_utilisation", "overloaded_nodes", "nodes", "tokens")


@dataclass(frozen=True)
class RingDifference(Difference):
    """What changes between two rings: ``changes`` are ``{operator, key_group, what, from, to}``.

    ``what`` is ``owner``, or ``backups`` in natural order of their ids. Where the topology is not known, ``range``
    stands for operator and key group: from (inclusive) and to (exclusive) on the circle.
    """

    key_groups: int  # in either plan; 0 where the topology is not known
    bytes: float | None  # to be sent to make the second ring of the first

    @property
    def figures(self) -> Mapping[str, tuple[Any, Any]]:
        """Figures of both plans by name; None where a plan does not state them."""
        was, becomes = (_figures(plan) for plan in (self.before, self.after))
        return {name: (was[name], becomes[name]) for name in was}

    @property
    def details(self) -> Mapping[str, Any]:
        """How many key groups change, what that sends, and the figures of both plans."""
        return {
            "key_groups": self.key_groups,
            "key_groups_changed": len({(c["operator"], c["key_group"]) for c in self.changes if "operator" in c}),
            "owners_changed": sum(change["what"] == "owner" for change in self.changes),
            "bytes": self.bytes,
            "figures": {name: {"from": was, "to": becomes} for name, (was, becomes) in self.figures.items()},
        }


def diff(before: Plan, after: Plan, problem: Problem | None) -> Difference:
    """Compare who owns each key group and who holds copies of it; the rings are those before any failure.

    Bytes are those of copies on nodes that held none, by what topology or statistics say of the state.

    Raises FtplanError if a plan is no ring, or the two rings have no operator in common.
    """
    plans = (before, after)
    names = {str(item["node"]) for plan in plans for entry in entries_of(plan) for item in _nodes_of(entry)}
    nodes = sorted(names, key=natural_key)
    loads = _loads(plans, problem)
    own = np.zeros(0) if loads is None else loads.position
    rings = [ring_of_entries(entries_of(plan), nodes, own, "plan.ring") for plan in plans]
    at = np.union1d(rings[0].token, rings[1].token) if loads is None else own
    held = [_held(ring, plan, at) for ring, plan in zip(rings, plans, strict=True)]
    changed = list(_changed(held[0], held[1], nodes))
    if loads is None:
        return RingDifference(before, after, tuple(_by_range(changed, at)), 0, None)
    return RingDifference(
        before, after, tuple(_by_group(changed, loads)), len(loads.atom), _bytes(held[0], held[1], loads)
    )


def _nodes_of(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield entry
    yield from ({"node": name} for name in entry.get("backups") or ())


def _loads(plans: Sequence[Plan], problem: Problem | None) -> RingLoads | None:
    """Return the key groups of the operators that both plans have on the ring; None where no topology says."""
    if problem is None or problem.topology is None:
        return None
    asked = [PeerRingOptions.of_plan(plan).operator for plan in plans]
    named = [set(names) for names in asked if names]
    common = sorted(set.intersection(*named)) if named else []
    if named and not common:
        raise FtplanError("the plans have no operator in common: each is of others (--operator)")
    options = PeerRingOptions(operator=tuple(common))
    situation = situation_of(problem)
    try:
        return ring_loads(situation, options)
    except FtplanError:  # what the statistics hold by now does not fit any more: the topology does
        return ring_loads(replace(situation, stats=None), options)


def _held(ring: Ring, plan: Plan, at: FloatArray) -> IntArray:
    """Return the nodes that hold each position, the owner first, as far as there are nodes for copies."""
    return ring.holders(min(stated_replication(plan), ring.most_copies))[ring.owner(at)]


def _changed(before: IntArray, after: IntArray, nodes: Sequence[str]) -> Iterator[tuple[int, str, Any, Any]]:
    """Yield position, what changes there, and from what to what."""
    sets = [np.sort(held[:, 1:], axis=1) for held in (before, after)]
    owner = before[:, 0] != after[:, 0]
    copies = np.ones(len(owner), dtype=np.bool_)
    if sets[0].shape == sets[1].shape:
        copies = np.asarray((sets[0] != sets[1]).any(axis=1))
    for number in np.flatnonzero(owner | copies).tolist():
        if owner[number]:
            yield number, "owner", nodes[before[number, 0]], nodes[after[number, 0]]
        if copies[number]:
            was, becomes = ([nodes[node] for node in held[number].tolist()] for held in sets)
            yield number, "backups", was, becomes


def _by_group(changed: Sequence[tuple[int, str, Any, Any]], loads: RingLoads) -> list[Mapping[str, Any]]:
    at: dict[int, list[tuple[str, Any, Any]]] = {}
    for number, what, was, becomes in changed:
        at.setdefault(number, []).append((what, was, becomes))
    groups = zip(loads.operator.tolist(), loads.key_group.tolist(), loads.atom.tolist(), strict=True)
    return [
        {"operator": loads.operators[operator].id, "key_group": group, "what": what, "from": was, "to": becomes}
        for operator, group, atom in groups
        for what, was, becomes in at.get(atom, ())
    ]


def _by_range(changed: Sequence[tuple[int, str, Any, Any]], at: FloatArray) -> list[Mapping[str, Any]]:
    bounds = [*(written_token(token) for token in at.tolist()), 1.0]
    first = bounds[0]  # what is before it belongs to the last
    return [
        {
            "range": [bounds[number], bounds[number + 1] if number + 1 < len(at) or first == 0.0 else first],
            "what": what,
            "from": was,
            "to": becomes,
        }
        for number, what, was, becomes in changed
    ]


def _bytes(before: IntArray, after: IntArray, loads: RingLoads) -> float | None:
    if np.isnan(loads.state).all():
        return None
    everybody = np.ones(int(max(before.max(), after.max())) + 1, dtype=np.bool_)
    new = new_copies(before, after, everybody).sum(axis=1)
    return float((new * loads.at(np.nan_to_num(loads.state))).sum())


def _figures(plan: Plan) -> dict[str, Any]:
    after, body = plan.summary.get("after"), plan.plan or {}
    stated = after if isinstance(after, Mapping) else {}
    tolerance = body.get("tolerance")
    known: Mapping[str, Any] = tolerance if isinstance(tolerance, Mapping) else {}
    levels = plan.summary.get("levels")
    moved = levels.get("bytes") if isinstance(levels, Mapping) else None
    return {
        **{name: stated.get(name) for name in _AFTER},
        "bytes": moved.get("value") if isinstance(moved, Mapping) else None,
        "copysets": known.get("copysets"),
        "best_case": _of(known, "best_case", "low"),
        "fatal_zones": _of(known, "fatal_zones", "size"),
        "survival": _of(known, "survival", "survival"),
        "loss_probability": _of(known, "survival", "loss_probability"),
    }


def _of(known: Mapping[str, Any], name: str, part: str) -> Any:
    inner = known.get(name)
    return inner.get(part) if isinstance(inner, Mapping) else None
