"""What changes from one recovery schedule to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.api.answers import Difference, changed_objective, changed_options
from ftplan.model.plan import Plan, canonical_json
from ftplan.model.problem import Problem


@dataclass(frozen=True, slots=True)
class ScheduleDifference(Difference):
    """What changes between two schedules: tasks whose step time or node differs, and queries whose return does.

    ``changes`` are about tasks; a list of values where a task starts more than once.
    """

    kind: str
    changes: tuple[Mapping[str, Any], ...]  # {operator, index, what: at_s | node, from, to}
    options: tuple[Mapping[str, Any], ...]  # {name, from, to}
    objective: Mapping[str, Any]  # {name, from, to}
    queries: tuple[Mapping[str, Any], ...]  # {operator, index, from, to}: back_s, null: not back
    tasks: int  # in either plan

    def to_json(self) -> str:
        """Return the difference as JSON text."""
        return canonical_json(
            {
                "kind": self.kind,
                "changed": self.changed,
                "changes": self.changes,
                "options": self.options,
                "objective": self.objective,
                "queries": self.queries,
                "tasks": self.tasks,
                "tasks_changed": len({(c["operator"], c["index"]) for c in self.changes}),
            }
        )


def diff(before: Plan, after: Plan, problem: Problem | None) -> Difference:
    """Compare two recovery schedules; a task that only one plan starts comes from or goes to null."""
    old, new = _starts(before), _starts(after)
    changes: list[Mapping[str, Any]] = []
    names = sorted(set(old) | set(new))
    for name in names:
        for what in ("at_s", "node"):
            was, becomes = (_one([start[what] for start in plan.get(name, [])]) for plan in (old, new))
            if was != becomes:
                changes.append({"operator": name[0], "index": name[1], "what": what, "from": was, "to": becomes})
    returns = _returns(before), _returns(after)
    queries = tuple(
        {"operator": name[0], "index": name[1], "from": was, "to": becomes}
        for name in sorted(set(returns[0]) | set(returns[1]))
        for was, becomes in [(_one(returns[0].get(name, [])), _one(returns[1].get(name, [])))]
        if was != becomes
    )
    options, objective = changed_options(before, after), changed_objective(before, after)
    return ScheduleDifference(before.kind, tuple(changes), options, objective, queries, len(names))


def _one(values: list[Any]) -> Any:
    return values if len(values) > 1 else values[0] if values else None


def _starts(plan: Plan) -> dict[tuple[str, int], list[dict[str, Any]]]:
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for step in (plan.plan or {})["steps"]:
        for item in step["recover"]:
            start = {"at_s": step["at_s"], "node": item.get("node")}
            found.setdefault((item["operator"], item["index"]), []).append(start)
    return found


def _returns(plan: Plan) -> dict[tuple[str, int], list[float | None]]:
    found: dict[tuple[str, int], list[float | None]] = {}
    for item in (plan.plan or {}).get("queries") or ():
        found.setdefault((item["operator"], item["index"]), []).append(item.get("back_s"))
    return found
