"""The query as a topology, with the rates that were measured while it ran."""

from __future__ import annotations

from typing import Any

import numpy as np

from ftplan.io.topology_file import load_topology
from ftplan.model.plan import FORMAT_VERSION, canonical_number
from ftplan.model.task_graph import TaskGraph
from ftplan.simulation.tentative_output.outcome import QueryShape
from ftplan.simulation.tentative_output.scene import TentativeQuestion
from ftplan.spark_stats.tentative.settings import Flows


def task_graph(question: TentativeQuestion) -> TaskGraph:
    """Return the tasks of a query that has not run yet."""
    nothing = {edge: np.zeros((0, 3), dtype=np.int64) for edge in question.edges}
    document = job_document(question, Flows(1.0, nothing, np.zeros(1, dtype=np.int64)))
    return TaskGraph(load_topology(document).value)


def job_document(question: TentativeQuestion, flows: Flows) -> dict[str, Any]:
    """Return a topology file of the query, with measured rates: of each task's output, and of substreams.

    Where each task has one receiver its output says what the substream carries, and the edge has a partitioning.
    """
    shape = question.shape
    # a join has all but the output by the same key; a log is not parted by the key that is counted
    *others, last = shape.operators
    keyed = others if question.joins else []
    operators: dict[str, dict[str, Any]] = {}
    for name, parallelism in shape.operators.items():
        operators[name] = {"id": name, "parallelism": parallelism}
        operators[name] |= {"inputs": "correlated"} if name in question.joins else {}
        operators[name] |= {"key_groups": shape.lanes} if name in keyed else {}
    edges = []
    for source, target in question.edges:
        edge, sent = _edge(shape, source, target, flows)
        edges.append(edge)
        operators[source]["rate_out"] = sent
    operators[last] |= {"output": True, "rate_out": _rate(int(flows.outputs.sum()), flows)}
    return {
        "format": "ftplan/topology",
        "format_version": FORMAT_VERSION,
        "name": question.query,
        "operators": list(operators.values()),
        "edges": edges,
    }


def _edge(shape: QueryShape, source: str, target: str, flows: Flows) -> tuple[dict[str, Any], list[float]]:
    """Return an edge between the tasks that have lanes in common, and what each sender puts on it."""
    pairs = np.unique(np.column_stack([shape.tasks_of(source), shape.tasks_of(target)]), axis=0).tolist()
    records = {(sender, receiver): count for sender, receiver, count in flows.edges[source, target].tolist()}
    senders, receivers = shape.operators[source], shape.operators[target]
    counts = [records.get((i, j), 0) for i, j in pairs]
    edge: dict[str, Any] = {"from": source, "to": target}
    if len(pairs) == senders:
        edge["partitioning"] = "merge" if senders > receivers else "one-to-one"
    else:
        edge["substreams"] = [[i, j, _rate(count, flows)] for (i, j), count in zip(pairs, counts, strict=True)]
    sent = np.bincount([i for i, _ in pairs], counts, minlength=senders)
    return edge, [_rate(int(count), flows) for count in sent]


def _rate(records: int, flows: Flows) -> float:
    return canonical_number(records / flows.seconds)
