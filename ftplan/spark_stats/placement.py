"""Which node held a task or key group: the one that logged most of its records."""

from __future__ import annotations

from typing import Any

from ftplan.spark_stats.operators import Operators, as_id


def majority_nodes(sums: Any) -> dict[str, dict[int, str]]:
    """Return operator → slot → node with most rows; ties go to the first by name. *sums* has ``node``, maybe null."""
    totals = sums.group_by(["operator", "slot", "node"]).aggregate([("rows", "sum")])
    best: dict[str, dict[int, tuple[int, str]]] = {}
    columns = (totals[c].to_pylist() for c in ("operator", "slot", "node", "rows_sum"))
    for operator, slot, node, rows in zip(*columns, strict=True):
        if node is None or slot is None:
            continue
        vote = (-rows, as_id(node))
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
            document.setdefault(kind, {})[operator] = _without_gaps(nodes, count)
            if gaps := [i for i in range(count) if i not in nodes]:
                assumed.setdefault(kind, {})[operator] = gaps
    return {**document, **({"assumed": assumed} if assumed else {})}


def _without_gaps(nodes: dict[int, str], count: int) -> list[str]:
    line = [nodes[min(nodes)]]
    for i in range(count):
        line.append(nodes.get(i, line[-1]))
    return line[1:]
