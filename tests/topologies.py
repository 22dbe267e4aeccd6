"""Random small topologies for property tests: every partitioning, joins, substreams with and without, rates of 0."""

from __future__ import annotations

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
