"""Copies of idle key groups lie evenly, and cost nothing."""

from __future__ import annotations

import numpy as np
import pytest

from ftplan.model.cluster import Cluster, Node, Placement
from ftplan.model.statistics import KeyGroupSeries
from ftplan.model.topology import Operator, Topology
from ftplan.planners import registry
from ftplan.planners.allocate_checkpoints.problem import AllocationOptions, build
from ftplan.planners.allocate_checkpoints.violations import violations


@pytest.mark.parametrize("algorithm", ["correlated", "exact"])
@pytest.mark.parametrize(("balance", "copies"), [("none", 1), ("auto", 1), ("auto", 2), ("count", 1)])
def test_idle_groups_are_spread_by_number(algorithm: str, balance: str, copies: int) -> None:
    """40 key groups on 4 nodes, 8 of them with load: no node has many more than its part, its own groups' aside."""
    rng = np.random.default_rng(3)
    loads = np.zeros((30, 40))
    loads[:, ::5] = rng.integers(1, 50, (30, 8))
    operator = Operator("o", 4, np.ones(4), np.full(4, 10.0 * 2**20), np.ones(4), key_groups=40)
    topology = Topology((operator,), ())
    nodes = tuple(Node(f"n{i}", 1.0, memory_mb=100.0) for i in range(1, 5))
    cluster = Cluster(nodes, placement=Placement(tasks={"o": ("n1", "n2", "n3", "n4")}))
    series = KeyGroupSeries(
        ("o",), np.zeros(40, np.int64), np.arange(40), loads, "records", 60.0, np.full(40, np.nan), np.zeros(40, bool)
    )
    options = AllocationOptions(balance=balance, copies=copies)  # type: ignore[arg-type]
    problem = build(topology, cluster, cluster.placement, series, options)
    answer = registry.load(registry.row("allocate-checkpoints", algorithm))(problem, options).answer
    assert violations(answer.assignments, topology, cluster, series, answer.rules) == ()
    held = np.bincount(answer.copies.ravel(), minlength=4)
    assert held.sum() == 40 * copies
    assert held.max() <= 12 * copies
