"""Big topologies are normal: see also benchmarks/large_inputs.py, which measures all cases in time and memory."""

from __future__ import annotations

import json
import random
import tracemalloc
from pathlib import Path

from ftplan.io.topology_file import load_topology


def test_many_edges(tmp_path: Path) -> None:
    """4,000 operators and 40,000 edges load; anything quadratic would not come to an end."""
    rng = random.Random(0)
    pairs = [sorted(rng.sample(range(4_000), 2)) for _ in range(40_000)]
    document = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": [{"id": f"op-{i}", "parallelism": 4, "key_groups": 8} for i in range(4_000)],
        "edges": [{"from": f"op-{a}", "to": f"op-{b}", "partitioning": "one-to-one"} for a, b in pairs],
    }
    path = tmp_path / "topology.json"
    path.write_text(json.dumps(document))
    loaded = load_topology(path)
    assert len(loaded.value.edges) == 40_000


def test_full_edges_are_no_pairs_of_tasks() -> None:
    """20 operators of 4,000 tasks, all connected: 3 billion pairs of tasks fit into a few kilobytes."""
    names = [f"op-{i}" for i in range(20)]
    document = {
        "format": "ftplan/topology",
        "format_version": "1.0",
        "operators": [{"id": name, "parallelism": 4_000} for name in names],
        "edges": [{"from": a, "to": b, "partitioning": "full"} for i, a in enumerate(names) for b in names[i + 1 :]],
    }
    tracemalloc.start()
    try:
        topology = load_topology(document).value
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert topology.task_count == 80_000
    assert peak < 5_000_000
