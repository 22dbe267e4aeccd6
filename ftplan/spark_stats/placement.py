"""Which node held a task or key group: the one that logged most of its records."""

from __future__ import annotations

import re
from typing import Any

from ftplan.spark_stats.operators import Operators

_NO_ID = re.compile(r"[^A-Za-z0-9._-]+")

Placement = dict[str, dict[str, list[str]]]


def majority_nodes(sums: Any) -> dict[str, dict[int, str]]:
    """Return operator → slot → node with most rows; ties go to the first by name. *sums* has ``node``, maybe null."""
    totals = sums.group_by(["operator", "slot", "node"]).aggregate([("rows", "sum")])
    best: dict[str, dict[int, tuple[int, str]]] = {}
    columns = (totals[c].to_pylist() for c in ("operator", "slot", "node", "rows_sum"))
    for operator, slot, node, rows in zip(*columns, strict=True):
        if node is None or slot is None:
            continue
        vote = (-rows, _NO_ID.sub("-", node).strip("-") or "-")
        of_operator = best.setdefault(operator, {})
        of_operator[slot] = min(vote, of_operator.get(slot, vote))
    return {o: {s: node for s, (_, node) in slots.items()} for o, slots in sorted(best.items())}


def placement_document(
    tasks: dict[str, dict[int, str]], key_groups: dict[str, dict[int, str]], operators: Operators
) -> dict[str, Any]:
    """Return ``{"tasks": {operator: [node, …]}, "key_groups": {…}}`` as a cluster file's ``placement`` takes it.

    A task or key group that no record named takes the node of the nearest one before it (else after it); these are
    listed by index under ``assumed``.
    """
    document: dict[str, Any] = {}
    assumed: dict[str, dict[str, list[int]]] = {}
    for kind, by_operator in (("tasks", tasks), ("key_groups", key_groups)):
        for operator, nodes in by_operator.items():
            count = max(nodes) + 1
            if kind == "key_groups":
                count = operators.count(operator) or count
            elif operators.topology is not None:
                count = operators.topology.operator(operator).parallelism
            line, gaps = _without_gaps(nodes, count)
            document.setdefault(kind, {})[operator] = line
            if gaps:
                assumed.setdefault(kind, {})[operator] = gaps
    return {**document, **({"assumed": assumed} if assumed else {})}


def _without_gaps(nodes: dict[int, str], count: int) -> tuple[list[str], list[int]]:
    last = nodes[min(nodes)]
    line, gaps = [], []
    for i in range(count):
        if i not in nodes:
            gaps.append(i)
        last = nodes.get(i, last)
        line.append(last)
    return line, gaps
