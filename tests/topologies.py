"""Random small topologies for property tests: every partitioning, joins, substreams with and without, rates of 0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from ftplan.model.topology import Edge, Operator, Substreams, Topology


def operator(id: str, parallelism: int, **fields: object) -> Operator:
    """Return an operator whose tasks cost one core each; numbers among the fields become arrays."""
    given = {"cpu": 1.0, "state_bytes": 0.0, "priority": 1.0} | fields
    for key in ("cpu", "state_bytes", "priority", "rate_out", "input_share"):
        if key in given:
            given[key] = np.broadcast_to(np.asarray(given[key], dtype=np.float64), (parallelism,)).copy()
    return Operator(id, parallelism, **given)  # type: ignore[arg-type]


@st.composite
def topologies(draw: st.DrawFn, operators: int = 5, parallelism: int = 4) -> Topology:
    """Draw a topology; operators stand in a random file order and some have neither inputs nor outputs."""
    count = draw(st.integers(1, operators))
    numbers = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])
    made = []
    for i in range(count):
        tasks = draw(st.integers(1, parallelism))
        fields: dict[str, object] = {
            "cpu": [draw(numbers) for _ in range(tasks)],
            "priority": [draw(st.integers(1, 5)) for _ in range(tasks)],
            "selectivity": draw(st.sampled_from([0.0, 0.5, 1.0, 2.0])),
            "inputs": draw(st.sampled_from(["independent", "correlated"])),
            "output": draw(st.sampled_from([False, False, True])),
        }
        if draw(st.booleans()):
            fields["rate_out"] = [draw(numbers) for _ in range(tasks)]
        if draw(st.booleans()):
            fields["input_share"] = [draw(numbers) for _ in range(tasks - 1)] + [1.0]
        made.append((f"o{draw(st.integers(0, 9))}{i}", tasks, fields))
    edges = []
    for target in range(count):
        for source in range(target):
            if draw(st.booleans()):
                edges.append(_edge(draw, source, target, made[source][1], made[target][1]))
    leaving = {edge.source for edge in edges}
    for i, (_, _, fields) in enumerate(made):
        fields["output"] = bool(fields["output"]) or i not in leaving
    return Topology(tuple(operator(id, tasks, **fields) for id, tasks, fields in made), tuple(edges))


def _edge(draw: st.DrawFn, source: int, target: int, senders: int, receivers: int) -> Edge:
    narrow = "one-to-one" if senders == receivers else "split" if senders < receivers else "merge"
    kind = draw(st.sampled_from(["full", narrow, "substreams", "measured"]))
    if kind not in ("substreams", "measured"):
        return Edge(source, target, partitioning=kind)  # type: ignore[arg-type]
    every = [(i, j) for i in range(senders) for j in range(receivers)]
    pairs = draw(st.lists(st.sampled_from(every), unique=True, max_size=6))
    rate = np.array([draw(st.sampled_from([0.0, 1.0, 2.5])) for _ in pairs], dtype=np.float64)
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    rule = "full" if kind == "measured" else None
    return Edge(source, target, rule, substreams=Substreams(columns[:, 0], columns[:, 1], rate))


@st.composite
def joined_topologies(draw: st.DrawFn, operators: int = 5, tasks: int = 8, keyed: bool = True) -> Topology:
    """Draw a source, operators fed by range or by full edges, often with key groups, and a join of them at the end."""
    count = draw(st.integers(4, operators))
    sizes = [draw(st.integers(1, 3)) for _ in range(count)]
    while sum(sizes) > tasks:
        sizes[sizes.index(max(sizes))] -= 1
    groups = [draw(st.sampled_from([None, 6, 6, 6, 4])) if keyed else None for _ in range(count)]
    made, edges = [], []
    for i, (size, key_groups) in enumerate(zip(sizes, groups, strict=True)):
        first, last = i == 0, i == count - 1
        fields: dict[str, object] = {"key_groups": key_groups, "output": last}
        fields["inputs"] = "correlated" if last else draw(st.sampled_from(["independent", "correlated"]))
        if draw(st.integers(0, 3)) == 0:
            fields["input_share"] = [draw(st.sampled_from([0.0, 1.0, 3.0])) for _ in range(size - 1)] + [1.0]
        if first or draw(st.integers(0, 3)) == 0:
            fields["rate_out"] = [draw(st.sampled_from([0.0, 1.0, 2.0])) for _ in range(size)]
        made.append(operator(f"o{i}", size, **fields))
        if first:
            continue
        sources = draw(st.lists(st.integers(0, i - 1), min_size=1 + last, max_size=3, unique=True))
        for source in sorted(sources):
            narrow = "one-to-one" if sizes[source] == size else "split" if sizes[source] < size else "merge"
            by_range = draw(st.booleans()) or key_groups is None or groups[source] is None
            edges.append(Edge(source, i, narrow if by_range else "full"))  # type: ignore[arg-type]
    leaving = {edge.source for edge in edges}
    made = [replace(o, output=o.output or i not in leaving) for i, o in enumerate(made)]
    return Topology(tuple(made), tuple(edges))
