"""Headroom by removing each node and zone in turn, and loss probability by looking at every failure."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ftplan.model.cluster import Cluster, Node, Zone
from ftplan.model.measures import loss_probability as module
from ftplan.model.measures.availability import copysets, failover_headroom, loss_probability
from ftplan.model.statistics import KeyGroupSeries

PROBABILITIES = st.sampled_from([None, 0.0, 0.001, 0.1, 0.5, 1.0])
QUICK = settings(max_examples=100, deadline=None)


def series(loads: list[float]) -> KeyGroupSeries:
    groups = len(loads)
    return KeyGroupSeries(
        ("op",),
        np.zeros(groups, dtype=np.int64),
        np.arange(groups),
        np.array([loads, loads]),
        "records",
        60.0,
        np.full(groups, np.nan),
        np.zeros(groups, dtype=bool),
    )


@st.composite
def allocations(draw: Any) -> tuple[Cluster, list[dict[str, Any]], list[float]]:
    """Up to five nodes in up to three zones, up to six key groups with any number of copies, in any order."""
    names = [f"n{i}" for i in range(1, draw(st.integers(2, 5)) + 1)]
    nodes = tuple(
        Node(
            name,
            draw(st.sampled_from([1.0, 2.0, 0.5])),
            zone=draw(st.sampled_from([None, "a", "b"])),
            accepts=frozenset(draw(st.sampled_from([("tasks", "checkpoints"), ("tasks",)]))),
            failure_probability=draw(PROBABILITIES),
        )
        for name in names
    )
    zones = (Zone("a", draw(PROBABILITIES)), Zone("b", draw(PROBABILITIES)))
    groups = draw(st.integers(1, 6))
    chosen = [draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)) for _ in range(groups)]
    assignments = [
        {"operator": "op", "key_group": g, "primary": nodes[0], "checkpoints": list(copies)}
        for g, (*copies, _) in enumerate(chosen)
    ]
    for item, where in zip(assignments, chosen, strict=True):
        item["primary"] = where[-1]
    loads = [draw(st.sampled_from([0.0, 1.0, 2.5, 7.0])) for _ in range(groups)]
    return Cluster(nodes, zones), assignments, loads


def by_removal(cluster: Cluster, assignments: list[dict[str, Any]], loads: list[float], losses: str) -> float:
    worst = 0.0
    domain = {n.id: n.id if losses == "node" else n.zone or f"alone {n.id}" for n in cluster.nodes}
    homes = {a["primary"] for a in assignments}
    for lost in set(domain.values()):
        alive = {n.id: n for n in cluster.nodes if domain[n.id] != lost}
        carried = dict.fromkeys(alive, 0.0)
        for item, load in zip(assignments, loads, strict=True):
            for node in (item["primary"], *item["checkpoints"]):
                if node in alive:
                    carried[node] += load
                    break
        count = [n for n in alive.values() if "checkpoints" in n.accepts or n.id in homes]
        for node, load in carried.items():
            if load:
                mine = alive[node].cpu if alive[node] in count else 0.0
                fair = sum(loads) * mine / sum(n.cpu for n in count) if count else 0.0
                worst = max(worst, load / fair if fair else float("inf"))
    return worst


@QUICK
@given(allocations(), st.sampled_from(["node", "zone"]))
def test_headroom_is_the_worst_of_every_removal(
    case: tuple[Cluster, list[dict[str, Any]], list[float]], losses: Any
) -> None:
    cluster, assignments, loads = case
    found = failover_headroom(assignments, cluster, series(loads), losses)
    if not any(loads):
        assert found.ratio is None
        return
    assert found.ratio == pytest.approx(by_removal(cluster, assignments, loads, losses))
    shuffled = failover_headroom(assignments[::-1], cluster, series(loads), losses)
    assert shuffled == found


def test_headroom_names_the_loss_and_the_survivor() -> None:
    cluster = Cluster(tuple(Node(f"n{i}", 1.0, zone=z) for i, z in enumerate("aab", 1)))
    assignments = [
        {"operator": "op", "key_group": 0, "primary": "n1", "checkpoints": ["n2", "n3"]},
        {"operator": "op", "key_group": 1, "primary": "n2", "checkpoints": ["n3", "n1"]},
        {"operator": "op", "key_group": 2, "primary": "n3", "checkpoints": ["n2", "n1"]},
    ]
    found = failover_headroom(assignments, cluster, series([1.0, 1.0, 1.0]))
    assert (found.ratio, found.loss, found.survivor) == (pytest.approx(4 / 3), "node:n1", "n2")
    zones = failover_headroom(assignments, cluster, series([1.0, 1.0, 1.0]), "zone")
    assert (zones.ratio, zones.loss, zones.survivor) == (pytest.approx(4 / 3), "zone:b", "n2")


def by_enumeration(cluster: Cluster, assignments: list[dict[str, Any]]) -> float:
    """Sum the probability of every combination of failures that takes down some key group as a whole."""
    events = [("node", n.id, n.failure_probability or 0.0) for n in cluster.nodes]
    events += [("zone", z.id, z.failure_probability or 0.0) for z in cluster.zones]
    total = 0.0
    for states in itertools.product([False, True], repeat=len(events)):
        failed = {(kind, name) for (kind, name, _), state in zip(events, states, strict=True) if state}
        weight = np.prod([p if state else 1 - p for (_, _, p), state in zip(events, states, strict=True)])
        down = {n.id for n in cluster.nodes if ("node", n.id) in failed or ("zone", n.zone) in failed}
        if any(down.issuperset((a["primary"], *a["checkpoints"])) for a in assignments):
            total += float(weight)
    return total


@QUICK
@given(allocations())
def test_loss_probability_is_the_sum_over_every_failure(
    case: tuple[Cluster, list[dict[str, Any]], list[float]],
) -> None:
    cluster, assignments, _ = case
    found = loss_probability(assignments, cluster)
    given_at_all = [n.failure_probability for n in cluster.nodes] + [z.failure_probability for z in cluster.zones]
    if all(probability is None for probability in given_at_all):
        assert found is None
        return
    assert found is not None
    assert found.low == found.high
    assert found.high == pytest.approx(by_enumeration(cluster, assignments), abs=1e-12)
    for work in (0, 2, 5):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "WORK", work)
            bounded = loss_probability(assignments, cluster)
        assert bounded is not None
        assert bounded.low - 1e-12 <= found.high <= bounded.high + 1e-12


def test_many_copysets_are_bounded_closely_and_the_same_every_time() -> None:
    rng = np.random.default_rng(0)
    cluster = Cluster(tuple(Node(f"n{i}", 1.0, failure_probability=1e-3) for i in range(100)))
    pairs = [rng.choice(100, 2, replace=False) for _ in range(3000)]
    assignments = [
        {"operator": "op", "key_group": g, "primary": f"n{a}", "checkpoints": [f"n{b}"]}
        for g, (a, b) in enumerate(pairs)
    ]
    found = loss_probability(assignments, cluster)
    assert found is not None
    assert 0 < found.high - found.low < 0.1 * found.high
    assert loss_probability(assignments[::-1], cluster) == found


def test_copysets_are_sets() -> None:
    def item(primary: str, *copies: str) -> dict[str, Any]:
        return {"operator": "op", "key_group": 0, "primary": primary, "checkpoints": list(copies)}

    assert len(copysets([item("a", "b", "c"), item("c", "a", "b"), item("a", "b")])) == 2
