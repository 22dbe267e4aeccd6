"""What changes from one rebalance to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.model.names import natural_key
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Difference

#: What is compared of a key group's move.
_OF_MOVE = ("from", "to", "protocol", "phase")


@dataclass(frozen=True)
class RebalanceDifference(Difference):
    """What changes between two rebalances: ``changes`` are ``{operator, key_group, what, from, to}``.

    ``what`` is ``move`` where only one plan moves the group (with the node that it goes to, null where it stays),
    ``from``, ``to``, ``protocol`` or ``phase`` where both move it, and ``checkpoints`` afterwards. Copies are compared
    where both plans state them.
    """

    key_groups: int  # in either plan

    @property
    def figures(self) -> Mapping[str, tuple[Any, Any]]:
        """Figures of both plans by name, from their moves and phases; None where a plan does not state them."""
        was, becomes = (_figures(plan.plan or {}) for plan in (self.before, self.after))
        return {name: (was[name], becomes[name]) for name in was}

    @property
    def details(self) -> Mapping[str, Any]:
        """How many key groups change, and the figures of both plans."""
        return {
            "key_groups": self.key_groups,
            "key_groups_changed": len({(c["operator"], c["key_group"]) for c in self.changes}),
            "figures": {name: {"from": was, "to": becomes} for name, (was, becomes) in self.figures.items()},
        }


def diff(before: Plan, after: Plan, problem: Problem | None) -> Difference:
    """Compare two rebalances; a group that a plan does not move stays."""
    old, new = (_by_group(plan, "moves") for plan in (before, after))
    changes: list[Mapping[str, Any]] = []
    copies = tuple(_by_group(plan, "checkpoints") for plan in (before, after))
    groups = sorted(set(old) | set(new) | set(copies[0]) | set(copies[1]))
    for group in groups:
        for what, was, becomes in (
            *_of_moves(old.get(group), new.get(group)),
            *_of_copies(*(some.get(group) for some in copies)),
        ):
            changes.append({"operator": group[0], "key_group": group[1], "what": what, "from": was, "to": becomes})
    return RebalanceDifference(before, after, tuple(changes), len(groups))


def _by_group(plan: Plan, name: str) -> dict[tuple[str, int], Mapping[str, Any]]:
    return {(item["operator"], item["key_group"]): item for item in (plan.plan or {}).get(name) or ()}


def _of_moves(was: Mapping[str, Any] | None, becomes: Mapping[str, Any] | None) -> Iterator[tuple[str, Any, Any]]:
    if was is None or becomes is None:
        if was is not becomes:
            yield "move", None if was is None else was["to"], None if becomes is None else becomes["to"]
        return
    for name in _OF_MOVE:
        if was.get(name) != becomes.get(name):
            yield name, was.get(name), becomes.get(name)


def _of_copies(was: Mapping[str, Any] | None, becomes: Mapping[str, Any] | None) -> Iterator[tuple[str, Any, Any]]:
    if was is None or becomes is None:
        return
    before, after = (sorted(item["nodes"], key=natural_key) for item in (was, becomes))
    if before != after:
        yield "checkpoints", before, after


def _figures(body: Mapping[str, Any]) -> dict[str, Any]:
    moves, phases = body.get("moves") or [], body.get("phases")
    return {
        "moves": len(moves),
        "latency_s": stated_total(moves, "latency_s"),
        "bytes": stated_total(moves, "bytes"),
        "phases": None if phases is None else len(phases),
        "duration_s": None if phases is None else stated_total(phases, "duration_s"),
        "longest_pause_s": None if phases is None else max((p["longest_pause_s"] for p in phases), default=0.0),
        "new_copies": None if body.get("new_copies") is None else len(body["new_copies"]),
    }


def stated_total(items: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return the sum of a figure over moves or phases of a plan; None where one of them does not state it."""
    values = [float(value) for item in items if (value := item.get(name)) is not None]
    return float(sum(values)) if len(values) == len(items) else None
