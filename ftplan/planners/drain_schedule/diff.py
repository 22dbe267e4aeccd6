"""What changes from one drain schedule to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ftplan.model.names import natural_key
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Difference


@dataclass(frozen=True)
class DrainDifference(Difference):
    """What changes between two schedules: nodes that restart in another round, and tasks that move elsewhere.

    ``changes`` are ``{node, what: round, from, to}``, with a list of rounds where a node restarts more than once and
    null where it does not, and ``{operator, index, what: move, from, to}``, with the nodes that tasks move to.
    """

    rounds: tuple[Mapping[str, Any], ...]  # {round, from, to}: the nodes of rounds that are not the same
    nodes: int  # in either plan

    @property
    def details(self) -> Mapping[str, Any]:
        """Which rounds change, how many rounds there are, and how many nodes change."""
        before, after = (len((plan.plan or {})["rounds"]) for plan in (self.before, self.after))
        changed = sum(change["what"] == "round" for change in self.changes)
        return {
            "rounds": {"from": before, "to": after, "changed": self.rounds},
            "nodes": self.nodes,
            "nodes_changed": changed,
        }


def diff(before: Plan, after: Plan, problem: Problem | None) -> Difference:
    """Compare two drain schedules; a node that only one plan restarts comes from or goes to null."""
    old, new = _rounds(before), _rounds(after)
    changes: list[Mapping[str, Any]] = []
    names = sorted(set(old) | set(new), key=natural_key)
    for node in names:
        was, becomes = (_one(plan.get(node, [])) for plan in (old, new))
        if was != becomes:
            changes.append({"node": node, "what": "round", "from": was, "to": becomes})
    targets = _targets(before), _targets(after)
    for name in sorted(set(targets[0]) | set(targets[1])):
        was, becomes = (some.get(name) for some in targets)
        if was != becomes:
            operator, index = name
            changes.append({"operator": operator, "index": index, "what": "move", "from": was, "to": becomes})
    return DrainDifference(before, after, tuple(changes), tuple(_changed_rounds(before, after)), len(names))


def _one(values: list[int]) -> Any:
    return values if len(values) > 1 else values[0] if values else None


def _rounds(plan: Plan) -> dict[str, list[int]]:
    """Return the rounds in which each node restarts."""
    rounds: dict[str, list[int]] = {}
    for number, item in enumerate((plan.plan or {})["rounds"]):
        for node in item["nodes"]:
            rounds.setdefault(node, []).append(number)
    return rounds


def _targets(plan: Plan) -> dict[tuple[str, int], str]:
    """Return the node that each task moves to while its own restarts."""
    moves = (move for item in (plan.plan or {})["rounds"] for move in item.get("moves") or ())
    return {(move["operator"], move["index"]): move["to"] for move in moves}


def _changed_rounds(before: Plan, after: Plan) -> Iterator[Mapping[str, Any]]:
    """Yield the rounds whose nodes are not the same, by number."""
    for number, items in enumerate(zip_longest((before.plan or {})["rounds"], (after.plan or {})["rounds"])):
        was, becomes = (None if item is None else sorted(item["nodes"], key=natural_key) for item in items)
        if was != becomes:
            yield {"round": number, "from": was, "to": becomes}
