"""What changes from one scale-out to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftplan.model.names import natural_key
from ftplan.model.plan import Plan
from ftplan.model.problem import Problem
from ftplan.planners.assessments import Difference

#: What is compared of an operator: what it gets, and how. An operator that a plan does not list stays as it is.
_COMPARED = ("parallelism_to", "technique", "key_ranges", "nodes", "state")
#: Figures of ``after``.
_AFTER = ("sustained_load", "cpu", "highest_utilisation", "fairness")


@dataclass(frozen=True)
class ScaleOutDifference(Difference):
    """What changes between two scale-outs: ``changes`` are ``{operator, what, from, to}``.

    ``what`` is ``parallelism_to``, ``technique``, ``key_ranges``, ``nodes`` (as a set) or ``state``; the last four
    where both plans state them.
    """

    operators: int  # in either plan

    @property
    def changed(self) -> bool:
        """Whether another plan is carried out; other states alone change nothing in the cluster."""
        return any(change["what"] != "state" for change in self.changes)

    @property
    def figures(self) -> Mapping[str, tuple[Any, Any]]:
        """Figures of both plans by name; None where a plan does not state them."""
        was, becomes = (_figures(plan) for plan in (self.before, self.after))
        return {name: (was[name], becomes[name]) for name in was}

    @property
    def details(self) -> Mapping[str, Any]:
        """How many operators change, and the figures of both plans."""
        return {
            "operators": self.operators,
            "operators_changed": len({change["operator"] for change in self.changes}),
            "figures": {name: {"from": was, "to": becomes} for name, (was, becomes) in self.figures.items()},
        }


def diff(before: Plan, after: Plan, problem: Problem | None) -> Difference:
    """Compare two scale-outs."""
    old, new = ({item["operator"]: item for item in (plan.plan or {})["operators"]} for plan in (before, after))
    changes: list[Mapping[str, Any]] = []
    names = sorted({*old, *new}, key=natural_key)
    for name in names:
        was, becomes = (_stated(old.get(name), new.get(name)), _stated(new.get(name), old.get(name)))
        for what in _COMPARED:
            pair = was.get(what), becomes.get(what)
            if pair[0] == pair[1] or (what != "parallelism_to" and None in pair and not _both(old, new, name, what)):
                continue
            changes.append({"operator": name, "what": what, "from": pair[0], "to": pair[1]})
    return ScaleOutDifference(before, after, tuple(changes), len(names))


def _stated(item: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return what a plan says of an operator; of one that it does not list, that it stays as the other plan has it."""
    if item is None:
        return {"parallelism_to": (other or {}).get("parallelism_from")}
    nodes = item.get("nodes")
    return {**item, "nodes": None if nodes is None else sorted(nodes, key=natural_key)}


def _both(old: Mapping[str, Any], new: Mapping[str, Any], name: str, what: str) -> bool:
    """Return whether both plans state a thing of an operator; a technique of null is stated beside steps."""
    return all(name in some and what == "technique" and some[name].get("steps") is not None for some in (old, new))


def _figures(plan: Plan) -> dict[str, Any]:
    listed = (plan.plan or {})["operators"]
    after = plan.summary.get("after")
    stated = after if isinstance(after, Mapping) else {}
    return {
        "operators_changed": sum(item["parallelism_to"] != item["parallelism_from"] for item in listed),
        "tasks": sum(item["parallelism_to"] for item in listed),
        "extra_core_s": _of_changed(listed, "extra_core_s", sum),
        "pause_s": _of_changed(listed, "pause_s", max),
        **{name: stated.get(name) for name in _AFTER},
    }


def _of_changed(
    listed: Sequence[Mapping[str, Any]], name: str, how: Callable[[Sequence[float]], float]
) -> float | None:
    """Return the sum or the largest of a figure over the operators that state it; those that stay do not."""
    values = [float(item[name]) for item in listed if item.get(name) is not None]
    return float(how(values)) if values else None
