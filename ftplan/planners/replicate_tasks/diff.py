"""What changes from one replication plan to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Difference


@dataclass(frozen=True)
class ReplicationDifference(Difference):
    """What changes between two choices of replicas: what starts, stops and moves.

    ``changes`` are ``{operator, index, what: activate | deactivate | move, from, to}``.
    """

    replicas: tuple[int, int]  # of the first and of the second plan

    def count(self, what: str) -> int:
        """Return how many replicas start (``activate``), stop (``deactivate``) or move (``move``)."""
        return sum(change["what"] == what for change in self.changes)

    @property
    def details(self) -> Mapping[str, Any]:
        """How many replicas there are."""
        return {"replicas": {"from": self.replicas[0], "to": self.replicas[1]}}


def diff(before: Plan, after: Plan, problem: Problem | None) -> Difference:
    """Compare two replication plans; a replica moves only between two nodes that are known."""
    old, new = _nodes(before), _nodes(after)
    changes: list[Mapping[str, Any]] = []
    for operator, index in sorted(set(old) | set(new)):
        name = (operator, index)
        was, becomes = old.get(name), new.get(name)
        if name not in old:
            what = "activate"
        elif name not in new:
            what = "deactivate"
        elif None not in (was, becomes) and was != becomes:
            what = "move"
        else:
            continue
        changes.append({"operator": operator, "index": index, "what": what, "from": was, "to": becomes})
    return ReplicationDifference(before, after, tuple(changes), (len(old), len(new)))


def _nodes(plan: Plan) -> dict[tuple[str, int], str | None]:
    return {(item["operator"], item["index"]): item.get("node") for item in (plan.plan or {})["replicas"]}
