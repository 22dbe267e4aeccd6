"""What changes from one plan to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ftplan.errors import FtplanError
from ftplan.model.names import natural_key
from ftplan.model.plan import Plan, canonical_json


@dataclass(frozen=True, slots=True)
class Difference:
    """What changes between two checkpoint allocations, group by group and option by option."""

    kind: str
    changes: tuple[Mapping[str, Any], ...]  # {operator, key_group, what, from, to}
    options: tuple[Mapping[str, Any], ...]  # {name, from, to}
    objective: Mapping[str, Any]  # {name, from, to}
    key_groups: int  # in either plan

    @property
    def changed(self) -> bool:
        """Whether carrying out the second plan instead of the first changes anything in the cluster."""
        return bool(self.changes)

    def to_json(self) -> str:
        """Return the difference as JSON text."""
        return canonical_json(
            {
                "kind": self.kind,
                "changed": self.changed,
                "changes": self.changes,
                "options": self.options,
                "objective": self.objective,
                "key_groups": self.key_groups,
                "key_groups_changed": len({(c["operator"], c["key_group"]) for c in self.changes}),
            }
        )


def diff(before: Plan, after: Plan) -> Difference:
    """Compare two plans of one kind.

    The order of the copies of a group does not count; a group that only one plan knows is added or removed.

    Raises
    ------
    FtplanError
        If the kinds differ, the kind is not a checkpoint allocation, or a plan holds no answer.
    """
    if before.kind != after.kind:
        raise FtplanError(f"cannot compare a {before.kind} with a {after.kind}: both plans must be of one kind")
    if before.kind != "checkpoint-allocation":
        raise FtplanError(f"diff knows checkpoint allocations, not yet {before.kind}")
    old, new = _by_group(before, "first"), _by_group(after, "second")
    changes: list[Mapping[str, Any]] = []
    for group in sorted(set(old) | set(new)):
        a, b = old.get(group), new.get(group)
        for what in ("primary", "checkpoints"):
            was, becomes = (None if x is None else x[what] for x in (a, b))
            if was != becomes:
                changes.append({"operator": group[0], "key_group": group[1], "what": what, "from": was, "to": becomes})
    names = sorted(set(before.options) | set(after.options))
    options = tuple(
        {"name": name, "from": before.options.get(name), "to": after.options.get(name)}
        for name in names
        if before.options.get(name) != after.options.get(name)
    )
    stated = after.objective or before.objective
    objective = {
        "name": stated.name if stated else None,
        "from": before.objective.value if before.objective else None,
        "to": after.objective.value if after.objective else None,
    }
    return Difference(before.kind, tuple(changes), options, objective, len(set(old) | set(new)))


def _by_group(plan: Plan, which: str) -> dict[tuple[str, int], dict[str, Any]]:
    if plan.plan is None:
        raise FtplanError(f"the {which} plan holds no answer: its status is {plan.status} ({plan.reason})")
    return {
        (a["operator"], a["key_group"]): {
            "primary": a.get("primary"),
            "checkpoints": sorted(a["checkpoints"], key=natural_key),
        }
        for a in plan.plan["assignments"]
    }
