"""What knobs of a cluster ask for is there."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ftplan.generators.cluster import cluster
from ftplan.generators.knobs import TopologyKnobs
from ftplan.generators.options import ClusterKnobs
from ftplan.generators.topology import topology
from ftplan.model.cluster import Cluster, Placement
from ftplan.model.topology import Topology

JOB = topology(TopologyKnobs(operators=(8, 8), seed=5))
CORES = float(sum(operator.cpu.sum() for operator in JOB.operators))


def made(job: Topology | None = JOB, **knobs: Any) -> Cluster:
    return cluster(ClusterKnobs(**knobs), job)


def placement(of: Cluster) -> Placement:
    assert of.placement is not None
    return of.placement


@given(
    utilisation=st.floats(0.3, 1.0),
    nodes=st.none() | st.integers(2, 30),
    cores=st.none() | st.sampled_from([(16.0, 16.0), (8.0, 64.0)]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=100, deadline=None)
def test_the_utilisation_is_met(
    utilisation: float, nodes: int | None, cores: tuple[float, float] | None, seed: int
) -> None:
    """However many nodes of whatever size: tasks and other work take the share that was asked for."""
    assume(nodes is None or cores is None or nodes * cores[0] * utilisation >= CORES)
    built = made(utilisation=utilisation, nodes=nodes, cores=cores, seed=seed)
    other = sum(node.used_cpu for node in built.nodes)
    assert (CORES + other) / built.cpu.sum() == pytest.approx(utilisation, rel=2e-3)
    assert nodes is None or len(built.nodes) == nodes
    if cores is not None:
        assert set(built.cpu.tolist()) <= {cores[0] * 2**k for k in range(4)}


def test_without_a_topology() -> None:
    built = made(None, nodes=6, cores=(4.0, 4.0), utilisation=0.25, zones=4)
    assert [(node.id, node.cpu, node.used_cpu, node.zone) for node in built.nodes] == [
        (f"n{k + 1}", 4.0, 1.0, f"z{k % 4 + 1}") for k in range(6)
    ]
    assert built.placement is None


@pytest.mark.parametrize("policy", ["round-robin", "zones", "random"])
def test_every_task_has_a_place_with_room(policy: str) -> None:
    built = made(placement=policy, zones=3, nodes=9, utilisation=0.5)
    tasks = placement(built).tasks
    assert {id: len(hosts) for id, hosts in tasks.items()} == {o.id: o.parallelism for o in JOB.operators}
    used = dict.fromkeys((node.id for node in built.nodes), 0.0)
    for operator in JOB.operators:
        for host, cpu in zip(tasks[operator.id], operator.cpu.tolist(), strict=True):
            used[host] += cpu
        if policy == "zones":
            zones = Counter(built.node(host).zone for host in tasks[operator.id])
            assert max(zones.values()) - (min(zones.values()) if len(zones) == 3 else 0) <= 1
    if policy != "round-robin":
        assert all(used[node.id] <= node.cpu for node in built.nodes)


@given(copies=st.integers(1, 3), zones=st.integers(0, 5), seed=st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_copies_and_replicas_lie_elsewhere(copies: int, zones: int, seed: int) -> None:
    built = made(copies=copies, replicas=0.5, zones=zones, nodes=10, seed=seed)
    lists = placement(built)
    for operator in JOB.keyed_operators:
        home = [lists.tasks[operator.id][t] for t in operator.task_of_key_groups()]
        for primary, hosts in zip(home, lists.checkpoints[operator.id], strict=True):
            assert len({primary, *hosts}) == copies + 1
            if zones > copies:
                assert len({built.node(host).zone for host in (primary, *hosts)}) == copies + 1
    chosen = [host for hosts in lists.replicas.values() for host in hosts]
    assert 0 < sum(host is not None for host in chosen) < len(chosen)
    for operator in JOB.operators:
        pairs = zip(lists.tasks[operator.id], lists.replicas[operator.id], strict=True)
        assert (
            all(replica is None or built.node(home).zone_id != built.node(replica).zone_id for home, replica in pairs)
            or zones == 1
        )


def test_probabilities_lie_in_their_ranges() -> None:
    built = made(node_failure=(0.01, 0.02), zone_failure=(0.1, 0.3), nodes=50, zones=10)
    nodes = np.array([node.failure_probability for node in built.nodes], dtype=np.float64)
    zones = np.array([zone.failure_probability for zone in built.zones], dtype=np.float64)
    assert 0.01 <= nodes.min() < nodes.max() <= 0.02
    assert 0.1 <= zones.min() < zones.max() <= 0.3
    assert len(zones) == 10
    assert all(node.failure_probability is None for node in made(node_failure=None).nodes)
