"""The query as a topology, with the rates that were measured while it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ftplan.api.tentative.question import Question
from ftplan.model.plan import FORMAT_VERSION, canonical_number

if TYPE_CHECKING:
    from ftplan.simulation.tentative_output import QueryShape
    from ftplan.spark_stats.tentative.lanes import Flows


def job_document(question: Question, flows: Flows) -> dict[str, Any]:
    """Return a topology file of the query: measured substreams on every edge, the output's rate at the end."""
    shape = question.shape
    keyed = bool(question.joins)  # all by the same key; the slices of a log are by another one than its output
    operators = []
    for name, parallelism in shape.operators.items():
        operator: dict[str, Any] = {"id": name, "parallelism": parallelism}
        if name in question.joins:
            operator["inputs"] = "correlated"
        if keyed and parallelism > 1:
            operator["key_groups"] = shape.lanes
        operators.append(operator)
    operators[-1] |= {"output": True, "rate_out": _rate(float(flows.outputs.sum()), flows.seconds)}
    edges = [_edge(shape, source, target, flows) for source, target in question.edges]
    return {
        "format": "ftplan/topology",
        "format_version": FORMAT_VERSION,
        "name": question.query,
        "operators": operators,
        "edges": edges,
    }


def _edge(shape: QueryShape, source: str, target: str, flows: Flows) -> dict[str, Any]:
    """Return an edge with a rate for each pair of tasks that have a lane in common."""
    pairs = np.unique(np.column_stack([shape.tasks_of(source), shape.tasks_of(target)]), axis=0).tolist()
    records = {(sender, receiver): count for sender, receiver, count in flows.edges[source, target].tolist()}
    rates = [[i, j, _rate(float(records.get((i, j), 0)), flows.seconds)] for i, j in pairs]
    rule = _partitioning(shape.operators[source], shape.operators[target], len(pairs))
    return {"from": source, "to": target, "partitioning": rule, "substreams": rates}


def _partitioning(senders: int, receivers: int, pairs: int) -> str:
    """Return the rule by which tasks meet that have a range of lanes in common, so many *pairs* of them."""
    if pairs > max(senders, receivers):
        return "full"  # ranges that overlap; the substreams say which
    if senders == receivers:
        return "one-to-one"
    return "merge" if senders > receivers else "split"


def _rate(records: float, seconds: float) -> float:
    return canonical_number(records / seconds)
