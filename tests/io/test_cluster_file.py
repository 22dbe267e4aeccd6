"""Cluster files: exact messages, order of nodes, placements held against a topology, round trip."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.io.cluster_file import load_cluster
from ftplan.io.placement_checks import read_placement
from ftplan.io.topology_file import load_topology
from tests.io.documents import cluster_document
from tests.io.examples import cluster, said, topology


def placed(**parts: Any) -> dict[str, Any]:
    return cluster(placement=parts)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (cluster(nodes=[]), "nodes: needs at least one entry"),
        (cluster(nodes=[{"id": "a", "cpu": 1}, {"id": "a", "cpu": 1}]),
         "nodes[1].id: duplicate id 'a' (also nodes[0])"),
        (cluster(nodes=[{"id": "a"}]), "nodes[0].cpu: is missing"),
        (cluster(nodes=[{"id": "a", "cpu": -1}]), "nodes[0].cpu: must be at least 0, got -1"),
        (cluster(nodes=[{"id": "a", "cpu": float("nan")}]), "nodes[0].cpu: must be a finite number, got NaN"),
        (cluster(nodes=[{"id": "a", "cpu": 1, "memory_mb": 0}]), "nodes[0].memory_mb: must be more than 0, got 0"),
        (cluster(nodes=[{"id": "a", "cpu": 1, "accepts": ["task"]}]),
         "nodes[0].accepts[0]: expected 'tasks' or 'checkpoints', got 'task' (did you mean 'tasks'?)"),
        (cluster(nodes=[{"id": "a", "cpu": 1, "failure_probability": 1.5}]),
         "nodes[0].failure_probability: must be at most 1, got 1.5"),
        (cluster(nodes=[{"id": "a", "cpu": 1, "labels": {"kernel": 6.1}}]),
         "nodes[0].labels.kernel: is read as the number 6.1, not as text: quote it"),
        (cluster(nodes=[{"id": "a", "cpu": 1, "labels": ["a"]}]), "nodes[0].labels: expected a mapping, got a list"),
        (cluster(zones=[{"id": "rack-a"}, {"id": "rack-a"}]), "zones[1].id: duplicate id 'rack-a' (also zones[0])"),
        (cluster(network={"bandwidth_mb_s": 0}), "network.bandwidth_mb_s: must be more than 0, got 0"),
        (placed(tasks={"join": ["n1", "n2", "n11", "n1"]}),
         "placement.tasks.join[2]: unknown node 'n11' (did you mean 'n1'?)"),
        (placed(tasks={"join": ["n1", "n2"]}),
         "placement.tasks.join: wrong length: got 2, expected 4 = parallelism of 'join'"),
        (placed(tasks={"joins": ["n1"]}), "placement.tasks.joins: unknown operator 'joins' (did you mean 'join'?)"),
        (placed(key_groups={"join": ["n1"]}),
         "placement.key_groups.join: wrong length: got 1, expected 8 = key_groups of 'join'"),
        (placed(key_groups={"flights": ["n1"] * 4}),
         "placement.key_groups.flights: 'flights' has no key groups in the topology"),
        (placed(checkpoints={"join": [["n1"]] * 7 + [["zz"]]}),
         "placement.checkpoints.join[7][0]: unknown node 'zz'; there are n1, n2, n10"),
        (placed(replicas={"join": [None, "n1", None]}),
         "placement.replicas.join: wrong length: got 3, expected 4 = parallelism of 'join'"),
        (placed(tasks={"weather": ["n1", 3]}),
         "placement.tasks.weather[1]: is read as the number 3, not as text: quote it"),
        (placed(tasks={"a b": []}), "placement.tasks.a b: 'a b' is no id (letters, digits, '.', '_' and '-')"),
        (cluster(format="ftplan/topology"),
         "format: this is a topology file (ftplan/topology); expected a cluster (ftplan/cluster)"),
    ],
)  # fmt: skip
def test_messages(document: dict[str, Any], message: str) -> None:
    job = load_topology(topology()).value
    assert said(load_cluster, document, job) == f"cluster: {message}"


def test_nodes_in_natural_order() -> None:
    found = load_cluster(cluster()).value
    assert [node.id for node in found.nodes] == ["n1", "n2", "n10"]
    assert [found.nodes[i].id for i in found.file_order] == ["n10", "n2", "n1"]
    assert found.zone_names == ("node:n1", "rack-b", "rack-a")
    assert found.placement is None


def test_placement_without_topology() -> None:
    """Lengths cannot be checked, nodes can."""
    found = load_cluster(placed(tasks={"join": ["n1"]}, replicas={"join": [None]})).value
    assert found.placement is not None
    assert found.placement.tasks == {"join": ("n1",)}
    assert found.placement.replicas == {"join": (None,)}
    assert said(load_cluster, placed(tasks={"x": ["node3"]})) == (
        "cluster: placement.tasks.x[0]: unknown node 'node3'; there are n1, n2, n10"
    )


def test_warnings() -> None:
    document = cluster(zones=[{"id": "rack-a"}, {"id": "rack-z"}])
    document["nodes"][1].update(used_cpu=3, zoen="rack-b")
    assert [(w.code, w.message) for w in load_cluster(document).warnings] == [
        ("UNKNOWN_KEY", "cluster: nodes[1].zoen: unknown key is ignored (did you mean 'zone'?)"),
        ("UNUSED_ZONE", "cluster: zones[1].id: no node is in zone 'rack-z'"),
        ("OVERUSED_NODE", "cluster: nodes[1].used_cpu: 3 cores are in use on 'n2', which has 2"),
    ]


ids = st.text("abn019._-", min_size=1, max_size=4)
shares = st.just(0.0) | st.floats(1e-9, 1)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    optional: dict[str, st.SearchStrategy[Any]] = {
        "memory_mb": st.floats(1, 1e6),
        "zone": ids,
        "used_cpu": st.just(0.0) | st.floats(1e-9, 9),
        "accepts": st.lists(st.sampled_from(["tasks", "checkpoints"]), unique=True),
        "failure_probability": shares,
        "labels": st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
    }
    nodes = [{"id": name, "cpu": 4.0, **draw(st.fixed_dictionaries({}, optional=optional))} for name in names]
    node = st.sampled_from(names)
    parts: dict[str, st.SearchStrategy[Any]] = {
        "tasks": st.dictionaries(ids, st.lists(node, max_size=3), min_size=1, max_size=2),
        "key_groups": st.dictionaries(ids, st.lists(node, max_size=3), min_size=1, max_size=2),
        "checkpoints": st.dictionaries(ids, st.lists(st.lists(node, max_size=2), max_size=3), min_size=1, max_size=2),
        "replicas": st.dictionaries(ids, st.lists(st.none() | node, max_size=3), min_size=1, max_size=2),
    }
    whole: dict[str, st.SearchStrategy[Any]] = {
        "zones": st.lists(
            st.fixed_dictionaries({"id": ids}, optional={"failure_probability": shares}),
            unique_by=lambda zone: str(zone["id"]),
        ),
        "network": st.fixed_dictionaries({}, optional={"bandwidth_mb_s": st.floats(1, 9), "delay_s": shares}),
        "placement": st.fixed_dictionaries({}, optional=parts),
    }
    return {
        "format": "ftplan/cluster",
        "format_version": "1.0",
        "nodes": nodes,
        **draw(st.fixed_dictionaries({}, optional=whole)),
    }


@given(documents())
def test_round_trip(document: dict[str, Any]) -> None:
    """What is written loads back equal."""
    first = load_cluster(document).value
    second = load_cluster(cluster_document(first)).value
    for field in ("nodes", "zones", "network", "placement", "file_order"):
        assert getattr(first, field) == getattr(second, field)


def test_a_placement_by_itself() -> None:
    job, machines = load_topology(topology()).value, load_cluster(cluster()).value
    placement = read_placement({"tasks": {"join": ["n1"] * 4}}, "placement.yaml", machines, job)
    assert placement.tasks == {"join": ("n1",) * 4}
    for value, message in (
        ({"tasks": {"join": ["n1"]}}, "placement.tasks.join: wrong length: got 1, expected 4 = parallelism of 'join'"),
        ({"tasks": {"join": ["n7"] * 4}},
         "placement.tasks.join[0]: unknown node 'n7'; there are n1, n2, n10 (and 3 more)"),
        ({"tasks": {"join": "n1"}}, "placement.tasks.join: expected a list, got 'n1'"),
    ):  # fmt: skip
        assert said(read_placement, value, "placement.yaml", machines, job) == f"placement.yaml: {message}"
        with pytest.raises(FtplanError, match=re.escape(message)):
            load_cluster(cluster(placement=value), job)
