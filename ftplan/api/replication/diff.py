"""What changes from one replication plan to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.api.answers import Difference, changed_objective, changed_options
from ftplan.model.plan import Plan, canonical_json
from ftplan.model.problem import Problem


@dataclass(frozen=True, slots=True)
class ReplicationDifference(Difference):
    """What changes between two choices of replicas: what starts, stops and moves."""

    kind: str
    changes: tuple[Mapping[str, Any], ...]  # {operator, index, what: activate | deactivate | move, from, to}
    options: tuple[Mapping[str, Any], ...]  # {name, from, to}
    objective: Mapping[str, Any]  # {name, from, to}
    replicas: tuple[int, int]  # of the first and of the second plan

    def count(self, what: str) -> int:
        """Return how many replicas start (``activate``), stop (``deactivate``) or move (``move``)."""
        return sum(change["what"] == what for change in self.changes)

    def to_json(self) -> str:
        """Return the difference as JSON text."""
        return canonical_json(
            {
                "kind": self.kind,
                "changed": self.changed,
                "changes": self.changes,
                "options": self.options,
                "objective": self.objective,
                "replicas": {"from": self.replicas[0], "to": self.replicas[1]},
            }
        )


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
    options, objective = changed_options(before, after), changed_objective(before, after)
    return ReplicationDifference(before.kind, tuple(changes), options, objective, (len(old), len(new)))


def _nodes(plan: Plan) -> dict[tuple[str, int], str | None]:
    return {(item["operator"], item["index"]): item.get("node") for item in (plan.plan or {})["replicas"]}
