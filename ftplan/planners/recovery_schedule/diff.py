"""What changes from one recovery schedule to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Difference


@dataclass(frozen=True)
class ScheduleDifference(Difference):
    """What changes between two schedules: tasks whose step time or node differs, and queries whose return does.

    ``changes`` are ``{operator, index, what: at_s | node | pause_s, from, to}``; a list of values where a task starts,
    or gives way to failed queries (``pause_s``), more than once.
    """

    queries: tuple[Mapping[str, Any], ...]  # {operator, index, from, to}: back_s, null: not back
    tasks: int  # in either plan

    @property
    def details(self) -> Mapping[str, Any]:
        """Which queries return at another time, and how many tasks change."""
        changed = len({(c["operator"], c["index"]) for c in self.changes})
        return {"queries": self.queries, "tasks": self.tasks, "tasks_changed": changed}


def diff(before: Plan, after: Plan, problem: Problem | None) -> Difference:
    """Compare two recovery schedules; a task that only one plan starts comes from or goes to null."""
    old, new = _starts(before), _starts(after)
    changes: list[Mapping[str, Any]] = []
    names = sorted(set(old) | set(new))
    for name in names:
        for what in ("at_s", "node", "pause_s"):
            was, becomes = (_one([start[what] for start in plan.get(name, []) if what in start]) for plan in (old, new))
            if was != becomes:
                changes.append({"operator": name[0], "index": name[1], "what": what, "from": was, "to": becomes})
    returns = _returns(before), _returns(after)
    queries = tuple(
        {"operator": name[0], "index": name[1], "from": was, "to": becomes}
        for name in sorted(set(returns[0]) | set(returns[1]))
        for was, becomes in [(_one(returns[0].get(name, [])), _one(returns[1].get(name, [])))]
        if was != becomes
    )
    return ScheduleDifference(before, after, tuple(changes), queries, len(names))


def _one(values: list[Any]) -> Any:
    return values if len(values) > 1 else values[0] if values else None


def _starts(plan: Plan) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Return when and where each task starts, and when it gives way; a replica that does is no task."""
    starts: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for step in (plan.plan or {})["steps"]:
        for item in step["recover"]:
            start = {"at_s": step["at_s"], "node": item.get("node")}
            starts.setdefault((item["operator"], item["index"]), []).append(start)
        for item in step.get("pause") or ():
            if not item.get("replica"):
                starts.setdefault((item["operator"], item["index"]), []).append({"pause_s": step["at_s"]})
    return starts


def _returns(plan: Plan) -> dict[tuple[str, int], list[float | None]]:
    returns: dict[tuple[str, int], list[float | None]] = {}
    for item in (plan.plan or {}).get("queries") or ():
        returns.setdefault((item["operator"], item["index"]), []).append(item.get("back_s"))
    return returns
