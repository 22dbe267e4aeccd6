"""The three objectives, usable shares and simulated migrations against loops that follow the definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftplan.errors import FtplanError
from ftplan.model.cluster import Cluster, Node
from ftplan.model.measures.planned_copies import planned_copies
from ftplan.model.statistics import KeyGroupSeries
from ftplan.planners.allocate_checkpoints.copy_measures import migrations, usable_at_random, usable_windows
from ftplan.planners.allocate_checkpoints.metrics import allocation_score
from ftplan.planners.allocate_checkpoints.objective import (
    OBJECTIVES,
    CheckpointObjective,
    copy_values,
    objective_costs,
    objective_value,
)

EVERY = [
    CheckpointObjective(name, correlate)  # type: ignore[arg-type]
    for name in OBJECTIVES
    for correlate in ("raw", "share", "residual")
    if name != "usable" or correlate == "raw"
]


def drawn(seed: int) -> tuple[KeyGroupSeries, Cluster, list[dict[str, Any]]]:
    """A random plan of two copies on four nodes, one of which accepts none; two days of windows of six hours."""
    rng = np.random.default_rng(seed)
    groups = int(rng.integers(1, 8))
    loads = rng.integers(0, 10, (8, groups)).astype(float)
    if rng.random() < 0.3:
        loads[:, 0] = 4.0
    series = KeyGroupSeries(
        ("a",),
        np.zeros(groups, int),
        np.arange(groups),
        loads,
        "records",
        21600.0,
        np.full(groups, np.nan),
        np.zeros(groups, bool),
    )
    nodes = tuple(
        Node(
            f"n{i}",
            1.0 + i % 2,
            used_cpu=0.25 * (i == 1),
            accepts=frozenset(("tasks",) if i == 4 else ("tasks", "checkpoints")),
        )
        for i in range(1, 5)
    )
    plan = []
    for g in range(groups):
        home = f"n{rng.integers(1, 5)}"
        others = [n for n in ("n1", "n2", "n3") if n != home]
        plan.append(
            {"operator": "a", "key_group": g, "primary": home, "checkpoints": list(rng.permutation(others)[:2])}
        )
    return series, Cluster(nodes), plan


@given(st.integers(0, 2**32 - 1), st.sampled_from(EVERY))
def test_plan_matrix_and_random_agree(seed: int, objective: CheckpointObjective) -> None:
    """The value of a plan is the sum of its entries of the matrix, the random value the mean over a row's nodes."""
    series, cluster, plan = drawn(seed)
    objective = objective.resolved(series, cluster)
    home = np.array([cluster.position[a["primary"]] for a in plan])
    cost = objective_costs(objective, series.loads, series.window_s, home, cluster)
    expected = sum(cost[a["key_group"], cluster.position[n]] for a in plan for n in a["checkpoints"])
    assert objective_value(objective, plan, series, cluster) == pytest.approx(objective.sign * expected, abs=1e-9)
    assert objective_value(objective, plan[::-1], series, cluster) == objective_value(objective, plan, series, cluster)
    values = copy_values(objective, planned_copies(plan, series, cluster), series, cluster)
    for a in plan:
        places = [cost[a["key_group"], i] for i in range(3) if i != home[a["key_group"]]]
        mean = objective.sign * 2 * float(np.mean(places))
        assert values.random[a["key_group"]] == pytest.approx(mean, abs=1e-9)
    score = allocation_score(plan, cluster, series, objective)
    assert score.random == pytest.approx(values.random.sum(), abs=1e-9)
    assert sum(value for value, _ in score.by_operator.values()) == pytest.approx(score.value, abs=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_usable_share_by_loops(seed: int) -> None:
    series, cluster, plan = drawn(seed)
    objective = CheckpointObjective("correlation", overload=0.7).resolved(series, cluster)
    home = np.array([cluster.position[a["primary"]] for a in plan])
    nodes = CheckpointObjective(overload=0.7).resolved(series, cluster).node_load(series.loads, 21600.0, home, cluster)
    wanted = fits = 0
    for w in range(8):
        for a in plan:
            mine = cluster.position[a["primary"]]
            if nodes.load[w, mine] <= 0.7 * nodes.capacity[mine]:
                continue
            for node in a["checkpoints"]:
                i = cluster.position[node]
                wanted += 1
                fits += bool(nodes.load[w, i] + series.loads[w, a["key_group"]] <= 0.7 * nodes.capacity[i] + 1e-12)
    score = allocation_score(plan, cluster, series, objective)
    assert score.usable_share == (pytest.approx(fits / wanted) if wanted else None)
    matrix = usable_windows(series.loads, home, nodes)
    accepts = cluster.accepting("checkpoints")
    found = usable_at_random(series.loads, home, accepts, nodes)
    for g in range(len(plan)):
        places = [matrix[g, i] for i in range(3) if i != home[g]]
        assert found[g] == pytest.approx(np.mean(places))


@given(st.integers(0, 2**32 - 1))
def test_migrations_by_loops(seed: int) -> None:
    series, cluster, plan = drawn(seed)
    home = np.array([cluster.position[a["primary"]] for a in plan])
    nodes = CheckpointObjective(overload=0.7).resolved(series, cluster).node_load(series.loads, 21600.0, home, cluster)
    assisted = direct = 0
    for w in range(8):
        room = {i: 0.7 * nodes.capacity[i] - nodes.load[w, i] for i in range(4)}
        for node in sorted((i for i in room if room[i] < 0), key=lambda i: (room[i], i)):
            mine = sorted((g for g in range(len(plan)) if home[g] == node), key=lambda g: (-series.loads[w, g], g))
            for g in mine:
                load = series.loads[w, g]
                if room[node] >= 0 or load == 0:
                    break
                hosts = sorted(cluster.position[n] for n in plan[g]["checkpoints"])
                best = max(hosts, key=lambda i: (room[i], -i))
                anywhere = max(room, key=lambda i: (room[i], -i))
                target = best if room[best] >= load else anywhere
                if room[target] < load:
                    continue
                assisted += room[best] >= load
                direct += room[best] < load
                room[node] += load
                room[target] -= load
    found = migrations(series.loads, planned_copies(plan, series, cluster), nodes)
    assert (found.assisted, found.direct) == (assisted, direct)
    assert found.share == (assisted / (assisted + direct) if assisted + direct else None)


def test_rounding_noise_is_no_correlation() -> None:
    """All groups on one node: the shares there add up to 1 and to nothing that varies."""
    rng = np.random.default_rng(0)
    loads = rng.random((40, 9))
    home = np.zeros(9, int)
    cluster = Cluster((Node("n1", 1.0), Node("n2", 1.0)))
    cost = objective_costs(CheckpointObjective("node-correlation", "share"), loads, 60.0, home, cluster)
    assert not cost.any()
    thirds = rng.random((40, 1)) * np.array([1.0, 1.0, 1.0])
    for name in ("correlation", "node-correlation"):
        share = CheckpointObjective(name, "share")  # type: ignore[arg-type]
        assert not objective_costs(share, thirds, 60.0, np.array([0, 1, 1]), cluster).any()


def test_node_correlation_weighs_heavy_groups() -> None:
    """The node's heavy group decides, where the sum of correlations counts each of its light ones as much."""
    up = np.arange(10.0)
    loads = np.column_stack([up, 100 * up, 9 - up, 9 - up, up * 0 + 1])
    home = np.array([0, 1, 1, 1, 2])
    cluster = Cluster(tuple(Node(f"n{i}", 1.0) for i in range(3)))
    node = objective_costs(CheckpointObjective("node-correlation"), loads, 60.0, home, cluster)
    summed = objective_costs(CheckpointObjective("correlation"), loads, 60.0, home, cluster)
    assert node[0, 1] == pytest.approx(4.5)
    assert summed[0, 1] == pytest.approx(-4.5)
    assert node[0, 2] == summed[0, 2] == 0


def test_usable_copies_know_no_correlations() -> None:
    with pytest.raises(FtplanError, match="leave out --correlate"):
        CheckpointObjective("usable", "share")


def test_unknown_node_of_a_plan_is_named() -> None:
    series, cluster, plan = drawn(1)
    plan[0]["checkpoints"] = ["n9"]
    with pytest.raises(FtplanError, match="unknown node 'n9'"):
        objective_value(CheckpointObjective(), plan, series, cluster)
    del plan[0]["primary"]
    with pytest.raises(FtplanError, match="expected operator, key_group, primary"):
        objective_value(CheckpointObjective(), plan, series, cluster)
